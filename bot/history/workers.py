"""How is work distributed over several processes that each set up their resources once?"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, TypeVar

from bot.configuration.errors import UnusableInputError
from bot.history.git import GitError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Task = TypeVar("Task")
Answer = TypeVar("Answer")
WorkerSetup = Callable[[ExitStack], Callable[[Iterator[Task]], Iterator[Answer]]]
"""sets up a worker's resources, closed by the stack, and returns a function that answers tasks, in order"""

_AHEAD = 2
"""tasks assigned to a worker: the next one is there when it finishes the current one"""

_PATIENCE = 5
"""seconds that a worker has to exit by itself"""
_MANY_OBJECTS = 50_000
"""A task's objects die with it and form no cycles: the garbage collector need not run at every seven hundred."""


def run_in_workers(tasks: Iterable[Task], workers: int, set_up: WorkerSetup[Task, Answer]) -> Iterator[Answer]:
    """The answer to each task: in order with one worker, which is this process, otherwise in no order.

    Raises GitError with the text of a worker's error.
    """
    if workers < 2:
        with ExitStack() as stack:
            yield from set_up(stack)(iter(tasks))
        return
    from multiprocessing.connection import wait  # not needed for a single process

    with _start_workers(workers, set_up) as connections:
        waiting = chain(tasks, repeat(None))
        left = sum([_send(connection, waiting) for connection in connections * _AHEAD])
        while left:
            answering = wait(connections)
            for connection in [one for one in connections if one in answering]:
                answer = _answer(connection)
                # the next task is sent before the answer to the last one is used
                left += _send(connection, waiting) - 1
                yield answer


def _send(connection: Connection, waiting: Iterator[Any]) -> int:
    """Send the next task; returns how many were left, one or none."""
    task = next(waiting)
    with suppress(BrokenPipeError, ConnectionResetError):  # a worker that exited is reported where its answer is read
        connection.send(task)
    return int(task is not None)


def _receive_tasks(connection: Connection) -> Iterator[Any]:
    while (task := connection.recv()) is not None:
        yield task


def _answer(connection: Connection) -> Any:
    try:
        done, answer = connection.recv()
    except (EOFError, ConnectionResetError):
        raise GitError("a worker process ended early; run the command again") from None
    if not done:
        raise GitError(answer)
    return answer


@contextmanager
def _start_workers(workers: int, set_up: WorkerSetup[Task, Answer]) -> Iterator[list[Connection]]:
    """This many worker processes; they end with the block."""
    from multiprocessing import get_context

    # if other threads are running, a forked process might inherit a lock that is never released
    forked = threading.active_count() == 1
    context: Any = get_context("fork" if forked else "forkserver")
    processes, connections = [], []
    try:
        for _ in range(workers):
            ours, theirs = context.Pipe()
            connections.append(ours)
            copied = tuple(connections) if forked else ()
            process = context.Process(target=_run_worker, args=(theirs, set_up, copied), daemon=True)
            process.start()
            theirs.close()
            processes.append(process)
        yield list(connections)
    finally:
        for connection in connections:
            connection.close()
        for process in processes:
            process.join(_PATIENCE)
            process.terminate()
            process.join()


def _run_worker(connection: Connection, set_up: WorkerSetup[Task, Answer], copied: Sequence[Connection]) -> None:
    """Do each task that arrives until the connection closes. `copied` are connections that belong
    only to the parent.
    """
    for one in copied:
        one.close()
    gc.freeze()  # what is loaded is never collected: it is not scanned again, and its pages stay shared
    gc.set_threshold(_MANY_OBJECTS)
    with ExitStack() as stack, suppress(EOFError, BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        try:
            for answer in set_up(stack)(_receive_tasks(connection)):
                connection.send((True, answer))
            while True:
                connection.recv()  # a worker that exits before the others are done would look like a failure
        except UnusableInputError as error:
            connection.send((False, str(error)))

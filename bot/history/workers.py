"""How is work spread over several processes, each with what it needs opened once?"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from bot.errors import UnusableInputError
from bot.history.git import GitError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Task = TypeVar("Task")
Answer = TypeVar("Answer")
Opening = Callable[[ExitStack], Callable[[Task], Answer]]
"""what a worker opens once, left to the stack to be closed, and how it then does one task"""

_PATIENCE = 5
"""seconds that a worker has to end by itself"""
_MANY_OBJECTS = 50_000
"""What a task makes dies with it, and holds no circles: the collector need not look at it seven hundred at a time."""


def spread(tasks: Iterable[Task], workers: int, opening: Opening[Task, Answer]) -> Iterator[Answer]:
    """The answer to each task: in order from one worker, which is this process, else in no order.

    Raises GitError with the text of what a worker could not do.
    """
    if workers < 2:
        with ExitStack() as stack:
            yield from map(opening(stack), tasks)
        return
    from multiprocessing.connection import wait  # one process alone needs none of it

    with _started(workers, opening) as idle:
        waiting = iter(tasks)
        busy: list[Connection] = []
        while _send(waiting, idle, busy):
            answering = wait(busy)
            ready = [connection for connection in busy if connection in answering]
            answers = [_answer(connection) for connection in ready]
            busy = [connection for connection in busy if connection not in ready]
            idle += ready
            # the next tasks go out before anybody looks at the answers to the last ones
            _send(waiting, idle, busy)
            yield from answers


def _send(waiting: Iterator[Any], idle: list[Connection], busy: list[Connection]) -> bool:
    """Give each idle worker a task; whether anybody is at work."""
    while idle and (task := next(waiting, None)) is not None:
        connection = idle.pop()
        connection.send(task)
        busy.append(connection)
    return bool(busy)


def _answer(connection: Connection) -> Any:
    try:
        done, answer = connection.recv()
    except EOFError:
        raise GitError("a worker ended before its work was done; run the command again") from None
    if not done:
        raise GitError(answer)
    return answer


@contextmanager
def _started(workers: int, opening: Opening[Task, Answer]) -> Iterator[list[Connection]]:
    """So many processes that do what is sent to them; they end with the block."""
    from multiprocessing import get_context

    # with other threads about, a copy of this process might hold a lock for ever
    forked = threading.active_count() == 1
    context: Any = get_context("fork" if forked else "forkserver")
    processes, connections = [], []
    try:
        for _ in range(workers):
            ours, theirs = context.Pipe()
            connections.append(ours)
            copied = tuple(connections) if forked else ()
            process = context.Process(target=_work, args=(theirs, opening, copied), daemon=True)
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


def _work(connection: Connection, opening: Opening[Task, Answer], copied: Sequence[Connection]) -> None:
    """Do each task that comes, until nobody is there to send one. `copied` are ends that belong to the parent alone."""
    for one in copied:
        one.close()
    gc.freeze()  # what was loaded before stays: nobody need look at it again, nor copy its pages
    gc.set_threshold(_MANY_OBJECTS)
    with ExitStack() as stack, suppress(EOFError, BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        try:
            do = opening(stack)
            while True:
                connection.send((True, do(connection.recv())))
        except UnusableInputError as error:
            connection.send((False, str(error)))

"""How is work spread over several processes, each with what it needs opened once?"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, TypeVar

from bot.errors import UnusableInputError
from bot.history.git import GitError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Task = TypeVar("Task")
Answer = TypeVar("Answer")
Opening = Callable[[ExitStack], Callable[[Iterator[Task]], Iterator[Answer]]]
"""what a worker opens once, left to the stack to be closed, and how it then answers tasks, in order"""

_AHEAD = 2
"""tasks that a worker has: it may begin one while it does another"""

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
            yield from opening(stack)(iter(tasks))
        return
    from multiprocessing.connection import wait  # one process alone needs none of it

    with _started(workers, opening) as connections:
        waiting = chain(tasks, repeat(None))
        left = sum([_send(connection, waiting) for connection in connections * _AHEAD])
        while left:
            answering = wait(connections)
            for connection in [one for one in connections if one in answering]:
                answer = _answer(connection)
                # the next task goes out before anybody looks at the answer to the last one
                left += _send(connection, waiting) - 1
                yield answer


def _send(connection: Connection, waiting: Iterator[Any]) -> int:
    """How many tasks were left to be given: one or none."""
    task = next(waiting)
    with suppress(BrokenPipeError, ConnectionResetError):  # a worker that ended is told of where its answer is read
        connection.send(task)
    return int(task is not None)


def _received(connection: Connection) -> Iterator[Any]:
    while (task := connection.recv()) is not None:
        yield task


def _answer(connection: Connection) -> Any:
    try:
        done, answer = connection.recv()
    except (EOFError, ConnectionResetError):
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
            for answer in opening(stack)(_received(connection)):
                connection.send((True, answer))
            while True:
                connection.recv()  # whoever ends before the others are done would seem to have failed
        except UnusableInputError as error:
            connection.send((False, str(error)))

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

import pytest

from bot.history.git import GitError
from bot.history.workers import run_in_workers


def doubling(stack: ExitStack) -> Callable[[Iterator[int]], Iterator[int]]:
    return lambda numbers: (2 * number for number in numbers)


def refusing(stack: ExitStack) -> Callable[[Iterator[int]], Iterator[int]]:
    def refuse(number: int) -> int:
        raise GitError(f"{number} cannot be read")

    return partial(map, refuse)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_every_task_is_answered_once(workers: int) -> None:
    assert sorted(run_in_workers(range(20), workers, doubling)) == [2 * number for number in range(20)]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_a_worker_is_reported(workers: int) -> None:
    with pytest.raises(GitError, match="7 cannot be read"):
        list(run_in_workers([7], workers, refusing))


def test_only_the_first_of_several_failures_is_reported(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(GitError, match="cannot be read"):
        list(run_in_workers(range(8), 2, refusing))
    assert capfd.readouterr().err == ""


def _with_next(numbers: Iterator[int]) -> Iterator[tuple[int, int | None]]:
    held = next(numbers)
    for number in numbers:
        yield held, number
        held = number
    yield held, None


def telling_the_next(stack: ExitStack) -> Callable[[Iterator[int]], Iterator[tuple[int, int | None]]]:
    return _with_next


def test_a_worker_has_its_next_task_before_it_answers() -> None:
    assert set(run_in_workers(range(4), 2, telling_the_next)) == {(0, 2), (1, 3), (2, None), (3, None)}


def test_no_tasks_give_no_results() -> None:
    assert list(run_in_workers([], 2, doubling)) == []

"""Does each replaced line go to the youngest commit that added it, whatever happened to its file in between?"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from bot.metrics.line_hashes import FileHashes, pack
from bot.metrics.replaced_lines import Fates, HashedCommit, Loss, StandingLines, pack_stack, unpack_stack

FILE, OTHER = 11, 12


def edit(
    added: Sequence[int] = (), removed: Sequence[int] = (), file: int = FILE, former: int = 0, deleted: bool = False
) -> FileHashes:
    return FileHashes(file, former, deleted, added, removed)


def fates_of(*landings: Sequence[FileHashes], at: Sequence[int] = ()) -> Fates:
    """Each landing is one commit, numbered from 1."""
    times = at or range(1, len(landings) + 1)
    commits = [HashedCommit(number, times[number - 1], pack(files)) for number, files in enumerate(landings, 1)]
    fates = Fates()
    StandingLines().land_all(commits, fates)
    return fates


def losses(*landings: Sequence[FileHashes], at: Sequence[int] = ()) -> list[tuple[int, ...]]:
    return [tuple(one) for one in fates_of(*landings, at=at).losses()]


def test_a_removed_line_is_taken_from_the_youngest_commit_that_added_it() -> None:
    assert losses([edit([5])], [edit([5, 6])], [edit([7], [5])], [edit([8], [5])]) == [(1, 4, 1, 0), (2, 3, 1, 0)]


def test_a_line_that_nobody_is_known_to_have_added_is_taken_from_nobody() -> None:
    assert losses([edit([7], [5])]) == []


def test_a_line_that_moves_to_another_file_keeps_its_owner() -> None:
    move = [edit([9], [5]), edit([5], file=OTHER)]
    found = fates_of([edit([5, 6])], move, [edit([8], [5], file=OTHER)])
    assert list(found.losses()) == [Loss(1, 3, 1, 0)]
    assert found.added == {1: 2, 2: 1, 3: 1}


def test_a_renamed_file_keeps_its_owners() -> None:
    assert losses([edit([5])], [edit(file=OTHER, former=FILE)], [edit([6], [5], file=OTHER)]) == [(1, 3, 1, 0)]


def test_a_formatted_file_keeps_its_owners() -> None:
    formatted = FileHashes(FILE, 0, False, (), (), (5, 6))
    assert losses([edit([5])], [formatted], [edit([7], [6])]) == [(1, 3, 1, 0)]


def test_a_deleted_file_and_a_landing_that_only_removes_drop_lines() -> None:
    assert losses([edit([5])], [edit((), [5], deleted=True), edit([7], file=OTHER)]) == [(1, 2, 0, 1)]
    assert losses([edit([5])], [edit((), [5])]) == [(1, 2, 0, 1)]


def test_commits_of_one_second_are_one_landing() -> None:
    first, second = [edit([5, 6])], [edit([7], [6])]
    assert losses(first, second, at=(1, 1)) == losses(second, first, at=(1, 1)) == []
    assert fates_of(first, second, at=(1, 1)).added.total() == 2


edits = st.builds(
    edit,
    st.lists(st.integers(1, 9), max_size=6),
    st.lists(st.integers(1, 9), max_size=6),
    file=st.sampled_from((FILE, OTHER)),
)


@given(st.lists(st.lists(edits, max_size=3), max_size=8), st.integers(0, 8))
def test_standing_lines_that_were_stored_go_on_as_if_they_had_not_been(
    landings: list[list[FileHashes]], stop: int
) -> None:
    commits = [HashedCommit(number, number, pack(files)) for number, files in enumerate(landings, 1)]
    whole, parts = Fates(), Fates()
    StandingLines().land_all(commits, whole)
    first = StandingLines()
    first.land_all(commits[:stop], parts)
    StandingLines({file: unpack_stack(pack_stack(stack)) for file, stack in first.files.items()}).land_all(
        commits[stop:], parts
    )
    assert list(whole.losses()) == list(parts.losses())
    assert whole.added == parts.added


@given(st.lists(st.lists(edits, max_size=3), max_size=8))
def test_nobody_loses_more_lines_than_they_added(landings: list[list[FileHashes]]) -> None:
    found = fates_of(*landings)
    lost: dict[int, int] = {}
    for one in found.losses():
        lost[one.owner] = lost.get(one.owner, 0) + one.replaced + one.dropped
    assert all(lines <= found.added[owner] for owner, lines in lost.items())

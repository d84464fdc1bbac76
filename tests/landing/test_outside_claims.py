"""Does a text in an outsider's pull request change other people's work only where its lines show what it says?"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from landing_facts import ADA, BEN, NAME, WEB_FLOW, a_file, a_landing, sha
from msgspec.structs import replace

from bot.landing.changes import fold
from bot.landing.identity.evidence import merged_evidence
from bot.metrics.measure import Measure, measure
from bot.model.change import Change
from bot.model.commit import Commit, FileChange, Signature
from bot.model.fact import Evidence, Fact
from bot.model.ids import UserId

CACHE = [f"    cache[{number}] = compute(request, depth={number})" for number in range(8)]
LOG = [f"    log.debug('step {number}', extra=context)" for number in range(8)]
OUTSIDE = Evidence(UserId(4711), pull_request=True)
INSIDE = replace(OUTSIDE, opener_writes=True)
MACHINE = replace(OUTSIDE, opener_is_machine=True)


def landed(
    message: str, at: int, *files: FileChange, author: Signature = ADA, evidence: Evidence | None = None
) -> Fact:
    when = datetime.fromtimestamp(at, UTC)
    commit = Commit(sha(f"{message} {at}"), (sha("p"),), author, WEB_FLOW, when, when, message, files)
    return replace(measure(a_landing(commit), Measure()), evidence=evidence)


def added(lines: list[str] = CACHE, path: str = "src/cache.py") -> FileChange:
    return a_file(path, lines)


def removed(lines: list[str] = CACHE, path: str = "src/cache.py") -> FileChange:
    return a_file(path, [], tuple(lines))


WORK = landed("Add caching (#12)", 100, added())
STATEMENTS = (
    f"Mend the brakes\n\n(cherry picked from commit {WORK.commit})",
    "[3.12] Add caching (#12) (#15)",
    "[3.12] Add caching (#15)",
    "Backport #12 to 3.12 (#15)",
    f"Backport {WORK.commit[:7]} 3.6 (#15)",
    "Add caching (backport #12) (#15)",
)


def told(message: str, *files: FileChange, evidence: Evidence = OUTSIDE, at: int = 300) -> Fact:
    return landed(message, at, *files, author=BEN, evidence=evidence)


def states(*facts: Fact) -> list[tuple[int, str]]:
    """The commits and the state of each change that is no revert."""
    found = fold(facts)
    assert found == fold(reversed(facts))
    return [(len(change.commits), change.state) for change in found if change.kind != "revert"]


def same_as_alone(work: Fact, *others: Fact) -> bool:
    def change_of(facts: list[Fact]) -> Change:
        return next(one for one in fold(facts) if any(counted.fact.commit == work.commit for counted in one.commits))

    return change_of([work, *others]) == change_of([work])


@pytest.mark.parametrize("message", STATEMENTS)
def test_a_copy_told_from_outside_joins_only_work_whose_lines_it_brings(message: str) -> None:
    lie, true = told(message, added(LOG)), told(message, added())
    assert same_as_alone(WORK, lie)
    assert states(WORK, true) == [(2, "landed")]
    for evidence in (INSIDE, MACHINE):
        assert states(WORK, told(message, added(LOG), evidence=evidence)) == [(2, "landed")]


def test_other_files_with_the_same_lines_are_no_copy() -> None:
    assert same_as_alone(WORK, told(STATEMENTS[0], added(path="src/other.py")))


def test_backports_by_maintainers_and_bots_fold_whatever_their_lines() -> None:
    for evidence in (INSIDE, MACHINE, None):
        port = replace(told(STATEMENTS[0], added(LOG)), evidence=evidence)
        assert states(WORK, port) == [(2, "landed")]


def test_two_commits_of_an_outsider_do_not_vouch_for_each_other() -> None:
    lies = [replace(told(STATEMENTS[0], added(LOG), at=at), pull_request=30) for at in (300, 301)]
    assert same_as_alone(WORK, *lies)


@pytest.mark.parametrize("trailer", ["Differential Revision: D12345", f"Change-Id: I{'a1' * 20}"])
@pytest.mark.parametrize("at", [50, 300])
def test_a_trailer_of_another_s_review_joins_nothing_from_outside(trailer: str, at: int) -> None:
    work = landed(f"Add caching\n\n{trailer}", 100, added(), evidence=INSIDE)
    assert same_as_alone(work, told(f"Mend the brakes\n\n{trailer}", added(LOG), at=at))
    assert states(work, told(f"Mend the brakes\n\n{trailer}", added(LOG), evidence=INSIDE)) == [(2, "landed")]


@pytest.mark.parametrize(("opener", "together"), [(4711, True), (9, False)])
def test_the_same_author_time_and_subject_is_a_copy_if_the_author_opened_the_pull_request(
    opener: int, together: bool
) -> None:
    own = told("Add logs (#15)", added(LOG[:1]), evidence=Evidence(UserId(opener), pull_request=True))
    fork = replace(own, commit=sha("rebased"), repository="beta/rocket", merge_commit=sha("rebased"), evidence=None)
    keys = tuple(key for key in own.keys if key.startswith("copy:"))
    assert len(fold([own, replace(fork, keys=keys, landed_at=400)])) == (1 if together else 2)


REVERTS = (
    f'Revert "Add caching"\n\nThis reverts commit {WORK.commit}.',
    f"Reverts {NAME}#12",
    'Revert "Add caching (#12)" (#15)',
    "Back out caching, it breaks logins",
)


@pytest.mark.parametrize("message", REVERTS)
def test_a_revert_told_from_outside_counts_where_its_lines_are_the_inverse(message: str) -> None:
    true, lie = told(message, removed()), told(message, removed(LOG))
    assert states(WORK, true) == [(1, "reverted")]
    assert same_as_alone(WORK, lie)
    assert same_as_alone(WORK, told(message, removed(path="src/other.py")))


@pytest.mark.parametrize("message", REVERTS[:3])
def test_who_may_write_is_believed_and_so_is_a_clone(message: str) -> None:
    for evidence in (INSIDE, MACHINE, None):
        assert states(WORK, replace(told(message, removed(LOG)), evidence=evidence)) == [(1, "reverted")]


def test_a_revert_that_is_not_believed_is_a_change_of_its_own() -> None:
    (_, lie) = fold([WORK, told(REVERTS[0], added(LOG))])
    assert (len(lie.commits), lie.state, lie.lines.reverted) == (1, "landed", 0)
    assert lie.lines.total == 8


def test_a_small_revert_shows_too_little_to_be_believed() -> None:
    work = landed("Set the limit (#13)", 100, a_file("src/limit.py", ["LIMIT = 3"], ("LIMIT = 2",)))
    back = f'Revert "Set the limit"\n\nThis reverts commit {work.commit}.'
    assert same_as_alone(work, told(back, a_file("src/limit.py", ["LIMIT = 2"], ("LIMIT = 3",))))


@pytest.mark.parametrize("message", [f"Mend the brakes\n\nReland of {WORK.commit}", 'Reapply "Add caching"'])
def test_a_re_land_told_from_outside_brings_work_back_with_its_lines_or_by_its_author(message: str) -> None:
    back = landed(REVERTS[0], 200, removed(), evidence=INSIDE)
    lie, true = told(message, added(LOG)), told(message, added())
    assert same_as_alone(WORK, lie)
    assert states(WORK, lie) == [(1, "landed")] * 2
    assert states(WORK, back, lie) == [(1, "reverted"), (1, "landed")]
    assert states(WORK, back, true) == [(2, "relanded")]
    assert states(WORK, back, replace(lie, evidence=INSIDE)) == [(2, "relanded")]
    own = replace(WORK, author=replace(ADA, user_id=UserId(4711)))
    assert states(own, back, lie) == [(2, "relanded")]


def test_the_reverted_title_under_a_forged_author_is_other_work() -> None:
    back = landed(REVERTS[0], 200, removed(), evidence=INSIDE)
    forged = landed("Add caching (#30)", 300, added(LOG), author=ADA, evidence=OUTSIDE)
    assert states(WORK, back, forged) == [(1, "reverted"), (1, "landed")]
    assert states(WORK, back, replace(forged, evidence=INSIDE)) == [(2, "relanded")]


def test_later_evidence_changes_what_is_believed_and_its_order_does_not_matter() -> None:
    lie = told(STATEMENTS[0], added(LOG))
    both = [merged_evidence(OUTSIDE, INSIDE), merged_evidence(INSIDE, OUTSIDE)]
    assert [states(WORK, replace(lie, evidence=one)) for one in both] == [[(2, "landed")]] * 2

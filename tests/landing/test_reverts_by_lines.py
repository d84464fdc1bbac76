"""Does a revert that names nothing find what it takes back, and a re-land what it brings back?"""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest
from landing_facts import ADA, BEN, NAME, a_file, a_landing, sha
from msgspec.structs import replace

from bot.landing.changes import fold
from bot.metrics.measure import Measure, measure
from bot.model.change import Change
from bot.model.commit import Commit, FileChange, Signature
from bot.model.fact import Fact

CACHE = [f"    cache[{number}] = compute(request, depth={number})" for number in range(8)]
OLD = ("    return compute(request)", "    # no cache yet")
OTHER = [f"    log.debug('step {number}', extra=context)" for number in range(8)]


def landed(message: str, at: int, *files: FileChange, author: Signature = ADA, repository: str = NAME) -> Fact:
    when = datetime.fromtimestamp(at, UTC)
    commit = Commit(sha(f"{message} {at}"), (sha("p"),), author, author, when, when, message, files)
    return measure(a_landing(commit, repository=repository), Measure())


def added(path: str = "src/cache.py", lines: list[str] = CACHE) -> FileChange:
    return a_file(path, lines, OLD)


def removed(path: str = "src/cache.py", lines: list[str] = CACHE) -> FileChange:
    return a_file(path, list(OLD), tuple(lines))


def folded(*facts: Fact) -> dict[str, Change]:
    shuffled = list(facts)
    random.Random(7).shuffle(shuffled)
    found = fold(shuffled)
    assert found == fold(facts)
    return {change.commits[0].fact.title: change for change in found}


@pytest.mark.parametrize(
    "subject",
    [
        "Revert the caching change",
        "Back out caching, it breaks logins",
        "Undo caching for now",
        "Roll back the cache",
        "Remove caching\n\nThis reverts what we did last week.",
        "Restore the uncached path",
    ],
)
def test_a_revert_in_prose_takes_back_the_work_whose_lines_it_removes(subject: str) -> None:
    work, other = landed("Add caching", 100, added()), landed("Add logs", 150, added("src/log.py", OTHER))
    back = landed(subject, 200, removed(), author=BEN)
    found = folded(work, other, back)
    revert = found[subject.partition("\n")[0]]
    assert (found["Add caching"].state, found["Add logs"].state) == ("reverted", "landed")
    assert (found["Add caching"].reverted_by, revert.kind, revert.outcome) == (revert.id, "revert", False)
    assert found["Add caching"].lines.code == revert.lines.code == 0


def test_lines_that_come_back_are_the_re_land_so_that_the_pair_nets_to_nothing() -> None:
    work, back = landed("Add caching", 100, added()), landed("Revert the caching change", 200, removed(), author=BEN)
    again = landed("Cache requests, without the leak", 300, added(), author=BEN)
    found = folded(work, back, again)
    assert len(found) == 2
    change = found["Add caching"]
    assert (change.state, change.landed_at, len(change.commits)) == ("relanded", 300, 2)
    assert change.lines.code == work.lines.code
    assert change.lines.reverted == work.lines.total


def test_a_stated_revert_finds_the_lines_that_come_back_too() -> None:
    work = landed("Add caching", 100, added())
    back = landed(f'Revert "Add caching"\n\nThis reverts commit {work.commit}.', 200, removed())
    again = landed("Cache requests", 300, added(), author=BEN)
    assert folded(work, back, again)["Add caching"].state == "relanded"


def test_a_revert_that_can_mean_two_works_means_none() -> None:
    one = landed("Add caching", 100, added(), added("src/a.py", OTHER))
    two = landed("Cache again", 150, added(), added("src/b.py", [line + "!" for line in OTHER]))
    files = (removed(), removed("src/a.py", OTHER), removed("src/b.py", [line + "!" for line in OTHER]))
    found = folded(one, two, landed("Undo the caches", 200, *files))
    assert {change.state for change in found.values()} == {"landed"}


def test_most_of_the_lines_must_be_taken_back() -> None:
    work = landed("Add caching", 100, added(), added("src/a.py", OTHER), added("src/b.py", OTHER[::-1]))
    back = landed("Undo one of the caches", 200, removed("src/a.py", OTHER))
    assert folded(work, back)["Add caching"].state == "landed"
    more = landed("Undo the caches", 200, removed(), removed("src/a.py", OTHER))
    assert folded(work, more)["Add caching"].state == "reverted"


def test_who_says_nothing_of_taking_back_reverts_nothing() -> None:
    work, other = landed("Add caching", 100, added()), landed("Compute without a cache", 200, removed())
    assert {change.state for change in folded(work, other).values()} == {"landed"}


def test_few_or_empty_lines_prove_nothing() -> None:
    small = a_file("a.py", ["}", ")", "]"], ())
    work, back = landed("Add brackets", 100, small), landed("Undo brackets", 200, a_file("a.py", [], ("}", ")", "]")))
    assert folded(work, back)["Add brackets"].state == "landed"


def test_a_revert_of_a_prose_revert_brings_the_work_back() -> None:
    work, back = landed("Add caching", 100, added()), landed("Revert the caching change", 200, removed())
    assert folded(work, back, landed("Restore caching", 300, added()))["Add caching"].state == "relanded"


def test_lines_in_another_repository_are_not_taken_back() -> None:
    work = landed("Add caching", 100, added(), repository="acme/other")
    assert folded(work, landed("Revert the caching change", 200, removed()))["Add caching"].state == "landed"


def test_a_mirrored_slice_of_a_revert_is_no_outcome() -> None:
    address = "X-link: https://github.com/pytorch/pytorch/pull/77"
    back = landed(f'Back out "Add caching"\n\n{address}', 200, removed(), repository="pytorch/benchmark")
    (change,) = fold([back])
    assert (change.kind, change.outcome) == ("revert", False)
    prose = landed(f"Undo the caching change\n\n{address}", 200, removed(), repository="pytorch/benchmark")
    assert not any(change.outcome for change in fold([prose]))
    home = replace(landed("Undo the caching change (#77)", 190, removed(), repository="pytorch/pytorch"))
    work = landed("Add caching (#70)", 100, added(), repository="pytorch/pytorch")
    found = fold([work, home, prose])
    assert not any(change.outcome for change in found)

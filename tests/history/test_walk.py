"""Do commits land when and through what they did, whatever their dates and numbers say?"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.history.clone import open_clone
from bot.history.opening import open_clones
from bot.history.record import CloneRecord
from bot.history.walk import arrivals
from bot.model.change import Change
from tests.history.repository import ADA, Repository

NOW = int(datetime(2026, 11, 1, tzinfo=UTC).timestamp())
IMPOSSIBLE = (0, 1, 86_400 * 400, 2**31 - 1, 2**33, 253_370_764_800)
"""1970, 1971, 2038, 2242 and 9999"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "rocket")


def dated(repository: Repository, moment: int, name: str) -> str:
    """A commit of that time, which may be one that git itself refuses to write."""
    repository.commit(f"Add {name}", {f"{name}.py": "x = 1\n" * 5}, days=0)
    text = re.sub(r"> [0-9]+ \+0000", f"> {moment} +0000", repository.git("cat-file", "commit", "HEAD"))
    file = repository.folder.parent / "commit"
    file.write_text(text + "\n")
    made = repository.git("hash-object", "-t", "commit", "-w", "--literally", str(file))
    repository.git("update-ref", "HEAD", made)
    return made


def changes_of(repository: Repository, now: int = NOW) -> dict[str, Change]:
    record = CloneRecord(open_clones([repository.folder]), now=now)
    record.refresh(workers=1)
    found = record.all_changes()
    record.close()
    return {commit.fact.commit: change for change in found for commit in change.commits}


def test_impossible_times_are_clamped_to_a_neighbour_and_marked(repository: Repository) -> None:
    first = repository.commit("start", {"a.py": "x = 1\n"})
    when = repository.now
    odd = [dated(repository, moment, f"odd{number}") for number, moment in enumerate(IMPOSSIBLE)]
    last = repository.commit("end", {"a.py": "x = 2\n"})
    found = changes_of(repository)
    facts = {name: change.commits[0].fact for name, change in found.items()}
    assert {facts[name].landed_at for name in odd} == {when}
    assert [facts[name].clamped for name in (first, *odd, last)] == [False, *(True for _ in odd), False]
    assert [found[name].clamped for name in (first, *odd, last)] == [False, *(True for _ in odd), False]


def test_a_root_of_1970_is_as_old_as_the_next_commit(repository: Repository) -> None:
    root = dated(repository, 0, "root")
    repository.commit("next", {"a.py": "x = 1\n"})
    assert changes_of(repository)[root].landed_at == repository.now


def test_a_time_that_was_still_to_come_is_read_again_when_it_has_passed(repository: Repository) -> None:
    repository.commit("start", {"a.py": "x = 1\n"})
    before = repository.now
    early = dated(repository, NOW + 1000, "early")
    assert changes_of(repository)[early].landed_at == before
    assert changes_of(repository, NOW + 999)[early].landed_at == before
    assert changes_of(repository, NOW + 1000)[early].landed_at == NOW + 1000


def test_a_history_read_in_two_parts_equals_one_read_at_once(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repository.commit("start", {"a.py": "x = 1\n"})
    dated(repository, 2**33, "one")
    changes_of(repository)
    dated(repository, 5, "two")
    dated(repository, 2**34, "three")
    again = changes_of(repository)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert changes_of(repository) == again


def own_pulls(repository: Repository, count: int) -> None:
    """Pull requests of this repository, one every ten days."""
    for number in range(1, count + 1):
        repository.commit(f"Add part {number} (#{number})", {f"part{number}.py": "x = 1\n"}, days=10)


def merged(repository: Repository, number: int, head: str, files: dict[str, str | bytes | None]) -> tuple[str, str]:
    """(commit, merge) of a pull request, merged into the branch that is checked out."""
    base = repository.git("symbolic-ref", "--short", "HEAD")
    repository.git("checkout", "-q", "-b", f"topic-{head.replace('/', '-')}-{number}")
    made = repository.commit(f"Work of {head} {number}", files)
    repository.git("checkout", "-q", base)
    repository.now += 60
    merge = repository.merge(
        f"topic-{head.replace('/', '-')}-{number}", f"Merge pull request #{number} from {head}\n\nT", days=0
    )
    return made, merge


def test_the_numbers_of_a_merged_fork_are_not_this_repository_s(repository: Repository) -> None:
    repository.commit("start", {"a.py": "x = 1\n"})
    first = merged(repository, 3, "ben/own", {"own.py": "x = 1\n"})[0]
    own_pulls(repository, 60)
    repository.git("checkout", "-q", "-b", "fork")
    forked = [merged(repository, number, "ada/fork", {f"fork{number}.py": "y = 2\n"})[0] for number in (1, 2, 3, 4)]
    repository.git("checkout", "-q", "main")
    repository.merge("fork", "Merge ada/fork, a short-lived fork")
    found = changes_of(repository)
    assert found[first].pull_request == 3
    assert {found[name].pull_request for name in forked} == {None}
    assert len({found[name].id for name in forked}) == 4


def test_the_number_of_a_merge_on_the_default_branch_may_be_foreign(repository: Repository) -> None:
    repository.commit("start", {"a.py": "x = 1\n"})
    own_pulls(repository, 60)
    moved = [merged(repository, number, "ben/moved", {f"moved{number}.py": "y = 2\n"})[0] for number in (1, 2, 3, 4)]
    assert {changes_of(repository)[name].pull_request for name in moved} == {None}


def test_a_long_lived_branch_keeps_its_number(repository: Repository) -> None:
    repository.commit("start", {"a.py": "x = 1\n"})
    repository.git("checkout", "-q", "-b", "long")
    early = repository.commit("Begin", {"long.py": "y = 1\n"})
    repository.git("checkout", "-q", "main")
    for number in (1, *range(3, 61)):
        repository.commit(f"Add part {number} (#{number})", {f"part{number}.py": "x = 1\n"}, days=10)
    repository.git("checkout", "-q", "long")
    late = repository.commit("Finish", {"long.py": "y = 2\n"})
    repository.git("checkout", "-q", "main")
    repository.merge("long", "Merge pull request #2 from ben/long")
    found = changes_of(repository)
    assert {found[name].id for name in (early, late)} == {"acme/rocket#2"}


def test_more_of_a_history_can_show_that_earlier_numbers_are_foreign(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repository.commit("start", {"a.py": "x = 1\n"})
    own_pulls(repository, 60)
    repository.now += 400 * 86_400
    for number in range(1, 15):
        repository.commit(f"Other part {number} (#{number})", {f"other{number}.py": "x = 1\n"}, days=10)
    changes_of(repository)
    for number in range(15, 40):
        repository.commit(f"Other part {number} (#{number})", {f"other{number}.py": "x = 1\n"}, days=10)
    again = changes_of(repository)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert changes_of(repository) == again


def test_the_subject_of_a_merge_is_kept_unless_it_says_only_what_was_merged(repository: Repository) -> None:
    repository.commit("start", {"a.py": "x = 1\n"})
    kept = []
    for branch, subject in (("one", "Initial plugin system"), ("two", "Merge branch 'two'"), ("three", "T (#4)")):
        repository.git("checkout", "-q", "-b", branch)
        kept.append((repository.commit(f"wip {branch}", {f"{branch}.py": "x = 1\n"}, author=ADA), subject))
        repository.git("checkout", "-q", "main")
        repository.merge(branch, subject)
    found = changes_of(repository)
    assert [found[name].commits[0].fact.merge_subject for name, _ in kept] == ["Initial plugin system", "", "T (#4)"]


def test_every_commit_arrives_once(repository: Repository) -> None:
    repository.commit("start", {"a.py": "x = 1\n"})
    merged(repository, 3, "ben/own", {"own.py": "x = 1\n"})
    found = [one.commit for one in arrivals(open_clone(repository.folder), now=NOW)]
    assert sorted(found) == sorted(repository.git("rev-list", "--no-merges", "HEAD").split())

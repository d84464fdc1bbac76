from pathlib import Path

import pytest

from bot.history.clone import open_clone
from bot.history.log import landings
from bot.history.walk import arrivals
from bot.landing.conventions.batches import divide_by_branch
from tests.history.repository import Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "rocket")


def branch(repository: Repository, name: str, start: str = "main", commits: int = 1) -> list[str]:
    repository.git("checkout", "-q", "-b", name, start)
    made = [repository.commit(f"step {n} of {name}", {f"{name}-{n}.txt": "1\n"}) for n in range(commits)]
    repository.git("checkout", "-q", "main")
    return made


def brought(repository: Repository) -> dict[str, int | None]:
    clone = open_clone(repository.folder)
    return {landing.commit.id: landing.brought_by for landing in landings(clone, list(arrivals(clone)))}


def test_the_parents_of_a_batch_identify_its_pull_requests(repository: Repository) -> None:
    first = repository.commit("start", {"a.txt": "1\n"})
    one, two = branch(repository, "one", commits=2), branch(repository, "two")
    repository.git(
        "merge", "-q", "--no-ff", "-m", "Merge #4 #7\n\n4: One r=ada a=ben\n\n7: Two r=ada a=cleo", "one", "two"
    )
    assert brought(repository) == {first: None, one[0]: 4, one[1]: 4, two[0]: 7}


def test_a_stacked_branch_does_not_claim_the_commits_of_its_base(repository: Repository) -> None:
    repository.commit("start", {"a.txt": "1\n"})
    one = branch(repository, "one")
    two = branch(repository, "two", "one")
    parents = {one[0]: ["base"], two[0]: [one[0]]}
    assert divide_by_branch(parents, [(two[0], 7), (one[0], 4)]) == {one[0]: 4, two[0]: 7}


def test_the_merges_inside_a_roll_up_name_its_pull_requests(repository: Repository) -> None:
    repository.commit("start", {"a.txt": "1\n"})
    one, two = branch(repository, "one", commits=2), branch(repository, "two")
    repository.git("checkout", "-q", "-b", "rollup")
    repository.merge("one", "Rollup merge of #4 - ben:one, r=ada\n\nOne")
    repository.merge("two", "Rollup merge of #7 - cleo:two, r=ada\n\nTwo")
    repository.git("checkout", "-q", "main")
    repository.merge(
        "rollup", "Auto merge of #9 - ada:rollup, r=ada\n\nRollup of 2 pull requests\n\n - #4 (One)\n - #7 (Two)"
    )
    found = brought(repository)
    assert [found[sha] for sha in (*one, *two)] == [4, 4, 7]


def test_a_merge_of_one_pull_request_needs_no_attribution(repository: Repository) -> None:
    repository.commit("start", {"a.txt": "1\n"})
    one = branch(repository, "one")
    repository.merge("one", "Merge #4\n\n4: One r=ada a=ben")
    assert brought(repository)[one[0]] is None


def test_merges_inside_a_later_merged_branch_prove_their_pull_requests(repository: Repository) -> None:
    repository.commit("start", {"a.txt": "1\n"})
    one, two, three = branch(repository, "one"), branch(repository, "two", commits=2), branch(repository, "three")
    repository.git("checkout", "-q", "-b", "develop")
    repository.merge("one", "Merge pull request #4 from ben/one\n\nOne")
    own = repository.commit("a step of develop", {"b.txt": "1\n"})
    repository.merge("two", "Merge pull request #7 from cleo/two\n\nTwo")
    repository.git("checkout", "-q", "main")
    repository.merge("three", "Merge pull request #5 from ada/three\n\nThree")
    repository.merge("develop", "Merge branch 'develop'")
    found = brought(repository)
    assert [found[sha] for sha in (*one, *two, own, *three)] == [4, 7, 7, None, None]


def test_a_merge_does_not_bring_earlier_commits_of_the_branch(repository: Repository) -> None:
    repository.commit("start", {"a.txt": "1\n"})
    one = branch(repository, "one")
    two = branch(repository, "two", "one")
    repository.git("checkout", "-q", "-b", "develop")
    repository.merge("one", "Merge pull request #4 from ben/one\n\nOne")
    repository.merge("two", "Merge pull request #7 from cleo/two\n\nTwo")
    repository.git("checkout", "-q", "main")
    repository.merge("develop", "Merge branch 'develop'")
    found = brought(repository)
    assert (found[one[0]], found[two[0]]) == (4, 7)


def test_history_imported_by_a_merge_belongs_to_its_origin(repository: Repository) -> None:
    for number in range(5):
        repository.commit(f"step {number}", {"a.txt": f"{number}\n"})
    repository.git("checkout", "-q", "--orphan", "other")
    first = repository.commit("First (#1)", {"b.txt": "1\n"})
    second = branch(repository, "second", "other")
    repository.git("checkout", "-q", "other")
    repository.merge("second", "Merge pull request #2 from ben/second\n\nSecond")
    repository.git("checkout", "-q", "main")
    late = branch(repository, "late")
    repository.git("merge", "-q", "--no-ff", "--allow-unrelated-histories", "-m", "Take in other", "other")
    repository.merge("late", "Merge pull request #3 from cleo/late\n\nLate")
    found = brought(repository)
    assert [found[sha] for sha in (first, *second, *late)] == [0, 0, None]

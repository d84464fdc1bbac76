"""Can text in one installation change what another one's work is?"""

from __future__ import annotations

from landing_facts import BEN, a_fact
from msgspec.structs import replace

from bot.landing.changes import fold
from bot.model.change import Change
from bot.model.commit import Repository
from bot.model.fact import Fact

HOME, BESIDE = "acme/rocket", "acme/fuel"
FORK, FOREIGN = "eve/rocket", "eve/other"
REPOSITORIES = {
    one.full_name: one
    for one in (
        Repository(HOME),
        Repository(BESIDE),
        Repository(FORK, fork=True, parent=HOME),
        Repository(FOREIGN),
    )
}
ISLANDS = {HOME: 1, BESIDE: 1, FORK: 2, FOREIGN: 2}
WORK = a_fact("Add a parser (#12)", at=100)
FUEL = a_fact("Add a tank (#7)", at=120, repository=BESIDE)


def folded(*facts: Fact) -> dict[str, Change]:
    return {change.id: change for change in fold(facts, REPOSITORIES, ISLANDS)}


def home_changes(*facts: Fact) -> list[Change]:
    """What the home's installation has, without the names of forks."""
    found = [change for change in folded(WORK, FUEL, *facts).values() if change.repository in (HOME, BESIDE)]
    own = (tuple(one for one in change.commits if one.fact.repository in (HOME, BESIDE)) for change in found)
    return [replace(change, commits=commits, also_in=()) for change, commits in zip(found, own, strict=True)]


def forgeries(repository: str) -> list[Fact]:
    return [
        a_fact(f"Undo it\n\nThis reverts commit {WORK.commit}.", at=300, repository=repository, name="by commit"),
        a_fact(f"Undo it\n\nReverts {HOME}#12", at=310, repository=repository, name="by number"),
        a_fact(f"Undo it\n\nReverts {BESIDE}#7", at=320, repository=repository, name="by other number"),
        a_fact(f'Revert "Add a tank"\n\nThis reverts commit {FUEL.commit}.', at=330, repository=repository),
        a_fact(f"Pick\n\n(cherry picked from commit {WORK.commit})", at=340, repository=repository, name="pick"),
        a_fact(f"Join\n\nPull Request resolved: https://github.com/{HOME}/pull/12", at=350, repository=repository),
        a_fact(f"Join\n\nX-link: https://github.com/{BESIDE}/pull/7", at=360, repository=repository, name="link"),
        a_fact(f"Reland of {HOME}#12", at=370, repository=repository, name="reland"),
        replace(WORK, repository=repository, keys=(*WORK.keys, f"pr:{BESIDE}#7"), reverts=(f"pr:{BESIDE}#7",)),
    ]


def test_nothing_that_another_installation_writes_changes_a_change() -> None:
    clean = home_changes()
    for repository in (FOREIGN, FORK):
        for forged in forgeries(repository):
            assert home_changes(forged) == clean, forged.title
        assert home_changes(*forgeries(repository)) == clean


def test_a_fork_s_same_commits_count_zero_in_another_installation_too() -> None:
    shared = replace(WORK, repository=FORK)
    own = a_fact("Fork's own work", at=200, repository=FORK)
    found = folded(WORK, shared, own)
    assert [(change.id, len(change.counted), change.also_in) for change in found.values()] == [
        (f"{HOME}#12", 1, (FORK,)),
        (f"{FORK}@{own.commit}", 1, ()),
    ]


def test_a_pick_in_a_fork_counts_zero_and_in_any_other_repository_by_itself() -> None:
    text = f"Add a parser (#12)\n\n(cherry picked from commit {WORK.commit})"
    assert len(folded(WORK, a_fact(text, at=200, repository=FORK))[f"{HOME}#12"].counted) == 1
    assert len(folded(WORK, a_fact(text, at=200, repository=FOREIGN))) == 2


def test_repositories_of_one_installation_and_clones_given_together_fold() -> None:
    back = a_fact(f"Back out\n\nReverts {HOME}#12", at=300, repository=BESIDE)
    assert folded(WORK, back)[f"{HOME}#12"].state == "reverted"
    together = fold([WORK, a_fact(f"Back out\n\nReverts {HOME}#12", at=300, repository=FOREIGN)], REPOSITORIES)
    assert {change.state for change in together if change.repository == HOME} == {"reverted"}


def test_islands_fold_alike_in_any_order() -> None:
    facts = [WORK, FUEL, *forgeries(FORK), *forgeries(FOREIGN), a_fact("Other", at=50, name="other", committer=BEN)]
    assert fold(facts, REPOSITORIES, ISLANDS) == fold(facts[::-1], REPOSITORIES, ISLANDS)

"""Does every interleaving of landings, reverts, re-lands, backports, syncs and renames fold like the sorted one?"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from landing_facts import WEB_FLOW, written
from msgspec.structs import replace

from bot.landing.changes import fold
from bot.model.commit import Repository
from bot.model.fact import Fact
from tests.landing.components import component

NOW, OLD, FORK = "acme/rocket", "acme/missile", "beta/rocket"
REPOSITORIES = {
    NOW: Repository(NOW),
    OLD: Repository(NOW),
    FORK: Repository(FORK, fork=True, parent=NOW),
}
TITLES = ("Add a parser", "Fix the loop", "Speed up the cache")
WORKS = st.sampled_from(range(len(TITLES)))


@dataclass
class Model:
    """The expected state, computed without facts."""

    state: dict[int, str] = field(default_factory=dict)
    delivered: dict[int, int] = field(default_factory=dict)
    commits: dict[int, int] = field(default_factory=dict)
    reverts: int = 0

    def land(self, work: int, at: int) -> None:
        again = self.state.get(work) == "reverted"
        self.state[work] = "relanded" if again else "landed"
        self.delivered[work] = at
        self.commits[work] = self.commits.get(work, 0) + 1

    def revert(self, work: int) -> None:
        self.state[work] = "reverted"
        self.reverts += 1

    def backport(self, work: int) -> None:
        self.commits[work] += 1

    def stands(self, work: int) -> bool:
        return self.state.get(work) in ("landed", "relanded")


class Interleavings(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.model, self.facts, self.clock, self.number = Model(), [], 1_700_000_000, 100
        self.name = OLD
        self.last: dict[int, Fact] = {}
        self.last_revert: dict[int, Fact] = {}
        self.pull: dict[int, int] = {}

    def tick(self) -> int:
        self.clock += 1000
        return self.clock

    def add(self, message: str, *, repository: str | None = None, authored: int | None = None) -> Fact:
        at = self.tick()
        fact = written(message, at, authored or at, repository=repository or self.name, committer=WEB_FLOW)
        self.facts.append(fact)
        return fact

    def fresh(self) -> int:
        self.number += 1
        return self.number

    @rule(work=WORKS)
    def land(self, work: int) -> None:
        if work not in self.model.state:
            self.pull[work] = self.fresh()
            self.last[work] = self.add(f"{TITLES[work]} (#{self.pull[work]})")
            self.model.land(work, self.clock)

    @rule(work=WORKS, by=st.sampled_from(("commit", "number", "merge bot")))
    def revert(self, work: int, by: str) -> None:
        if not self.model.stands(work):
            return
        quoted = f'Revert "{self.last[work].title}"'
        texts = {
            "commit": f"{quoted} (#{self.fresh()})\n\nThis reverts commit {self.last[work].commit}.",
            "number": f"{quoted} (#{self.fresh()})\n\nReverts {NOW}#{self.last[work].pull_request}",
            "merge bot": f"{quoted}\n\nThis reverts commit {self.last[work].commit[:10]}.\n\nReverted "
            f"https://github.com/{NOW}/pull/{self.last[work].pull_request} on behalf of https://github.com/ada due to",
        }
        self.last_revert[work] = self.add(texts[by])
        self.model.revert(work)

    @rule(work=WORKS, by=st.sampled_from(("same number", "title", "mark", "revert")))
    def reland(self, work: int, by: str) -> None:
        if self.model.state.get(work) != "reverted":
            return
        title, gone = TITLES[work], self.last_revert[work]
        again = f'Revert "{gone.title}" (#{self.fresh()})\n\nThis reverts commit {gone.commit}.'
        texts = {
            "same number": f"{title} (#{self.last[work].pull_request})",
            "title": f"{title} (#{self.fresh()})",
            "mark": f"[reland] {title} (#{self.fresh()})\n\nRelands #{self.pull[work]}",
            "revert": again,
        }
        fact = self.add(texts[by])
        self.last[work] = fact
        self.model.land(work, self.clock)

    @rule(work=WORKS)
    def backport(self, work: int) -> None:
        if self.model.stands(work):
            message = f"Pick for the branch {self.tick()}\n\n(cherry picked from commit {self.last[work].commit})"
            self.add(message)
            self.model.backport(work)

    @rule(picked=st.booleans())
    @precondition(lambda self: self.facts)
    def sync_fork(self, picked: bool) -> None:
        for fact in [fact for fact in self.facts if fact.repository != FORK]:
            copy = replace(fact, repository=FORK, landed_at=self.tick())
            if picked:
                own = [key for key in fact.keys if not key.startswith(("commit:", "pr:"))]
                copy = replace(
                    copy, commit=fact.commit[::-1], keys=(*own, f"commit:{fact.commit[::-1]}"), pull_request=None
                )
                copy = replace(copy, merge_commit=copy.commit)
            self.facts.append(copy)

    @rule(work=WORKS)
    def revert_in_fork(self, work: int) -> None:
        """A fork's own revert leaves the upstream's change as it is."""
        if self.model.stands(work) and any(fact.repository == FORK for fact in self.facts):
            self.add(f'Revert "{TITLES[work]}"\n\nThis reverts commit {self.last[work].commit}.', repository=FORK)
            self.model.reverts += 1

    @rule()
    def rename(self) -> None:
        self.name = NOW

    @rule(random=st.randoms(use_true_random=False))
    def deliver_in_any_order(self, random: Random) -> None:
        facts = self.facts + [fact for fact in self.facts if random.random() < 0.3]
        facts += [
            replace(fact, repository=NOW) for fact in self.facts if fact.repository == OLD and random.random() < 0.3
        ]
        random.shuffle(facts)
        assert fold(facts, REPOSITORIES) == fold(self.facts, REPOSITORIES)

    @invariant()
    def folds_as_the_model_says(self) -> None:
        changes = fold(self.facts, REPOSITORIES)
        works = [change for change in changes if change.kind != "revert"]
        assert len(works) == len(self.model.state)
        assert len(changes) - len(works) == self.model.reverts
        for change in works:
            work = TITLES.index(change.title)
            assert change.state == self.model.state[work]
            assert len(change.counted) == self.model.commits[work]
            assert change.state == "reverted" or change.landed_at == self.model.delivered[work]
            assert change.lines.total == 10 * len(change.counted)
            assert (change.lines.code > 0) == (change.state != "reverted")
            assert change.id == f"{NOW}#{self.pull[work]}"

    @invariant()
    def folds_each_component_alone_as_among_all(self) -> None:
        changes = set(map(repr, fold(self.facts, REPOSITORIES)))
        for fact in self.facts[-3:]:
            alone = fold(component(fact, self.facts, REPOSITORIES), REPOSITORIES)
            assert {repr(change) for change in alone} <= changes


TestInterleavings = Interleavings.TestCase
TestInterleavings.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)

"""What is a change (one piece of work, carried by one or more landings), and what is an item?"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from bot.model.fact import Fact, Lines
from bot.model.ids import STATED, ChangeId, Grade, ItemKind, Kind, PersonKey, State


class Credit(Struct, frozen=True):
    """One person's own part in a landed commit or change, and how surely it is theirs (DESIGN.md, Credit)."""

    person: PersonKey
    grade: Grade
    why: str
    """what gives the grade, in a few words"""
    authored: bool = True
    """False for a co-author"""
    commits: int = 1
    """the person's own commits"""
    lines: Lines = Lines()
    """the lines of those commits"""
    title: str = ""
    """the subject of the largest of them, if it differs from the change's"""


class Judgement(NamedTuple):
    """What other facts, or the person, say about a part: it replaces the grade that the commit alone gives."""

    person: PersonKey
    grade: Grade | None
    """None: the person rejected it"""
    why: str


class CountedCommit(Struct, frozen=True):
    """A fact as it counts once identities, forks and reverts are known."""

    fact: Fact
    counts: bool
    """False if the same commit counts in another repository of the same fork network"""
    lines: Lines
    """the fact's lines, with reverted or mirrored work in a separate part; same total"""
    judgements: tuple[Judgement, ...] = ()
    """`bot.landing.identity.credit.credits_of` computes everybody's part from the fact and these"""


class Change(Struct, frozen=True):
    """One work group: the landed commits of the same work."""

    id: ChangeId
    repository: str
    title: str
    kind: Kind
    why: str
    certain: bool
    state: State
    landed_at: int
    """epoch seconds of the landing that delivered it; if it landed again, of the re-land"""
    commits: tuple[CountedCommit, ...]
    """every landed commit of the change, oldest first, in every repository"""
    pull_request: int | None = None
    also_in: tuple[str, ...] = ()
    """full names of forks, mirrors and backports, sorted"""
    reverted_by: ChangeId | None = None
    partly_reverted_by: tuple[ChangeId, ...] = ()
    url: str | None = None
    elsewhere: bool = False
    """only an export of it landed here; its home is a repository outside the record"""
    probability: int = STATED
    """of `kind`, in thousandths"""

    @property
    def outcome(self) -> bool:
        """Whether it is not reverted, not itself a revert, and not the export of another repository's change."""
        return self.state != "reverted" and self.kind != "revert" and not self.elsewhere

    @property
    def clamped(self) -> bool:
        """Whether a date of its commits could not be, so that a believable one near it stands for it."""
        return any(commit.fact.clamped for commit in self.commits)

    @property
    def parts_unknown(self) -> bool:
        """Whether several people wrote one of its commits and nothing tells whose lines are whose."""
        facts = [commit.fact for commit in self.commits if commit.counts and commit.fact.co_authors]
        return any(fact.evidence is None or not fact.evidence.shares for fact in facts)

    @property
    def counted(self) -> tuple[CountedCommit, ...]:
        return tuple(commit for commit in self.commits if commit.counts)

    @property
    def lines(self) -> Lines:
        parts = [commit.lines for commit in self.commits if commit.counts]
        return parts[0] if len(parts) == 1 else sum(parts, Lines())


class Item(Struct, frozen=True):
    """A contributor's changes of one month that make up one feature, one bug fix or other work."""

    kind: ItemKind
    title: str
    state: State
    changes: tuple[ChangeId, ...]
    edges: tuple[tuple[ChangeId, ChangeId, str], ...] = ()
    """why they are grouped: (one, other, rule)"""
    certain: bool = True
    """whether the change that gives its kind is certain; an item that is not counts as no kind"""

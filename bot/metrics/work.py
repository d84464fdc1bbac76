"""What is a metric computed from? One person's landed work of one or several months."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from msgspec import Struct

from bot.model.change import Change, CountedCommit, Item
from bot.model.fact import Lines, each_part
from bot.model.ids import ItemKind, Month


@dataclass(slots=True)
class MonthWork:
    """One contributor's landed work of one month. `delivered` are the changes whose items belong to this month."""

    month: Month
    commits: list[tuple[Change, CountedCommit]] = field(default_factory=list)
    """as far as they are the contributor's own"""
    co_authored: list[tuple[Change, CountedCommit]] = field(default_factory=list)
    """commits of others, with the contributor's own lines in them where GitHub shows them"""
    delivered: list[Change] = field(default_factory=list)
    claimed: list[tuple[Change, CountedCommit]] = field(default_factory=list)
    """authored or co-authored commits that only a text says are the contributor's: in no other number"""

    @property
    def is_active(self) -> bool:
        """Whether anything of it counts."""
        return bool(self.commits or self.co_authored)

    @property
    def own(self) -> list[tuple[Change, CountedCommit]]:
        """Every commit with own lines."""
        return [*self.commits, *(pair for pair in self.co_authored if pair[1].lines.total)]

    @property
    def lines(self) -> Lines:
        return sum_lines(commit.lines for _, commit in self.own)

    @property
    def languages(self) -> Counter[str]:
        """Authored and test lines by language, of work that is not reverted."""
        return sum_languages(commit for _, commit in self.own)

    @property
    def repositories(self) -> tuple[str, ...]:
        """The repositories it landed in, most commits first, then by name."""
        counts = Counter(commit.fact.repository for _, commit in self.commits)
        return tuple(sorted(counts, key=lambda name: (-counts[name], name)))


class Work(Struct, frozen=True, dict=True):
    """One person's landed work of some months, and the items of its changes, oldest first."""

    months: Sequence[MonthWork]
    items: Sequence[Item] = ()
    claimed: Sequence[tuple[Change, CountedCommit]] = ()
    """the commits that only a text says are the person's"""

    @cached_property
    def commits(self) -> list[tuple[Change, CountedCommit]]:
        """The commits authored by the person, each with its change."""
        return [pair for month in self.months for pair in month.commits]

    @cached_property
    def co_authored(self) -> list[tuple[Change, CountedCommit]]:
        """The commits of others that credit the person."""
        return [pair for month in self.months for pair in month.co_authored]

    @cached_property
    def own(self) -> list[tuple[Change, CountedCommit]]:
        """Every commit with own lines, each with its change."""
        return [pair for month in self.months for pair in month.own]

    @cached_property
    def delivered(self) -> list[Change]:
        """The changes with commits authored by the person, in the month of their items."""
        return [change for month in self.months for change in month.delivered]

    def certain_items(self, kind: ItemKind) -> Iterator[Item]:
        """The items that are certainly of this kind and that were not reverted."""
        return (item for item in self.items if item.kind == kind and item.certain and item.state != "reverted")


def sum_lines(many: Iterable[Lines]) -> Lines:
    """The sum of all, part by part."""
    return Lines(*map(sum, zip(*map(each_part, many), strict=True)))


def sum_languages(commits: Iterable[CountedCommit]) -> Counter[str]:
    """Lines by language of commits whose lines are neither reverted nor mirrored."""
    total: Counter[str] = Counter()
    for commit in commits:
        if not (commit.lines.reverted or commit.lines.mirrored):
            for name, lines in commit.fact.languages.items():
                total[name] = total.get(name, 0) + lines
    return total

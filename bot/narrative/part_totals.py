"""How many changes did everybody make in each part of a product, and which was the first?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from bot.model.fact import Fact
from bot.narrative.component_paths import Component, Moves, components, own_tokens, paths_now
from bot.narrative.project_texts import NO_TEXTS, Move, ProjectTexts

_MOST_OF_ONE = 3
"""a change belongs to a part that has at least one in this many of its files with a name"""

PartKey = tuple[str, str]
"""a repository's full name and the token of a part of it; the empty token is the whole repository"""


class PartTotal(NamedTuple):
    """How many changes everybody made in one part of a repository, and the first of them."""

    changes: int
    first: str


TotalOf = Callable[[PartKey], PartTotal | None]


def no_total(_key: PartKey) -> PartTotal | None:
    """Nothing is known of others' changes."""
    return None


class TouchedPaths(NamedTuple):
    """The source files that one landed commit touched."""

    change: str
    """which change it belongs to: `change_identity`"""
    landed_at: int
    paths: Sequence[str]


def change_identity(repository: str, commit: str, pull_request: int | None) -> str:
    """What the commits of one pull request have in common."""
    return f"{repository}@{commit}" if pull_request is None else f"{repository}#{pull_request}"


def component_lines(
    touched: Iterable[tuple[Sequence[str], int]], own: frozenset[str], moves: Moves
) -> list[tuple[Component, ...]]:
    """The parts in which most of the work was done, each as the list of parts that contain it, broadest first.

    `touched` are the files and times of its landings, `own` the tokens of the repository's names.
    """
    lines: Counter[tuple[Component, ...]] = Counter()
    for paths, landed_at in touched:
        for path in paths_now(paths, landed_at, moves):
            found = components(path, own)
            if found:
                lines[found] += 1
    total = sum(lines.values())
    by_top: Counter[str] = Counter()
    for line, count in lines.items():
        by_top[line[0].token] += count
    return [line for line in sorted(lines) if by_top[line[0].token] * _MOST_OF_ONE >= total]


class RepositoryTotals:
    """The changes in each part of one repository by everybody, as of any moment; `moves` decide where a file is now."""

    def __init__(self, repository: str, moves: Sequence[Move] = ()) -> None:
        self.moves = tuple(moves)
        self._moves, self._own = Moves(moves), own_tokens(repository)
        self._landed: dict[str, dict[str, int]] = defaultdict(dict)
        """by part: when each change first landed there"""

    def add(self, landed: Iterable[TouchedPaths]) -> None:
        """Add commits, in any order, each once."""
        for one in landed:
            self._add_to("", one)
            lines = component_lines([(one.paths, one.landed_at)], self._own, self._moves)
            for token in {part.token for line in lines for part in line}:
                self._add_to(token, one)

    def _add_to(self, token: str, one: TouchedPaths) -> None:
        times = self._landed[token]
        times[one.change] = min(one.landed_at, times.get(one.change, one.landed_at))

    def total(self, token: str, until: int | None = None) -> PartTotal | None:
        """The total of one part, landed up to that second of the epoch; None if nothing did."""
        times = self._landed.get(token, {})
        known = {name: at for name, at in times.items() if at <= until} if until is not None else times
        return PartTotal(len(known), min(known, key=lambda name: (known[name], name))) if known else None

    def size(self) -> int:
        """How many pairs of a part and a change it holds."""
        return sum(map(len, self._landed.values()))


def total_of(totals: Mapping[str, RepositoryTotals], until: int | None = None) -> TotalOf:
    """Answers with the totals of these repositories, by full name, as of a moment; each is counted once."""
    counted: dict[PartKey, PartTotal | None] = {}

    def answer(key: PartKey) -> PartTotal | None:
        if key not in counted:
            counted[key] = totals[key[0]].total(key[1], until) if key[0] in totals else None
        return counted[key]

    return answer


def theme_totals(facts: Iterable[Fact], texts: ProjectTexts = NO_TEXTS) -> TotalOf:
    """Everybody's changes by part. `facts` are all facts of the repositories."""
    found: dict[str, RepositoryTotals] = {}
    for fact in facts:
        if fact.paths and not fact.reverts:
            name = fact.repository
            if name not in found:
                found[name] = RepositoryTotals(name, texts.moves.get(name.lower(), ()))
            change = change_identity(name, fact.commit, fact.pull_request)
            found[name].add([TouchedPaths(change, fact.landed_at, fact.paths)])
    return total_of(found)

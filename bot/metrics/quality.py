"""What happened to a person's own lines? Shares of lines that anybody can count again from a clone, or "not rated".

All of it is weighted by lines and uses the time of landing only: how work is sliced, titled or dated makes no
difference. `docs/metrics.md` has the figures that each tile is held against.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from bot.metrics.architecture import score_architecture
from bot.metrics.intervals import eighty_percent, resampled_shares
from bot.metrics.line_fates import Cause, OwnCommit, Taken
from bot.model.ids import ChangeId, Month
from bot.model.profile import Quality, QualityFact, Score, ScoreEvidence

DAY = 86_400
LEAST_LINES = 500
LEAST_CHANGES = 12
WIDEST = 6.0
"""points between the ends of an interval"""
MOST_EVIDENCE = 100
LEAST_PERFORMANCE_FIXES = 10
"""certain performance fixes of a repository in which their absence says something"""


class Tile(Struct, frozen=True):
    """One share of lines: which of a person's lines are at risk, and which of them are lost."""

    key: str
    days: int
    """a line counts once it landed this long ago, and what happens to it later does not"""
    causes: frozenset[Cause] | None
    """the later changes that count; None for all"""
    widening: float
    """measured: by how much the interval from resampled items falls short of what a second half of a record shows"""
    languages: frozenset[str]
    """where it passed its validation; elsewhere it is shown as counts only"""


CORRECTNESS = Tile("correctness", 90, frozenset(("fix", "revert")), 2.0, frozenset())
MAINTAINABILITY = Tile("maintainability", 180, None, 2.0, frozenset(("Python",)))
PERFORMANCE = Tile("performance", 180, frozenset(("performance",)), 2.0, frozenset())
TILES = (CORRECTNESS, MAINTAINABILITY, PERFORMANCE)
_REASONS: Mapping[Cause, str] = {
    "fix": "a bug fix",
    "revert": "a revert",
    "performance": "a performance fix",
    "other": "a later change",
}


def lines_lost(tile: Tile, commit: OwnCommit) -> list[tuple[Taken, int]]:
    """What later changes took from the commit in the time that counts, with how many lines."""
    end = commit.landed_at + tile.days * DAY
    found = [(one, _lines_of(tile, one)) for one in commit.taken if not one.follow_up and one.at <= end]
    return [(one, lines) for one, lines in found if lines]


def _lines_of(tile: Tile, taken: Taken) -> int:
    if tile.causes is not None:
        return taken.replaced + taken.dropped if taken.cause in tile.causes else 0
    return taken.replaced + (taken.dropped if taken.cause == "revert" else 0)


def lines_at_risk(tile: Tile, commit: OwnCommit, now: int) -> int:
    """Its lines that are old enough, without those that the same item rewrote.

    Where every loss counts, also without those that were dropped with a whole file or feature.
    """
    end = commit.landed_at + tile.days * DAY
    if end > now:
        return 0
    lines = commit.added - sum(one.replaced + one.dropped for one in commit.taken if one.follow_up)
    if tile.causes is None:
        later = [one for one in commit.taken if not one.follow_up and one.at <= end]
        lines -= sum(one.dropped for one in later if one.cause != "revert")
    return lines


class TileCounts(Struct, frozen=True):
    """A tile over some commits: (at risk, lost) of each item, and the changes at risk."""

    items: Mapping[str, tuple[int, int]]
    changes: frozenset[ChangeId]
    months: frozenset[tuple[str, Month]]
    language: str | None

    @property
    def at_risk(self) -> int:
        return sum(risk for risk, _ in self.items.values())

    @property
    def lost(self) -> int:
        return sum(lost for _, lost in self.items.values())


def read_tile(tile: Tile, commits: Iterable[OwnCommit], now: int) -> TileCounts:
    """The tile over these commits at a moment, epoch seconds."""
    items: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    languages: Counter[str | None] = Counter()
    changes, months = set(), set()
    for commit in commits:
        risk = lines_at_risk(tile, commit, now)
        if risk > 0:
            cluster = items[commit.item]
            cluster[0] += risk
            cluster[1] += min(risk, sum(lines for _, lines in lines_lost(tile, commit)))
            languages[commit.language] += risk
            changes.add(commit.change)
            months.add((commit.repository, commit.month))
    language = max(languages, key=lambda name: (languages[name], name or ""), default=None)
    counts = {item: (risk, lost) for item, (risk, lost) in items.items()}
    return TileCounts(counts, frozenset(changes), frozenset(months), language)


def interval_of(tile: Tile, counts: TileCounts) -> tuple[float, float]:
    """Where the share of another half of such a record lies in four of five cases, in points."""
    value = 1 - counts.lost / counts.at_risk
    low, high = (1 - share for share in reversed(eighty_percent(resampled_shares(sorted(counts.items.values())))))
    widened = value - tile.widening * (value - low), value + tile.widening * (high - value)
    return round(100 * max(0.0, widened[0]), 1), round(100 * min(1.0, widened[1]), 1)


def rate(own: Sequence[OwnCommit], everybody: Sequence[OwnCommit], now: int) -> Quality:
    """The tiles over a person's own commits at a moment, beside those of all people of the same months."""
    usual = _repositories_with_performance_fixes(everybody)
    correctness, maintainability, performance = (
        _score(tile, [one for one in own if one.repository in usual] if tile is PERFORMANCE else own, everybody, now)
        for tile in TILES
    )
    return Quality(
        correctness, maintainability, score_architecture(own, everybody), performance, _facts(own, everybody)
    )


def _facts(own: Sequence[OwnCommit], everybody: Iterable[OwnCommit]) -> tuple[QualityFact, ...]:
    """The share of changes with code that come with tests, beside that of everybody's in the same months."""
    months = {(one.repository, one.month) for one in own}
    others = [one for one in everybody if (one.repository, one.month) in months]
    return (QualityFact("tested_changes", _tested(own), _tested(others)),) if own else ()


def _tested(commits: Iterable[OwnCommit]) -> float | None:
    tested: dict[ChangeId, bool] = {}
    for one in commits:
        tested[one.change] = one.tested or tested.get(one.change, False)
    return round(sum(tested.values()) / len(tested), 3) if tested else None


def _repositories_with_performance_fixes(commits: Iterable[OwnCommit]) -> frozenset[str]:
    fixes: defaultdict[str, set[ChangeId]] = defaultdict(set)
    for commit in commits:
        fixes[commit.repository].update(one.change for one in commit.taken if one.cause == "performance")
    return frozenset(name for name, found in fixes.items() if len(found) >= LEAST_PERFORMANCE_FIXES)


def _score(tile: Tile, own: Sequence[OwnCommit], everybody: Sequence[OwnCommit], now: int) -> Score:
    counts = read_tile(tile, own, now)
    if not counts.at_risk:
        return Score(unrated="no lines old enough")
    others = read_tile(tile, [one for one in everybody if (one.repository, one.month) in counts.months], now)
    interval = interval_of(tile, counts)
    why = _why_not_rated(tile, counts, interval)
    return Score(
        None if why else share_kept(counts),
        len(counts.changes),
        None if why else interval,
        _evidence(tile, own, counts, now),
        counts.at_risk,
        counts.lost,
        share_kept(others) if others.at_risk else None,
        why,
    )


def share_kept(counts: TileCounts) -> float:
    """Of 100 lines at risk those that are not lost."""
    return round(100 * (1 - counts.lost / counts.at_risk), 1)


def _why_not_rated(tile: Tile, counts: TileCounts, interval: tuple[float, float]) -> str:
    if counts.language not in tile.languages:
        return f"this share was not found to repeat in {counts.language or 'this language'}"
    if counts.at_risk < LEAST_LINES:
        return f"fewer than {LEAST_LINES} lines at risk"
    if len(counts.changes) < LEAST_CHANGES:
        return f"fewer than {LEAST_CHANGES} changes at risk"
    if interval[1] - interval[0] > WIDEST:
        return f"the interval is wider than {WIDEST:.0f} points"
    return ""


def _evidence(tile: Tile, own: Iterable[OwnCommit], counts: TileCounts, now: int) -> tuple[ScoreEvidence, ...]:
    """Each of the person's changes that lost lines to a later one, most lines first."""
    lost: Counter[tuple[ChangeId, ChangeId, Cause]] = Counter()
    for commit in own:
        if lines_at_risk(tile, commit, now) > 0:
            for one, lines in lines_lost(tile, commit):
                lost[commit.change, one.change, one.cause] += lines
    strongest = sorted(lost.items(), key=lambda row: (-row[1], row[0]))[:MOST_EVIDENCE]
    return tuple(
        ScoreEvidence(
            change,
            f"{lines} line{'' if lines == 1 else 's'} replaced by {_REASONS[cause]}",
            round(-100 * lines / counts.at_risk, 2),
            later,
        )
        for (change, later, cause), lines in strongest
    )

"""Which of a person's new imports between components close a cycle or reach into private parts of another?

Sources: the patches of a whole history (`component_imports`), so that only a clone shows it. `docs/metrics.md` has the
figures that it is held against.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from bot.metrics.component_imports import ComponentImport
from bot.metrics.intervals import eighty_percent, resampled_shares
from bot.metrics.line_fates import OwnCommit
from bot.model.ids import ChangeId
from bot.model.profile import Score, ScoreEvidence

LEAST_CHANGES = 12
WIDEST = 6.0
"""points between the ends of an interval"""
MOST_EVIDENCE = 100
LANGUAGES: frozenset[str] = frozenset()
"""where the share passed its validation; elsewhere it is shown as counts only"""


def score_architecture(own: Sequence[OwnCommit], everybody: Iterable[OwnCommit]) -> Score:
    """100 less the share of new imports between components that close a cycle or reach into private parts.

    The unit at risk is an import of one component by another that no file had before.
    """
    if all(one.imports is None for one in own):
        return Score(unrated="only a clone with its whole history shows a graph of imports" if own else "no own lines")
    items = _by_item(own)
    at_risk, lost = (sum(column) for column in zip(*items.values(), strict=True)) if items else (0, 0)
    if not at_risk:
        return Score(unrated="no new import between components")
    changes = {one.change for one in own if one.imports}
    shares = resampled_shares(sorted(items.values()))
    low, high = (round(100 * (1 - share), 1) for share in reversed(eighty_percent(shares)))
    why = _why_not_rated(own, len(changes), high - low)
    return Score(
        None if why else _share(at_risk, lost),
        len(changes),
        None if why else (low, high),
        _evidence(own, at_risk),
        at_risk,
        lost,
        _project(own, everybody),
        why,
    )


def _by_item(commits: Iterable[OwnCommit]) -> dict[str, tuple[int, int]]:
    """The new imports of each item, and how many of them are harmful."""
    found: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for commit in commits:
        for one in commit.imports or ():
            found[commit.item][0] += 1
            found[commit.item][1] += one.is_harmful
    return {item: (risk, lost) for item, (risk, lost) in found.items()}


def _share(at_risk: int, lost: int) -> float:
    return round(100 * (1 - lost / at_risk), 1)


def _project(own: Iterable[OwnCommit], everybody: Iterable[OwnCommit]) -> float | None:
    """The value of everybody's new imports in the same repositories and months."""
    months = {(one.repository, one.month) for one in own if one.imports}
    rows = _by_item(one for one in everybody if (one.repository, one.month) in months).values()
    at_risk = sum(risk for risk, _ in rows)
    return _share(at_risk, sum(lost for _, lost in rows)) if at_risk else None


def _why_not_rated(own: Sequence[OwnCommit], changes: int, width: float) -> str:
    language = main_language(own)
    if language not in LANGUAGES:
        return f"this share was not found to repeat in {language or 'this language'}"
    if changes < LEAST_CHANGES:
        return f"fewer than {LEAST_CHANGES} changes at risk"
    return f"the interval is wider than {WIDEST:.0f} points" if width > WIDEST else ""


def main_language(commits: Iterable[OwnCommit]) -> str | None:
    """The language of most new imports."""
    counts: defaultdict[str, int] = defaultdict(int)
    for one in commits:
        if one.imports and one.language:
            counts[one.language] += len(one.imports)
    return max(counts, key=lambda name: (counts[name], name), default=None)


def _evidence(own: Iterable[OwnCommit], at_risk: int) -> tuple[ScoreEvidence, ...]:
    """Each harmful import, oldest first."""
    effect = round(-100 / at_risk, 2)
    rows = [(commit.change, one) for commit in own for one in commit.imports or () if one.is_harmful]
    return tuple(ScoreEvidence(ChangeId(change), _signal(one), effect) for change, one in rows[:MOST_EVIDENCE])


def _signal(one: ComponentImport) -> str:
    faults = [
        *(["closes a cycle"] if one.closes_cycle else []),
        *([f"reaches into {one.private}"] if one.private else []),
    ]
    return f"{one.importer} imports {one.imported or 'the top folder'}, which {' and '.join(faults)}"

"""How is it said, in plain sentences, what happened to a person's lines?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bot.model.profile import Quality, QualityFact, Score

NOT_RATED = "not rated"


class _Words(NamedTuple):
    counted: str
    """with the lost and those at risk"""
    unit: str = "lines"


_WORDS: Mapping[str, _Words] = {
    "correctness": _Words("bug fixes and reverts replaced {lost:,} of {at_risk:,} lines within 90 days"),
    "maintainability": _Words("later changes rewrote {lost:,} of {at_risk:,} lines within 180 days"),
    "performance": _Words("performance fixes replaced {lost:,} of {at_risk:,} lines within 180 days"),
    "architecture": _Words(
        "{lost:,} of {at_risk:,} new imports between components closed a cycle or reached into private parts",
        "new imports",
    ),
}


def counted_lines(name: str, score: Score) -> str:
    """`bug fixes and reverts replaced 38 of 1,204 lines within 90 days`; empty where nothing is at risk."""
    return _WORDS[name].counted.format(lost=score.lost, at_risk=score.at_risk) if score.at_risk else ""


def score_basis(name: str, score: Score) -> str:
    """The counts, the project's own value and the interval, or why there is no score."""
    parts = [counted_lines(name, score)] if score.at_risk else []
    if score.project is not None:
        parts.append(
            f"project {score.project:.1f}" if score.score is not None else f"project {100 - score.project:.1f} %"
        )
    if score.interval:
        parts.append(f"80 % interval {score.interval[0]:.1f} – {score.interval[1]:.1f}")
    if score.score is None:
        parts.append(f"not rated: {score.unrated or 'nothing to count it in'}")
    return "; ".join(parts)


def quality_sentences(name: str, score: Score) -> list[str]:
    """Two or three sentences: what was counted, beside what, and what follows from it."""
    if not score.at_risk:
        return [f"Not rated: {score.unrated or 'nothing to count it in'}."]
    counted = counted_lines(name, score)
    changes = f"{score.rated:,} change{'' if score.rated == 1 else 's'}"
    found = [f"{counted[0].upper()}{counted[1:]}, in {changes}: {100 * score.lost / score.at_risk:.1f} %."]
    if score.project is not None:
        found.append(f"Of everybody's {_WORDS[name].unit} in the same months it was {100 - score.project:.1f} %.")
    if score.score is None:
        found.append(f"Not rated: {score.unrated}.")
    elif score.interval:
        low, high = score.interval
        found.append(
            f"The score is {score.score:.1f}; in four of five cases another half lies in {low:.1f} to {high:.1f}."
        )
    return found


def summary_line(quality: Quality) -> str:
    """One line for a record in which nothing is rated."""
    counted = [line for name in _WORDS if (line := counted_lines(name, getattr(quality, name)))]
    if not counted:
        return "Not rated: too few lines are old enough to say what became of them."
    text = "; ".join(counted)
    return f"Not rated. {text[0].upper()}{text[1:]}."


def is_rated(quality: Quality) -> bool:
    """Whether any tile has a score."""
    return any(getattr(quality, name).score is not None for name in _WORDS)


def fact_text(fact: QualityFact) -> str:
    """`Tests in 41 % of the changes with code (project 38 %)`."""
    value = "not measured" if fact.value is None else f"{100 * fact.value:.0f} %"
    beside = "" if fact.project is None else f" (project {100 * fact.project:.0f} %)"
    return f"{_FACTS[fact.key]}: {value}{beside}"


_FACTS = {"tested_changes": "Changes with code that come with tests"}

"""How surely is a part of a change somebody's, in plain sentences?"""

from __future__ import annotations

from bot.model.change import Change, Credit
from bot.model.ids import Grade

_GRADES: dict[Grade, str] = {
    "proved": "It is proved by what GitHub says: {why}.",
    "attributed": "It is attributed: {why}.",
    "claimed": "It is only claimed: {why}. It counts in no number until the person accepts it.",
}
_UNKNOWN = "Parts unknown: several people wrote a commit of it, and nothing tells whose lines are whose."


def explain_credit(change: Change, part: Credit) -> str:
    """The grade with its evidence, and how much of the change is the person's, in one to three sentences."""
    grade = _GRADES[part.grade].format(why=part.why)
    total = sum(commit.lines.total for commit in change.counted)
    if change.parts_unknown:
        return f"{grade} {_UNKNOWN}"
    return grade if part.lines.total == total else f"{grade} Their own lines are {part.lines.total:,} of {total:,}."

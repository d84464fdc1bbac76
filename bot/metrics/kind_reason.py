"""Why does a change count as the kind it does, in plain sentences?"""

from __future__ import annotations

from bot.model.change import Change
from bot.model.ids import STATED, Kind

KIND_NAMES: dict[Kind, str] = {
    "feature": "a feature",
    "bug_fix": "a bug fix",
    "refactor": "refactoring",
    "docs": "documentation",
    "test": "tests",
    "build": "build work",
    "ci": "CI work",
    "perf": "a performance improvement",
    "style": "style",
    "chore": "maintenance",
    "revert": "a revert",
    "upkeep": "upkeep",
}


def explain_kind(change: Change) -> str:
    """The kind, how sure it is, and the evidence, in two or three sentences."""
    name = KIND_NAMES[change.kind]
    percent = f"{round(100 * change.probability / STATED)} %"
    purpose = change.kind in ("feature", "bug_fix")
    if change.probability == STATED:
        return f"It counts as {name}. The project states it: {change.why}."
    if not change.certain:
        return (
            f"It is not sure which, so it counts as neither a feature nor a bug fix. Most likely it is {name} "
            f"({percent}). The signs: {change.why}."
        )
    if change.kind == "upkeep":
        return f"It counts as upkeep, so it is neither a feature nor a bug fix. The reason: {change.why}."
    likely = f"is {percent} likely" if purpose else f"is {percent} likely to be neither a feature nor a bug fix"
    return f"It counts as {name}. Nobody stated it, but it {likely}. The signs: {change.why}."

"""Why does an item count as what it does, and why do its changes belong together, in plain sentences?"""

from __future__ import annotations

from collections.abc import Sequence

from bot.model.change import Item
from bot.model.ids import ChangeId

_COUNTS: dict[tuple[str, bool], str] = {
    ("feature", True): "It counts as a feature.",
    ("bug_fix", True): "It counts as a bug fix.",
    ("other", True): "It counts as other work.",
}
_UNCLEAR = "It is not sure which, so it counts as neither a feature nor a bug fix."
_REVERTED = "It was reverted, so it counts as nothing."
_MOST_NAMED = 4


def explain_item(item: Item) -> str:
    """What it counts as and what joins its changes, in one to three sentences."""
    counts = _REVERTED if item.state == "reverted" else _COUNTS.get((item.kind, item.certain), _UNCLEAR)
    if len(item.changes) < 2:
        return counts
    reasons = _reasons(item)
    joined = f" Its {len(item.changes)} changes belong together: {'; '.join(reasons)}." if reasons else ""
    return counts + joined


def _reasons(item: Item) -> list[str]:
    """Each reason once, with the changes that it joins, in the order of the item."""
    changes: dict[str, set[ChangeId]] = {}
    for one, other, rule in item.edges:
        changes.setdefault(explain_rule(rule), set()).update((one, other))
    return [
        f"{_listed([key for key in item.changes if key in members])} {reason}" for reason, members in changes.items()
    ]


def _listed(keys: Sequence[ChangeId]) -> str:
    named = keys if len(keys) <= _MOST_NAMED + 1 else keys[:_MOST_NAMED]
    last = named[-1] if len(named) == len(keys) else f"{len(keys) - len(named)} more"
    return f"{', '.join(named if len(named) < len(keys) else named[:-1])} and {last}"


def explain_rule(rule: str) -> str:
    """What the changes of an edge have in common: `name acme/rocket#3`."""
    kind, _, rest = rule.partition(" ")
    sort, _, name = rest.partition(":")
    if kind == "E1":
        return f"name {'ticket ' if sort == 'ticket' else ''}{name}"
    if kind == "E2":
        ways = {"stack": "are in one stack", "request": "landed by one merge request"}
        return ways.get(sort, "landed by one merge")
    if kind == "E3":
        return "are parts of one numbered series"
    if kind == "E4":
        scope = rest.partition("]")[0].removeprefix("[")
        return "say the same of different things" if sort == "series" else f"have similar titles under {scope}"
    return "have similar titles and change the same files"

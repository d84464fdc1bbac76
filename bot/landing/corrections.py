"""What do changes look like once people have corrected them?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bot.frozen import frozen
from bot.model import Change, Kind

SAID_KINDS: dict[str, Kind] = {"feature": "feature", "fix": "bug_fix", "other": "chore"}
"""the kind that each word of `classify` stands for"""


@frozen
class Classified:
    """Somebody said what kind of change the pull request of a repository brought. `by`: `its author`, say; no name."""

    repository: str
    pull_request: int
    kind: Kind
    by: str


def corrected(changes: Sequence[Change], said: Iterable[Classified]) -> tuple[Change, ...]:
    """The changes with what was said of them, the last word counting; to be asked after every fold.

    What takes other work back stays a revert: its kind is no matter of opinion.
    """
    last = {(one.repository.lower(), one.pull_request): one for one in said}
    return tuple(_corrected(change, last) for change in changes) if last else tuple(changes)


def _corrected(change: Change, last: dict[tuple[str, int], Classified]) -> Change:
    if change.pull_request is None or change.kind == "revert":
        return change
    one = last.get((change.repository.lower(), change.pull_request))
    if one is None:
        return change
    return replace(change, kind=one.kind, why=f"classified by {one.by}: correction", certain=True)

"""What do changes look like once people have corrected them?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bot.model.change import Change
from bot.model.ids import STATED, Kind

CLASSIFY_KINDS: dict[str, Kind] = {"feature": "feature", "fix": "bug_fix", "other": "chore"}
"""the kind for each word of `classify`"""


class Classification(Struct, frozen=True):
    """A stated kind for the change of one pull request. `by` is a role, such as `its author`, never a name."""

    repository: str
    pull_request: int
    kind: Kind
    by: str


def apply_corrections(changes: Sequence[Change], classifications: Iterable[Classification]) -> tuple[Change, ...]:
    """The changes with these classifications applied, where the last one wins; call it after every fold.

    A revert stays a revert: its kind is not a matter of opinion.
    """
    last = {(one.repository.lower(), one.pull_request): one for one in classifications}
    return tuple(_apply_correction(change, last) for change in changes) if last else tuple(changes)


def _apply_correction(change: Change, last: dict[tuple[str, int], Classification]) -> Change:
    if change.pull_request is None or change.kind == "revert":
        return change
    one = last.get((change.repository.lower(), change.pull_request))
    if one is None:
        return change
    return replace(change, kind=one.kind, why=f"classified by {one.by}: correction", certain=True, probability=STATED)

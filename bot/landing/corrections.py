"""What do changes look like once people have corrected them?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bot.landing.identity.credit import ACCEPTED, credited_keys
from bot.model.change import Change, Judgement
from bot.model.fact import Fact
from bot.model.ids import STATED, Kind, PersonKey

CLASSIFY_KINDS: dict[str, Kind] = {"feature": "feature", "fix": "bug_fix", "other": "chore"}
"""the kind for each word of `classify`"""
_CLASSIFIED = "classified by "


class Classification(Struct, frozen=True):
    """A stated kind for the change of one pull request. `by` is a role, such as `its author`, never a name."""

    repository: str
    pull_request: int
    kind: Kind
    by: str


class Decision(Struct, frozen=True):
    """What a person decided about claims in one repository: of one pull request, or of all that had landed by then."""

    repository: str
    keys: tuple[PersonKey, ...]
    """every key of the person"""
    accepted: bool
    pull_request: int | None = None
    until: int | None = None
    """epoch seconds"""

    def concerns(self, fact: Fact, number: int | None) -> bool:
        """Whether it is about this landed commit of the change with that number."""
        if fact.repository.lower() != self.repository.lower():
            return False
        if self.pull_request is not None:
            return self.pull_request in (fact.pull_request, number)
        return self.until is None or fact.landed_at <= self.until


Corrections = tuple[Classification | Decision, ...]


def apply_corrections(
    changes: Sequence[Change], corrections: Iterable[Classification | Decision]
) -> tuple[Change, ...]:
    """The changes with these corrections applied, where the last one wins; call it after every fold.

    A revert stays a revert: its kind is not a matter of opinion.
    """
    made = tuple(corrections)
    kinds = {(one.repository.lower(), one.pull_request): one for one in made if isinstance(one, Classification)}
    decisions = [one for one in made if isinstance(one, Decision)]
    found = tuple(_apply_correction(change, kinds) for change in changes) if kinds else tuple(changes)
    return tuple(_with_decisions(change, decisions) for change in found) if decisions else found


def _with_decisions(change: Change, decisions: Sequence[Decision]) -> Change:
    judged = tuple(
        replace(commit, judgements=_judgements(commit.fact, change.pull_request, decisions))
        for commit in change.commits
    )
    return replace(change, commits=judged) if judged != change.commits else change


def _judgements(fact: Fact, number: int | None, decisions: Sequence[Decision]) -> tuple[Judgement, ...]:
    credited = credited_keys(fact)
    said = {
        key: Judgement(key, "attributed", ACCEPTED) if one.accepted else Judgement(key, None, "rejected by the person")
        for one in decisions
        if one.concerns(fact, number)
        for key in one.keys
        if key in credited
    }
    return tuple(said[key] for key in sorted(said))


def _apply_correction(change: Change, last: dict[tuple[str, int], Classification]) -> Change:
    if change.pull_request is None or change.kind == "revert":
        return change
    one = last.get((change.repository.lower(), change.pull_request))
    if one is None:
        return change
    why = f"{_CLASSIFIED}{one.by}: correction"
    return replace(change, kind=one.kind, why=why, certain=True, probability=STATED)


def is_classified(change: Change) -> bool:
    """Whether a person stated its kind."""
    return change.why.startswith(_CLASSIFIED)

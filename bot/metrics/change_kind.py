"""What kind of change is this, and which rule or words indicate it?

Evidence in this order: a revert marker; the prefix, tag or emoji of the title; labels, the type of the linked issue,
the branch; whether it changes only documentation; its release note; a linear model over words, paths and lines. What a
person stated always precedes a guess, and a guess below one half is not certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bot.landing.lines.split import ReadFile
from bot.metrics import kind_features, kind_model, kind_rules
from bot.metrics.kind_notes import noted_kind
from bot.metrics.kind_rules import NO_OWN_KINDS, OwnKinds, StatedKind
from bot.model.ids import STATED, Kind

__all__ = ["NO_OWN_KINDS", "KindEvidence", "OwnKinds", "Verdict", "classify", "classify_all"]

CERTAIN = 0.5
"""probability from which a guess of the model counts as certain"""


class KindEvidence(NamedTuple):
    """The evidence about a change. `body` is its message without the title."""

    title: str
    body: str = ""
    files: Sequence[ReadFile] = ()
    labels: Sequence[str] = ()
    branch: str = ""
    issue_types: Sequence[str] = ()


class Verdict(NamedTuple):
    """A kind, the rule or features behind it, and whether it may be stated as a fact."""

    kind: Kind
    why: str
    certain: bool = True
    probability: int = STATED
    """in thousandths"""


def classify(evidence: KindEvidence, own: OwnKinds = NO_OWN_KINDS) -> Verdict:
    """The kind of a change. `own` is the repository's configuration of its labels and scopes."""
    return classify_all((evidence,), own)[0]


def classify_all(group: Sequence[KindEvidence], own: OwnKinds = NO_OWN_KINDS) -> list[Verdict]:
    """The kind of each change; each source of evidence is evaluated for all of them together."""
    titles = [kind_rules.relanded_title(one.title) or one.title for one in group]
    stated = [_stated_kind(title, one, own) for title, one in zip(titles, group, strict=True)]
    stated = [found or _kind_by_files(one.files) for found, one in zip(stated, group, strict=True)]
    undecided = [(title, one) for title, one, found in zip(titles, group, stated, strict=True) if found is None]
    guessed = iter(_guess_kinds(undecided))
    return [next(guessed) if found is None else Verdict(*found) for found in stated]


def _stated_kind(title: str, evidence: KindEvidence, own: OwnKinds) -> StatedKind | None:
    is_reland = title is not evidence.title
    return (
        (None if is_reland else kind_rules.revert_kind(title, evidence.body))
        or kind_rules.title_kind(title, own)
        or (kind_rules.label_kind(evidence.labels, own) if evidence.labels else None)
        or (kind_rules.issue_type_kind(evidence.issue_types) if evidence.issue_types else None)
        or (kind_rules.branch_kind(evidence.branch) if evidence.branch else None)
    )


def _kind_by_files(files: Sequence[ReadFile]) -> StatedKind | None:
    return _documentation(files) or noted_kind(files) if files else None


def _documentation(files: Sequence[ReadFile]) -> StatedKind | None:
    """Changes of documentation only are docs (86 of 100 such commits are called so by their authors). Changes of
    only tests, CI or build files are left to the model, because projects call them test, ci and build about as often
    as chore or fix."""
    if all(
        file.part == "docs" and kind_features.file_category(file.change.path, file.part) == "docs" for file in files
    ):
        return "docs", "only documentation changed"
    return None


def _guess_kinds(undecided: Sequence[tuple[str, KindEvidence]]) -> list[Verdict]:
    """The model's guess for each change; an empty group of features is missing evidence."""
    words = [kind_features.words(kind_rules.strip_marks(title)) for title, _ in undecided]
    paths = [kind_features.paths(one.files) for _, one in undecided]
    body = [kind_features.body_words(one.body) if one.body else () for _, one in undecided]
    patch = kind_features.patches([one.files for _, one in undecided])
    model = kind_model.load()
    return [
        _as_verdict(model.guess(dict(zip(kind_model.GROUPS, found, strict=True))))
        for found in zip(words, paths, body, patch, strict=True)
    ]


def _as_verdict(guess: kind_model.Guess) -> Verdict:
    why = ", ".join(guess.tokens) or "no sign of a kind"
    return Verdict(guess.kind, why, guess.probability >= CERTAIN, round(guess.probability * STATED))

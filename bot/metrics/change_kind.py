"""What kind of change is this, which rule or words indicate it, and how sure is that?

Evidence in this order: a revert marker; what the pull request states (the prefix, tag or emoji of its title, its
labels, its release note, the type of the linked issue, its branch); what the commit itself states; upkeep by title or
files; only documentation; a linear model weighed with the grammar of the title. A statement always precedes a guess,
and a guess is certain only if at least 85 in 100 such guesses are right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bot.landing.lines.split import ReadFile
from bot.metrics import kind_certainty, kind_features, kind_model, kind_rules
from bot.metrics.kind_certainty import Odds
from bot.metrics.kind_notes import noted_kind
from bot.metrics.kind_rules import NO_OWN_KINDS, OwnKinds, StatedKind
from bot.metrics.kind_title import TitleSigns, read_title
from bot.metrics.kind_upkeep import upkeep_by_files
from bot.model.ids import STATED, Kind

__all__ = ["NO_OWN_KINDS", "KindEvidence", "OwnKinds", "Verdict", "classify", "classify_all"]

BY_RULE = 960
"""probability, in thousandths, of what a rule decides: upkeep, or only documentation"""
_MOST_TOKENS = 3


class KindEvidence(NamedTuple):
    """The evidence about a change. `body` is its message without the title."""

    title: str
    body: str = ""
    files: Sequence[ReadFile] = ()
    labels: Sequence[str] = ()
    branch: str = ""
    issue_types: Sequence[str] = ()
    subject: str = ""
    """the commit's own subject, where `title` is its pull request's"""


class Verdict(NamedTuple):
    """A kind, the rule or features behind it, and whether it may be stated as a fact."""

    kind: Kind
    why: str
    certain: bool = True
    probability: int = STATED
    """in thousandths; for a kind that is neither feature nor fix, of being neither"""


def classify(evidence: KindEvidence, own: OwnKinds = NO_OWN_KINDS) -> Verdict:
    """The kind of a change. `own` is the repository's configuration of its labels and scopes."""
    return classify_all((evidence,), own)[0]


def classify_all(group: Sequence[KindEvidence], own: OwnKinds = NO_OWN_KINDS) -> list[Verdict]:
    """The kind of each change; each source of evidence is evaluated for all of them together."""
    titles = [kind_rules.relanded_title(one.title) or one.title for one in group]
    decided = [_decided(title, one, own) for title, one in zip(titles, group, strict=True)]
    undecided = [(title, one) for title, one, found in zip(titles, group, decided, strict=True) if found is None]
    guessed = iter(_guess_kinds(undecided))
    return [found or next(guessed) for found in decided]


def _decided(title: str, evidence: KindEvidence, own: OwnKinds) -> Verdict | None:
    """What somebody stated, else what a rule shows. No statement makes upkeep a feature or a fix."""
    prefixed = (
        None if title is not evidence.title else kind_rules.revert_kind(title, evidence.body)
    ) or kind_rules.title_kind(title, own)
    if prefixed:
        return Verdict(*prefixed)
    stated = _stated_beside_title(evidence, own)
    if stated and stated[0] not in ("feature", "bug_fix"):
        return Verdict(*stated)
    if read_title(title).upkeep:
        return Verdict("upkeep", "the title tells of a release or other upkeep", probability=BY_RULE)
    if stated:
        return Verdict(*stated)
    upkeep = upkeep_by_files(evidence.files)
    if upkeep:
        return Verdict("upkeep", upkeep, probability=BY_RULE)
    if evidence.files and _is_documentation(evidence.files):
        return Verdict("docs", "only documentation changed", probability=BY_RULE)
    return None


def _stated_beside_title(evidence: KindEvidence, own: OwnKinds) -> StatedKind | None:
    """What the pull request states beside its title, else what the commit's own subject states."""
    return (
        (kind_rules.label_kind(evidence.labels, own) if evidence.labels else None)
        or noted_kind(evidence.files)
        or (kind_rules.issue_type_kind(evidence.issue_types) if evidence.issue_types else None)
        or (kind_rules.branch_kind(evidence.branch) if evidence.branch else None)
        or (kind_rules.title_kind(evidence.subject, own) if evidence.subject else None)
    )


def _is_documentation(files: Sequence[ReadFile]) -> bool:
    """Changes of documentation only are docs (86 of 100 such commits are called so by their authors). Changes of
    only tests, CI or build files are left to the model, because projects call them test, ci and build about as often
    as chore or fix."""
    return all(
        file.part == "docs" and kind_features.file_category(file.change.path, file.part) == "docs" for file in files
    )


def _guess_kinds(undecided: Sequence[tuple[str, KindEvidence]]) -> list[Verdict]:
    """The guess for each change; an empty group of features is missing evidence."""
    words = [kind_features.words(kind_rules.strip_marks(title)) for title, _ in undecided]
    paths = [kind_features.paths(one.files) for _, one in undecided]
    body = [kind_features.body_words(one.body) if one.body else () for _, one in undecided]
    patch = kind_features.patches([one.files for _, one in undecided])
    groups = [dict(zip(kind_model.GROUPS, found, strict=True)) for found in zip(words, paths, body, patch, strict=True)]
    return [_guess(read_title(title), one, found) for (title, one), found in zip(undecided, groups, strict=True)]


def _guess(title: TitleSigns, evidence: KindEvidence, features: Mapping[str, Sequence[str]]) -> Verdict:
    model = kind_model.load()
    scores = model.score(features)
    weighed = kind_certainty.weigh(title, evidence.body, evidence.files, Odds(*scores.purposes))
    kind = model.choose(scores, weighed.odds)
    probability = round(weighed.probability(kind) * STATED)
    doubt = f", but {weighed.doubt(kind)}" if weighed.is_likely(kind) and weighed.doubt(kind) else ""
    return Verdict(kind, _why(title, scores.reasons(kind)) + doubt, weighed.is_certain(kind), probability)


def _why(title: TitleSigns, tokens: Sequence[str]) -> str:
    """The signs behind a guess, for display."""
    signs = []
    if title.word:
        signs.append(f"verb “{title.word}”")
    if title.faults:
        signs.append("a word for a fault")
    if title.aside:
        signs.append("speaks of tests, documents or tools")
    elif title.offers:
        signs.append("names what users get")
    signs += tokens[:_MOST_TOKENS]
    return ", ".join(signs) or "no sign of a kind"

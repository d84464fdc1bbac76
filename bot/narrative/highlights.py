"""Which entries lead? A ranking that is measured against the changelogs of projects (docs/texts.md)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from math import log1p

from msgspec import Struct

from bot.landing.identity.credit import person_key
from bot.model.change import Change
from bot.model.ids import ChangeId, PersonKey
from bot.narrative.entry import Entry
from bot.narrative.runs import join_runs

_WEEK = 7 * 86_400
_NEVER_LEADS = frozenset({"upkeep", "style", "chore", "revert"})
_UPKEEP = re.compile(
    r"\W*(?:chore|style|lint|ci|build|deps|release|meta|maint\w*|internal|tests?|typo)\b\s?"
    r"(?:\([^()]{0,40}\))?\W?[:\]]",
    re.IGNORECASE,
)
_LEADING_TAGS = frozenset({"Feature", "Fix", "Performance", "Security"})
_UPKEEP_TAGS = frozenset({"Build", "Tests", "Refactoring"})
_MARKS = ("security", "vulnerab", "cve-", "breaking", "backward", "deprecat", "incompatib")


class RankWeights(Struct, frozen=True):
    """What each sign adds to the rank of an entry."""

    changelog: float = 4.0
    lines: float = 1.0
    """for each doubling by e of the authored lines"""
    product: float = 2.0
    """a feature, a fix, performance or security"""
    upkeep: float = -1.0
    issue: float = 0.5
    marks: float = 1.0
    tests: float = 0.7
    weeks: float = 0.3


RANK_WEIGHTS = RankWeights()


def rank(
    entries: Mapping[ChangeId, Entry],
    changes: Sequence[Change],
    keys: Collection[PersonKey],
    *,
    weights: RankWeights = RANK_WEIGHTS,
    runs: bool = True,
) -> tuple[Entry, ...]:
    """The entries that may lead, best first: not reverted work nor upkeep. Runs of one doing are joined if `runs`."""
    fitting = {change.id: change for change in changes if change.id in entries and may_lead(change, entries[change.id])}
    documents = _mostly_documentation(entries, fitting)
    scores = {
        name: _score(fitting[name], entries[name], keys, weights=weights, documents=documents) for name in fitting
    }
    leading = [entries[name] for name in fitting]
    joined = join_runs(leading) if runs else leading
    return tuple(
        sorted(joined, key=lambda entry: (-scores[entry.change] - log1p(entry.count - 1), entry.month, entry.change))
    )


def may_lead(change: Change, entry: Entry) -> bool:
    """Whether the entry may stand at the head of a text: not of reverted work nor of upkeep."""
    if _UPKEEP.match(change.title) or _UPKEEP.match(entry.quoted):
        return False
    kept_out = change.certain and change.kind in _NEVER_LEADS and entry.tag not in _LEADING_TAGS
    return change.outcome and not kept_out


def _mostly_documentation(entries: Mapping[ChangeId, Entry], changes: Collection[ChangeId]) -> bool:
    """Whether documentation is the person's work."""
    return sum(entries[name].tag == "Documentation" for name in changes) * 2 > len(changes)


def _score(
    change: Change, entry: Entry, keys: Collection[PersonKey], *, weights: RankWeights, documents: bool
) -> float:
    own = [one for one in change.commits if one.counts and person_key(one.fact.author) in keys]
    authored = sum(one.lines.authored + (one.lines.docs if documents else 0) for one in own)
    leading = entry.tag in _LEADING_TAGS or (documents and entry.tag == "Documentation")
    began = min((one.fact.opened_at or one.fact.authored_at for one in own), default=change.landed_at)
    signs = (
        (weights.changelog, entry.source == "changelog"),
        (weights.lines, log1p(authored)),
        (weights.product, leading),
        (weights.upkeep, entry.tag in _UPKEEP_TAGS),
        (weights.issue, any(link.startswith("issue:") for one in own for link in one.fact.links)),
        (weights.marks, any(mark in f"{change.title} {entry.quoted}".lower() for mark in _MARKS)),
        (weights.tests, any(one.lines.tests for one in own)),
        (weights.weeks, log1p(max(change.landed_at - began, 0) / _WEEK)),
    )
    return sum(weight * float(value) for weight, value in signs)

"""How is non-code activity worded and counted, and what evidence does each number link to?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bot.metrics.non_code_activity import GITHUB_FIELDS
from bot.model.ids import ChangeId
from bot.model.profile import MonthRecord, NonCodeActivity, Profile, Trace
from bot.render.wording import quantity

Names = tuple[str, str, str]
"""(word in a trace, singular, plural)"""


class NonCodeKind(Struct, frozen=True):
    """One kind of non-code activity: `said` has `{}` for the number of its `unit`; `depth` is shown in brackets."""

    name: str
    template: str
    unit: tuple[str, str]
    field: str
    """name of the number in the JSON format"""
    depth: tuple[tuple[str, Names], ...] = ()
    """(name in the JSON format, names) of each part"""


NON_CODE_KINDS = (
    NonCodeKind("documentation", "{}", ("documentation change", "documentation changes"), "changes"),
    NonCodeKind("first_contributions", "first contribution to {}", ("repository", "repositories"), "repositories"),
    NonCodeKind(
        "reviews",
        "reviewed {} of others",
        ("pull request", "pull requests"),
        "pull_requests",
        (
            ("given", ("reviewed", "review", "reviews")),
            ("approvals", ("approved", "approval", "approvals")),
            ("rounds", ("changes_requested", "request for changes", "requests for changes")),
            ("remarks", ("remarked", "remark on a line", "remarks on lines")),
        ),
    ),
    NonCodeKind(
        "newcomers",
        "reviewed or merged {} of newcomers",
        ("first pull request", "first pull requests"),
        "pull_requests",
        (("reviewed", ("reviewed", "reviewed", "reviewed")), ("merged", ("merged", "merged", "merged"))),
    ),
    NonCodeKind(
        "triage",
        "triaged {} of others",
        ("issue", "issues"),
        "issues",
        (
            ("closed", ("closed", "closed", "closed")),
            ("labelled", ("labelled", "labelled", "labelled")),
            ("assigned", ("assigned", "assigned", "assigned")),
            ("milestoned", ("milestoned", "put on a milestone", "put on a milestone")),
            ("transferred", ("transferred", "transferred", "transferred")),
        ),
    ),
    NonCodeKind(
        "releases",
        "published {}",
        ("release", "releases"),
        "published",
        (("prereleases", ("prerelease", "prerelease", "prereleases")),),
    ),
    NonCodeKind("self_merges", "merged {}", ("own pull request", "own pull requests"), "pull_requests"),
)
"""every kind, in the order of display"""
ON_EACH = ("triage", "newcomers")
"""kinds whose parts are counted once for each trace, however often they were done there"""


KNOWN_SINCE = (
    "Reviews, triage, releases and merges are shown if GitHub reported them, mostly since Almanac was installed. "
    "There may be more that Almanac has not seen."
)


class NonCodeLine(Struct, frozen=True):
    """One kind in words, with its evidence: changes of the record, or traces on GitHub."""

    words: str
    changes: tuple[ChangeId, ...] = ()
    traces: tuple[Trace, ...] = ()


def non_code_lines(non_code: NonCodeActivity) -> Iterator[NonCodeLine]:
    """A line for each kind that occurs: `reviewed 3 pull requests of others (4 reviews, 2 approvals)`."""
    for kind in NON_CODE_KINDS:
        found = getattr(non_code, kind.name)
        if found:
            text = kind.template.format(quantity(len(found), *kind.unit))
            numbers_of = detail_counts(non_code, kind)
            deep = [quantity(number, *names[1:]) for name, names in kind.depth if (number := numbers_of[name])]
            words = f"{text} ({', '.join(deep)})" if deep else text
            yield NonCodeLine(words, traces=found) if kind.name in GITHUB_FIELDS else NonCodeLine(words, changes=found)


def month_lines(non_code: NonCodeActivity) -> Iterator[NonCodeLine]:
    """The lines beside a month's text, which counts the documentation changes itself."""
    return non_code_lines(replace(non_code, documentation=()))


def detail_counts(non_code: NonCodeActivity, kind: NonCodeKind) -> dict[str, int]:
    """The counts in the brackets, by their names in the JSON format."""
    if not kind.depth:
        return {}
    did: Counter[str] = Counter()
    for trace in getattr(non_code, kind.name):
        did.update(set(trace.did) if kind.name in ON_EACH else trace.did)
    return {name: did[names[0]] for name, names in kind.depth}


def numbers(non_code: NonCodeActivity, kind: NonCodeKind) -> dict[str, int]:
    """All numbers of a kind by their names in the JSON format."""
    return {kind.field: len(getattr(non_code, kind.name))} | detail_counts(non_code, kind)


def evidence_rows(non_code: NonCodeActivity, kind: NonCodeKind) -> list[Any]:
    """The evidence for the numbers of a kind, in the JSON format."""
    found = getattr(non_code, kind.name)
    return [
        {"repository": one.repository, "name": one.name, "did": list(one.did), "url": one.url}
        if isinstance(one, Trace)
        else one
        for one in found
    ]


def json_fields(non_code: NonCodeActivity, *, opened: bool) -> dict[str, Any]:
    """`beside_code` for what the changes show and `live` for what only GitHub shows, each only if there is any.

    `opened` adds the evidence.
    """
    out: dict[str, Any] = {}
    for kind in NON_CODE_KINDS:
        if getattr(non_code, kind.name):
            row: dict[str, Any] = numbers(non_code, kind)
            if opened:
                row |= {"evidence": evidence_rows(non_code, kind)}
            out.setdefault("live" if kind.name in GITHUB_FIELDS else "beside_code", {})[kind.name] = row
    return out


def history_months(profile: Profile) -> list[MonthRecord]:
    """All months of the work history, newest first: with landed work, or with only non-code activity."""
    return sorted((*profile.months, *profile.non_code_months), key=attrgetter("month"), reverse=True)


def trace_label(trace: Trace) -> str:
    """`app#12`, or `app v1.2.0` for a release."""
    mark = "" if trace.name.startswith("#") else " "
    return f"{trace.repository.rpartition('/')[2]}{mark}{trace.name}"

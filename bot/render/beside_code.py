"""How is work beside code worded and counted, and what does each of its numbers open into?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from msgspec import Struct

from bot.metrics.beside_code import SEEN
from bot.model import BesideCode, ChangeId, MonthRecord, Profile, Trace
from bot.render.wording import counted

Names = tuple[str, str, str]
"""the word of a trace, and what one and several of it are called"""


class Sort(Struct, frozen=True):
    """One sort of work beside code: `said` has `{}` for the number of its `unit`, `depth` is told in brackets."""

    name: str
    said: str
    unit: tuple[str, str]
    field: str
    """what the number is called in the JSON form"""
    depth: tuple[tuple[str, Names], ...] = ()
    """(name in the JSON form, names) of each part"""


SORTS = (
    Sort("documentation", "{}", ("documentation change", "documentation changes"), "changes"),
    Sort("first_contributions", "first contribution to {}", ("repository", "repositories"), "repositories"),
    Sort(
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
    Sort(
        "newcomers",
        "reviewed or merged {} of newcomers",
        ("first pull request", "first pull requests"),
        "pull_requests",
        (("reviewed", ("reviewed", "reviewed", "reviewed")), ("merged", ("merged", "merged", "merged"))),
    ),
    Sort(
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
    Sort(
        "releases",
        "published {}",
        ("release", "releases"),
        "published",
        (("prereleases", ("prerelease", "prerelease", "prereleases")),),
    ),
    Sort("self_merges", "merged {}", ("own pull request", "own pull requests"), "pull_requests"),
)
"""every sort, in the order in which they are told"""
ON_EACH = ("triage", "newcomers")
"""sorts whose parts are counted once for each place, however often they were done there"""


KNOWN_SINCE = (
    "Reviews, triage, releases and merges are shown if GitHub reported them, mostly since Almanac was installed. "
    "There may be more that Almanac has not seen."
)


class Said(Struct, frozen=True):
    """One sort in words, and what opens it: changes of the record, or traces at GitHub."""

    words: str
    changes: tuple[ChangeId, ...] = ()
    traces: tuple[Trace, ...] = ()


def said(beside: BesideCode) -> Iterator[Said]:
    """Each sort that there is: `reviewed 3 pull requests of others (4 reviews, 2 approvals)`."""
    for sort in SORTS:
        found = getattr(beside, sort.name)
        if found:
            told = sort.said.format(counted(len(found), *sort.unit))
            numbers_of = parts(beside, sort)
            deep = [counted(number, *names[1:]) for name, names in sort.depth if (number := numbers_of[name])]
            words = f"{told} ({', '.join(deep)})" if deep else told
            yield Said(words, traces=found) if sort.name in SEEN else Said(words, changes=found)


def parts(beside: BesideCode, sort: Sort) -> dict[str, int]:
    """The parts of a sort's depth, by their names in the JSON form."""
    if not sort.depth:
        return {}
    did: Counter[str] = Counter()
    for trace in getattr(beside, sort.name):
        did.update(set(trace.did) if sort.name in ON_EACH else trace.did)
    return {name: did[names[0]] for name, names in sort.depth}


def numbers(beside: BesideCode, sort: Sort) -> dict[str, int]:
    """All numbers of a sort by their names in the JSON form."""
    return {sort.field: len(getattr(beside, sort.name))} | parts(beside, sort)


def evidence(beside: BesideCode, sort: Sort) -> list[Any]:
    """What opens a sort's numbers, as the JSON form spells it."""
    found = getattr(beside, sort.name)
    return [
        {"repository": one.repository, "name": one.name, "did": list(one.did), "url": one.url}
        if isinstance(one, Trace)
        else one
        for one in found
    ]


def objects(beside: BesideCode, *, opened: bool) -> dict[str, Any]:
    """`beside_code` of what the changes show, `live` of what GitHub alone shows; neither where there is none.

    `opened` adds the evidence.
    """
    out: dict[str, Any] = {}
    for sort in SORTS:
        if getattr(beside, sort.name):
            told: dict[str, Any] = numbers(beside, sort)
            if opened:
                told |= {"evidence": evidence(beside, sort)}
            out.setdefault("live" if sort.name in SEEN else "beside_code", {})[sort.name] = told
    return out


def months_of(profile: Profile) -> list[MonthRecord]:
    """All months of the work history, newest first: those with landed work, and those with work beside code alone."""
    return sorted((*profile.months, *profile.beside_months), key=attrgetter("month"), reverse=True)


def label(trace: Trace) -> str:
    """`app#12`, or `app v1.2.0` of a release."""
    mark = "" if trace.name.startswith("#") else " "
    return f"{trace.repository.rpartition('/')[2]}{mark}{trace.name}"

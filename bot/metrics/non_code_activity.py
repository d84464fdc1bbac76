"""What did a person do besides code, month by month? Counted separately, and never part of a number about code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Literal
from urllib.parse import quote
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from bot.landing.months import month_of
from bot.metrics.work import MonthWork
from bot.model.change import Change
from bot.model.commit import GITHUB
from bot.model.ids import ChangeId, Month
from bot.model.profile import NonCodeActivity, Trace

DeedKind = Literal["review", "remark", "merger", "triage", "release"]
ItemNumber = tuple[str, int]
"""full name of a repository, and the number of a pull request or issue there"""

CHANGE_FIELDS = ("documentation", "first_contributions")
"""fields of `NonCodeActivity` that hold changes: a clone shows them, too"""
GITHUB_FIELDS = ("reviews", "triage", "releases", "newcomers", "self_merges")
"""fields for what only GitHub shows"""
MERGE_CLOSE_SECONDS = 60
"""an issue closed within this many seconds after a merge was closed by the merged work's text, not by a person"""


class Deed(Struct, frozen=True):
    """One thing that GitHub showed a person do. `number` is 0 for a release, `source` its own id, `at` epoch seconds.

    `did` is the state of a review, what was done to an issue, `own` or `other` for a merge, the state of a release.
    """

    kind: DeedKind
    repository: str
    number: int
    source: str
    at: int
    did: str = ""
    tag: str = ""


# --- what a clone shows, too -----------------------------------------------------------------------------------------


def documentation(delivered: Iterable[Change]) -> tuple[ChangeId, ...]:
    """The delivered changes that are not reverted and consist mostly of documentation, by lines of code."""
    return tuple(change.id for change in delivered if change.outcome and 2 * change.lines.docs > change.lines.code)


def first_contributions(
    work: Mapping[Month, MonthWork], partial: Collection[str] = ()
) -> dict[Month, tuple[ChangeId, ...]]:
    """The first change that the person landed in each repository, by month, except for partially known repositories."""
    first: dict[str, tuple[int, str, ChangeId]] = {}
    months: dict[ChangeId, Month] = {}
    for month, done in work.items():
        for change, commit in done.commits:
            landed = commit.fact.landed_at, commit.fact.commit, change.id
            if commit.fact.repository not in partial and landed < first.get(commit.fact.repository, _NEVER):
                first[commit.fact.repository], months[change.id] = landed, month
    found: dict[Month, list[ChangeId]] = defaultdict(list)
    for _, _, name in sorted(first.values()):
        found[months[name]].append(name)
    return {month: tuple(dict.fromkeys(names)) for month, names in found.items()}


_NEVER = (2**63, "", ChangeId(""))


# --- what only GitHub shows ------------------------------------------------------------------------------------------


def activity_by_month(
    deeds: Iterable[Deed], firsts: Mapping[ItemNumber, int], zone: ZoneInfo, *, host: str = GITHUB
) -> dict[Month, NonCodeActivity]:
    """One person's observed activity by month. `firsts`: pull requests that were their authors' first landings in
    the repository, and when they landed (epoch seconds)."""
    given = tuple(deeds)
    months: dict[Month, list[Deed]] = defaultdict(list)
    for one in given:
        months[month_of(one.at, zone)].append(one)
    first_landings: dict[Month, dict[ItemNumber, int]] = defaultdict(dict)
    for item in {(one.repository, one.number) for one in given} & firsts.keys():
        month = month_of(firsts[item], zone)
        first_landings[month][item] = firsts[item]
        months[month] += ()
    merges = [one for one in given if one.kind == "merger"]
    found = {
        month: NonCodeActivity(
            reviews=reviews(month_deeds, host=host),
            triage=triage(month_deeds, merges, host=host),
            releases=releases(month_deeds, host=host),
            newcomers=newcomers(given, first_landings[month], host=host),
            self_merges=self_merges(month_deeds, host=host),
        )
        for month, month_deeds in months.items()
    }
    return {month: found[month] for month in sorted(found) if found[month]}


def reviews(deeds: Iterable[Deed], *, host: str = GITHUB) -> tuple[Trace, ...]:
    """The reviewed pull requests of others: `reviewed` for each review, and its result."""
    found: dict[ItemNumber, list[str]] = defaultdict(list)
    given: set[tuple[str, int, str]] = set()
    for one in deeds:
        if one.kind == "remark":
            found[one.repository, one.number].append("remarked")
        elif one.kind == "review":
            name = one.repository, one.number, one.source.partition(":")[0]
            found[one.repository, one.number] += [one.did] if name in given else [one.did, "reviewed"]
            given.add(name)
    return _traces(found, "pull", host)


def triage(deeds: Iterable[Deed], merges: Sequence[Deed] = (), *, host: str = GITHUB) -> tuple[Trace, ...]:
    """The issues of others that the person closed, labelled, assigned, put on a milestone or transferred."""
    found: dict[ItemNumber, list[str]] = defaultdict(list)
    merged = [one.at for one in merges]
    for one in deeds:
        if one.kind == "triage" and not _is_closed_by_merge(one, merged):
            found[one.repository, one.number].append(one.did)
    return _traces(found, "issues", host)


def _is_closed_by_merge(one: Deed, merged: Iterable[int]) -> bool:
    return one.did == "closed" and any(0 <= one.at - moment <= MERGE_CLOSE_SECONDS for moment in merged)


def releases(deeds: Iterable[Deed], *, host: str = GITHUB) -> tuple[Trace, ...]:
    """The published releases that were not deleted; `release` if it is, or became, a full release."""
    states: dict[tuple[str, str], dict[str, Deed]] = defaultdict(dict)
    for one in deeds:
        if one.kind == "release":
            states[one.repository, one.source.partition(":")[0]][one.did] = one
    published = [seen for seen in states.values() if "gone" not in seen]
    newest = [seen.get("release") or seen["prerelease"] for seen in published]
    return tuple(
        Trace(
            one.repository,
            one.tag,
            f"https://{host}/{one.repository}/releases/tag/{quote(one.tag, safe='')}",
            (one.did,),
        )
        for one in sorted(newest, key=lambda one: (one.at, one.repository, one.source))
    )


def newcomers(deeds: Iterable[Deed], firsts: Collection[ItemNumber], *, host: str = GITHUB) -> tuple[Trace, ...]:
    """The reviewed or merged pull requests that were somebody's first to land in the repository."""
    found: dict[ItemNumber, list[str]] = defaultdict(list)
    for one in deeds:
        item, did = (one.repository, one.number), _HELPED.get(one.kind)
        if item in firsts and did and one.did != "own" and did not in found[item]:
            found[item].append(did)
    return _traces({item: did for item, did in found.items() if did}, "pull", host)


_HELPED = {"review": "reviewed", "remark": "reviewed", "merger": "merged"}


def self_merges(deeds: Iterable[Deed], *, host: str = GITHUB) -> tuple[Trace, ...]:
    """The person's own pull requests that the person merged."""
    found = {(one.repository, one.number): ["merged"] for one in deeds if one.kind == "merger" and one.did == "own"}
    return _traces(found, "pull", host)


def _traces(found: Mapping[ItemNumber, Sequence[str]], page: str, host: str) -> tuple[Trace, ...]:
    return tuple(
        Trace(name, f"#{number}", f"https://{host}/{name}/{page}/{number}", tuple(sorted(found[name, number])))
        for name, number in sorted(found)
    )


# --- months together -------------------------------------------------------------------------------------------------


def combine_activity(months: Iterable[NonCodeActivity]) -> NonCodeActivity:
    """All months combined: what appears in several months is there once, with everything that was done to it."""
    given = tuple(months)

    def changes(found: Callable[[NonCodeActivity], tuple[ChangeId, ...]]) -> tuple[ChangeId, ...]:
        return tuple(dict.fromkeys(chain.from_iterable(map(found, given))))

    def traces(found: Callable[[NonCodeActivity], tuple[Trace, ...]]) -> tuple[Trace, ...]:
        return _combine_traces(chain.from_iterable(map(found, given)))

    return NonCodeActivity(
        documentation=changes(attrgetter("documentation")),
        first_contributions=changes(attrgetter("first_contributions")),
        reviews=traces(attrgetter("reviews")),
        triage=traces(attrgetter("triage")),
        releases=traces(attrgetter("releases")),
        newcomers=traces(attrgetter("newcomers")),
        self_merges=traces(attrgetter("self_merges")),
    )


def _combine_traces(traces: Iterable[Trace]) -> tuple[Trace, ...]:
    found: dict[tuple[str, str], Trace] = {}
    for one in traces:
        before = found.get((one.repository, one.name), one)
        did = one.did if before is one else tuple(sorted((*before.did, *one.did)))
        found[one.repository, one.name] = replace(before, did=did)
    return tuple(found.values())

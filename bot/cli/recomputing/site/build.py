"""How does a site come from clones in one pass over their record?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Struct
from msgspec.structs import replace

import bot.render
from bot.cli.recomputing.digest import made_releases
from bot.cli.recomputing.offline import Window, record_of
from bot.cli.recomputing.site.agreement import Agreement, Confirm, agreement
from bot.cli.recomputing.site.folder import SiteCount, SiteFolder
from bot.cli.recomputing.site.months import (
    MonthContext,
    MonthResult,
    SiteMonth,
    fingerprint,
    last_commits,
    month_result,
    releases_by_month,
    site_months,
)
from bot.cli.recomputing.site.people import SitePeople, folders_of, shown_people
from bot.history.record import CloneRecord, program_stamp
from bot.landing.months import month_of
from bot.metrics.registry import metrics_on
from bot.model.change import Change
from bot.model.ids import Month
from bot.model.profile import Profile
from bot.render.html.organisation import RepositoryMonth
from bot.render.static.addresses import distinct_folders, month_links
from bot.render.static.digest_page import digest_page
from bot.render.static.masking import mask_change
from bot.render.static.pages import (
    SiteFrame,
    SitePerson,
    SiteRepository,
    index_page,
    month_page,
    repository_page,
)
from bot.render.static.person import PICTURES, person_files
from bot.render.static.sums import digests_feed, months_csv, months_json, site_json
from bot.render.text.json import render_json


class SiteReport(Struct, frozen=True):
    """What a build did, for whom, and which entries of people files do not count."""

    count: SiteCount
    people: tuple[str, ...]
    notes: tuple[str, ...]


class SiteOptions(Struct, frozen=True):
    """A file that joins identities, the name of a single clone, what to read in place of the default branch, and who
    confirms an entry of a people file.
    """

    mailmap: Path | None = None
    name: str | None = None
    head: str | None = None
    confirm: Confirm | None = None


def build_site(paths: Sequence[str], output: Path, window: Window, options: SiteOptions | None = None) -> SiteReport:
    """Write the site of the clones into the folder. Raises UnusableInputError for bad input."""
    folder, options = SiteFolder(output), options or SiteOptions()
    with record_of(paths, options.mailmap, name=options.name, head=options.head) as record:
        site = _Site(record, folder, window.zone, agreement(record, options.confirm))
        count = folder.save(site.build())
        return SiteReport(count, tuple(person.display for person in site.agreed.people), site.agreed.notes)


class _Site:
    """One build."""

    def __init__(self, record: CloneRecord, folder: SiteFolder, zone: ZoneInfo, agreed: Agreement) -> None:
        self.agreed = agreed
        self._record = record
        self._folder = folder
        self._zone = zone
        self._changes: tuple[Change, ...] = record.all_changes()
        self._texts = record.texts_about(self._changes)
        self._named = shown_people(record, agreed)
        newest = max((one.fact.landed_at for change in self._changes for one in change.commits), default=0)
        self._now = datetime.fromtimestamp(newest, UTC)
        """the last landing: the same clones give the same site whenever it is built"""
        self._frame = SiteFrame(_title(sorted(record.repositories)), str(zone))

    def build(self) -> dict[str, Any]:
        """Add every file to the folder; what the next build wants to know of this one."""
        people, profiles = self._people()
        repositories, months = self._repositories()
        self._folder.add("index.html", index_page(self._frame, people, repositories))
        self._folder.add("site.json", site_json(people, repositories, str(self._zone)))
        self._folder.add(".nojekyll", "")
        return {"program": _program(), "people": profiles, "months": months}

    # --- people ---

    def _people(self) -> tuple[list[SitePerson], dict[str, str]]:
        makes = SitePeople(self._record, self._changes, self._texts, self._named, self._zone, self._now)
        people, digests = [], {}
        for name, person in folders_of(self.agreed.people):
            profile = makes.profile(person)
            people.append(SitePerson(profile.contributor.display, name, _summary(profile)))
            digests[name] = _digest_of(profile)
            self._add_person(f"people/{name}", profile, unchanged=digests[name] == self._remembered("people").get(name))
        return sorted(people, key=lambda one: (one.name.casefold(), one.folder)), digests

    def _add_person(self, folder: str, profile: Profile, *, unchanged: bool) -> None:
        """Nothing is written where only the time of the computation differs."""
        if unchanged and self._folder.keep(f"{folder}/{name}" for name in _PERSON_FILES):
            return
        for name, text in person_files(profile):
            self._folder.add(f"{folder}/{name}", text)

    # --- repositories ---

    def _repositories(self) -> tuple[list[SiteRepository], dict[str, Any]]:
        tagged = made_releases(self._record.clones)
        context = MonthContext(
            self._record.people,
            self._texts,
            self._named,
            self._zone,
            releases_by_month(tagged, self._zone),
            last_commits(self._changes, self._zone),
        )
        names = sorted(self._record.repositories)
        folders = dict(zip(names, distinct_folders(names), strict=True))
        found: dict[str, list[MonthResult]] = {name: [] for name in names}
        wanted: dict[str, list[SiteMonth]] = {name: [] for name in names}
        remembered: dict[str, Any] = {}
        for one in site_months(self._changes, self._zone, tagged, self._record.people):
            result = self._month(one, context, remembered)
            if result is not None:
                found[one.repository].append(result)
                wanted[one.repository].append(one)
        known = self._remembered("months")
        for name in names:
            self._add_months(f"repositories/{folders[name]}", wanted[name], found[name], (known, remembered))
        repositories = [SiteRepository(name, folders[name], tuple(one.counts for one in found[name])) for name in names]
        for made in repositories:
            self._add_repository(made, {result.counts.month: result.digest for result in found[made.full_name]})
        return repositories, remembered

    def _month(self, one: SiteMonth, context: MonthContext, remembered: dict[str, Any]) -> MonthResult | None:
        """The month's result, computed or remembered from the build before."""
        key, mark = f"{one.repository} {one.month}", fingerprint(one, context)
        known = self._remembered("months").get(key)
        if isinstance(known, dict) and known.get("mark") == mark:
            result = msgspec.convert(known.get("result"), MonthResult | None)
        else:
            result = month_result(one, context)
        remembered[key] = {"mark": mark, "result": msgspec.to_builtins(result)}
        return result

    def _add_months(
        self,
        folder: str,
        months: Sequence[SiteMonth],
        results: Sequence[MonthResult],
        marks: tuple[Mapping[str, Any], Mapping[str, Any]],
    ) -> None:
        """The page and the digest of each month; a page changes with its month, or if a month beside it is new."""
        names = [one.month for one in months]
        for at, (one, result) in enumerate(zip(months, results, strict=True)):
            key = f"{one.repository} {one.month}"
            before, now = marks[0].get(key), marks[1][key]
            neighbours = [names[at - 1] if at else None, *names[at + 1 : at + 2]]
            now["beside"] = neighbours
            paths = [f"{folder}/months/{one.month}.html", *(f"{folder}/digests/{one.month}.{end}" for end in _DIGEST)]
            same = isinstance(before, dict) and (before.get("mark"), before.get("beside")) == (now["mark"], neighbours)
            if not (same and self._folder.keep(paths)):
                for path, text in zip(paths, self._month_files(one, result, names, at), strict=True):
                    self._folder.add(path, text)

    def _month_files(self, one: SiteMonth, result: MonthResult, names: Sequence[Month], at: int) -> Iterator[str]:
        landed = (change for change in one.near if change.repository == one.repository)
        inside = (change for change in landed if month_of(change.landed_at, self._zone) == one.month)
        masked = tuple(mask_change(change, self._named.mask) for change in inside)
        view = RepositoryMonth(one.repository, one.month, masked, str(self._zone))
        yield month_page(view, month_links(names, at, "months"))
        yield digest_page(one.repository, result.digest, month_links(names, at, "digests"))
        yield result.digest

    def _add_repository(self, one: SiteRepository, digests: Mapping[Month, str]) -> None:
        folder = f"repositories/{one.folder}"
        self._folder.add(f"{folder}/index.html", repository_page(self._frame, one))
        self._folder.add(f"{folder}/months.json", months_json(one, str(self._zone)))
        self._folder.add(f"{folder}/months.csv", months_csv(one))
        self._folder.add(f"{folder}/feed.atom", digests_feed(one, digests, self._now))

    def _remembered(self, what: str) -> Mapping[str, Any]:
        """What the build before remembered, if it was made by the same program."""
        stored = self._folder.remembered
        found = stored.get(what) if stored.get("program") == _program() else None
        return found if isinstance(found, dict) else {}


_DIGEST = ("html", "md")
_PERSON_FILES = (
    *("index.html", "profile.json", "profile.csv", "profile.md", "feed.atom"),
    *(f"{name}{scheme}.svg" for name in PICTURES for scheme in ("", "-light", "-dark")),
)


@cache
def _program() -> str:
    """Equal for two builds only if the same program made them."""
    return blake2b(program_stamp(bot.render.__file__, __file__).encode(), digest_size=16).hexdigest()


def _title(names: Sequence[str]) -> str:
    """The repository's name, or the owner's where there are several."""
    owners = {name.partition("/")[0] for name in names}
    return names[0] if len(names) == 1 else owners.pop() if len(owners) == 1 else "Almanac"


def _summary(profile: Profile) -> str:
    numbers = [(metric, profile.overall.numbers.get(metric.key)) for metric in metrics_on("card")]
    return ", ".join(metric.quantity(number) for metric, number in numbers)


def _digest_of(profile: Profile) -> str:
    """Equal for two profiles that differ only in when they were computed."""
    text = render_json(replace(profile, generated_at=datetime.fromtimestamp(0, UTC)))
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()

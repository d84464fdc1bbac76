"""Which lines do the notes of a month's releases have in the repository? They are what its digest puts first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from zoneinfo import ZoneInfo

from msgspec import Struct, field

from bot.landing.changelogs.paths import changelog_file
from bot.landing.identity.addresses import person_key
from bot.landing.months import month_of, month_start
from bot.model.change import Change
from bot.model.fact import ChangelogLine, Fact
from bot.model.ids import ChangeId, CommitId, Month, PersonKey
from bot.narrative.cleaning import clean
from bot.narrative.entries import LONGEST_WAIT, MOST_OWN_LINES
from bot.narrative.entry import Entry
from bot.narrative.highlights import rank
from bot.narrative.never_quoted import is_about_release, reason_not_to_quote
from bot.narrative.tags import tag_of

_VERSION = re.compile(r"(?:v|release[-_/]?v?|(?P<name>[\w.-]+?)[-@/]v?)?(?P<version>\d{1,6}(?:\.\d{1,8}){1,3})", re.I)


class MadeRelease(NamedTuple):
    """A release of a repository, and when it was made (epoch seconds)."""

    repository: str
    version: str
    at: int


class ReleaseSpan(Struct, frozen=True):
    """A release of the month; what landed in (since, until] without a release above it stands in its notes."""

    repository: str
    version: str
    since: int
    until: int


class ReleaseNotes(Struct, frozen=True):
    """What a digest reads of the notes of its month's releases."""

    spans: tuple[ReleaseSpan, ...] = ()
    changes: tuple[Change, ...] = ()
    """all that may be in these releases"""
    names: Mapping[PersonKey, str] = field(default_factory=dict)
    """those of the changes' authors who may be shown"""
    contained: Mapping[CommitId, str] = field(default_factory=dict)
    """the first release of commits, where tags tell it; of the others, time tells"""


NO_NOTES = ReleaseNotes()


class SectionEntry(NamedTuple):
    """An entry of the notes, and the change it is about, if that is known."""

    entry: Entry
    about: Change | None


class ReleaseSection(Struct, frozen=True):
    version: str
    entries: tuple[SectionEntry, ...]


def version_of(tag: str, repository: str) -> str:
    """The version of a full release in the name of its tag; empty for others and for other products' tags."""
    match = _VERSION.fullmatch(tag)
    own = repository.rpartition("/")[2].lower()
    return match["version"] if match and (match["name"] or own).lower() == own else ""


def is_full(version: str) -> bool:
    """Whether it is a version of numbers alone, without a stage such as rc1."""
    return all(part.isdecimal() for part in version.split("."))


def release_spans(made: Iterable[MadeRelease], month: Month, zone: ZoneInfo) -> tuple[ReleaseSpan, ...]:
    """The releases of the month, newest first; `made` are all that are known.

    One of an older line of versions has the lines under its own heading only.
    """
    found: list[ReleaseSpan] = []
    last: dict[str, MadeRelease] = {}
    for one in sorted(made, key=lambda one: (one.at, _order(one.version))):
        before = last.get(one.repository)
        newest = before is None or _order(one.version) > _order(before.version)
        if month_of(one.at, zone) == month:
            start = before.at if before else month_start(month, zone)
            since = max(start, one.at - LONGEST_WAIT) if newest else one.at
            found.append(ReleaseSpan(one.repository, one.version, since, one.at))
        if newest:
            last[one.repository] = one
    return tuple(reversed(found))


def _order(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def may_be_inside(fact: Fact, spans: Iterable[ReleaseSpan], end: int) -> bool:
    """Whether the fact may be in one of these releases or tell of one: it landed after the release before."""
    return any(span.repository == fact.repository and span.since < fact.landed_at < end for span in spans)


def release_sections(notes: ReleaseNotes, names: Mapping[PersonKey, str], zone: ZoneInfo) -> list[ReleaseSection]:
    """The notes of each release as entries, best first and each change once; `names` may stand behind an entry."""
    used: set[ChangeId] = set()
    found = []
    pulls = _by_number(notes.changes)
    for span in notes.spans:
        section = _Section(span, pulls, names, zone, notes.contained)
        entries = [one for one in section.entries(notes.changes) if one.entry.change not in used]
        used |= {one.entry.change for one in entries}
        if entries:
            found.append(ReleaseSection(span.version, tuple(entries)))
    return found


def _by_number(changes: Iterable[Change]) -> dict[tuple[str, int], Change]:
    return {
        (one.fact.repository, one.fact.pull_request): change
        for change in changes
        for one in change.commits
        if one.fact.pull_request is not None
    }


class _Section(Struct, frozen=True):
    """Reads the notes of one release."""

    span: ReleaseSpan
    pulls: Mapping[tuple[str, int], Change]
    names: Mapping[PersonKey, str]
    zone: ZoneInfo
    contained: Mapping[CommitId, str]

    def entries(self, changes: Sequence[Change]) -> list[SectionEntry]:
        """The entries about known changes, best first, then the others as the notes have them."""
        known: dict[ChangeId, SectionEntry] = {}
        others: dict[str, SectionEntry] = {}
        for home, fact, line in sorted(self._lines(changes), key=lambda found: found[2].release != self.span.version):
            about = self._about(home, fact, line)
            if about is not None and about.id not in known and self._may_stand(about):
                entry = self._entry(about, fact, line)
                known |= {about.id: SectionEntry(entry, about)} if entry else {}
            if about is None and not line.people and self._may_stand(home):
                entry = self._entry(None, fact, line)
                others |= {entry.quoted: SectionEntry(entry, None)} if entry else {}
        by_id = {name: one.entry for name, one in known.items()}
        their = [one.about for one in known.values() if one.about is not None]
        order = rank(by_id, their, self.names.keys(), runs=False)
        said = {entry.quoted for entry in order}
        return [known[entry.change] for entry in order] + [one for text, one in others.items() if text not in said]

    def _lines(self, changes: Iterable[Change]) -> Iterator[tuple[Change, Fact, ChangelogLine]]:
        """The lines of the notes, each with the commit that added it."""
        for change in changes:
            for fact in (one.fact for one in change.commits if one.fact.repository == self.span.repository):
                inside = self._contains(fact)
                for line in fact.changelog:
                    if line.form != "edited" and (line.release == self.span.version or (inside and not line.release)):
                        yield change, fact, line

    def _contains(self, fact: Fact) -> bool:
        tagged = self.contained.get(fact.commit)
        return self.span.since < fact.landed_at <= self.span.until if tagged is None else tagged == self.span.version

    def _about(self, home: Change, fact: Fact, line: ChangelogLine) -> Change | None:
        """The change that the line is about: the pull request it names, else the one that added it as its own."""
        named = [self.pulls[key] for number in line.numbers if (key := (fact.repository, number)) in self.pulls]
        if home in named or not named:
            log_only = all(changelog_file(path) is not None for path in fact.paths) or is_about_release(fact.title)
            own = home in named or not (log_only or len(fact.changelog) > MOST_OWN_LINES)
            return home if own else None
        return named[0]

    def _may_stand(self, change: Change) -> bool:
        return change.outcome and any(person_key(one.fact.author) in self.names for one in change.commits)

    def _entry(self, about: Change | None, fact: Fact, line: ChangelogLine) -> Entry | None:
        """The line as an entry; None if it is one of those that are never quoted."""
        cleaned = clean(line.text)
        if not cleaned.text or reason_not_to_quote(line.text, cleaned.text) is not None:
            return None
        kind = about.kind if about is not None and about.certain else None
        tag = tag_of(cleaned, line.section or "notes", kind, shared=about is not None and len(about.counted) < 2)
        if cleaned.needs_tag and not tag:
            return None
        repository = fact.repository
        return Entry(
            quoted=cleaned.text,
            tag=tag,
            source="changelog",
            change=about.id if about is not None else ChangeId(f"{repository}@{fact.commit}"),
            commit=fact.commit,
            link=about.url if about is not None else f"https://{fact.host}/{repository}/commit/{fact.commit}",
            number=about.pull_request if about is not None else None,
            people=(),
            release=None,
            month=month_of((about or fact).landed_at, self.zone),
        )

"""What landed in each month of a repository, which digest tells of it, and did either change since the last build?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any
from zoneinfo import ZoneInfo

from msgspec import Struct, msgpack
from msgspec.structs import replace

from bot.cli.recomputing.digest import authors_of, release_notes
from bot.landing.changelogs.evidence import heading_key
from bot.landing.identity.people import People
from bot.landing.months import month_of
from bot.model.change import Change
from bot.model.ids import ChangeId, Month, PersonKey
from bot.narrative.digest import DigestedMonth, changes_of_month, month_digest
from bot.narrative.project_texts import ProjectTexts, sought_evidence
from bot.narrative.release_notes import NO_NOTES, MadeRelease, ReleaseNotes
from bot.narrative.repository_month import contributor_months
from bot.narrative.title_quotes import quotes_of
from bot.render.notes.digest import DigestFrame, NamedLink, digest_note
from bot.render.static.masking import mask_digest
from bot.render.static.pages import MonthCounts

_ENCODER = msgpack.Encoder(enc_hook=dict)


class SiteMonth(Struct, frozen=True):
    """A month of a repository: the changes in it and those that they revert or that revert them."""

    repository: str
    month: Month
    near: tuple[Change, ...]
    notes: ReleaseNotes = NO_NOTES


class MonthResult(Struct, frozen=True):
    """The counts of a month and its digest in Markdown."""

    counts: MonthCounts
    digest: str


class NamedPeople(Struct, frozen=True):
    """Who may be named: the keys and names of those who agreed; and how a text loses all other names."""

    keys: frozenset[PersonKey]
    names: frozenset[str]
    mask: Callable[[str], str]


class MonthContext(Struct, frozen=True, dict=True):
    """What the digests of all months share."""

    people: People
    texts: ProjectTexts
    named: NamedPeople
    zone: ZoneInfo
    releases: Mapping[tuple[str, Month], Sequence[str]]
    last_commits: Mapping[str, Mapping[Month, str]]
    """by repository and month, the commit on the first-parent line that landed last"""

    @cached_property
    def headings(self) -> Mapping[str, str]:
        """The headings under the keys by which `sought_evidence` asks for them."""
        return {
            heading_key(name, token): written
            for name, found in self.texts.headings.items()
            for token, written in found.items()
        }


def site_months(
    changes: Sequence[Change], zone: ZoneInfo, made: Sequence[MadeRelease], people: People
) -> list[SiteMonth]:
    """Every month of every repository in which something landed, oldest first; `made` are the releases."""
    by_id = {change.id: change for change in changes}
    reverted: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        if change.reverted_by:
            reverted[change.reverted_by].append(change)
    landed: dict[tuple[str, Month], dict[ChangeId, Change]] = defaultdict(dict)
    for change in changes:
        for commit in change.commits:
            landed[commit.fact.repository, month_of(commit.fact.landed_at, zone)][change.id] = change
    return [
        SiteMonth(
            name,
            month,
            tuple(_with_reverts(found, by_id, reverted)),
            release_notes([one for one in made if one.repository == name], (month, zone), changes, people),
        )
        for (name, month), found in sorted(landed.items())
    ]


def _with_reverts(
    found: Mapping[ChangeId, Change], by_id: Mapping[ChangeId, Change], reverted: Mapping[str, Sequence[Change]]
) -> Iterable[Change]:
    near = dict(found)
    near |= {one.id: one for change in found.values() for one in reverted.get(change.id, ())}
    for change in list(near.values()):
        if change.reverted_by and change.reverted_by in by_id:
            near.setdefault(change.reverted_by, by_id[change.reverted_by])
    return near.values()


def last_commits(changes: Iterable[Change], zone: ZoneInfo) -> Mapping[str, Mapping[Month, str]]:
    """By repository and month, what landed last."""
    newest: dict[str, dict[Month, tuple[int, str]]] = defaultdict(dict)
    for change in changes:
        for commit in change.commits:
            fact = commit.fact
            month, landed = month_of(fact.landed_at, zone), (fact.landed_at, fact.merge_commit)
            known = newest[fact.repository]
            known[month] = max(known.get(month, landed), landed)
    return {name: {month: commit for month, (_, commit) in found.items()} for name, found in newest.items()}


def month_result(one: SiteMonth, context: MonthContext) -> MonthResult | None:
    """The counts and the digest; None if only machines landed something."""
    scope = DigestedMonth(frozenset((one.repository,)), one.month, context.zone)
    people = authors_of(one.near, context.people)
    contributors = contributor_months(one.near, people, (scope.repositories, one.month, context.zone))
    if not contributors:
        return None
    keys = {key for contributor in contributors for key in contributor.keys}
    landed = changes_of_month(scope, one.near, keys)
    quotes = quotes_of(landed, keys, context.zone, context.texts)
    unnamed = {contributor.person.key for contributor in contributors} - context.named.keys
    unnamed |= one.notes.names.keys() - context.named.keys
    notes = replace(one.notes, contained=context.texts.releases)
    digest = month_digest(scope, one.near, contributors, quotes=quotes, unnamed=unnamed, notes=notes)
    counts = MonthCounts(
        one.month,
        len(contributors),
        digest.commits,
        digest.changes,
        digest.features,
        digest.fixes,
        sum(contributor.record.lines.code for contributor in contributors),
    )
    masked = mask_digest(digest, context.named.names, context.named.mask)
    return MonthResult(counts, digest_note(masked, _frame(one, context)))


def _frame(one: SiteMonth, context: MonthContext) -> DigestFrame:
    releases = [NamedLink(name) for name in context.releases.get((one.repository, one.month), ())]
    ends = context.last_commits[one.repository]
    before = max((month for month in ends if month < one.month), default=None)
    address = (
        f"https://github.com/{one.repository}/compare/{ends[before][:12]}...{ends[one.month][:12]}" if before else None
    )
    return DigestFrame(str(context.zone), releases=releases, comparison=address, posted=False)


def fingerprint(one: SiteMonth, context: MonthContext) -> str:
    """Equal for two builds only if the month's pages are equal."""
    found = blake2b(digest_size=16)
    for value in _inputs(one, context):
        found.update(_ENCODER.encode(value))
    return found.hexdigest()


def _inputs(one: SiteMonth, context: MonthContext) -> Iterator[Any]:
    mask, texts, name = context.named.mask, context.texts, one.repository.lower()
    facts = [commit.fact for change in one.near for commit in change.commits]
    yield one.near
    yield [(span.version, span.since, span.until) for span in one.notes.spans]
    yield one.notes.changes
    yield [texts.releases.get(made.fact.commit) for each in one.notes.changes for made in each.commits]
    yield [(key, name, key in context.named.keys) for key, name in sorted(one.notes.names.items())]
    yield [mask(line.text) for each in one.notes.changes for made in each.commits for line in made.fact.changelog]
    yield [mask(text) for fact in facts for text in {fact.title: 0, fact.subject or "": 0, fact.merge_subject or "": 0}]
    yield [(one.key, one.display, one.bot) for one in (context.people.person(fact.author) for fact in facts)]
    yield sorted(context.named.keys & {context.people.person(fact.author).key for fact in facts})
    numbers = {fact.pull_request for fact in facts if fact.pull_request}
    cited = [line for number in sorted(numbers) for line in texts.lines.get((name, number), ())]
    yield [(line, mask(line.line.text)) for line in cited]
    yield sorted(pair for line in cited for other in line.line.numbers if (pair := (name, other)) in texts.pulls)
    yield [texts.releases.get(fact.commit) for fact in facts]
    yield [context.headings.get(key) for key in sought_evidence(facts)]
    yield _moves(texts, name, {path for fact in facts for path in fact.paths})
    frame = _frame(one, context)
    yield [frame.comparison, frame.zone, [link.name for link in frame.releases]]


def _moves(texts: ProjectTexts, name: str, paths: set[str]) -> list[Any]:
    """The moves of the paths and of the folders that hold them, also of where they were moved."""
    held = {part for path in paths for part in _with_folders(path)}
    found = []
    for move in texts.moves.get(name, ()):
        if move.old in held or move.old.rstrip("/") in held:
            found.append(move)
            held.update(_with_folders(move.new))
    return found


def _with_folders(path: str) -> Iterator[str]:
    yield path
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def releases_by_month(made: Iterable[MadeRelease], zone: ZoneInfo) -> Mapping[tuple[str, Month], Sequence[str]]:
    """The versions tagged in each month of each repository, oldest first."""
    found: dict[tuple[str, Month], list[str]] = defaultdict(list)
    for one in made:
        found[one.repository, month_of(one.at, zone)].append(one.version)
    return found

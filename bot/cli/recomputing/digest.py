"""What would the digest of a repository's month say, from a clone alone?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from bot.cli.recomputing.offline import Window, record_of
from bot.configuration.errors import UnusableInputError
from bot.history.clone import Clone
from bot.landing.identity.addresses import person_key
from bot.landing.identity.people import People
from bot.landing.months import month_after, month_of, month_start, parse_month
from bot.model.change import Change
from bot.model.commit import Person
from bot.model.ids import CommitId, Month, PersonKey
from bot.narrative.release_notes import NO_NOTES, MadeRelease, ReleaseNotes, is_full, may_be_inside, release_spans


def clone_digest(paths: Sequence[str], repository: str, month: str, zone: Window) -> str:
    """The Markdown of the month's digest; empty if nothing landed. Raises UnusableInputError for bad input."""
    from bot.narrative.digest import DigestedMonth, changes_of_month, month_digest
    from bot.narrative.repository_month import contributor_months
    from bot.narrative.title_quotes import quotes_of
    from bot.render.notes.digest import DigestFrame, NamedLink, digest_note

    try:
        parse_month(month)
    except ValueError as error:
        raise UnusableInputError(f"--month {error}") from None
    with record_of(paths, default_name=repository) as record:
        names = {name for name in record.repositories if name.lower() == repository.lower()}
        if not names:
            known = ", ".join(sorted(record.repositories))
            raise UnusableInputError(f"the clone holds {known}, not {repository}; name that repository")
        changes = record.all_changes()
        about = DigestedMonth(frozenset(names), Month(month), zone.zone)
        near = _near(changes, about.month, zone)
        people = _with_names_joined(authors_of(near, record.people))
        contributors = contributor_months(near, people, (about.repositories, about.month, zone.zone))
        if not contributors:
            return ""
        keys = {key for one in contributors for key in one.keys}
        landed = changes_of_month(about, near, keys)
        quotes = quotes_of(landed, keys, zone.zone, record.texts_about(landed))
        made = made_releases(record.clones)
        notes = release_notes(made, (about.month, zone.zone), changes, record.people)
        notes = replace(notes, contained=record.texts_about(notes.changes).releases)
        digest = month_digest(about, near, contributors, quotes=quotes, notes=notes)
        month_releases = [one.version for one in made if month_of(one.at, zone.zone) == about.month]
        releases = [NamedLink(name) for name in month_releases]
        comparison = _comparison(changes, next(iter(names)), about.month, zone)
        frame = DigestFrame(str(zone.zone), releases=releases, comparison=comparison)
        return digest_note(digest, frame)


def _near(changes: Iterable[Change], month: Month, zone: Window) -> list[Change]:
    """The changes with a commit in the month, and those that they revert or that revert them."""
    begin, end = month_start(month, zone.zone), month_start(month_after(month), zone.zone)
    every = {change.id: change for change in changes}
    near = {
        change.id: change
        for change in every.values()
        if any(begin <= commit.fact.landed_at < end for commit in change.commits)
    }
    near |= {change.id: change for change in every.values() if change.reverted_by in near}
    reverting = [every[by] for change in near.values() if (by := change.reverted_by) and by in every]
    return list((near | {change.id: change for change in reverting}).values())


def authors_of(changes: Iterable[Change], people: People) -> list[tuple[Person, frozenset[PersonKey]]]:
    """The people who signed these changes as authors, each with the own key and those of the signatures."""
    found: dict[PersonKey, tuple[Person, set[PersonKey]]] = {}
    for sig in {commit.fact.author for change in changes for commit in change.commits}:
        person = people.person(sig)
        if not person.bot:
            found.setdefault(person.key, (person, {person.key}))[1].add(person_key(sig))
    return [(person, frozenset(keys)) for person, keys in found.values()]


def _with_names_joined(
    people: Iterable[tuple[Person, frozenset[PersonKey]]],
) -> list[tuple[Person, frozenset[PersonKey]]]:
    """One row for the addresses under one full name: a clone knows no accounts, and a table names nobody twice."""
    from bot.cli.recomputing.contributor_list import full_name

    found: dict[str, tuple[Person, frozenset[PersonKey]]] = {}
    for person, keys in sorted(people, key=lambda each: each[0].key):
        first, known = found.get(full_name(person), (person, frozenset()))
        found[full_name(person)] = (first, known | keys | {person.key})
    return list(found.values())


def made_releases(clones: Iterable[Clone]) -> list[MadeRelease]:
    """The versions that are tagged, oldest first."""
    from bot.history.releases import release_tags

    return [
        MadeRelease(clone.repository.full_name, tag.version, tag.at) for clone in clones for tag in release_tags(clone)
    ]


def release_notes(
    made: Iterable[MadeRelease], month: tuple[Month, ZoneInfo], changes: Iterable[Change], people: People
) -> ReleaseNotes:
    """What the digest reads of the notes of the month's releases."""
    spans = release_spans((one for one in made if is_full(one.version)), *month)
    if not spans:
        return NO_NOTES
    end = month_start(month_after(month[0]), month[1])
    near = tuple(one for one in changes if any(may_be_inside(commit.fact, spans, end) for commit in one.commits))
    authors = authors_of(near, people)
    return ReleaseNotes(spans, near, {key: person.display for person, keys in authors for key in keys})


def _comparison(changes: Iterable[Change], name: str, month: Month, zone: Window) -> str | None:
    """The address that compares the last commit before the month with its last commit."""
    landed = [fact for change in changes for commit in change.commits if (fact := commit.fact).repository == name]
    until = [fact for fact in landed if month_of(fact.landed_at, zone.zone) <= month]
    before = [fact for fact in until if month_of(fact.landed_at, zone.zone) < month]
    ends: list[CommitId] = [max(some, key=lambda fact: fact.landed_at).merge_commit for some in (before, until) if some]
    return f"https://{landed[0].host}/{name}/compare/{ends[0][:12]}...{ends[1][:12]}" if before else None

"""Which dated snapshots are taken of a closed month, and which may be served?"""

from __future__ import annotations

import json

from sqlalchemy import Connection

from bot.landing.months import month_after, month_start
from bot.model.ids import Month, PersonKey, RepositoryId
from bot.model.profile import Profile
from bot.render import RENDERERS
from bot.store import links, observations, snapshots, visibility
from bot.store.snapshots import Snapshot, SnapshotEntry
from bot.store.visibility import subject_of_person
from bot.web import access, subjects
from bot.web.access import ANYBODY, Viewer
from bot.web.collaborators import Pages
from bot.web.profile_reader import profile_as_of
from bot.web.subjects import OpenPerson


async def take_month_snapshots(pages: Pages, key: PersonKey, month: Month) -> int:
    """Save the signed profile as of the end of the month, once for each page of the person; return how many are new.

    None are taken without a signing key, without a page that anyone can open, or without landings in the month.
    """
    if pages.signing is None:
        return 0

    def read(connection: Connection) -> list[tuple[str, OpenPerson]]:
        return [
            (scope, opened)
            for scope, opened in _open_pages(connection, key, pages)
            if not snapshots.is_taken(connection, opened.person.key, month, scope)
        ]

    saved = 0
    for scope, opened in await pages.store.read(read):
        end = month_start(month_after(month), pages.zone) - 1
        subject = (opened.person, opened.grant, opened.repositories)
        profile = await profile_as_of(pages.store, subject, pages.zone, end, totals=pages.totals)
        if any(record.month == month for record in profile.months):
            saved += await _keep(pages, opened, profile, month=month, scope=scope) is not None
    return saved


def _open_pages(connection: Connection, key: PersonKey, pages: Pages) -> list[tuple[str, OpenPerson]]:
    """(scope, page) for the public page and each page that a valid link opens, under the current policy."""
    person = visibility.person_state(connection, key)
    if person is None:
        return []
    good = [link for link in links.links_of(connection, subject_of_person(person.key)) if link.good(pages.clock())]
    viewers = {"public": ANYBODY}
    viewers |= {_scope(link): Viewer("link", link.installation, link.private) for link in good}
    found = [(scope, subjects.open_person(connection, person, viewers[scope], base="")) for scope in sorted(viewers)]
    return [(scope, opened) for scope, opened in found if opened is not None]


def _scope(link: links.Link) -> str:
    return f"installation:{link.installation}{' with private' if link.private else ''}"


async def take_snapshot_now(pages: Pages, opened: OpenPerson, profile: Profile) -> str | None:
    """Sign and save the current profile; return its id. None without a signing key or landings."""
    if pages.signing is None or not profile.months:
        return None
    return await _keep(pages, opened, profile)


async def _keep(
    pages: Pages, opened: OpenPerson, profile: Profile, *, month: Month | None = None, scope: str | None = None
) -> str | None:
    """Check again in the writing transaction: a person who has opted out meanwhile leaves no snapshot."""
    signing = pages.signing
    if signing is None:
        return None
    text = RENDERERS["json"](profile)

    def save(connection: Connection) -> str | None:
        person = visibility.person_state(connection, opened.person.key)
        if person is None or person.opted_out:
            return None
        kept = Snapshot(
            person_key=person.key,
            naming=opened.grant.naming,
            repositories=_repositories_named(connection, opened, profile),
            taken_at=pages.clock(),
            text=text,
            signature=signing.sign(text),
            key_id=signing.id,
            month=month,
            scope=scope,
        )
        return snapshots.keep(connection, kept)

    return await pages.store.write(save)


def _repositories_named(connection: Connection, opened: OpenPerson, profile: Profile) -> tuple[RepositoryId, ...]:
    """The repositories that the profile is about: by name, and, because names may be masked, all with landings or other
    activity of the person."""
    names = {record.full_name for record in profile.repositories}
    names |= {change.repository for change in profile.changes}
    names |= {name for change in profile.changes for name in change.also_in}
    own = {one.id for one in visibility.repositories_with(connection, opened.person.keys)}
    own |= observations.repositories_of_people(connection, opened.person.keys)
    visible = (one for one in opened.repositories if one.id in opened.grant.repositories)
    return tuple(sorted(one.id for one in visible if one.full_name in names or one.id in own))


def visible_snapshots(connection: Connection, opened: OpenPerson) -> list[SnapshotEntry]:
    """The snapshots that may be shown on this page, newest first; for a month, the one that shows most."""
    found = [one for one in snapshots.snapshot_entries(connection, opened.person.keys) if may_show(opened, one)]
    widest: dict[str, SnapshotEntry] = {}
    for one in found:
        name = one.month or one.id
        if name not in widest or len(one.repositories) > len(widest[name].repositories):
            widest[name] = one
    return list(widest.values())


def may_show(opened: OpenPerson, snapshot: SnapshotEntry | Snapshot) -> bool:
    """Whether the policy allows the snapshot: all its content may be shown now, and the naming is unchanged."""
    return access.shows_snapshot(opened.grant, snapshot.repositories, snapshot.naming)


def envelope(snapshot: Snapshot) -> bytes:
    """The signed envelope: the profile's exact text as a string, so that no reader re-encodes what was signed."""
    fields = {
        "schema": "almanac.snapshot/1",
        "taken_at": snapshot.taken_at.isoformat(),
        "key": snapshot.key_id,
        "signature": snapshot.signature,
        "profile": snapshot.text,
    }
    return (json.dumps(fields, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")

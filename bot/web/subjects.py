"""Which page does an address open, and how much of it? Every route asks here, and this module applies the policy."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.model.ids import InstallationId, PersonKey
from bot.store import links, organisations, records, visibility
from bot.store.links import Link
from bot.store.organisations import OrganisationState
from bot.store.records import LedgerMark
from bot.store.visibility import PersonState, RepositoryState, subject_of_installation
from bot.web import access
from bot.web.access import ANYBODY, Grant, Viewer
from bot.web.collaborators import Pages

_LOGIN = re.compile(r"[A-Za-z0-9-]{1,39}")
_ALIAS = re.compile(r"[0-9a-f]{20}")


class OpenPerson(Struct, frozen=True):
    """A person's page that this viewer may see; `base` is its path."""

    person: PersonState
    repositories: tuple[RepositoryState, ...]
    grant: Grant
    base: str
    link: Link | None = None
    mark: LedgerMark | None = None
    """the ledger's position when the page was opened; None if it was not read"""
    organisations: frozenset[InstallationId] = frozenset()
    """installations of these repositories whose own page is public"""

    @property
    def listed(self) -> bool:
        """Whether search engines and other pages may lead to it: never to a page without a name."""
        return self.grant.public and self.person.naming == "named"


class OpenOrganisation(Struct, frozen=True):
    """An organisation's page that this viewer may see; `base` is its path."""

    organisation: OrganisationState
    repositories: tuple[RepositoryState, ...]
    grant: Grant
    base: str
    link: Link | None = None


def open_by_login(connection: Connection, login: str) -> OpenPerson | None:
    """The public page under a person's own name."""
    if not _LOGIN.fullmatch(login):
        return None
    person = visibility.person_called(connection, login, for_page=True)
    if person is None or person.naming != "named":
        return None
    return open_person(connection, person, ANYBODY, base=f"/@{person.login}")


def open_by_alias(connection: Connection, alias: str) -> OpenPerson | None:
    """The public page of an anonymous person."""
    if not _ALIAS.fullmatch(alias):
        return None
    person = visibility.person_behind(connection, alias)
    if person is None or person.naming != "anonymous":
        return None
    return open_person(connection, person, ANYBODY, base=f"/anonymous/{alias}")


def open_by_token(connection: Connection, token: str, pages: Pages) -> OpenPerson | OpenOrganisation | None:
    """What a signed link opens."""
    link = links.open_link(connection, token, secrets=(pages.secret, *pages.older_secrets))
    if link is None or not link.good(pages.clock()):
        return None
    viewer = Viewer("link", link.installation, link.private)
    kind, _, name = link.subject.partition(":")
    if kind == "person":
        person = visibility.person_state(connection, PersonKey(name))
        return None if person is None else open_person(connection, person, viewer, base=f"/p/{token}", link=link)
    if link.subject != subject_of_installation(link.installation):
        return None
    organisation = organisations.organisation(connection, link.installation)
    return open_organisation(connection, organisation, viewer, base=f"/p/{token}", link=link)


def open_by_organisation(connection: Connection, login: str) -> OpenOrganisation | None:
    """The public page of an organisation."""
    if not _LOGIN.fullmatch(login):
        return None
    found = organisations.organisation_called(connection, login)
    return open_organisation(connection, found, ANYBODY, base=f"/organisations/{found.login}" if found else "")


def open_person(
    connection: Connection, person: PersonState, viewer: Viewer, *, base: str, link: Link | None = None
) -> OpenPerson | None:
    """The person's page for this viewer; None if the policy shows nothing.

    For a person without a public page no more is read than for one who does not exist: the time reveals nothing.
    """
    if not access.may_open_person(person, viewer):
        return None
    near = visibility.repositories_near(connection, person.keys)
    hidden = frozenset(one.state.id for one in near if one.hidden)
    grant = access.grant_for_person(person, (one.state for one in near if one.own), viewer, hidden=hidden)
    if grant is None:
        return None
    # Work that folds with the person's may be in repositories without any of it: a fork, or one where it was reverted.
    near_grant = access.grant_for_person(person, (one.state for one in near), viewer, hidden=hidden) or grant
    wide = Grant(grant.repositories | near_grant.repositories, grant.naming, grant.public)
    visible = tuple(one.state for one in near if one.state.id in wide.repositories)
    listed = frozenset(one.state.installation for one in near if one.listed and one.state.installation is not None)
    return OpenPerson(person, visible, wide, base, link, organisations=listed)


def repository_pages(connection: Connection, opened: OpenPerson) -> tuple[tuple[str, str], ...]:
    """(full name, path) of the pages of this person's repositories that everybody may open; none for a page that is not
    listed itself."""
    if not opened.listed:
        return ()
    found = [organisations.organisation(connection, home) for home in sorted(opened.organisations)]
    pages = [open_by_organisation(connection, one.login) for one in found if one is not None]
    return tuple(
        (one.full_name, f"{page.base}/repositories/{one.full_name.rpartition('/')[2]}")
        for page in pages
        if page is not None
        for one in page.repositories
        if one.id in opened.grant.repositories
    )


def with_mark(connection: Connection, opened: OpenPerson) -> OpenPerson:
    """The page with the ledger's mark, read in the transaction that opened it."""
    return replace(opened, mark=records.mark_of(connection, opened.grant.repositories))


def open_organisation(
    connection: Connection,
    organisation: OrganisationState | None,
    viewer: Viewer,
    *,
    base: str,
    link: Link | None = None,
) -> OpenOrganisation | None:
    """The organisation's page for this viewer; None if the policy shows nothing."""
    if organisation is None or not access.may_open_organisation(organisation, viewer):
        return None
    repositories = visibility.repositories_in(connection, [organisation.installation])
    grant = access.grant_for_organisation(organisation, repositories, viewer)
    if grant is None:
        return None
    visible = tuple(one for one in repositories if one.id in grant.repositories)
    return OpenOrganisation(organisation, visible, grant, base, link)

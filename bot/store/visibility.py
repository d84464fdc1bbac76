"""What has each person, and each organisation, decided to show; and how do their repositories stand right now?"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    Select,
    Table,
    Text,
    cast,
    delete,
    false,
    func,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.frozen import frozen
from bot.landing.addresses import plain_email
from bot.model import InstallationId, PersonKey, RepositoryId, UserId
from bot.store.columns import METADATA, Instant, Whole, Words
from bot.store.dialect import insert_absent, upsert
from bot.store.installations import ACCOUNT, INSTALLATION, REPOSITORY
from bot.store.ledger import FACT, FACT_PERSON
from bot.store.people import PERSON, PERSON_ALIAS

Naming = Literal["named", "anonymous"]

PUBLISHED = Table(
    "published",
    METADATA,
    Column("subject", Words, primary_key=True),
    Column("public", Boolean(create_constraint=False), nullable=False, server_default=false()),
    Column("naming", Words, nullable=False, server_default="named"),
    Column("alias", Words, nullable=False),
    Column("changed_at", Instant, nullable=False),
    Index(None, "alias", unique=True),
)
HIDDEN_REPOSITORY = Table(
    "hidden_repository",
    METADATA,
    Column("person_key", Words, primary_key=True),
    Column("repository_id", Whole, ForeignKey(REPOSITORY.c.id), primary_key=True),
)


@frozen
class PersonState:
    """A person as far as showing goes."""

    key: PersonKey
    keys: frozenset[PersonKey]
    """all keys that are proved to be this person's"""
    user_id: UserId | None = None
    login: str | None = None
    bot: bool = False
    opted_out: bool = False
    public: bool = False
    naming: Naming = "named"
    alias: str = ""
    """what an anonymous page is called; tells nothing of the person"""


@frozen
class RepositoryState:
    """A repository as far as showing goes."""

    id: RepositoryId
    full_name: str
    installation: InstallationId | None
    public: bool
    """GitHub shows it to everybody"""
    active: bool
    """installed, not suspended, not removed"""
    fork: bool = False
    parent: str | None = None
    default_branch: str = "main"


@frozen
class NearRepository:
    """A repository beside which somebody's work landed, or in which it did."""

    state: RepositoryState
    own: bool
    """a commit landed here that the person has a part in"""
    hidden: bool
    """the person leaves it out of every page"""


@frozen
class OrganisationState:
    """An installation and its account as far as showing goes."""

    installation: InstallationId
    login: str
    active: bool
    public: bool


def subject_of_person(key: PersonKey) -> str:
    return f"person:{key}"


def subject_of_installation(installation: InstallationId) -> str:
    return f"installation:{installation}"


_HAS_LEFT = PERSON.c.opted_out_at.is_not(None)


# --- decisions -------------------------------------------------------------------------------------------------------


async def publish(
    conn: AsyncConnection, subject: str, *, public: bool, now: datetime, naming: Naming | None = None
) -> None:
    """Show this person or organisation to everybody, or no longer; the naming stays where none is given."""
    row = {"subject": subject, "public": public, "alias": secrets.token_hex(10), "changed_at": now}
    kept = ["alias"]
    if naming is not None:
        row["naming"] = naming
    await upsert(conn, PUBLISHED, [row], keep=kept)


async def hide_repository(conn: AsyncConnection, key: PersonKey, repository: RepositoryId, *, hidden: bool) -> None:
    """Leave a repository out of every page of this person, or put it back."""
    row = {"person_key": key, "repository_id": repository}
    if hidden:
        await insert_absent(conn, HIDDEN_REPOSITORY, [row])
        return
    same = (HIDDEN_REPOSITORY.c.person_key == key) & (HIDDEN_REPOSITORY.c.repository_id == repository)
    await conn.execute(delete(HIDDEN_REPOSITORY).where(same))


async def hidden_repositories(conn: AsyncConnection, keys: Collection[PersonKey]) -> frozenset[RepositoryId]:
    query = select(HIDDEN_REPOSITORY.c.repository_id).where(HIDDEN_REPOSITORY.c.person_key.in_(keys))
    return frozenset(RepositoryId(row[0]) for row in await conn.execute(query))


# --- people ----------------------------------------------------------------------------------------------------------


async def person_state(conn: AsyncConnection, key: PersonKey) -> PersonState | None:
    """None for a person whom the record does not know."""
    found = await _people(conn, PERSON.c.key == key)
    return found[0] if found else None


async def person_called(conn: AsyncConnection, login: str) -> PersonState | None:
    """The person whom GitHub calls so; None where nobody or, as logins are recycled, more than one is."""
    called = (PERSON_ALIAS.c.kind == "login") & (PERSON_ALIAS.c.value == login.lower())
    candidates = select(PERSON_ALIAS.c.person_key).where(called)
    found = await _people(conn, PERSON.c.key.in_(candidates) & PERSON.c.user_id.is_not(None))
    today = [one for one in found if (one.login or "").lower() == login.lower()]
    return today[0] if len(today) == 1 else None


async def person_behind(conn: AsyncConnection, alias: str) -> PersonState | None:
    """The person whose anonymous page is called so."""
    found = await _people(conn, PUBLISHED.c.alias == alias)
    return found[0] if len(found) == 1 else None


async def public_people(conn: AsyncConnection) -> list[PersonState]:
    """Everybody who shows a page to everybody, by key."""
    return await _people(conn, PUBLISHED.c.public & PERSON.c.opted_out_at.is_(None))


async def _people(conn: AsyncConnection, which: Any) -> list[PersonState]:
    """The people, by key."""
    choices = PERSON.outerjoin(PUBLISHED, PUBLISHED.c.subject == "person:" + PERSON.c.key)
    names = (PUBLISHED.c.public, PUBLISHED.c.naming, PUBLISHED.c.alias)
    query = select(PERSON, *names).select_from(choices).where(which).order_by(PERSON.c.key)
    rows = (await conn.execute(query)).all()
    keys = {row.key: await proved_keys(conn, PersonKey(row.key)) for row in rows}
    left = frozenset(PersonKey(row.key) for row in rows if row.opted_out_at is not None)
    if claimed := frozenset().union(*keys.values()) - keys.keys():
        left |= await _opted_out(conn, claimed)
    return [_person(row, keys[row.key], opted_out=bool(keys[row.key] & left)) for row in rows]


def _person(row: Any, keys: frozenset[PersonKey], *, opted_out: bool) -> PersonState:
    return PersonState(
        key=PersonKey(row.key),
        keys=keys,
        user_id=None if row.user_id is None else UserId(row.user_id),
        login=row.login,
        bot=bool(row.bot),
        opted_out=opted_out,
        public=bool(row.public),
        naming=row.naming or "named",
        alias=row.alias or "",
    )


async def proved_keys(conn: AsyncConnection, key: PersonKey) -> frozenset[PersonKey]:
    """The key itself, and the claimed keys of addresses that are proved to belong to it."""
    return frozenset({key}) | await _of_addresses(
        conn, PERSON_ALIAS.c.person_key == key, PERSON_ALIAS.c.proof == "proved"
    )


async def every_key(conn: AsyncConnection, key: PersonKey) -> frozenset[PersonKey]:
    """The key itself, and those of all addresses that commits of this person bore. What is hidden or erased is so under
    all of them; shown under a claimed one is nothing."""
    return frozenset({key}) | await _of_addresses(conn, PERSON_ALIAS.c.person_key == key)


async def _of_addresses(conn: AsyncConnection, *which: ColumnElement[bool]) -> frozenset[PersonKey]:
    """The keys of those addresses."""
    query = select(PERSON_ALIAS.c.value).where(PERSON_ALIAS.c.kind == "email", *which)
    return frozenset(PersonKey(f"e:{plain_email(row.value)}") for row in await conn.execute(query))


async def _every_key_of(conn: AsyncConnection, people: Select[Any]) -> frozenset[PersonKey]:
    """All keys of everybody whose key is selected."""
    keys = frozenset(PersonKey(row.key) for row in await conn.execute(people))
    return keys | await _of_addresses(conn, PERSON_ALIAS.c.person_key.in_(people)) if keys else keys


async def _opted_out(conn: AsyncConnection, keys: Collection[PersonKey]) -> frozenset[PersonKey]:
    query = select(PERSON.c.key).where(PERSON.c.key.in_(keys), _HAS_LEFT)
    return frozenset(PersonKey(row.key) for row in await conn.execute(query))


async def left_out(conn: AsyncConnection) -> frozenset[PersonKey]:
    """All keys of everybody who has opted out."""
    return await _every_key_of(conn, select(PERSON.c.key).where(_HAS_LEFT))


async def anonymous(conn: AsyncConnection) -> frozenset[PersonKey]:
    """All keys of everybody who chose not to be named."""
    query = select(PERSON.c.key).join(PUBLISHED, PUBLISHED.c.subject == "person:" + PERSON.c.key)
    return await _every_key_of(conn, query.where(PUBLISHED.c.naming == "anonymous"))


async def set_naming(conn: AsyncConnection, subject: str, naming: Naming) -> None:
    """Named or anonymous; the page's address changes with it, and an anonymous one gets a new name each time."""
    values = {"naming": naming, "alias": secrets.token_hex(10)}
    await conn.execute(update(PUBLISHED).where(PUBLISHED.c.subject == subject).values(values))


# --- repositories and organisations ----------------------------------------------------------------------------------


async def repositories_with(conn: AsyncConnection, keys: Collection[PersonKey]) -> list[RepositoryState]:
    """The repositories in which these people have a part in a landed commit, by id."""
    return await _repositories(conn, REPOSITORY.c.id.in_(_landed_in(keys)))


def _landed_in(keys: Collection[PersonKey]) -> Select[Any]:
    theirs = select(FACT.c.repository_id).join(FACT_PERSON, FACT_PERSON.c.fact_id == FACT.c.id)
    return theirs.where(FACT_PERSON.c.person_key.in_(keys)).distinct()


async def repositories_near(conn: AsyncConnection, keys: Collection[PersonKey]) -> list[NearRepository]:
    """All repositories of the installations in which these people have a part in a landed commit, by id."""
    theirs = _landed_in(keys).cte("theirs")
    own = REPOSITORY.c.id.in_(select(theirs.c.repository_id))
    hidden = select(HIDDEN_REPOSITORY.c.repository_id).where(HIDDEN_REPOSITORY.c.person_key.in_(keys))
    home = REPOSITORY.alias("home")
    homes = select(home.c.installation_id).where(home.c.id.in_(select(theirs.c.repository_id)))
    query = _with_installation(own.label("own"), REPOSITORY.c.id.in_(hidden).label("hidden"))
    rows = await conn.execute(query.where(REPOSITORY.c.installation_id.in_(homes)))
    return [NearRepository(_repository(row), bool(row.own), bool(row.hidden)) for row in rows]


async def repositories_in(conn: AsyncConnection, installations: Sequence[InstallationId]) -> list[RepositoryState]:
    """All repositories of these installations, by id."""
    return await _repositories(conn, REPOSITORY.c.installation_id.in_(installations))


async def _repositories(conn: AsyncConnection, which: Any) -> list[RepositoryState]:
    return [_repository(row) for row in await conn.execute(_with_installation().where(which))]


def _with_installation(*more: Any) -> Select[Any]:
    """All that is told of repositories, by id, and `more`."""
    owned = REPOSITORY.outerjoin(INSTALLATION, INSTALLATION.c.id == REPOSITORY.c.installation_id)
    active = (
        INSTALLATION.c.id.is_not(None) & INSTALLATION.c.removed_at.is_(None) & INSTALLATION.c.suspended_at.is_(None)
    )
    return select(REPOSITORY, active.label("active"), *more).select_from(owned).order_by(REPOSITORY.c.id)


def _repository(row: Any) -> RepositoryState:
    return RepositoryState(
        id=RepositoryId(row.id),
        full_name=row.full_name,
        installation=None if row.installation_id is None else InstallationId(row.installation_id),
        public=row.visibility == "public" and not row.private,
        active=bool(row.active) and row.removed_at is None and row.visibility != "hidden",
        fork=bool(row.fork),
        parent=row.parent,
        default_branch=row.default_branch,
    )


async def organisation(conn: AsyncConnection, installation: InstallationId) -> OrganisationState | None:
    found = await _organisations(conn, INSTALLATION.c.id == installation)
    return found[0] if found else None


async def organisation_called(conn: AsyncConnection, login: str) -> OrganisationState | None:
    """The active installation on the account that GitHub calls so; None where there is none, or more than one."""
    found = [one for one in await _organisations(conn, func.lower(ACCOUNT.c.login) == login.lower()) if one.active]
    return found[0] if len(found) == 1 else None


async def public_organisations(conn: AsyncConnection) -> list[OrganisationState]:
    """By login."""
    found = await _organisations(conn, PUBLISHED.c.public)
    return sorted((one for one in found if one.active), key=lambda one: one.login)


async def _organisations(conn: AsyncConnection, which: Any) -> list[OrganisationState]:
    owned = INSTALLATION.join(ACCOUNT, ACCOUNT.c.id == INSTALLATION.c.account_id)
    subject = "installation:" + cast(INSTALLATION.c.id, Text)
    choices = owned.outerjoin(PUBLISHED, PUBLISHED.c.subject == subject)
    query = select(INSTALLATION, ACCOUNT.c.login, PUBLISHED.c.public).select_from(choices)
    return [_organisation(row) for row in await conn.execute(query.where(which).order_by(INSTALLATION.c.id))]


def _organisation(row: Any) -> OrganisationState:
    active = row.removed_at is None and row.suspended_at is None
    return OrganisationState(InstallationId(row.id), row.login, active, bool(row.public))

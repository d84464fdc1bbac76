"""What has each person and organisation decided to show, and what is the current state of their repositories?"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct
from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    CompoundSelect,
    Connection,
    ForeignKey,
    Index,
    Select,
    Table,
    Text,
    cast,
    delete,
    exists,
    false,
    select,
    update,
)

from bot.landing.identity.addresses import plain_email
from bot.model.ids import InstallationId, PersonKey, RepositoryId, UserId
from bot.store.columns import METADATA, CleanText, Instant, WholeNumber
from bot.store.inserts import insert_absent, upsert
from bot.store.installations import INSTALLATION, REPOSITORY
from bot.store.ledger import FACT, FACT_PERSON
from bot.store.people import PERSON, PERSON_ALIAS

Naming = Literal["named", "anonymous"]

PUBLISHED = Table(
    "published",
    METADATA,
    Column("subject", CleanText, primary_key=True),
    Column("public", Boolean(create_constraint=False), nullable=False, server_default=false()),
    Column("naming", CleanText, nullable=False, server_default="named"),
    Column("alias", CleanText, nullable=False),
    Column("changed_at", Instant, nullable=False),
    Index(None, "alias", unique=True),
)
HIDDEN_REPOSITORY = Table(
    "hidden_repository",
    METADATA,
    Column("person_key", CleanText, primary_key=True),
    Column("repository_id", WholeNumber, ForeignKey(REPOSITORY.c.id), primary_key=True),
)


class PersonState(Struct, frozen=True):
    """A person's visibility."""

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
    """the name of an anonymous page; reveals nothing about the person"""


class RepositoryState(Struct, frozen=True):
    """A repository's visibility."""

    id: RepositoryId
    full_name: str
    installation: InstallationId | None
    public: bool
    """visible to everybody on GitHub"""
    active: bool
    """installed, not suspended, not removed"""
    fork: bool = False
    parent: str | None = None
    default_branch: str = "main"


class NearbyRepository(Struct, frozen=True):
    """A repository of an installation in which the person's work landed, there or in another repository."""

    state: RepositoryState
    own: bool
    """a commit with a part by the person landed here"""
    hidden: bool
    """the person hides it from every page"""
    listed: bool = False
    """its organisation's page is public"""


def subject_of_person(key: PersonKey) -> str:
    return f"person:{key}"


def subject_of_installation(installation: InstallationId) -> str:
    return f"installation:{installation}"


_NOBODY = PersonKey("u:0")
"""the key of no person"""
HAS_LEFT = PERSON.c.opted_out_at.is_not(None)


# --- decisions -------------------------------------------------------------------------------------------------------


def publish(connection: Connection, subject: str, *, public: bool, now: datetime, naming: Naming | None = None) -> None:
    """Publish the page of this person or organisation, or withdraw it; without `naming` the naming stays."""
    row = {"subject": subject, "public": public, "alias": secrets.token_hex(10), "changed_at": now}
    kept = ["alias"]
    if naming is not None:
        row["naming"] = naming
    upsert(connection, PUBLISHED, [row], keep=kept)


def hide_repository(connection: Connection, key: PersonKey, repository: RepositoryId, *, hidden: bool) -> None:
    """Hide a repository from every page of this person, or show it again."""
    row = {"person_key": key, "repository_id": repository}
    if hidden:
        insert_absent(connection, HIDDEN_REPOSITORY, [row])
        return
    same = (HIDDEN_REPOSITORY.c.person_key == key) & (HIDDEN_REPOSITORY.c.repository_id == repository)
    connection.execute(delete(HIDDEN_REPOSITORY).where(same))


def hidden_repositories(connection: Connection, keys: Collection[PersonKey]) -> frozenset[RepositoryId]:
    query = select(HIDDEN_REPOSITORY.c.repository_id).where(HIDDEN_REPOSITORY.c.person_key.in_(keys))
    return frozenset(RepositoryId(row[0]) for row in connection.execute(query))


# --- people ----------------------------------------------------------------------------------------------------------


def person_state(connection: Connection, key: PersonKey) -> PersonState | None:
    """The person's state; None if the database does not know the person."""
    found = people_where(connection, PERSON.c.key == key)
    return found[0] if found else None


def person_called(connection: Connection, login: str, *, for_page: bool = False) -> PersonState | None:
    """The person with this login; None if nobody or, because logins are reused, more than one has it."""
    called = (PERSON_ALIAS.c.kind == "login") & (PERSON_ALIAS.c.value == login.lower())
    candidates = select(PERSON_ALIAS.c.person_key).where(called)
    found = people_where(connection, PERSON.c.key.in_(candidates) & PERSON.c.user_id.is_not(None), for_page=for_page)
    today = [one for one in found if (one.login or "").lower() == login.lower()]
    return today[0] if len(today) == 1 else None


def person_behind(connection: Connection, alias: str) -> PersonState | None:
    """The person whose anonymous page has this name."""
    found = people_where(connection, PUBLISHED.c.alias == alias, for_page=True)
    return found[0] if len(found) == 1 else None


def public_people(connection: Connection) -> list[PersonState]:
    """Everybody with a public page, by key."""
    return people_where(connection, PUBLISHED.c.public & PERSON.c.opted_out_at.is_(None))


def people_where(connection: Connection, which: Any, *, for_page: bool = False) -> list[PersonState]:
    """The people, by key.

    `for_page`: whoever publishes nothing costs as many statements as nobody, so that the time of a 404 reveals nothing;
    whether their addresses opted out is not looked up.
    """
    choices = PERSON.outerjoin(PUBLISHED, PUBLISHED.c.subject == "person:" + PERSON.c.key)
    names = (PUBLISHED.c.public, PUBLISHED.c.naming, PUBLISHED.c.alias)
    query = select(PERSON, *names).select_from(choices).where(which).order_by(PERSON.c.key)
    rows = connection.execute(query).all()
    keys = {row.key: proved_keys(connection, PersonKey(row.key)) for row in rows}
    if for_page and not rows:
        proved_keys(connection, _NOBODY)
    left = frozenset(PersonKey(row.key) for row in rows if row.opted_out_at is not None)
    open_keys = [keys[row.key] for row in rows if row.public or not for_page]
    if claimed := frozenset().union(*open_keys) - keys.keys():
        left |= _opted_out(connection, claimed)
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


def proved_keys(connection: Connection, key: PersonKey) -> frozenset[PersonKey]:
    """The key itself, and the claimed keys of addresses that are proved to belong to it."""
    return frozenset({key}) | _of_addresses(
        connection, PERSON_ALIAS.c.person_key == key, PERSON_ALIAS.c.proof == "proved"
    )


def every_key(connection: Connection, key: PersonKey) -> frozenset[PersonKey]:
    """The key itself, and those of all addresses in this person's commits. Hiding and erasing apply to all of them;
    nothing is shown under a claimed one."""
    return frozenset({key}) | _of_addresses(connection, PERSON_ALIAS.c.person_key == key)


def _of_addresses(connection: Connection, *which: ColumnElement[bool]) -> frozenset[PersonKey]:
    """The keys of those addresses."""
    query = select(PERSON_ALIAS.c.value).where(PERSON_ALIAS.c.kind == "email", *which)
    return frozenset(PersonKey(f"e:{plain_email(row.value)}") for row in connection.execute(query))


_ANONYMOUS = (
    select(PERSON.c.key)
    .join(PUBLISHED, PUBLISHED.c.subject == "person:" + PERSON.c.key)
    .where(PUBLISHED.c.naming == "anonymous")
)


def _every_key_of(connection: Connection, people: Select[Any] | CompoundSelect[Any]) -> frozenset[PersonKey]:
    """All keys of the selected people."""
    keys = frozenset(PersonKey(row.key) for row in connection.execute(people))
    return keys | _of_addresses(connection, PERSON_ALIAS.c.person_key.in_(people)) if keys else keys


def _opted_out(connection: Connection, keys: Collection[PersonKey]) -> frozenset[PersonKey]:
    query = select(PERSON.c.key).where(PERSON.c.key.in_(keys), HAS_LEFT)
    return frozenset(PersonKey(row.key) for row in connection.execute(query))


def hidden_people(connection: Connection) -> frozenset[PersonKey]:
    """All keys of everybody who has opted out."""
    return _every_key_of(connection, select(PERSON.c.key).where(HAS_LEFT))


def anonymous_people(connection: Connection) -> frozenset[PersonKey]:
    """All keys of everybody who chose not to be named."""
    return _every_key_of(connection, _ANONYMOUS)


def unnamed_people(connection: Connection) -> frozenset[PersonKey]:
    """All keys of people whom no post names: those who opted out and those who chose to be anonymous."""
    return _every_key_of(connection, select(PERSON.c.key).where(HAS_LEFT).union(_ANONYMOUS))


def set_naming(connection: Connection, subject: str, naming: Naming) -> None:
    """Name the person or make the page anonymous: its address changes, and each time to a new anonymous name."""
    values = {"naming": naming, "alias": secrets.token_hex(10)}
    connection.execute(update(PUBLISHED).where(PUBLISHED.c.subject == subject).values(values))


# --- repositories and organisations ----------------------------------------------------------------------------------


def repositories_with(connection: Connection, keys: Collection[PersonKey]) -> list[RepositoryState]:
    """The repositories in which these people have a part in a landed commit, by id."""
    return _repositories(connection, REPOSITORY.c.id.in_(_landed_in(keys)))


def _landed_in(keys: Collection[PersonKey]) -> Select[Any]:
    theirs = select(FACT.c.repository_id).join(FACT_PERSON, FACT_PERSON.c.fact_id == FACT.c.id)
    return theirs.where(FACT_PERSON.c.person_key.in_(keys)).distinct()


def repositories_near(connection: Connection, keys: Collection[PersonKey]) -> list[NearbyRepository]:
    """All repositories of the installations in which these people have a part in a landed commit, by id."""
    theirs = _landed_in(keys).cte("theirs")
    own = REPOSITORY.c.id.in_(select(theirs.c.repository_id))
    hidden = select(HIDDEN_REPOSITORY.c.repository_id).where(HIDDEN_REPOSITORY.c.person_key.in_(keys))
    home = REPOSITORY.alias("home")
    homes = select(home.c.installation_id).where(home.c.id.in_(select(theirs.c.repository_id)))
    subject = "installation:" + cast(REPOSITORY.c.installation_id, Text)
    listed = exists().where(PUBLISHED.c.subject == subject, PUBLISHED.c.public)
    query = _with_installation(own.label("own"), REPOSITORY.c.id.in_(hidden).label("hidden"), listed.label("listed"))
    rows = connection.execute(query.where(REPOSITORY.c.installation_id.in_(homes)))
    return [NearbyRepository(_repository(row), bool(row.own), bool(row.hidden), bool(row.listed)) for row in rows]


def repositories_in(connection: Connection, installations: Sequence[InstallationId]) -> list[RepositoryState]:
    """All repositories of these installations, by id."""
    return _repositories(connection, REPOSITORY.c.installation_id.in_(installations))


def _repositories(connection: Connection, which: Any) -> list[RepositoryState]:
    return [_repository(row) for row in connection.execute(_with_installation().where(which))]


def _with_installation(*more: Any) -> Select[Any]:
    """All stored columns of repositories, by id, and `more`."""
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

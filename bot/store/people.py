"""Who is who? People by key, and the addresses and logins that are proved or only claimed to be theirs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal

from msgspec import Struct
from sqlalchemy import Boolean, Column, Connection, Index, Table, false, select, text, update

from bot.landing.identity.addresses import plain_email
from bot.model.commit import Person
from bot.model.ids import PersonKey, UserId
from bot.store.border import clean_text, whole_number
from bot.store.columns import METADATA, CleanText, Instant, WholeNumber
from bot.store.inserts import Upsert

AliasKind = Literal["email", "login", "name"]
Proof = Literal["proved", "claimed"]

PERSON = Table(
    "person",
    METADATA,
    Column("key", CleanText, primary_key=True),
    Column("user_id", WholeNumber),
    Column("login", CleanText),
    Column("name", CleanText, nullable=False, server_default=""),
    Column("bot", Boolean(create_constraint=False), nullable=False, server_default=false()),
    Column("opted_out_at", Instant),
    Column("named_at", WholeNumber, nullable=False, server_default="0"),
    Column("named_by", CleanText, nullable=False, server_default=""),
)
PERSON_ALIAS = Table(
    "person_alias",
    METADATA,
    Column("kind", CleanText, primary_key=True),
    Column("value", CleanText, primary_key=True),
    Column("person_key", CleanText, primary_key=True),
    Column("proof", CleanText, nullable=False),
    Index(None, "person_key"),
)


_OPTED_OUT = text("opted_out_at IS NOT NULL")
Index("ix_person_opted_out", PERSON.c.opted_out_at, sqlite_where=_OPTED_OUT, postgresql_where=_OPTED_OUT)


class GitHubAccount(Struct, frozen=True):
    """An account as GitHub describes it in an answer about it."""

    user_id: UserId
    login: str
    bot: bool = False
    address: str = ""
    """one that GitHub resolved to it"""
    at: int = 0
    """epoch seconds: of the landing that was asked about, else of the answer"""
    by: str = ""
    """the commit of that landing"""

    @property
    def age(self) -> tuple[int, str, str]:
        """The greater one is the newer."""
        return self.at, self.by, self.login


def save_people(connection: Connection, people: Iterable[Person], proof: Proof = "claimed") -> None:
    """Save people with all their addresses, names and logins; what is proved stays proved."""
    found = list(people)
    _PEOPLE.run(connection, list({one.key: (*_own(one), 0, "") for one in found}.values()))
    _NAMES[proof].run(connection, list({alias for one in found for alias in _aliases(one, proof)}))


def see_accounts(connection: Connection, accounts: Iterable[GitHubAccount]) -> None:
    """Save accounts as the newest answer describes them, in whatever order answers are stored."""
    newest: dict[UserId, GitHubAccount] = {}
    aliases: set[tuple[str, ...]] = set()
    for one in accounts:
        last = newest.get(one.user_id)
        if last is None or last.age < one.age:
            newest[one.user_id] = one
        found = (("login", one.login), ("email", plain_email(one.address)))
        aliases |= {(kind, clean_text(text.lower()), f"u:{one.user_id}", "claimed") for kind, text in found if text}
    rows = [
        (f"u:{one.user_id}", one.user_id, clean_text(one.login), one.bot, one.at, clean_text(one.by))
        for one in newest.values()
    ]
    _ACCOUNTS.run(connection, rows)
    _NAMES["claimed"].run(connection, sorted(aliases))


def see_addresses(connection: Connection, keys: Iterable[PersonKey]) -> None:
    """Save people without an account, who are only their address: what they are called stands in each commit."""
    rows = [(clean_text(key),) for key in sorted(set(keys))]
    _ADDRESSES.run(connection, rows)
    _NAMES["claimed"].run(connection, [("email", key[2:], key, "claimed") for (key,) in rows])


_AGE = ("named_at", "named_by")
_PEOPLE = Upsert(PERSON, ("key", "user_id", "login", "name", "bot", *_AGE), rising=_AGE)
_ACCOUNTS = Upsert(PERSON, ("key", "user_id", "login", "bot", *_AGE), rising=_AGE)
_ADDRESSES = Upsert(PERSON, ("key",))
_ALIAS = ("kind", "value", "person_key", "proof")
_NAMES: dict[Proof, Upsert] = {
    "claimed": Upsert(PERSON_ALIAS, _ALIAS, keep=("proof",)),
    "proved": Upsert(PERSON_ALIAS, _ALIAS),
}


@lru_cache(maxsize=4096)
def _own(person: Person) -> tuple[Any, ...]:
    """The cleaned values of a person's row; the same people land again and again."""
    user_id = None if person.user_id is None else whole_number(person.user_id)
    login = None if person.login is None else clean_text(person.login)
    return clean_text(person.key), user_id, login, clean_text(person.name), bool(person.bot)


@lru_cache(maxsize=4096)
def _aliases(person: Person, proof: Proof) -> tuple[tuple[str, ...], ...]:
    """The cleaned values of a person's alias rows."""
    found = [("email", plain_email(email)) for email in person.emails]
    found += [("name", name) for name in {person.name, *person.names} if name]
    found += [("login", person.login.lower())] if person.login else []
    return tuple((kind, clean_text(value), clean_text(person.key), proof) for kind, value in found)


def keys_of(connection: Connection, kind: AliasKind, value: str) -> list[PersonKey]:
    """The people with this alias, proved ones first."""
    same = (PERSON_ALIAS.c.kind == kind) & (PERSON_ALIAS.c.value == (value if kind == "name" else value.lower()))
    query = select(PERSON_ALIAS.c.person_key).where(same)
    rows = connection.execute(query.order_by(PERSON_ALIAS.c.proof.desc(), PERSON_ALIAS.c.person_key))
    return [PersonKey(row.person_key) for row in rows]


def accounts_of(connection: Connection, keys: Sequence[PersonKey]) -> dict[PersonKey, GitHubAccount]:
    """The accounts with these keys; people without an account have none."""
    query = select(PERSON).where(PERSON.c.key.in_(keys), PERSON.c.user_id.is_not(None), PERSON.c.login.is_not(None))
    return {PersonKey(row.key): GitHubAccount(row.user_id, row.login, row.bot) for row in connection.execute(query)}


def person(connection: Connection, key: PersonKey) -> Person | None:
    row = connection.execute(select(PERSON).where(PERSON.c.key == key)).one_or_none()
    if row is None:
        return None
    query = select(PERSON_ALIAS.c.kind, PERSON_ALIAS.c.value).where(PERSON_ALIAS.c.person_key == key)
    aliases = [(one.kind, one.value) for one in connection.execute(query.order_by(PERSON_ALIAS.c.value))]
    emails = tuple(value for kind, value in aliases if kind == "email")
    names = tuple(value for kind, value in aliases if kind == "name")
    user_id = None if row.user_id is None else UserId(row.user_id)
    return Person(key, row.name, emails, row.login, user_id, row.bot, names)


def opt_out(connection: Connection, key: PersonKey, since: datetime | None) -> None:
    """Hide the person since then, or show them again (None)."""
    connection.execute(update(PERSON).where(PERSON.c.key == key).values(opted_out_at=since))

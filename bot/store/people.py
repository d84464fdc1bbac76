"""Who is who: people by their key, and the addresses and logins that are proved or only claimed to be theirs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from sqlalchemy import Boolean, Column, Index, Table, false, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.model import Person, PersonKey, UserId
from bot.store.columns import METADATA, Instant, Whole, Words
from bot.store.dialect import upsert

AliasKind = Literal["email", "login", "name"]
Proof = Literal["proved", "claimed"]

PERSON = Table(
    "person",
    METADATA,
    Column("key", Words, primary_key=True),
    Column("user_id", Whole),
    Column("login", Words),
    Column("name", Words, nullable=False, server_default=""),
    Column("bot", Boolean(create_constraint=False), nullable=False, server_default=false()),
    Column("opted_out_at", Instant),
    Index(None, "user_id"),
    Index(None, "login"),
)
PERSON_ALIAS = Table(
    "person_alias",
    METADATA,
    Column("kind", Words, primary_key=True),
    Column("value", Words, primary_key=True),
    Column("person_key", Words, primary_key=True),
    Column("proof", Words, nullable=False),
    Index(None, "person_key"),
)


async def see_people(conn: AsyncConnection, people: Iterable[Person], proof: Proof = "claimed") -> None:
    """People with all their addresses, names and logins; what is proved stays proved."""
    given = {person.key: person for person in people}
    names = ("key", "user_id", "login", "name", "bot")
    await upsert(conn, PERSON, [{name: getattr(person, name) for name in names} for person in given.values()])
    aliases = [alias for person in given.values() for alias in _aliases(person)]
    rows = {alias: dict(zip(("kind", "value", "person_key"), alias, strict=True)) for alias in aliases}
    keep = ["proof"] if proof == "claimed" else []
    await upsert(conn, PERSON_ALIAS, [row | {"proof": proof} for row in rows.values()], keep=keep)


def _aliases(person: Person) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = [("email", email.lower(), person.key) for email in person.emails]
    found += [("name", name, person.key) for name in {person.name, *person.names} if name]
    return found + ([("login", person.login.lower(), person.key)] if person.login else [])


async def prove(conn: AsyncConnection, kind: AliasKind, value: str, key: PersonKey) -> None:
    """This address or login is this person's, beyond doubt."""
    row = {"kind": kind, "value": value.lower() if kind != "name" else value, "person_key": key, "proof": "proved"}
    await upsert(conn, PERSON_ALIAS, [row])


async def keys_of(conn: AsyncConnection, kind: AliasKind, value: str) -> list[PersonKey]:
    """The people who go by this; the proved ones first."""
    same = (PERSON_ALIAS.c.kind == kind) & (PERSON_ALIAS.c.value == (value if kind == "name" else value.lower()))
    query = select(PERSON_ALIAS.c.person_key).where(same)
    rows = await conn.execute(query.order_by(PERSON_ALIAS.c.proof.desc(), PERSON_ALIAS.c.person_key))
    return [PersonKey(row.person_key) for row in rows]


async def person(conn: AsyncConnection, key: PersonKey) -> Person | None:
    row = (await conn.execute(select(PERSON).where(PERSON.c.key == key))).one_or_none()
    if row is None:
        return None
    query = select(PERSON_ALIAS.c.kind, PERSON_ALIAS.c.value).where(PERSON_ALIAS.c.person_key == key)
    aliases = [(one.kind, one.value) for one in await conn.execute(query.order_by(PERSON_ALIAS.c.value))]
    emails = tuple(value for kind, value in aliases if kind == "email")
    names = tuple(value for kind, value in aliases if kind == "name")
    user_id = None if row.user_id is None else UserId(row.user_id)
    return Person(key, row.name, emails, row.login, user_id, row.bot, names)


async def opt_out(conn: AsyncConnection, key: PersonKey, since: datetime | None) -> None:
    """Shown nowhere since then, or again (None)."""
    await conn.execute(update(PERSON).where(PERSON.c.key == key).values(opted_out_at=since))


async def opted_out(conn: AsyncConnection) -> set[PersonKey]:
    rows = await conn.execute(select(PERSON.c.key).where(PERSON.c.opted_out_at.is_not(None)))
    return {PersonKey(row.key) for row in rows}

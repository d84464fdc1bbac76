"""Who is who: people by their key, and the addresses and logins that are proved or only claimed to be theirs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Literal

from sqlalchemy import Boolean, Column, Index, Table, false, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.model import CommitId, Person, PersonKey, UserId
from bot.store.bulk import upserting
from bot.store.columns import METADATA, Instant, Whole, Words
from bot.store.dialect import upsert
from bot.store.turn import Plan, Spelling, run, spelling_of

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
    Column("named_at", Whole, nullable=False, server_default="0"),
    Column("named_by", Words, nullable=False, server_default=""),
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


_NONE = CommitId("")


@dataclass(frozen=True, slots=True)
class Seen:
    """Somebody as one landing names them: when it landed (epoch seconds) and its commit; 0 and "" where none does."""

    person: Person
    at: int = 0
    by: CommitId = _NONE

    @property
    def age(self) -> tuple[int, str, str, str]:
        """The greater one is the newer; of two names in one commit the greater is taken."""
        return self.at, self.by, self.person.name, self.person.login or ""


async def see_people(conn: AsyncConnection, people: Iterable[Person], proof: Proof = "claimed") -> None:
    """People with all their addresses, names and logins; what is proved stays proved."""
    await run(conn, seeing(spelling_of(conn), [Seen(person) for person in people], proof))


def seeing(spelling: Spelling, seen: Iterable[Seen], proof: Proof = "claimed") -> Plan[None]:
    """Each person as the newest landing names them, and by all their names, in whichever order landings are seen."""
    given = sorted(seen, key=lambda one: one.age)
    newest = {one.person.key: one for one in given}
    rows = [(*_named_by(one.person), one.at, one.by) for one in newest.values()]
    yield from upserting(spelling, PERSON, _NAMES, rows, rising=_AGE)
    aliases = {(*alias, proof) for one in given for alias in _aliases(one.person)}
    keep = ("proof",) if proof == "claimed" else ()
    yield from upserting(spelling, PERSON_ALIAS, _ALIAS, list(aliases), keep=keep)


_OWN, _AGE = ("key", "user_id", "login", "name", "bot"), ("named_at", "named_by")
_NAMES = (*_OWN, *_AGE)
_ALIAS = ("kind", "value", "person_key", "proof")
_named_by = attrgetter(*_OWN)


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

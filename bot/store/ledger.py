"""Which commits landed, measured: the append-only facts, and the keys by which facts of one piece of work are found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from pydantic_core import from_json
from sqlalchemy import (
    Column,
    ColumnElement,
    ForeignKey,
    FromClause,
    Index,
    Table,
    UniqueConstraint,
    delete,
    func,
    select,
    union,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.landing.identity import credited, person_key
from bot.landing.keys import commit_key
from bot.metrics.registry import FACT_METHOD
from bot.model import CommitId, Fact, PersonKey, RepositoryId, fact_from_json, fact_to_json
from bot.store import visits
from bot.store.border import REPLACEMENT, ordered_json
from bot.store.bulk import cleaned, returned
from bot.store.columns import METADATA, Instant, Json, Spelt, Whole, Words
from bot.store.dialect import among
from bot.store.installations import REPOSITORY
from bot.store.keyed import OFFERS, SAID_TWICE, Keyed, keyed
from bot.store.statements import Insert
from bot.store.turn import Ask, Plan, Rows, Said, Say, Spelling, run, saying, spelling_of

FACT = Table(
    "fact",
    METADATA,
    Column("id", Whole, primary_key=True),
    Column("repository_id", Whole, ForeignKey(REPOSITORY.c.id), nullable=False),
    Column("commit_id", Words, nullable=False),
    Column("landed_at", Whole, nullable=False),
    Column("author_key", Words, nullable=False),
    Column("pull_request", Whole),
    Column("recorded_at", Instant, nullable=False),
    Column("payload", Json, nullable=False),
    # The version of the definitions that measured it; 0 before versions were kept.
    Column("method", Whole, nullable=False, server_default="0"),
    UniqueConstraint("repository_id", "commit_id"),
    Index(None, "repository_id", "landed_at"),
    Index(None, "repository_id", "pull_request"),
)
# What hangs on a fact goes with it by a trigger; a reference would be looked up for each row (docs/decisions/0083).
FACT_KEY = Table(
    "fact_key",
    METADATA,
    Column("key", Words, primary_key=True),
    Column("role", Words, primary_key=True),
    Column("fact_id", Whole, primary_key=True),
    Index(None, "fact_id"),
    sqlite_with_rowid=False,
)
# Credited people, authors and co-authors: `facts_of` asks for both.
FACT_PERSON = Table(
    "fact_person",
    METADATA,
    Column("person_key", Words, primary_key=True),
    Column("fact_id", Whole, primary_key=True),
    Index(None, "fact_id"),
    sqlite_with_rowid=False,
)


async def add_facts(
    conn: AsyncConnection, repository_id: RepositoryId, facts: Iterable[Fact], *, now: datetime
) -> list[CommitId]:
    """Append the facts that the ledger does not hold yet; the ids of the new ones, in the order given.

    Four statements whatever the number, so that the cost of a landing does not grow.
    """
    new = await run(conn, appending(spelling_of(conn), repository_id, facts, now))
    return [one.fact.commit for one in new.values()]


def appending(
    spelling: Spelling, repository_id: RepositoryId, facts: Iterable[Fact], now: datetime
) -> Plan[dict[int, Keyed]]:
    """The plan of `add_facts`: the new facts as they are kept, by their row numbers."""
    given = {fact.commit: fact for fact in facts}
    payloads = {commit: Spelt(ordered_json(fact_to_json(fact))) for commit, fact in given.items()}
    rows = [_row(fact, repository_id, payloads[commit], now) for commit, fact in sorted(given.items())]
    if not rows:
        return {}
    ids: dict[CommitId, int] = dict((yield from returned(spelling, _FACTS, cleaned(spelling, _FACTS, rows), _NUMBERED)))
    new = keyed({ids[commit]: _kept(fact, payloads[commit]) for commit, fact in given.items() if commit in ids})
    if new:
        visited = [row for number, one in new.items() for row in visits.rows_of(number, repository_id, one.fact)]
        yield [*_keys_of(spelling, new), *_VISITS.told(spelling, visited)]
    return new


def _kept(fact: Fact, payload: str) -> Fact:
    """The fact as whoever reads it will find it: with what a database refuses replaced."""
    return fact_of(payload) if REPLACEMENT in payload else fact


_FACTS = Insert(
    FACT,
    (
        *("repository_id", "commit_id", "landed_at", "author_key", "pull_request"),
        *("recorded_at", "payload", "method"),
    ),
)
_NUMBERED = ("commit_id", "id")
_KEYS = Insert(FACT_KEY, ("key", "role", "fact_id"))
_PEOPLE = Insert(FACT_PERSON, ("person_key", "fact_id"))
_VISITS = Insert(visits.VISIT, visits.COLUMNS)


def _row(fact: Fact, repository_id: RepositoryId, payload: Spelt, now: datetime) -> tuple[Any, ...]:
    who = person_key(fact.author)
    return repository_id, fact.commit, fact.landed_at, who, fact.pull_request, now, payload, FACT_METHOD


def _keys_of(spelling: Spelling, new: Mapping[int, Keyed]) -> list[Said]:
    """What writes down keys and people of facts as they are kept: these are past the border with them."""
    people = [(key, number) for number, one in new.items() for key in credited(one.fact)]
    rows = [row for number, one in new.items() for row in one.rows(number)]
    return _KEYS.told(spelling, rows) + _PEOPLE.told(spelling, people)


def meets(here: FromClause, there: FromClause) -> ColumnElement[bool]:
    """Whether two rows of keys, by different facts, make these fold together: one asks for what the other offers."""
    both_ask = (here.c.role == OFFERS) & func.substr(here.c.key, 1, 6).not_in(SAID_TWICE)
    return (there.c.key == here.c.key) & ((there.c.role != here.c.role) | both_ask)


def numbered(spelling: Spelling, numbers: Sequence[int]) -> Plan[dict[int, Fact]]:
    """The facts of these rows."""
    if not numbers:
        return {}
    rows = yield Ask(_numbered(spelling), (spelling.list_of(numbers),))
    return by_number(rows)


@cache
def _numbered(spelling: Spelling) -> str:
    # As bytes where the driver would make text of them, which the parser of JSON makes bytes again.
    payload = "payload" if spelling.is_postgresql else "CAST(payload AS BLOB)"
    return f"SELECT id, {payload} FROM fact WHERE {spelling.among('id', 'bigint')}"  # noqa: S608  # names


def fact_of(payload: str | bytes) -> Fact:
    """The fact that a row's text holds; names of fields come again in each."""
    return fact_from_json(from_json(payload, cache_strings="keys"))


def by_number(rows: Rows) -> dict[int, Fact]:
    """The facts of rows that are a number and a payload."""
    return {int(number): fact_of(payload) for number, payload in rows}


def forgetting(spelling: Spelling, numbers: Sequence[int]) -> Plan[None]:
    """Drop these facts, with their keys."""
    if numbers:
        which = spelling.among("id", "bigint")
        yield Say(f"DELETE FROM fact WHERE {which}", (spelling.list_of(numbers),))  # noqa: S608  # names


def numbers_of(spelling: Spelling, repository_id: RepositoryId, commits: Sequence[CommitId]) -> Plan[list[int]]:
    """The rows that hold these commits."""
    which = spelling.among("commit_id")
    sql = f"SELECT id FROM fact WHERE repository_id = ? AND {which}"  # noqa: S608  # names of this program
    rows = yield Ask(sql, (repository_id, spelling.list_of(commits)))
    return [int(row[0]) for row in rows]


async def component(
    conn: AsyncConnection, commits: Sequence[tuple[RepositoryId, CommitId]], *, installation_id: int | None
) -> list[Fact]:
    """Every fact that has to be folded together with these commits, oldest first.

    Facts belong together where one asks for a key that the other offers, and so on. With an `installation_id` the
    search stays inside its repositories, so that no tenant sees another's; None searches all.
    """
    seeds = await _ids(conn, commits)
    here, there = FACT_KEY.alias("here"), FACT_KEY.alias("there")
    reached = select(FACT.c.id).where(FACT.c.id.in_(seeds)).cte("reached", recursive=True)
    step = (
        select(there.c.fact_id)
        .select_from(reached)
        .join(here, here.c.fact_id == reached.c.id)
        .join(there, meets(here, there))
    )
    if installation_id is not None:
        step = step.join(FACT, FACT.c.id == there.c.fact_id).join(REPOSITORY, REPOSITORY.c.id == FACT.c.repository_id)
        step = step.where(REPOSITORY.c.installation_id == installation_id)
    reached = reached.union(step)
    return await _facts(conn, FACT.c.id.in_(select(reached.c.id)))


async def _ids(conn: AsyncConnection, commits: Sequence[tuple[RepositoryId, CommitId]]) -> list[int]:
    by_repository: dict[RepositoryId, list[CommitId]] = {}
    for repository_id, commit in commits:
        by_repository.setdefault(repository_id, []).append(commit)
    parts = [
        select(FACT.c.id).where(FACT.c.repository_id == repository_id, these)
        for repository_id, ids in sorted(by_repository.items())
        for these in among(FACT.c.commit_id, ids)
    ]
    return list((await conn.execute(union(*parts))).scalars()) if parts else []


async def facts_of(
    conn: AsyncConnection, people: Sequence[PersonKey], *, repositories: Sequence[RepositoryId]
) -> list[Fact]:
    """The facts these people authored or co-authored in these repositories, oldest first."""
    theirs = select(FACT_PERSON.c.fact_id).where(FACT_PERSON.c.person_key.in_(people))
    return await _facts(conn, FACT.c.id.in_(theirs) & FACT.c.repository_id.in_(repositories))


async def facts_in(
    conn: AsyncConnection, repository_id: RepositoryId, since: int = 0, until: int = 2**62
) -> list[Fact]:
    """The facts of one repository landed in [since, until), epoch seconds, oldest first."""
    landed = FACT.c.landed_at
    return await _facts(conn, (FACT.c.repository_id == repository_id) & (landed >= since) & (landed < until))


async def known(conn: AsyncConnection, repository_id: RepositoryId, commits: Sequence[CommitId]) -> set[CommitId]:
    """Those of the commits that the ledger holds."""
    found: set[CommitId] = set()
    for these in among(FACT.c.commit_id, commits):
        same = (FACT.c.repository_id == repository_id) & these
        found |= {CommitId(row.commit_id) for row in await conn.execute(select(FACT.c.commit_id).where(same))}
    return found


async def _facts(conn: AsyncConnection, which: Any) -> list[Fact]:
    query = select(FACT.c.payload).where(which).order_by(FACT.c.landed_at, FACT.c.repository_id, FACT.c.commit_id)
    return [fact_from_json(row.payload) for row in await conn.execute(query)]


async def follow_rename(conn: AsyncConnection, repository_id: RepositoryId, old: str, new: str) -> int:
    """Write the new full name into the facts and keys of one renamed repository; facts changed.

    Only this repository's own rows: another one may take the old name tomorrow, and must not inherit its work.
    """
    rows = list(await conn.execute(select(FACT.c.id, FACT.c.payload).where(FACT.c.repository_id == repository_id)))
    renamed = [(row.id, _renamed(row.payload, old, new)) for row in rows]
    for fact_id, payload in renamed:
        await conn.execute(update(FACT).where(FACT.c.id == fact_id).values(payload=payload))
        await conn.execute(delete(FACT_KEY).where(FACT_KEY.c.fact_id == fact_id))
    anew = {fact_id: fact_from_json(payload) for fact_id, payload in renamed}
    await run(conn, saying(_keys_of(spelling_of(conn), keyed(anew))))
    return len(renamed)


def _renamed(payload: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    for name in ("keys", "reverts", "relands", "links"):
        if name in payload:
            payload[name] = [_renamed_key(key, old, new) for key in payload[name]]
    return payload | {"repository": new}


def _renamed_key(key: str, old: str, new: str) -> str:
    """`pr:old/name#1`, `title:old/name:…` and their like; any other key as it is."""
    kind, _, rest = key.partition(":")
    if rest.lower().startswith(old.lower()) and rest[len(old) : len(old) + 1] in {"#", ":"}:
        return f"{kind}:{new.lower() if rest[: len(old)].islower() else new}{rest[len(old) :]}"
    return key


async def forget_facts(conn: AsyncConnection, repository_id: RepositoryId, commits: Sequence[CommitId]) -> None:
    """Drop facts that are about to be measured anew, with their keys."""
    for these in among(FACT.c.commit_id, commits):
        same = (FACT.c.repository_id == repository_id) & these
        await conn.execute(delete(FACT).where(same))


async def facts_at(conn: AsyncConnection, repository_id: RepositoryId, commits: Sequence[CommitId]) -> list[Fact]:
    """The facts of these commits of one repository, oldest first."""
    return await _facts(conn, (FACT.c.repository_id == repository_id) & FACT.c.commit_id.in_(commits))


async def facts_named(conn: AsyncConnection, repository_id: RepositoryId, pull_request: int) -> list[Fact]:
    """The facts of one repository that one of its pull requests brought, oldest first."""
    return await _facts(conn, (FACT.c.repository_id == repository_id) & (FACT.c.pull_request == pull_request))


async def facts_carried(conn: AsyncConnection, repository_id: RepositoryId, carrier: CommitId) -> list[Fact]:
    """The facts that one commit of the first-parent line brought, itself among them."""
    offered = select(FACT_KEY.c.fact_id).where(FACT_KEY.c.key == commit_key(carrier), FACT_KEY.c.role == OFFERS)
    found = await _facts(conn, FACT.c.id.in_(offered) & (FACT.c.repository_id == repository_id))
    return [fact for fact in found if fact.carrier == carrier]


async def newest_carrier(conn: AsyncConnection, repository_id: RepositoryId) -> CommitId | None:
    """The commit of the default branch that carried the newest landing; None where nothing is recorded."""
    mine = select(FACT.c.payload).where(FACT.c.repository_id == repository_id)
    row = (await conn.execute(mine.order_by(FACT.c.landed_at.desc(), FACT.c.commit_id).limit(1))).first()
    return None if row is None else fact_from_json(row.payload).carrier

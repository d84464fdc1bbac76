"""How fast do eight concurrent writers apply landings on PostgreSQL, into one organisation and into eight?

The floor is handwritten rows on eight connections: facts, their keys and one sum per person and month, with one
statement per table and batch, sorted by key. A deadlock fails the row.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import psycopg
from msgspec.structs import replace
from sqlalchemy import Connection

from benchmarks.speed.landings import NOW, UTC_ZONE, facts_of
from benchmarks.speed.table import Measurement
from bot.landing.same_work.keys import offered_keys, sought_keys
from bot.model.commit import Repository
from bot.model.fact import Fact, fact_to_json
from bot.model.ids import InstallationId, RepositoryId
from bot.services.recording.record import RecordingTarget, record
from bot.store.engine import Store
from bot.store.installations import Account, save_installation, save_repositories
from bot.store.migrate import migrate
from tests.databases import fresh_database

WRITERS, NUMBER, BATCH = 8, 1600, 100
Write = Callable[[int, Sequence[Fact]], Awaitable[None]]


async def _side_by_side(facts: Sequence[Fact], write: Write) -> float:
    """Landings per second; each writer writes one batch after the other."""

    async def one(writer: int) -> None:
        mine = facts[writer::WRITERS]
        for at in range(0, len(mine), BATCH):
            await write(writer, mine[at : at + BATCH])

    begun = time.perf_counter()
    await asyncio.gather(*(one(writer) for writer in range(WRITERS)))
    return len(facts) / (time.perf_counter() - begun)


async def ours(url: str, organisations: int) -> float:
    """Use the bot's own `record`, as its jobs do; all facts of an organisation are in one repository."""
    async with await Store.open(url) as store:
        await migrate(store)
        with store.transaction() as conn:
            for number in range(organisations):
                home = InstallationId(1 + number)
                save_installation(conn, home, Account(100 + number, f"acme{number}"), app_id="7", now=NOW)
                save_repositories(conn, home, [Repository(_name(number), RepositoryId(10 + number))], NOW)

        async def write(writer: int, facts: Sequence[Fact]) -> None:
            number = writer % organisations
            target = RecordingTarget(InstallationId(1 + number), RepositoryId(10 + number), UTC_ZONE)

            def written(conn: Connection) -> None:
                record(conn, target, facts, now=NOW)

            await store.write_without_flush(written)

        facts = facts_of(NUMBER, repositories=1)
        return await _side_by_side(
            [_with_organisation(fact, at % organisations) for at, fact in enumerate(facts)], write
        )


def _name(number: int) -> str:
    return "acme/part-0" if number == 0 else f"acme{number}/part-0"


def _with_organisation(fact: Fact, organisation: int) -> Fact:
    """The fact as a landing in that organisation's own repository."""
    keys = tuple(key.replace(_name(0), _name(organisation)) for key in fact.keys)
    return replace(fact, repository=_name(organisation), keys=keys)


_TABLES = """
    CREATE TABLE plain_fact (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, commit_id text UNIQUE, payload text);
    CREATE TABLE plain_key (key text, role text, commit_id text, PRIMARY KEY (key, role, commit_id));
    CREATE TABLE plain_total (person text, month text, commits bigint, PRIMARY KEY (person, month))"""
_FACTS = "INSERT INTO plain_fact (commit_id, payload) SELECT * FROM unnest(%s::text[], %s::text[])"
_KEYS = "INSERT INTO plain_key SELECT * FROM unnest(%s::text[], %s::text[], %s::text[]) ON CONFLICT DO NOTHING"
_TOTALS = """
    INSERT INTO plain_total SELECT * FROM unnest(%s::text[], %s::text[], %s::bigint[])
    ON CONFLICT (person, month) DO UPDATE SET commits = plain_total.commits + excluded.commits"""


async def floor(url: str) -> float:
    """Landings per second for the same rows by hand."""
    address = url.replace("postgresql+psycopg://", "postgresql://")
    connections = [await psycopg.AsyncConnection.connect(address) for _ in range(WRITERS)]
    try:
        await connections[0].execute(_TABLES)
        await connections[0].commit()

        async def write(writer: int, facts: Sequence[Fact]) -> None:
            async with connections[writer].transaction():
                await _insert(connections[writer], facts)

        return await _side_by_side(facts_of(NUMBER, repositories=1), write)
    finally:
        for connection in connections:
            await connection.close()


async def _insert(connection: psycopg.AsyncConnection[tuple[object, ...]], facts: Sequence[Fact]) -> None:
    payloads = [json.dumps(fact_to_json(fact), sort_keys=True) for fact in facts]
    await connection.execute(_FACTS, ([fact.commit for fact in facts], payloads))
    keys = [(key, "o", fact.commit) for fact in facts for key in offered_keys(fact)]
    keys += [(key, "a", fact.commit) for fact in facts for key in sought_keys(fact)]
    await connection.execute(_KEYS, [list(column) for column in zip(*sorted(keys), strict=True)])
    counts = sorted(Counter(fact.author.email for fact in facts).items())
    people, commits = zip(*counts, strict=True)
    await connection.execute(_TOTALS, (list(people), ["2030-01"] * len(people), list(commits)))


def _measure(work: Callable[[str], Awaitable[float]]) -> float:
    async def run(url: str) -> float:
        return await work(url)

    with tempfile.TemporaryDirectory() as folder, fresh_database("postgresql", Path(folder), migrated=False) as url:
        return asyncio.run(run(url))


def rows() -> list[Measurement]:
    plain, floor_name = _measure(floor), "plain rows and sums by hand, 8 writers"
    work = f"apply landings, PostgreSQL, 8 writers, {BATCH} a transaction"
    one = _measure(lambda url: ours(url, 1))
    eight = _measure(lambda url: ours(url, 8))
    return [
        Measurement(f"{work}, one organisation", floor_name, plain, one, "landings/s"),
        Measurement(f"{work}, eight organisations", floor_name, plain, eight, "landings/s"),
    ]

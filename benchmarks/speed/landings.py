"""What does it cost to apply landings: facts into ledger, changes, contributions and totals?

The floor is the same ledger and sums in handwritten SQL without folding: a row per fact, its keys, and one counter row
per person and month, with one transaction per landing or batch. Its commits wait for the disk; those of the bot's jobs
do not, because a lost job runs again (docs/decisions/0082).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from benchmarks.speed.table import Measurement, measure_alternately
from bot.landing.same_work.keys import offered_keys, sought_keys
from bot.model.commit import Repository, Signature
from bot.model.fact import Fact, Lines, fact_to_json
from bot.model.ids import CommitId, InstallationId, RepositoryId, UserId
from bot.services.recording.record import RecordingTarget, record
from bot.store.engine import Store
from bot.store.installations import Account, save_installation, save_repositories
from bot.store.migrate import migrate

NOW = datetime(2031, 5, 1, 12, tzinfo=UTC)
YEAR_BEGINS = 1_893_456_000
"""2030-01-01"""
UTC_ZONE = ZoneInfo("UTC")
KINDS = ("feature", "bug_fix", "refactor", "docs", "chore")


def facts_of(number: int, *, people: int = 2000, repositories: int = 20, seed: int = 1) -> list[Fact]:
    """Squash merges of an organisation with 100,000 a year; one in two hundred reverts an earlier one.

    Their texts resemble real histories: nearly every reason, and a tenth of the titles, contains a curly quote.
    """
    rng, at, made = random.Random(seed), YEAR_BEGINS, list[Fact]()
    for count in range(number):
        at += rng.randrange(60, 570)
        where = f"acme/part-{min(int(rng.expovariate(0.3)), repositories - 1)}"
        who = min(int(rng.expovariate(3 / people)), people - 1)
        sig = Signature(f"Person {who}", f"{1000 + who}+p{who}@users.noreply.github.com", UserId(1000 + who), f"p{who}")
        commit = CommitId(hashlib.sha1(b"%d/%d" % (seed, count), usedforsecurity=False).hexdigest())
        does, what = rng.choice(("Add", "Fix", "Speed up", "Rename")), rng.choice(("door", "lamp"))
        title = f"{does} part {count} of the {f'“{what}”' if count % 10 == 4 else what}"
        keys = [
            f"pr:{where}#{count + 1}",
            f"title:{where}:{title.lower()}",
            f"patch:{commit[:24]}",
            f"copy:{commit[:24]}",
        ]
        back = [made[-rng.randrange(1, 300)]] if count > 300 and rng.random() < 0.005 else []
        made.append(
            Fact(
                repository=where,
                commit=commit,
                landed_at=at,
                authored_at=at - 5000,
                author=sig,
                committer=sig,
                title=title,
                how="squash",
                merge_commit=commit,
                pull_request=count + 1,
                keys=(f"commit:{commit}", *keys),
                reverts=tuple(f"commit:{one.commit}" for one in back),
                lines=Lines(authored=rng.randrange(1, 200), tests=rng.randrange(60)),
                kind=rng.choice(KINDS),  # type: ignore[arg-type]  # they are kinds
                why=f"title says “{does.lower()}”" if count % 10 else "words of its title",
                languages={"Python": rng.randrange(1, 200)},
                skills={"asyncio": 3, "pytest": 2},
                paths=tuple(sorted(f"src/{rng.randrange(400)}.py" for _ in range(3))),
            )
        )
    return made


async def organisation(store: Store, repositories: int = 20) -> dict[str, RepositoryId]:
    """An installation with its repositories."""
    rows = [Repository(f"acme/part-{number}", RepositoryId(10 + number)) for number in range(repositories)]
    with store.transaction() as connection:
        save_installation(connection, InstallationId(1), Account(100, "acme"), app_id="7", now=NOW)
        save_repositories(connection, InstallationId(1), rows, NOW)
    return {row.full_name: row.id for row in rows if row.id is not None}


async def apply(store: Store, ids: dict[str, RepositoryId], facts: Sequence[Fact]) -> None:
    """Apply facts in one transaction, as a job does: by repository, through the bot's own `record`."""
    by_name: dict[str, list[Fact]] = {}
    for fact in facts:
        by_name.setdefault(fact.repository, []).append(fact)

    def written(connection: Connection) -> None:
        for name, some in sorted(by_name.items()):
            record(connection, RecordingTarget(InstallationId(1), ids[name], UTC_ZONE), some, now=NOW)

    await store.write_without_flush(written)


def ours(number: int, batch: int) -> float:
    """Landings per second on SQLite."""

    async def applied() -> float:
        with tempfile.TemporaryDirectory() as folder:
            async with await Store.open(f"sqlite:///{folder}/almanac.db") as store:
                await migrate(store)
                ids = await organisation(store)
                facts = facts_of(number + 50)
                await apply(store, ids, facts[:50])
                begun = time.perf_counter()
                for at in range(50, len(facts), batch):
                    await apply(store, ids, facts[at : at + batch])
                return number / (time.perf_counter() - begun)

    return asyncio.run(applied())


def floor(number: int, batch: int) -> float:
    """Landings per second for the same rows and sums in handwritten SQL, without a fold."""
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder) / "floor.db", isolation_level=None)
        connection.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
            "CREATE TABLE fact (id INTEGER PRIMARY KEY, name TEXT, commit_id TEXT, payload TEXT,"
            " UNIQUE (name, commit_id));"
            "CREATE TABLE fact_key (key TEXT, role TEXT, fact_id INTEGER, PRIMARY KEY (key, role, fact_id));"
            "CREATE TABLE totals (person TEXT, name TEXT, month TEXT, commits INTEGER, lines INTEGER,"
            " PRIMARY KEY (person, name, month))"
        )
        facts = facts_of(number)
        begun = time.perf_counter()
        for at in range(0, number, batch):
            connection.execute("BEGIN IMMEDIATE")
            for fact in facts[at : at + batch]:
                _insert(connection, fact)
            connection.execute("COMMIT")
        spent = time.perf_counter() - begun
        connection.close()
        return number / spent


def _insert(connection: sqlite3.Connection, fact: Fact) -> None:
    payload = json.dumps(fact_to_json(fact), sort_keys=True)
    row = (fact.repository, fact.commit, payload)
    number = connection.execute("INSERT INTO fact (name, commit_id, payload) VALUES (?, ?, ?)", row).lastrowid
    keys = [
        (key, role, number) for role, found in (("o", offered_keys(fact)), ("a", sought_keys(fact))) for key in found
    ]
    connection.executemany("INSERT INTO fact_key VALUES (?, ?, ?)", keys)
    cell = (fact.author.email, fact.repository, "2030-01", fact.lines.total)
    connection.execute(
        "INSERT INTO totals VALUES (?, ?, ?, 1, ?) ON CONFLICT DO UPDATE"
        " SET commits = commits + 1, lines = lines + excluded.lines",
        cell,
    )


def rows() -> list[Measurement]:
    live = measure_alternately(3, lambda: floor(300, 1), lambda: ours(300, 1))
    folded = measure_alternately(3, lambda: floor(3000, 1000), lambda: ours(3000, 1000))
    floor_name = "plain rows and sums by hand"
    return [
        Measurement("apply landings, SQLite, one a transaction", floor_name, *live, "landings/s"),
        Measurement("apply landings, SQLite, 1,000 a transaction", floor_name, *folded, "landings/s"),
    ]

"""Is the record a function of the facts, whatever the order and the batches in which they arrive?"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from unittest.mock import Mock
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import text

from bot.landing.identity.credit import person_key
from bot.model.commit import Signature
from bot.model.fact import Fact
from bot.model.ids import PersonKey, RepositoryId, UserId
from bot.services.context import Context
from bot.services.privacy import erasure
from bot.services.recording.record import RecordingTarget, record
from bot.store import folding, ledger, people
from bot.store.dump import canonical_dump
from bot.store.engine import Store
from tests.databases import put_tables
from tests.store.conftest import ACME, APP, BEA, FORK, NOW, database_url, fact, seed, store

__all__ = ["database_url", "store"]

NAMES = ("Ada", "ada brook", "Ada Brook", "Ада", "É. Brook")
MAILS = ("7+ada@users.noreply.github.com", "Ada@example.org", "ada@work.example.org")


def ada(number: int) -> Signature:
    """One account, whose commits name it by turns."""
    return Signature(NAMES[number * 3 % 5], MAILS[number % 3], UserId(7), f"ada-{number % 2}")


def story() -> list[tuple[RepositoryId, Fact]]:
    """Landings of one person under many names, some in the same second, two signatures in one commit."""
    bea = [Signature(name, "bea@example.org") for name in ("Bea", "bea", "B. Example")]
    rows = [
        (APP, fact(n, author=ada(n), co_authors=(bea[n % 3], bea[n * 2 % 3]), landed_at=1_900_000_000 + n // 3))
        for n in range(14)
    ]
    return rows + [(FORK, fact(20 + n, FORK, author=bea[n % 3], co_authors=(ada(n),))) for n in range(4)]


async def dump_of(found: Store, batches: list[list[tuple[RepositoryId, Fact]]]) -> str:
    await seed(found)
    for batch in batches:
        for repository in (APP, FORK):
            facts = [one for where, one in batch if where == repository]
            with found.transaction() as connection:
                record(connection, RecordingTarget(ACME, repository, ZoneInfo("UTC")), facts, now=NOW)
    return await canonical_dump(found)


def split(rows: list[tuple[RepositoryId, Fact]], chance: random.Random) -> list[list[tuple[RepositoryId, Fact]]]:
    """The rows in another order, cut anywhere; some come twice."""
    shuffled = chance.sample(rows, len(rows)) + chance.sample(rows, 3)
    ends = sorted(chance.sample(range(1, len(shuffled)), 4))
    return [shuffled[start:end] for start, end in zip([0, *ends], [*ends, len(shuffled)], strict=True)]


@pytest.mark.parametrize("seed_", range(3))
async def test_the_order_and_the_batches_of_facts_make_no_difference(store: Store, tmp_path: Path, seed_: int) -> None:
    await asyncio.to_thread(put_tables, tmp_path, "calm.sqlite")
    async with await Store.open(f"sqlite:///{tmp_path / 'calm.sqlite'}") as calm:
        expected = await dump_of(calm, [story()])
    assert await dump_of(store, split(story(), random.Random(seed_))) == expected


async def test_an_account_is_called_what_github_answers_and_nothing_that_commits_say(store: Store) -> None:
    older, newer = fact(1, author=ada(1)), fact(2, author=ada(2))
    await dump_of(store, [[(APP, newer)], [(APP, older)]])
    with store.snapshot() as connection:
        found = people.person(connection, person_key(ada(1)))
    assert found is not None
    assert (found.name, found.login, found.names) == ("", "ada-0", ())
    assert set(found.emails) == {"ada@example.org", "ada@work.example.org"}


async def test_a_name_seen_without_a_landing_does_not_replace_a_known_one(store: Store) -> None:
    await dump_of(store, [[(APP, fact(1, author=ada(1)))]])
    with store.transaction() as connection:
        known = people.person(connection, person_key(ada(1)))
        assert known is not None
        people.save_people(connection, [type(known)(known.key, "Somebody", (), "somebody", UserId(7))])
        again = people.person(connection, known.key)
    assert again is not None
    assert (again.name, again.login) == (known.name, known.login)
    assert "Somebody" in again.names


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_work_being_recorded_during_an_erasure_is_erased_too(store: Store) -> None:
    here = RecordingTarget(ACME, APP, ZoneInfo("UTC"))
    queue = SimpleNamespace(defer=Mock())
    place = cast("Context", SimpleNamespace(queue=queue, zone=here.zone, clock=lambda: NOW))
    await seed(store)

    async def recorded(*facts: Fact) -> None:
        await store.write(record, here, facts, now=NOW)

    waiting = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")

    async def until_waiting(several: int) -> None:
        count = 0
        while count < several:
            count = await store.read(lambda connection: connection.execute(waiting).scalar_one())

    async def forgotten() -> None:
        await store.write(erasure.forget, place, PersonKey("u:7"), NOW)
        await store.write(erasure.erase, place, PersonKey("u:7"))

    await recorded(fact(1), fact(2, author=BEA))
    with store.transaction() as connection:
        folding.lock_installation(connection, ACME)
        late = asyncio.create_task(recorded(fact(3)))
        await until_waiting(1)
        gone = asyncio.create_task(forgotten())
        await until_waiting(2)
    await asyncio.gather(late, gone)
    with store.snapshot() as connection:
        assert [one.author for one in ledger.facts_in(connection, APP)] == [BEA]

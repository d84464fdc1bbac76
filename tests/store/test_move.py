"""Is everything moved, there and back, and a target with content refused?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace
from sqlalchemy import select

from bot.landing.identity.credit import person_key
from bot.model.commit import Commit
from bot.model.ids import CommitId
from bot.services.recording.record import RecordingTarget, record
from bot.store import inbox, jobs, ledger, people, readings
from bot.store.digests import begin_period
from bot.store.dump import canonical_dump
from bot.store.engine import Store
from bot.store.erasure import add_tombstones
from bot.store.jobs import JOB, NewJob
from bot.store.move import MoveError, move_all
from bot.store.schema import TABLES
from bot.store.totals import TOTALS
from tests.databases import fresh_database
from tests.store.conftest import ACME, ADA, APP, BEA, NOW, fact, seed

READ = Commit(CommitId("c" * 40), (), ADA, ADA, NOW, NOW, "Add part")
"""a commit as GitHub answered it"""


@pytest.fixture
def urls(tmp_path: Path) -> Iterator[tuple[str, str, str]]:
    """A migrated SQLite, an empty PostgreSQL, and a SQLite that is not there yet."""
    with fresh_database("sqlite", tmp_path) as one, fresh_database("postgresql", tmp_path) as two:
        yield one, two, f"sqlite:///{tmp_path}/again/almanac.db"


async def _fill(store: Store) -> None:
    await seed(store)
    facts = [fact(number, author=ADA if number % 2 else BEA, co_authors=(BEA,)) for number in range(40)]
    facts.append(replace(fact(99), title="nul \0 and half \ud800 and 漢", reverts=(f"commit:{facts[3].commit}",)))
    with store.transaction() as connection:
        record(connection, RecordingTarget(ACME, APP, ZoneInfo("UTC")), facts, now=NOW)
        inbox.accept(
            connection, inbox.Delivery("app:7", "guid-1", "push", NOW, body=b'{"a":1}', jobs=(NewJob("later", 5),))
        )
        jobs.add_jobs(connection, [NewJob("other", "x", serial_key="s", dedupe_key="d", priority=-3)], NOW)
        readings.keep(connection, APP, [READ], tip=READ.id, now=NOW)
        add_tombstones(connection, [person_key(BEA)], NOW)
        begin_period(connection, "close", "2031-04", NOW)
        people.opt_out(connection, person_key(ADA), NOW)


async def test_moving_there_and_back_gives_the_same_record(urls: tuple[str, str, str]) -> None:
    one, two, three = urls
    async with await Store.open(one) as here, await Store.open(two) as there, await Store.open(three) as again:
        await _fill(here)
        first, second = await move_all(here, there), await move_all(there, again)
        assert first == second
        assert first.rows["fact"] == 41
        assert first.rows["inbox"] == 1
        assert first.rows["reading"] == 1
        dumps = {await canonical_dump(store, TABLES) for store in (here, there, again)}
        assert dumps == {first.sha256}
        with again.snapshot() as connection:
            kept = inbox.read(connection, 1)
            assert kept is not None
            assert kept.body == b'{"a":1}'
        for store in (there, again):
            await _goes_on(store)


async def _goes_on(store: Store) -> None:
    """New rows find numbers of their own, and what was known is known."""
    with store.transaction() as connection:
        place = RecordingTarget(ACME, APP, ZoneInfo("UTC"))
        assert record(connection, place, [fact(1), fact(500)], now=NOW).new == (fact(500).commit,)
        again = inbox.Delivery("app:7", "guid-1", "push", NOW, jobs=(NewJob("later"),))
        assert not inbox.accept(connection, again)
        assert inbox.accept(connection, replace(again, guid="guid-2"))
        assert len(set(connection.execute(select(JOB.c.id)).scalars())) == 3
        assert connection.execute(select(TOTALS.c.month).where(TOTALS.c.month == "2030-03")).first()


async def test_a_database_with_content_is_not_a_valid_target(urls: tuple[str, str, str]) -> None:
    one, two, _ = urls
    async with await Store.open(one) as here, await Store.open(two) as there:
        await seed(there)
        await seed(here)
        before = await canonical_dump(there, TABLES)
        with pytest.raises(MoveError, match="holds rows already"):
            await move_all(here, there)
        assert await canonical_dump(there, TABLES) == before


async def test_an_interrupted_move_leaves_nothing(urls: tuple[str, str, str]) -> None:
    one, two, _ = urls
    async with await Store.open(one) as here, await Store.open(two) as there:
        await _fill(here)

        def spoil(line: str) -> None:
            if line.startswith("tombstone"):
                raise RuntimeError("killed at the last table")

        with pytest.raises(RuntimeError):
            await move_all(here, there, spoil)
        with there.snapshot() as connection:
            assert ledger.recorded_commits(connection, APP, [fact(1).commit]) == set()

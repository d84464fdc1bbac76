"""A new version is measured beside the facts in force, and takes their place."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import select, update

from bot.metrics.registry import FACT_METHOD
from bot.store import ledger, measurements
from bot.store.engine import Store
from tests.store.conftest import ACME, ADA, APP, NOW, fact, kept_beside, seed


async def test_a_new_version_stands_beside_the_old_one_until_it_takes_its_place(store: Store) -> None:
    await seed(store)
    old = [fact(1), fact(2)]
    async with store.begin() as conn:
        await ledger.add_facts(conn, APP, old, now=NOW)
        await conn.execute(update(ledger.FACT).values(method=FACT_METHOD - 1))
    async with store.begin() as conn:
        assert await measurements.repositories_outdated(conn, FACT_METHOD) == [(ACME, APP)]
        assert await measurements.outdated(conn, APP, FACT_METHOD, 1) == [old[1]]
        new = [replace(one, kind="feature") for one in old]
        await measurements.keep(conn, APP, new, method=FACT_METHOD, now=NOW)
        assert await measurements.outdated(conn, APP, FACT_METHOD, 9) == []
        assert await ledger.facts_in(conn, APP) == old, "what is in force has not moved"
        assert await measurements.measured(conn, APP, FACT_METHOD) == new
        assert await measurements.measured(conn, APP, FACT_METHOD, 1) == new[:1]
    async with store.begin() as conn:
        await measurements.set_aside(conn, APP, [one.commit for one in old], method=FACT_METHOD, now=NOW)
        await ledger.forget_facts(conn, APP, [one.commit for one in old])
        await ledger.add_facts(conn, APP, new, now=NOW)
        assert await measurements.repositories_outdated(conn, FACT_METHOD) == []
        assert await kept_beside(conn) == {FACT_METHOD - 1: old}
        assert await ledger.facts_in(conn, APP) == new


async def test_whoever_is_erased_is_in_no_measurement(store: Store) -> None:
    await seed(store)
    async with store.begin() as conn:
        await measurements.keep(conn, APP, [fact(1)], method=1, now=NOW)
        await measurements.forget(conn, ["u:7"])
        assert (await conn.execute(select(measurements.MEASUREMENT))).all() == []
    assert ADA.user_id == 7

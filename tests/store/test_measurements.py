"""Are facts of a new version measured in parallel with the current ones before they replace them?"""

from __future__ import annotations

from msgspec.structs import replace
from sqlalchemy import select, update

from bot.metrics.registry import FACT_METHOD
from bot.store import ledger, measurements
from bot.store.engine import Store
from tests.store.conftest import ACME, ADA, APP, NOW, connection_beside, fact, seed


async def test_a_new_version_is_stored_beside_the_old_one_until_it_replaces_it(store: Store) -> None:
    await seed(store)
    old = [fact(1), fact(2)]
    with store.transaction() as connection:
        ledger.append_facts(connection, APP, old, NOW)
        connection.execute(update(ledger.FACT).values(method=FACT_METHOD - 1))
    with store.transaction() as connection:
        assert measurements.repositories_outdated(connection, FACT_METHOD) == [(ACME, APP)]
        assert measurements.outdated_facts(connection, APP, FACT_METHOD, 1) == [old[1]]
        new = [replace(one, kind="feature") for one in old]
        measurements.keep(connection, APP, new, method=FACT_METHOD, now=NOW)
        assert measurements.outdated_facts(connection, APP, FACT_METHOD, 9) == []
        assert ledger.facts_in(connection, APP) == old, "what is in force has not moved"
        assert measurements.measured_facts(connection, APP, FACT_METHOD) == new
        assert measurements.measured_facts(connection, APP, FACT_METHOD, 1) == new[:1]
    with store.transaction() as connection:
        measurements.set_aside(connection, APP, [one.commit for one in old], method=FACT_METHOD, now=NOW)
        ledger.forget_facts(connection, APP, [one.commit for one in old])
        ledger.append_facts(connection, APP, new, NOW)
        assert measurements.repositories_outdated(connection, FACT_METHOD) == []
        assert connection_beside(connection) == {FACT_METHOD - 1: old}
        assert ledger.facts_in(connection, APP) == new


async def test_an_erased_person_is_in_no_measurement(store: Store) -> None:
    await seed(store)
    with store.transaction() as connection:
        measurements.keep(connection, APP, [fact(1)], method=1, now=NOW)
        measurements.forget(connection, ["u:7"])
        assert connection.execute(select(measurements.MEASUREMENT)).all() == []
    assert ADA.user_id == 7

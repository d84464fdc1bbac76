"""Does the table of visits give the same past as the facts, and is it deleted with them?"""

from __future__ import annotations

from sqlalchemy import func, select

from bot.metrics.hotspots import History
from bot.store import ledger, records
from bot.store.engine import Store
from bot.store.visits import VISIT, history_of, visits_to_same_files
from tests.store.conftest import APP, BEA, FOREIGN, NAMES, NOW, fact, seed

PATHS = ("app/gauge.py", "app/wheel.py", "README.md")


def landed() -> list[object]:
    return [
        fact(1, paths=PATHS, pull_request=7),
        fact(2, paths=PATHS[:1], title="fix: the gauge", links=("issue:acme/app#7",), author=BEA),
        fact(3, paths=PATHS[1:]),
    ]


async def test_the_table_gives_the_same_past_as_the_facts(store: Store) -> None:
    await seed(store)
    facts = landed()
    with store.transaction() as connection:
        ledger.add_facts(connection, APP, facts, now=NOW)
    with store.snapshot() as connection:
        rows = visits_to_same_files(connection, select(ledger.FACT.c.id), [APP])
        hers = records.facts_about(connection, ["e:bea@example.org"], [APP])
    kept, told, own = history_of(rows, {APP: NAMES[APP]}), History.of(facts), hers.history()
    end = facts[-1].landed_at + 1
    for paths in (PATHS[:1], PATHS[1:2], PATHS[2:]):
        assert kept.past("acme/app", paths, end) == told.past("acme/app", paths, end)
    assert told.past("acme/app", PATHS[:1], end).visits == 2
    assert own.past("acme/app", PATHS[:1], end) == told.past("acme/app", PATHS[:1], end), "others' visits of her files"
    assert kept.next_fix("acme/app", ("\0#7",), facts[0].landed_at) == facts[1].landed_at


async def test_visits_are_deleted_with_their_fact_and_stay_in_their_repository(store: Store) -> None:
    await seed(store)
    facts = landed()
    with store.transaction() as connection:
        ledger.add_facts(connection, APP, facts, now=NOW)
        ledger.add_facts(connection, FOREIGN, [fact(9, FOREIGN, paths=PATHS)], now=NOW)
    with store.transaction() as connection:
        assert {row[0] for row in visits_to_same_files(connection, select(ledger.FACT.c.id), [APP])} == {APP}
        ledger.forget_facts(connection, APP, [one.commit for one in facts])
        left = connection.execute(select(func.count()).select_from(VISIT).where(VISIT.c.repository_id == APP))
        assert left.scalar_one() == 0

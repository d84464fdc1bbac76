"""Are the owners of lines the same in whatever order facts arrive, and derived anew where one goes?"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from sqlalchemy import func, select

from bot.landing.identity.credit import person_key
from bot.metrics.line_fates import LineRecord
from bot.metrics.line_hashes import FileHashes, pack
from bot.model.fact import Fact
from bot.store import ledger, lines, records
from bot.store.engine import Store
from tests.store.conftest import APP, BEA, FOREIGN, NOW, fact, seed


def hashed(number: int, added: Sequence[int], removed: Sequence[int] = (), repository: int = APP) -> Fact:
    files = [FileHashes(7, 0, False, added, removed)]
    made = fact(number, repository) if repository != APP else fact(number)
    return replace(made, line_hashes=pack(files), landed_at=made.landed_at + 1000 * number)


LANDED = (
    hashed(1, [11, 12, 13]),
    replace(hashed(2, [14], [11]), author=BEA),
    replace(hashed(3, [15], [12]), author=BEA),
)


async def recorded(store: Store, *batches: Sequence[Fact]) -> LineRecord:
    for batch in batches:
        with store.transaction() as connection:
            ledger.append_facts(connection, APP, batch, NOW)
        await lines.bring_up_to_date(store, [APP])
    with store.snapshot() as connection:
        assert lines.repositories_behind(connection, [APP]) == []
        return records.facts_about(connection, [person_key(LANDED[0].author)], [APP]).lines


async def test_lines_have_the_same_owners_in_whatever_order_facts_arrive(store: Store) -> None:
    await seed(store)
    found = await recorded(store, LANDED)
    assert [(one.replaced, one.dropped) for one in found.losses] == [(1, 0), (1, 0)]
    assert sum(found.added.values()) == 5


async def test_a_late_landing_makes_the_repository_be_attributed_anew(store: Store) -> None:
    await seed(store)
    late = await recorded(store, LANDED[1:], LANDED[:1])
    assert {one.by[1] for one in late.losses} == {one.commit for one in LANDED[1:]}
    assert sum(late.added.values()) == 5


async def test_facts_in_order_are_added_to_what_is_derived(store: Store) -> None:
    await seed(store)
    found = await recorded(store, *([one] for one in LANDED))
    assert {one.by[1] for one in found.losses} == {one.commit for one in LANDED[1:]}


async def test_hashes_go_with_their_fact_and_what_was_derived_is_derived_anew(store: Store) -> None:
    await seed(store)
    await recorded(store, LANDED)
    with store.transaction() as connection:
        ledger.append_facts(connection, FOREIGN, [hashed(9, [1], repository=FOREIGN)], NOW)
        ledger.forget_facts(connection, APP, [LANDED[1].commit])
    await lines.bring_up_to_date(store, [APP, FOREIGN])
    with store.snapshot() as connection:
        left = connection.execute(select(func.count()).select_from(lines.LINE_LOSS))
        assert left.scalar_one() == 1
        assert lines.repositories_behind(connection, [APP, FOREIGN]) == []

"""Do two processes that fold or move the same facts take turns?"""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import Connection, text

from bot.model.ids import InstallationId
from bot.store import folding
from bot.store.engine import Store
from tests.store.conftest import ACME, APP, OTHER, seed

_WAITERS = text(
    "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database"
    " WHERE NOT granted AND datname = current_database()"
)


@pytest.mark.parametrize("where", [ACME, OTHER])
async def test_a_repository_moves_only_while_neither_component_is_being_folded(
    store: Store, where: InstallationId
) -> None:
    if store.dialect == "sqlite":
        pytest.skip("one connection writes")
    await seed(store)
    order: list[str] = []

    def move(connection: Connection) -> None:
        folding.lock_repository(connection, APP, (OTHER, ACME))
        order.append("moved")

    async with asyncio.timeout(10):
        with store.transaction() as connection:
            folding.lock_installation(connection, where)
            moving = asyncio.create_task(store.write(move))
            while not connection.execute(_WAITERS).scalar_one():
                assert not order
                await asyncio.sleep(0)
            order.append("folded")
    await moving
    assert order == ["folded", "moved"]

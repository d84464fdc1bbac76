"""How is everything that is derived made anew from the facts, with the same bytes?"""

from __future__ import annotations

from zoneinfo import ZoneInfo

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.model import InstallationId
from bot.store.changes import CHANGE, CONTRIBUTION
from bot.store.engine import Store
from bot.store.installations import REPOSITORY
from bot.store.totals import TOTALS
from bot.store.turn import run, spelling_of
from bot.tasks.recording import rebuilding


async def rebuild(store: Store, installation: InstallationId, zone: ZoneInfo) -> None:
    """Drop changes, contributions and totals of an installation and fold all its facts, in one transaction."""
    async with store.begin() as conn:
        await _drop(conn, installation)
        await run(conn, rebuilding(spelling_of(conn), installation, zone))


async def _drop(conn: AsyncConnection, installation: InstallationId) -> None:
    mine = select(REPOSITORY.c.id).where(REPOSITORY.c.installation_id == installation)
    for table in (TOTALS, CONTRIBUTION, CHANGE):
        await conn.execute(delete(table).where(table.c.repository_id.in_(mine)))

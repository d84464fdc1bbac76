"""The complete bot over HTTP against the simulated GitHub, for end-to-end tests."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import Struct

from bot.app import Bot, Timing, build, serve_http
from bot.landing.changes import fold
from bot.landing.identity.credit import People
from bot.model.ids import InstallationId
from bot.model.profile import Profile
from bot.narrative.profile import ProfileScope
from bot.narrative.profile import build as build_profile
from bot.queue.worker import WorkerPace as WorkPace
from bot.store import installations, ledger
from simulator.demo import settings_for
from simulator.server import Simulator
from simulator.world import World
from tests.databases import put_tables

YEARS = timedelta(days=5 * 365)
"""how far the simulated organisation is ahead of the machine: nothing lands after its delivery"""


class Running(Struct, frozen=True):
    bot: Bot
    world: World
    url: str

    async def drained(self) -> None:
        """All deliveries attempted, all jobs done."""
        await self.world.github.wait_until_idle()
        while await self.bot.queue.drain():
            await self.world.github.wait_until_idle()


@contextlib.asynccontextmanager
async def running(github: Simulator, world: World, data: Path) -> AsyncIterator[Running]:
    """The bot on SQLite in `data`; its App's deliveries go to it."""
    await asyncio.to_thread(put_tables, data)
    timing = Timing(clock=lambda: datetime.now(UTC) + YEARS, work=WorkPace(concurrency=2, poll_every=0.02))
    async with build(settings_for(github, world, data), timing) as bot, serve_http(bot, "127.0.0.1", 0) as port:
        url = f"http://127.0.0.1:{port}"
        world.app.webhook_url = f"{url}/webhook"
        yield Running(bot, world, url)


async def recorded_profile(bot: Bot, installation: int, who: str, scope: ProfileScope) -> Profile:
    """The profile of one person from the ledger, who accepted all claims; `scope.keys` and `person` are filled in."""
    from msgspec.structs import replace

    from bot.landing.corrections import Decision, apply_corrections
    from bot.landing.identity.credit import person_key

    with bot.store.snapshot() as connection:
        stored = installations.repositories_of(connection, InstallationId(installation))
        names = {row.repository.full_name: row.repository for row in stored}
        everything = [
            fact for row in stored if row.repository.id for fact in ledger.facts_in(connection, row.repository.id)
        ]
        signatures = [sig for fact in everything for sig in (fact.author, *fact.co_authors)]
        people = People.of(signatures)
        persons = people.find(who)
        keys = frozenset(person_key(sig) for sig in signatures if people.person(sig) in persons)
    accepted = [Decision(name, tuple(sorted(keys)), accepted=True) for name in names]
    changes = apply_corrections(fold(everything, names), accepted)
    return build_profile(changes, replace(scope, person=persons[0], keys=keys))

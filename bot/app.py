"""How the parts become a running bot: everything is built here, once, and handed to those who need it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import aiohttp
from aiohttp import web
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.config import Settings
from bot.github.connection import Connection, Surroundings
from bot.github.limits import Pace
from bot.github.publish import Ourselves
from bot.github.reads import read_app
from bot.github.transport import Endpoint, open_session
from bot.model import PersonKey
from bot.queue.embedded import EmbeddedQueue
from bot.queue.interface import Clock, Job, Queue, TaskFunction
from bot.queue.scaled import ScaledQueue
from bot.queue.worker import Pace as WorkPace
from bot.queue.worker import Worker, utc_now
from bot.signatures import signing_key, write_once
from bot.store import inbox, jobs, outbox
from bot.store.engine import Store, sqlite_warning
from bot.store.ingest import GroupWriter
from bot.store.jobs import NewJob
from bot.store.migrate import migrate
from bot.tasks import TASKS
from bot.tasks.close_month import close_months
from bot.tasks.personal import forget
from bot.tasks.workplace import Workplace
from bot.web.collaborators import Pages
from bot.web.pages import add_routes
from bot.web.signature import Secrets
from bot.web.webhook import Delivery, Webhook, webhook_runner
from handlers import Handlers

log = logging.getLogger(__name__)

WEBHOOK_PATH = "/webhook"
LARGEST_BODY = 26 * 1024 * 1024
DEFINITIONS = Path(__file__).parent.parent / "docs" / "metrics.md"
"""explained on a page where the bot runs from its checkout"""


@dataclass(frozen=True, slots=True)
class Timing:
    """What a simulation or a test runs faster than the world does."""

    clock: Clock = utc_now
    work: WorkPace = field(default_factory=WorkPace)
    close_every: float = 60.0
    """seconds between two looks for months that are over"""


class Inbox:
    """The door's view of the store: a delivery and its jobs are one transaction."""

    def __init__(self, writer: GroupWriter, clock: Clock) -> None:
        self._writer, self._clock = writer, clock

    async def accept(self, delivery: Delivery) -> bool:
        """Raises StoreUnavailableError when the database cannot be written."""
        asked = tuple(
            NewJob(job.task, job.ref, serial_key=job.serial_key, dedupe_key=f"{job.task}:{job.ref}")
            for job in delivery.jobs
        )
        return await self._writer.accept(
            inbox.Delivery(
                app_id=delivery.hook,
                guid=delivery.guid,
                event=delivery.event,
                received_at=self._clock(),
                action=delivery.action or None,
                installation_id=delivery.installation,
                repository_id=delivery.repository,
                body=delivery.body,
                jobs=asked,
            )
        )


@dataclass(frozen=True, slots=True)
class Bot:
    """The running parts. `place` is what tasks work with."""

    settings: Settings
    store: Store
    queue: EmbeddedQueue | ScaledQueue
    place: Workplace
    writer: GroupWriter
    timing: Timing
    pages: Pages

    def web_app(self) -> web.Application:
        """Every route: the webhook and the pages."""
        application = web.Application(client_max_size=LARGEST_BODY)
        door = Webhook(
            Secrets(self.settings.webhook_secrets),
            Handlers(self.place.ourselves),
            inbox=Inbox(self.writer, self.timing.clock),
            app_id=self.place.ourselves.id,
        )
        application.router.add_post(WEBHOOK_PATH, door.handle)
        add_routes(application, self.pages)
        return application

    async def close_months(self) -> None:
        """Look for months that are over, for ever. What is due has no digest yet, so a missed look loses nothing."""
        while True:
            try:
                await close_months(self.place)
            except Exception:
                log.exception("months could not be closed; trying again")
            await asyncio.sleep(self.timing.close_every)


@contextlib.asynccontextmanager
async def build(settings: Settings, timing: Timing | None = None) -> AsyncIterator[Bot]:
    """The bot with its database open and at its newest tables; closed at the end of the block.

    Raises StoreInUseError where another process has the SQLite file.
    """
    timing = timing or Timing()
    async with contextlib.AsyncExitStack() as stack:
        store = await stack.enter_async_context(await Store.open(settings.database_url))
        if store.dialect == "sqlite" and (warning := sqlite_warning()):
            log.warning("%s", warning)
        await migrate(store)
        if store.dialect == "sqlite":
            await _take_over(store, timing.clock())
        session = await stack.enter_async_context(open_session())
        connection = _connect(settings, session)
        worker = Worker(store, clock=timing.clock, pace=timing.work)
        queue = await _queue(worker, stack)
        place = Workplace(
            store=store,
            queue=queue,
            github=connection,
            ourselves=await _ourselves(connection, int(settings.app_id or 0)),
            zone=settings.timezone,
            public_url=settings.public_url,
            clock=timing.clock,
        )
        _register(queue, place)
        writer = GroupWriter(store, announce=queue.announce, committed=queue.nudge)
        stack.push_async_callback(writer.close)
        yield Bot(settings, store, queue, place, writer, timing, _pages(settings, place))


async def _take_over(store: Store, now: datetime) -> None:
    """One process has the file: whatever is in hand there belonged to one that is gone, and need not run out."""
    async with store.begin() as conn:
        await jobs.free_all(conn, now)
        await outbox.free_all(conn, now)


def _connect(settings: Settings, session: aiohttp.ClientSession) -> Connection:
    around = Surroundings(endpoint=Endpoint(base_url=settings.github.api), pace=Pace(write_gap=settings.write_gap))
    return Connection(session, app_id=settings.app_id or "", private_key=settings.private_key or "", around=around)


def _pages(settings: Settings, place: Workplace) -> Pages:
    async def erase(conn: AsyncConnection, key: PersonKey) -> None:
        await forget(conn, place, key, place.clock())

    return Pages(
        store=place.store,
        public_url=settings.public_url,
        zone=settings.timezone,
        clock=place.clock,
        definitions=DEFINITIONS if DEFINITIONS.is_file() else None,
        erase=erase,
        secret=link_secret(settings.data / "links.key"),
        signing=signing_key(settings.data / "snapshots.key"),
    )


def link_secret(path: Path) -> bytes:
    """The 32 bytes that sign links, made at the first start; readable by the service alone."""
    if not path.exists():
        write_once(path, secrets.token_bytes(32))
    return path.read_bytes()


async def _queue(worker: Worker, stack: contextlib.AsyncExitStack) -> EmbeddedQueue | ScaledQueue:
    if worker.store.dialect == "postgresql":
        return await stack.enter_async_context(ScaledQueue(worker))
    return EmbeddedQueue(worker)


def _register(queue: Queue, place: Workplace) -> None:
    for name, kind in TASKS.items():
        queue.register(name, _bound(kind.function, place), kind.time_out, kind.max_attempts)


def _bound(function: Callable[[Job, Workplace], Awaitable[None]], place: Workplace) -> TaskFunction:
    async def call(job: Job) -> None:
        await function(job, place)

    return call


async def _ourselves(connection: Connection, app_id: int) -> Ourselves:
    """Who our own posts are by. GitHub out of reach at start stops nothing: our id alone tells most of them."""
    try:
        app = await read_app(connection.app)
    except Exception as error:
        log.warning("GitHub could not be asked who we are: %s", error)
        return Ourselves(app_id, "")
    return Ourselves(app.id, f"{app.slug}[bot]")


@contextlib.asynccontextmanager
async def listening(bot: Bot, host: str, port: int) -> AsyncIterator[int]:
    """Serve while the block runs; the port that was bound (asked for as 0: a free one)."""
    runner = webhook_runner(bot.web_app(), access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


async def serve(settings: Settings, stopping: asyncio.Event, timing: Timing | None = None) -> None:
    """Web, worker and month closer in one process, until `stopping` is set."""
    async with build(settings, timing) as bot, listening(bot, settings.host, settings.port) as port:
        log.info("listening on %s:%s; deliveries go to %s%s", settings.host, port, settings.public_url, WEBHOOK_PATH)
        await _run(bot, stopping)


async def work(settings: Settings, stopping: asyncio.Event, timing: Timing | None = None) -> None:
    """Worker and month closer alone."""
    async with build(settings, timing) as bot:
        await _run(bot, stopping)


async def _run(bot: Bot, stopping: asyncio.Event) -> None:
    closer = asyncio.create_task(bot.close_months())
    worker = asyncio.create_task(bot.queue.run())
    waiting = asyncio.create_task(stopping.wait())
    await asyncio.wait({worker, waiting}, return_when=asyncio.FIRST_COMPLETED)
    bot.queue.stop()
    closer.cancel()
    waiting.cancel()
    await worker


async def migrate_only(settings: Settings) -> None:
    """Bring the database's tables to the newest version."""
    async with await Store.open(settings.database_url) as store:
        await migrate(store)

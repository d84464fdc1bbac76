"""How is the running bot built? Everything is created here, once, and passed to the parts that need it."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import aiohttp
import sqlalchemy
from aiohttp import web
from msgspec import Struct, field
from msgspec.structs import replace

from bot.configuration.addresses import own_address
from bot.configuration.settings import Settings
from bot.github.connection import Connection, Surroundings
from bot.github.limits import Clock as RequestClock
from bot.github.limits import RequestPace
from bot.github.posts import Ourselves
from bot.github.transport import Endpoint, open_session
from bot.history.fetching import Clones
from bot.jobs import JOBS
from bot.model.ids import RepositoryId
from bot.queue.embedded import EmbeddedQueue
from bot.queue.interface import Clock, Queue
from bot.queue.worker import Worker, utc_now
from bot.queue.worker import WorkerPace as WorkPace
from bot.services.backfill.clones import remove_unused_clones
from bot.services.backfill.steps import STEPS
from bot.services.context import Context, introduce
from bot.services.deliveries.catch_up import ask_to_catch_up
from bot.services.deliveries.inbox import FailedDeliveries, StoreInbox
from bot.services.digests.publishing import close_months
from bot.services.measuring_again import ask_to_measure_again
from bot.services.operator_requests import handle_requests
from bot.services.pruning import ask_to_prune
from bot.services.refusals import run_doubting
from bot.services.snapshots import defer_snapshots
from bot.services.writer.client import writer_of
from bot.setup.relay import follow_channel
from bot.store import installations, jobs, outbox
from bot.store.advice import sqlite_warning
from bot.store.engine import Store
from bot.store.ingest import GroupWriter
from bot.store.migrate import migrate
from bot.store.pace import StoredPace
from bot.web.collaborators import Pages, build_pages
from bot.web.connections import ConnectionLimits, OpenConnections, file_limit
from bot.web.health import Health, serve_probes
from bot.web.month_snapshots import take_month_snapshots
from bot.web.pages import add_routes
from bot.web.peers import KnownSenders, Peers
from bot.web.server import run_server
from bot.web.signature import Secrets
from bot.web.telemetry import Telemetry
from bot.web.webhook import Webhook, WebhookLimits
from handlers import Handlers

if TYPE_CHECKING:
    from bot.queue.scaled import ScaledQueue

log = logging.getLogger(__name__)

WEBHOOK_PATH = "/webhook"
LARGEST_FORM = 64 * 1024
"""bytes of a form on the settings page; deliveries have a limit of their own"""
CHECK_EVERY = 24 * 3600.0
"""the most seconds between two checks of the SQLite file"""
CHECK_SHARE, LEAST_CHECK_GAP = 1000, 60.0
"""a check takes at most a thousandth of the time: a small file is checked every minute, a large one once a day"""
UNKNOWN_AFTER = timedelta(minutes=10)
"""how long a job of an unknown task waits for a process that knows it"""
PATIENCE = 10.0
"""seconds that a job waits for GitHub's limits while it occupies a worker that other installations need"""


class Timing(Struct, frozen=True):
    """The times that a simulation or a test shortens."""

    clock: Clock = utc_now
    work: WorkPace = field(default_factory=WorkPace)
    settle: timedelta | None = None
    """how long a post waits; None: twice the gap between two writes"""
    catch_up_every: float = 3 * 3600.0
    """seconds between two searches for missed deliveries"""
    close_every: float = 60.0
    """seconds between two checks for finished months"""
    requests: RequestClock = field(default_factory=RequestClock)
    """the clock of pauses, budgets and tokens"""
    answered_within: float = 30.0
    """seconds that GitHub may take for one answer"""


class Bot(Struct, frozen=True):
    """The running parts. `context` is what jobs receive."""

    settings: Settings
    store: Store
    queue: EmbeddedQueue | ScaledQueue
    context: Context
    writer: GroupWriter
    timing: Timing
    pages: Pages
    health: Health

    def web_app(self, known: KnownSenders | None = None) -> web.Application:
        """Every route: the webhook and the pages. Peers that sign well are added to `known`."""
        application = web.Application(client_max_size=LARGEST_FORM)
        peers = Peers(self.settings.trusted_proxy)
        webhook = Webhook(
            Secrets(self.settings.webhook_secrets),
            Handlers(self.context.ourselves),
            inbox=StoreInbox(self.writer, self.timing.clock),
            app_id=self.context.ourselves.id,
            limits=WebhookLimits(answered=self.health.record_delivery, address=peers.limited_address, peers=peers),
            known=known,
        )
        self.health.add_routes(application)
        application.router.add_post(WEBHOOK_PATH, webhook.handle)
        add_routes(application, self.pages)
        return application

    async def introduce(self, stopping: asyncio.Event) -> None:
        """Ask GitHub for the App's identity, once; stop waiting when `stopping` is set."""
        asking = asyncio.create_task(introduce(self.context))
        waiting = asyncio.create_task(stopping.wait())
        _, late = await asyncio.wait({asking, waiting}, return_when=asyncio.FIRST_COMPLETED)
        for task in late:
            task.cancel()

    async def catch_up(self) -> None:
        """Schedule searches for missed work at the start and then every few hours, forever."""
        while True:
            await self._try(ask_to_catch_up, "schedule the catch-up")
            await self._try(ask_to_measure_again, "schedule measuring again")
            await self._try(remove_unused_clones, "delete unused clones")
            self.queue.nudge()
            await asyncio.sleep(self.timing.catch_up_every)

    async def close_months(self) -> None:
        """Check for finished months, forever. A month without a digest stays due, so a failed check loses nothing."""
        while True:
            await self._try(close_months, "close months")
            await self._try(defer_snapshots, "schedule snapshots")
            await self._try(ask_to_prune, "prune traffic")
            await self._try(_park_unknown_jobs, "park unknown jobs")
            await asyncio.sleep(self.timing.close_every)
            if not self.context.ourselves.login:
                await introduce(self.context)

    async def check_integrity(self) -> None:
        """Let SQLite check its file again and again, and at once if the last process did not close it."""
        if not self.store.ended_badly:
            await asyncio.sleep(LEAST_CHECK_GAP)
        while True:
            begun = time.monotonic()
            problem = await asyncio.to_thread(self.store.check_integrity)
            if problem is not None:
                log.error("database damaged", extra={"reason": problem})
            gap = (time.monotonic() - begun) * CHECK_SHARE
            await asyncio.sleep(min(max(gap, LEAST_CHECK_GAP), CHECK_EVERY))

    async def _try(self, look: Callable[[Context], Awaitable[object]], work: str) -> None:
        """Run one of several checks; its failure does not stop the others."""
        try:
            await look(self.context)
        except Exception:
            log.exception("periodic work failed, trying again", extra={"work": work})


@contextlib.asynccontextmanager
async def build(
    settings: Settings, timing: Timing | None = None, *, asking: bool = True, working: bool = True
) -> AsyncIterator[Bot]:
    """The bot, with its database open and migrated; closed at the end of the block.

    Without `asking`, GitHub is not asked for the App's identity yet; `Bot.introduce` does that. Without `working`, the
    health page does not expect a running worker. Raises StoreInUseError if another process has the SQLite file open.
    """
    timing = timing or Timing()
    async with contextlib.AsyncExitStack() as stack:
        store = await stack.enter_async_context(await Store.open(settings.database_url))
        if store.dialect == "sqlite" and (warning := sqlite_warning()):
            log.warning("SQLite is old", extra={"reason": warning})
        await migrate(store)
        if store.dialect == "sqlite":
            await store.write(_free_leases, timing.clock())
        session = await stack.enter_async_context(open_session())
        connection = _connect(settings, session, store, timing)
        worker = Worker(store, clock=timing.clock, pace=timing.work)
        queue = await _queue(worker, stack)
        telemetry = Telemetry(Handlers.events, JOBS, traffic=connection.traffic, database=store.dialect)
        context = Context(
            store=store,
            queue=queue,
            github=connection,
            ourselves=Ourselves(int(settings.app_id or 0), ""),
            zone=settings.timezone,
            public_url=settings.public_url,
            clock=timing.clock,
            writer=writer_of(settings.writer, session),
            settle=timedelta(seconds=2 * settings.write_gap) if timing.settle is None else timing.settle,
            clones=Clones(settings.data / "clones", settings.github.web, settings.route) if settings.backfill else None,
            started=timing.clock(),
            on_posted=telemetry.record_post,
        )
        pages = build_pages(settings, context)
        announce = queue.announce if store.dialect == "postgresql" else None  # SQLite's queue needs only the rows
        writer = GroupWriter(store, announce=announce, committed=queue.nudge)
        take = FailedDeliveries(
            Handlers(context.ourselves), StoreInbox(writer, timing.clock), f"app:{context.ourselves.id}"
        ).accept
        context = replace(context, take_snapshots=partial(take_month_snapshots, pages), accept_delivery=take)
        _register(queue, context)
        if asking:
            await introduce(context)
        stack.push_async_callback(writer.close)
        worker.on_ended = telemetry.record_job
        health = Health(store, worker, telemetry, timing.clock, settings.metrics_token, working=working)
        yield Bot(settings, store, queue, context, writer, timing, pages, health)


async def _park_unknown_jobs(context: Context) -> None:
    for number, task in await context.store.write(jobs.park_unknown, JOBS, context.clock(), after=UNKNOWN_AFTER):
        log.warning("job of an unknown task parked", extra={"job": number, "task": task})


def _free_leases(connection: sqlalchemy.Connection, now: datetime) -> None:
    """Free all leases: only one process opens a SQLite file, so their owner no longer exists."""
    jobs.free_all(connection, now)
    outbox.free_all(connection, now)


def _connect(settings: Settings, session: aiohttp.ClientSession, store: Store, timing: Timing) -> Connection:
    surroundings = Surroundings(
        endpoint=Endpoint(
            base_url=settings.github.api,
            route=settings.route,
            by_name=settings.repositories_by_name,
            seconds=timing.answered_within,
        ),
        names=partial(_name_of_repository, store),
        pace=RequestPace(write_gap=settings.write_gap, patience=PATIENCE),
        clock=timing.requests,
        # SQLite has only one process, which keeps the pace in memory.
        shared=partial(StoredPace, store) if store.dialect == "postgresql" else None,
    )
    return Connection(
        session, app_id=settings.app_id or "", private_key=settings.private_key or "", surroundings=surroundings
    )


async def _name_of_repository(store: Store, number: RepositoryId) -> str | None:
    stored = await store.read(installations.repository, number)
    return stored.repository.full_name if stored is not None else None


async def _queue(worker: Worker, stack: contextlib.AsyncExitStack) -> EmbeddedQueue | ScaledQueue:
    if worker.store.dialect == "postgresql":
        # Imported only here: its engine is an optional extra that SQLite does not need.
        from bot.queue.scaled import ScaledQueue

        return await stack.enter_async_context(ScaledQueue(worker))
    return EmbeddedQueue(worker)


def _register(queue: Queue, context: Context) -> None:
    for name, kind in JOBS.items():
        if context.clones is None and name in STEPS.values():
            continue  # left for a process that runs backfills
        queue.register(name, partial(run_doubting, kind.function, context=context), kind.time_out, kind.max_attempts)


@contextlib.asynccontextmanager
async def serve_http(bot: Bot, host: str, port: int) -> AsyncIterator[int]:
    """Serve while the block runs; yields the bound port (0 requests a free one)."""
    known = KnownSenders()
    peers = Peers(bot.settings.trusted_proxy)
    registry = bot.health.connections = OpenConnections(
        ConnectionLimits.for_files(file_limit()), known, is_proxy=peers.is_proxy
    )
    async with run_server(bot.web_app(known), registry, host, port) as bound:
        yield bound


async def serve(
    settings: Settings, stopping: asyncio.Event, timing: Timing | None = None, *, working: bool = True
) -> None:
    """Run web server, worker and month closer in one process until `stopping` is set.

    Without `working`, only the web server runs. Deliveries are accepted at once; the worker starts after GitHub was
    asked for the App's identity.
    """
    building = build(settings, timing, asking=False, working=working)
    async with building as bot, serve_http(bot, settings.host, settings.port) as port:
        webhook = f"{settings.public_url}{WEBHOOK_PATH}"
        log.info("listening", extra={"host": settings.host, "port": port, "webhook": webhook})
        async with follow_channel(settings.relay, f"{own_address(settings.host, port)}{WEBHOOK_PATH}"):
            # These objects live as long as the process; collecting them again and again takes a tenth of accepting.
            gc.freeze()
            await bot.introduce(stopping)
            await (_run(bot, stopping) if working and not stopping.is_set() else stopping.wait())


async def work(settings: Settings, stopping: asyncio.Event, timing: Timing | None = None) -> None:
    """Run only worker and month closer, until `stopping` is set."""
    async with build(settings, timing) as bot, serve_probes(bot.health, settings.host, settings.worker_port):
        await _run(bot, stopping)


async def _run(bot: Bot, stopping: asyncio.Event) -> None:
    timers = (bot.close_months(), bot.catch_up(), bot.check_integrity())
    requests = handle_requests(bot.context, bot.settings.data, bot.queue.nudge)
    beside = [asyncio.create_task(one) for one in (*timers, requests)]
    worker, waiting = asyncio.create_task(bot.queue.run()), asyncio.create_task(stopping.wait())
    await asyncio.wait({worker, waiting}, return_when=asyncio.FIRST_COMPLETED)
    bot.queue.stop()
    for one in (*beside, waiting):
        one.cancel()
    await worker


async def migrate_only(settings: Settings) -> None:
    """Bring the database's tables to the newest version."""
    async with await Store.open(settings.database_url) as store:
        await migrate(store)

"""Is this process fit to serve, and how busy is it? `/readyz` and `/metrics`, for the operator's monitoring."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import logging
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from aiohttp import web
from sqlalchemy import Connection

from bot.queue.worker import Worker
from bot.store import jobs
from bot.store.digests import touch_period
from bot.store.engine import Store, StoreUnavailableError
from bot.store.migrate import is_enough
from bot.web.connections import ConnectionLimits, OpenConnections, file_limit
from bot.web.peers import KnownSenders
from bot.web.server import run_server
from bot.web.telemetry import Telemetry

log = logging.getLogger(__name__)

CACHED_SECONDS = 5.0
"""how long a readiness answer is cached: a check costs a write, and anybody may ask"""
LONGEST_CHECK = 0.9
"""seconds for a readiness answer"""
LONGEST_WAIT = timedelta(minutes=30)
"""how long a job may be due before the queue counts as stopped, if this process runs none"""
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-IP", "Via")


@dataclass(slots=True)
class Health:
    """The probes of one process."""

    store: Store
    worker: Worker
    telemetry: Telemetry
    clock: Callable[[], datetime]
    token: str = field(default="", repr=False)
    timer: Callable[[], float] = time.monotonic
    working: bool = True
    """False if this process leaves all jobs to others"""
    _checked_at: float | None = None
    _wrong: tuple[str, ...] = ()
    _notes: tuple[str, ...] = ()

    def add_routes(self, app: web.Application) -> None:
        """Add the probes, before any other route with these addresses."""
        app.router.add_get("/readyz", self.show_readiness)
        app.router.add_get("/metrics", self.show_metrics)

    async def show_readiness(self, _: web.Request) -> web.Response:
        """200, or 503 with the problem in plain words; parked and dead jobs are named in both."""
        broken = self.store.problem()
        if broken is None and (self._checked_at is None or self.timer() - self._checked_at >= CACHED_SECONDS):
            wrong: list[str] = []
            try:
                async with asyncio.timeout(LONGEST_CHECK):
                    await self._look(wrong)
            except TimeoutError:
                wrong.append(f"database does not answer within {LONGEST_CHECK} seconds")
            self._wrong = tuple(wrong)
            self._checked_at = self.timer()
            broken = self.store.problem()
        wrong = [broken] if broken is not None else list(self._wrong)
        text = "ready" if not wrong else "not ready: " + ", ".join(wrong)
        lines = [text, *self._notes]
        return web.Response(text="\n".join(lines) + "\n", status=503 if wrong else 200, headers=_PLAIN)

    async def _look(self, wrong: list[str]) -> None:
        """Add what is wrong; what was found before the time is over counts."""
        try:
            if self.working and not self.worker.is_alive:
                wrong.append("worker does not respond")
            if not await is_enough(self.store):
                wrong.append("tables of an older version")
                return
            await self.store.write(touch_period, "readiness", "written", self.clock())
            await self._look_at_jobs(wrong)
        except StoreUnavailableError as error:
            log.warning("not ready: %s", error)
            wrong.append("database is not writable")

    async def _look_at_jobs(self, wrong: list[str]) -> None:
        now = self.clock()

        def read(connection: Connection) -> tuple[dict[str, int], datetime | None]:
            return jobs.counts(connection), jobs.oldest_due(connection, now)

        counts, oldest = await self.store.read(read)
        stopped = [f"{counts[state]} {state}" for state in ("parked", "dead") if counts.get(state)]
        self._notes = (f"jobs that need a look: {', '.join(stopped)}; run: almanac jobs list",) if stopped else ()
        if oldest is not None and now - oldest > LONGEST_WAIT and not self.worker.running:
            wrong.append(f"jobs do not move: the oldest has waited {int((now - oldest).total_seconds() // 60)} minutes")

    async def show_metrics(self, request: web.Request) -> web.Response:
        """Served to holders of the token, or without a token only to this machine; 404 for everybody else."""
        if not self._may_read(request):
            return web.Response(text="not found\n", status=404, headers=_PLAIN)
        now = self.clock()

        def read(connection: Connection) -> tuple[dict[str, int], datetime | None]:
            return jobs.counts(connection), jobs.oldest_due(connection, now)

        self.telemetry.set_queue(*await self.store.read(read), now)
        self.telemetry.set_running(len(self.worker.running))
        return web.Response(body=self.telemetry.text(), headers=_PLAIN | {"Content-Type": _EXPOSITION})

    def _may_read(self, request: web.Request) -> bool:
        if self.token:
            given = request.headers.get("Authorization", "")
            return hmac.compare_digest(given.encode("utf-8", "replace"), f"Bearer {self.token}".encode())
        # A proxy on this machine forwards everybody's requests from here; it sets one of these headers.
        return _is_loopback(request.remote) and not any(name in request.headers for name in _FORWARDED)


_PLAIN = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"


@contextlib.asynccontextmanager
async def serve_probes(health: Health, host: str, port: int) -> AsyncIterator[int]:
    """Answer the probes of a process without pages while the block runs; yields the port, 0 if it is off or taken."""
    application = web.Application(client_max_size=1024)
    application.router.add_get("/healthz", _show_life)
    health.add_routes(application)
    async with contextlib.AsyncExitStack() as stack:
        bound = 0
        try:
            if port:
                registry = OpenConnections(ConnectionLimits.for_files(file_limit()), KnownSenders())
                bound = await stack.enter_async_context(run_server(application, registry, host, port))
        except OSError as error:
            log.warning("no probes are answered on port %s: %s; set ALMANAC_WORKER_PORT", port, error.strerror)
        yield bound


async def _show_life(_: web.Request) -> web.Response:
    return web.Response(text="ok\n", headers=_PLAIN)


def _is_loopback(address: str | None) -> bool:
    try:
        return address is not None and ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False

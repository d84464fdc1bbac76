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
from http import HTTPStatus

from aiohttp import web

from bot.queue.worker import Worker
from bot.store import jobs
from bot.store.digests import touch_period
from bot.store.engine import Store, StoreUnavailableError
from bot.store.jobs import QueueDepth
from bot.store.migrate import is_enough
from bot.web.connections import ConnectionLimits, OpenConnections, file_limit
from bot.web.peers import KnownSenders
from bot.web.server import run_server
from bot.web.telemetry import ProcessState, Telemetry

log = logging.getLogger(__name__)

CACHED_SECONDS = 5.0
"""how long a readiness answer is cached: a check costs a write, and anybody may ask"""
CACHED_PROBLEM = 1.0
"""the same while something is wrong"""
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
    connections: OpenConnections | None = None
    """the web server's; None before it listens"""
    cached_seconds: float = CACHED_SECONDS
    _looked_at: float | None = None
    _looking: asyncio.Task[None] | None = None
    _wrong: list[str] = field(default_factory=list)
    _depth: QueueDepth | None = None

    def add_routes(self, app: web.Application) -> None:
        """Add the probes, before any other route with these addresses."""
        app.router.add_get("/readyz", self.show_readiness)
        app.router.add_get("/metrics", self.show_metrics)

    async def show_readiness(self, _: web.Request) -> web.Response:
        """200, or 503 with the problem in plain words; parked and dead jobs are named in both."""
        wrong = await self._problems()
        text = "ready" if not wrong else "not ready: " + ", ".join(wrong)
        return web.Response(text="\n".join([text, *self._notes()]) + "\n", status=503 if wrong else 200, headers=_PLAIN)

    async def _problems(self) -> list[str]:
        """What is wrong, within a second: the newest finding is at most some seconds old.

        There is one look at a time, and it is not repeated while the database does not answer it.
        """
        broken = self.store.problem()
        if broken is not None:
            return [broken]
        if self._looking is None and self._is_old():
            self._wrong, self._depth = [], None
            self._looking = asyncio.create_task(self._look(self._wrong))
        if self._looking is not None:
            await asyncio.wait({self._looking}, timeout=LONGEST_CHECK)
            if not self._looking.done():
                return [*self._wrong, f"database does not answer within {LONGEST_CHECK} seconds"]
            self._looking = None
        broken = self.store.problem()
        return [broken] if broken is not None else self._wrong

    def _is_old(self) -> bool:
        cached = min(self.cached_seconds, CACHED_PROBLEM) if self._wrong else self.cached_seconds
        return self._looked_at is None or self.timer() - self._looked_at >= cached

    def record_delivery(self, event: str, status: int, seconds: float) -> None:
        """Count one answered webhook request. One that could not be stored makes the last finding obsolete."""
        self.telemetry.record_delivery(event, status, seconds)
        if status == HTTPStatus.SERVICE_UNAVAILABLE and not self._wrong:
            self._looked_at = None

    def _notes(self) -> list[str]:
        jobs_by_state = self._depth.jobs if self._depth else {}
        stopped = [f"{jobs_by_state[state]} {state}" for state in ("parked", "dead") if jobs_by_state.get(state)]
        return [f"jobs that need a look: {', '.join(stopped)}; run: almanac jobs list"] if stopped else []

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
            log.warning("not ready", extra={"reason": str(error)})
            wrong.append("database is not writable")
        except Exception:
            log.exception("readiness not known")
            wrong.append("the check failed; the log says why")
        finally:
            self._looked_at = self.timer()

    async def _look_at_jobs(self, wrong: list[str]) -> None:
        now = self.clock()
        self._depth = await self.store.read(jobs.depth, now)
        oldest = self._depth.oldest
        if oldest is not None and now - oldest > LONGEST_WAIT and not self.worker.running:
            wrong.append(f"jobs do not move: the oldest has waited {int((now - oldest).total_seconds() // 60)} minutes")

    async def show_metrics(self, request: web.Request) -> web.Response:
        """Served to holders of the token, or without a token only to this machine; 404 for everybody else.

        A database that does not answer takes only its own numbers away.
        """
        if not self._may_read(request):
            return web.Response(text="not found\n", status=404, headers=_PLAIN)
        ready = not await self._problems()
        connections = self.connections
        state = ProcessState(
            ready=ready,
            now=self.clock(),
            queue=self._depth,
            running=len(self.worker.running),
            open_connections=0 if connections is None else len(connections),
            dropped_connections={} if connections is None else connections.dropped_in_all,
            file_bytes=self.store.file_sizes(),
        )
        return web.Response(body=self.telemetry.text(state), headers=_PLAIN | {"Content-Type": _EXPOSITION})

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
                registry = health.connections = OpenConnections(
                    ConnectionLimits.for_files(file_limit()), KnownSenders()
                )
                bound = await stack.enter_async_context(run_server(application, registry, host, port))
        except OSError as error:
            log.warning("probes not answered: set ALMANAC_WORKER_PORT", extra={"port": port, "reason": error.strerror})
        yield bound


async def _show_life(_: web.Request) -> web.Response:
    return web.Response(text="ok\n", headers=_PLAIN)


def _is_loopback(address: str | None) -> bool:
    try:
        return address is not None and ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False

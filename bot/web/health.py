"""Is this process fit to serve, and how busy is it? `/readyz` and `/metrics`, for the operator's monitoring."""

from __future__ import annotations

import hmac
import ipaddress
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from aiohttp import web
from sqlalchemy import Connection

from bot.queue.worker import Worker
from bot.store import jobs
from bot.store.digests import touch_period
from bot.store.engine import Store, StoreUnavailableError
from bot.store.migrate import is_enough
from bot.web.telemetry import Telemetry

log = logging.getLogger(__name__)

CACHED_SECONDS = 5.0
"""how long a readiness answer is cached: a check costs a write, and anybody may ask"""
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

    def add_routes(self, app: web.Application) -> None:
        """Add the probes, before any other route with these addresses."""
        app.router.add_get("/readyz", self.show_readiness)
        app.router.add_get("/metrics", self.show_metrics)

    async def show_readiness(self, _: web.Request) -> web.Response:
        """200, or 503 with the problem in plain words."""
        if self._checked_at is None or self.timer() - self._checked_at >= CACHED_SECONDS:
            self._wrong = tuple(await self._look())
            self._checked_at = self.timer()
        text = "ready" if not self._wrong else "not ready: " + ", ".join(self._wrong)
        return web.Response(text=text + "\n", status=503 if self._wrong else 200, headers=_PLAIN)

    async def _look(self) -> list[str]:
        wrong = []
        try:
            if not await is_enough(self.store):
                wrong.append("tables of an older version")
            await self.store.write(touch_period, "readiness", "written", self.clock())
        except StoreUnavailableError as error:
            log.warning("not ready: %s", error)
            wrong.append("database is not writable")
        if self.working and not self.worker.is_alive:
            wrong.append("worker does not respond")
        return wrong

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


def _is_loopback(address: str | None) -> bool:
    try:
        return address is not None and ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False

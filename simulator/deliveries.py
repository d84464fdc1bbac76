"""How do webhook deliveries reach an App? Signed, over HTTP, in order, with a log, and with faults on request."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import random
import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import aiohttp

from simulator.shapes.accounts import stamp
from simulator.state import Clock, Json, SimApp, SimInstallation, State

ALWAYS_SENT = frozenset(
    ("installation", "installation_repositories", "installation_target", "github_app_authorization", "ping")
)
LOG_AGE = timedelta(days=3)
"""how long the log keeps an attempt"""
PATIENCE = 10.0
"""seconds before an unanswered delivery counts as failed"""


@dataclass(slots=True)
class SimDelivery:
    """One delivery attempt. Redeliveries share the GUID, not the id."""

    id: int
    guid: str
    event: str
    app: SimApp
    installation: SimInstallation | None
    payload: Json
    body: bytes
    redelivery: bool = False
    delivered_at: datetime | None = None
    duration: float = 0.0
    status_code: int = 0
    answer: str = ""

    @property
    def signature(self) -> str:
        return "sha256=" + hmac.new(self.app.webhook_secret.encode(), self.body, hashlib.sha256).hexdigest()

    @property
    def headers(self) -> dict[str, str]:
        return {
            "Accept": "*/*",
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/0000000",
            "X-GitHub-Delivery": self.guid,
            "X-GitHub-Event": self.event,
            "X-GitHub-Hook-ID": str(self.app.id),
            "X-GitHub-Hook-Installation-Target-ID": str(self.app.id),
            "X-GitHub-Hook-Installation-Target-Type": "integration",
            "X-Hub-Signature-256": self.signature,
        }

    @property
    def status(self) -> str:
        if self.delivered_at is None:
            return "pending"
        return "OK" if 200 <= self.status_code < 300 else f"Invalid HTTP Response: {self.status_code}"


@dataclass(slots=True)
class Deliveries:
    """The outgoing queue and the log of one simulated GitHub."""

    state: State
    log: list[SimDelivery] = field(default_factory=list)
    waiting: list[SimDelivery] = field(default_factory=list)
    held: bool = False
    drop_next: int = 0
    duplicate_next: int = 0
    delay: float = 0.0
    """seconds before each attempt"""
    clock: Clock | None = None
    """time of the attempts, if it differs from the time of the requests"""
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _idle: asyncio.Event = field(default_factory=asyncio.Event)

    def now(self) -> datetime:
        return (self.clock or self.state.clock)()

    def attempts_of(self, app: SimApp) -> list[SimDelivery]:
        """The attempts of an App that the log still holds."""
        since = self.now() - LOG_AGE
        return [found for found in self.log if found.app is app and (found.delivered_at or since) >= since]

    def add(
        self, app: SimApp, event: str, payload: Json, *, installation: SimInstallation | None = None
    ) -> SimDelivery | None:
        """Queue a delivery if the App subscribes to the event."""
        if event not in app.events and event not in ALWAYS_SENT:
            return None
        number = self.state.new_id()
        guid = str(uuid.uuid5(uuid.NAMESPACE_URL, f"delivery:{app.id}:{number}"))
        body = json.dumps(payload, separators=(",", ":")).encode()
        delivery = SimDelivery(number, guid, event, app, installation, payload, body)
        self.queue(delivery)
        return delivery

    def queue(self, delivery: SimDelivery) -> None:
        """Append a delivery to the queue; drop or duplicate it if a fault says so."""
        if self.drop_next:  # GitHub keeps a failed attempt in its log
            self.drop_next -= 1
            delivery.delivered_at, delivery.status_code = self.now(), 502
            self.log.append(delivery)
            return
        self.waiting.append(delivery)
        if self.duplicate_next:
            self.duplicate_next -= 1
            self.waiting.append(self.copy_of(delivery))
        self._idle.clear()
        self._wake.set()

    def copy_of(self, delivery: SimDelivery) -> SimDelivery:
        """Another attempt with the same GUID and body."""
        again = SimDelivery(
            self.state.new_id(),
            delivery.guid,
            delivery.event,
            delivery.app,
            delivery.installation,
            delivery.payload,
            delivery.body,
        )
        again.redelivery = True
        return again

    def redeliver(self, delivery_id: int) -> SimDelivery | None:
        """Queue another attempt with the same GUID and body; None for an unknown id."""
        found = next((entry for entry in self.log if entry.id == delivery_id), None)
        if found:
            self.queue(self.copy_of(found))
        return found

    def hold(self) -> None:
        """Hold deliveries until `release`."""
        self.held = True

    def release(self, *, shuffle: int | None = None) -> None:
        """Send the held deliveries; with a seed, in shuffled order."""
        if shuffle is not None:
            random.Random(shuffle).shuffle(self.waiting)
        self.held = False
        if self.waiting:  # while they were held, the queue counted as idle
            self._idle.clear()
        self._wake.set()

    async def wait_until_idle(self) -> None:
        """Return once everything queued has been attempted."""
        if self.waiting and not self.held:
            await self._idle.wait()

    async def pump(self) -> None:
        """Send deliveries one at a time, forever; the simulator's background task."""
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=PATIENCE)) as session:
            while True:
                await self._wake.wait()
                self._wake.clear()
                while self.waiting and not self.held:
                    await self._attempt(session, self.waiting[0])
                    self.waiting.pop(0)
                self._idle.set()

    async def _attempt(self, session: aiohttp.ClientSession, delivery: SimDelivery) -> None:
        if self.delay:
            await asyncio.sleep(self.delay)
        loop = asyncio.get_running_loop()
        started = loop.time()
        if delivery.app.webhook_url:
            try:
                async with session.post(
                    delivery.app.webhook_url, data=delivery.body, headers=delivery.headers
                ) as answer:
                    delivery.status_code, delivery.answer = answer.status, await answer.text()
            except (aiohttp.ClientError, TimeoutError) as problem:
                delivery.status_code, delivery.answer = 502, str(problem)
        delivery.delivered_at, delivery.duration = self.now(), round(loop.time() - started, 3)
        self.log.append(delivery)


def log_row(found: SimDelivery) -> Json:
    """A row of the delivery log."""
    return {
        "id": found.id,
        "guid": found.guid,
        "delivered_at": stamp(found.delivered_at) if found.delivered_at else None,
        "redelivery": found.redelivery,
        "duration": found.duration,
        "status": found.status,
        "status_code": found.status_code,
        "event": found.event,
        "action": found.payload.get("action"),
        "installation_id": found.installation.id if found.installation else None,
        "repository_id": found.payload.get("repository", {}).get("id"),
        "throttled_at": None,
    }


def full_log_row(found: SimDelivery) -> Json:
    """One delivery with its request and response."""
    sent = {"headers": found.headers, "payload": found.payload}
    return {**log_row(found), "url": found.app.webhook_url or "", "request": sent} | {
        "response": {"headers": {}, "payload": found.answer}
    }

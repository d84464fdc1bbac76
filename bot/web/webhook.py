"""How is a delivery received, so that nothing unsigned is parsed and nothing acknowledged is lost?

Raw bytes are verified before parsing; the inbox row and its jobs are committed before the 202. Every answer is 2xx or
4xx, and 503 only while the database cannot be written, so that GitHub's log shows the delivery as failed.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable
from typing import Protocol

from aiohttp import web
from gidgethub.sansio import Event
from msgspec import Struct

from bot.configuration.logs import log_context
from bot.services.deliveries.inbox import EventRouter, RoutedDelivery, read_delivery
from bot.web.body import LARGEST, BodyError, BodyMemory, read_body
from bot.web.failures import FailureLimiter
from bot.web.peers import NO_PROXY, KnownSenders, Peers
from bot.web.server import connection_of
from bot.web.signature import Secrets, is_well_formed

log = logging.getLogger(__name__)
_EVENT = re.compile(r"[a-z][a-z0-9_]{0,63}")
_GUID = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
_HOOK = re.compile(r"[0-9]{1,18}")
_LARGE = 1024 * 1024
"""bytes above which a signature is computed off the event loop"""


class Inbox(Protocol):
    """Where deliveries are stored."""

    async def accept(self, delivery: RoutedDelivery) -> bool:
        """Commit the delivery and its jobs in one transaction; False if it was stored already.

        Raises an error if that could not be done in time.
        """
        ...


class WebhookLimits(Struct, frozen=True):
    """The limits of the webhook. GitHub gives up after 10 s, so reading the body and the commit, which has its own
    limit, together take less."""

    body_seconds: float = 5.0
    largest: int = LARGEST
    most_held: int = 256 * 1024 * 1024
    """bytes of verified bodies that wait for their commit at once; as many of known senders may be arriving"""
    most_unknown: int = 64 * 1024 * 1024
    """bytes of bodies that are arriving from strangers"""
    address: Callable[[web.Request], str | None] = NO_PROXY.limited_address
    peers: Peers = NO_PROXY
    timer: Callable[[], float] = time.monotonic
    answered: Callable[[str, int, float], None] = lambda event, status, seconds: None
    """called after each answer with the event as named, the status, and seconds"""


class Webhook:
    """`handle` answers `POST /webhook`."""

    def __init__(
        self,
        secrets: Secrets,
        routes: EventRouter,
        *,
        inbox: Inbox,
        app_id: int,
        limits: WebhookLimits | None = None,
        known: KnownSenders | None = None,
    ) -> None:
        self._secrets = secrets
        self._routes = routes
        self._inbox = inbox
        self._app_id = app_id
        self._limits = limits or WebhookLimits()
        self._known = known or KnownSenders(timer=self._limits.timer)
        self._failures = FailureLimiter(known=self._known, timer=self._limits.timer)
        self._arriving = (BodyMemory(self._limits.most_unknown), BodyMemory(self._limits.most_held))
        self._held = 0

    async def handle(self, request: web.Request) -> web.Response:
        """Answer one delivery."""
        begun, event = self._limits.timer(), request.headers.get("X-GitHub-Event", "")
        guid = request.headers.get("X-GitHub-Delivery", "")
        with log_context(delivery=guid if _GUID.fullmatch(guid) else ""):
            response = await self._answer(request)
        self._limits.answered(event, response.status, self._limits.timer() - begun)
        return response

    async def _answer(self, request: web.Request) -> web.Response:
        address = self._limits.address(request)
        refusal = self._refusal(request, address)
        if refusal:
            return _status_response(refusal)
        try:
            body = await self._read(request)
            signed = await self._is_signed(request, body)
            self._note(request, address, signed=signed)
            return _status_response(await self._hold(request, body) if signed else 403)
        except BodyError as error:
            return _status_response(error.status)

    async def _read(self, request: web.Request) -> bytes:
        """The body. While it arrives, it counts against the memory of strangers, or of known senders."""
        connection = connection_of(request)
        if connection is not None and not request.content.is_eof():
            connection.begin_body()
        memory = self._arriving[self._limits.peers.sender(request) in self._known]
        return await read_body(request, seconds=self._limits.body_seconds, largest=self._limits.largest, memory=memory)

    def _note(self, request: web.Request, address: str | None, *, signed: bool) -> None:
        """Remember whether the sender signs well, by its address, and the proxy's if that sent it."""
        connection = connection_of(request)
        if connection is not None:
            connection.begin_work(verified=signed)
        if signed:
            for key in (address, self._limits.peers.sender(request), connection.peer if connection else None):
                self._known.add(key)
        else:
            self._failures.record_failure(address)

    async def _hold(self, request: web.Request, body: bytes) -> int:
        """The status for a body that GitHub signed, which stays in memory until it is stored."""
        if self._held > self._limits.most_held:
            return 429
        self._held += len(body)
        try:
            return await self._accept(request, body)
        finally:
            self._held -= len(body)

    def _refusal(self, request: web.Request, address: str | None) -> int:
        """The status with which a request is refused before its body is read; 0 if it is accepted."""
        if self._failures.refuses(address):
            return 429
        if not is_well_formed(_single_header(request, "X-Hub-Signature-256")):
            self._failures.record_failure(address)
            return 403
        if "Content-Encoding" in request.headers:
            return 415
        return 413 if (request.content_length or 0) > self._limits.largest else 0

    async def _accept(self, request: web.Request, body: bytes) -> int:
        """The status for a body that GitHub signed."""
        event, guid = request.headers.get("X-GitHub-Event", ""), request.headers.get("X-GitHub-Delivery", "")
        if not _EVENT.fullmatch(event) or not _GUID.fullmatch(guid):
            return 400
        if event not in self._routes.events:
            return 202
        if not _is_json(request):
            log.error("delivery is not JSON: set the hook to application/json")
            return 415
        delivery_event = Event(None, event=event, delivery_id=guid)
        delivery = await read_delivery(self._routes, delivery_event, body, hook=self._hook(request))
        if delivery is None:
            return 400
        return 202 if not delivery.jobs or await self._store(delivery) else 503

    async def _is_signed(self, request: web.Request, body: bytes) -> bool:
        header = _single_header(request, "X-Hub-Signature-256")
        if len(body) > _LARGE:
            return await asyncio.to_thread(self._secrets.verify, body, header)
        return self._secrets.verify(body, header)

    async def _store(self, delivery: RoutedDelivery) -> bool:
        """False if the commit took too long: the delivery may be stored all the same, and is stored once."""
        try:
            new = await self._inbox.accept(delivery)
        except Exception as error:
            log.error("delivery not stored", extra={"reason": f"{type(error).__name__}: {error}"})
            return False
        if not new:
            log.info("delivery received before")
        return True

    def _hook(self, request: web.Request) -> str:
        """The sender's hook: the App's id, or the id of a repository's or organisation's own hook."""
        if request.headers.get("X-GitHub-Hook-Installation-Target-Type", "integration") == "integration":
            return f"app:{self._app_id}"
        hook = request.headers.get("X-GitHub-Hook-ID", "")
        return f"hook:{hook}" if _HOOK.fullmatch(hook) else f"app:{self._app_id}"


def _single_header(request: web.Request, name: str) -> str | None:
    """A header that is sent exactly once."""
    values = request.headers.getall(name, [])
    return values[0] if len(values) == 1 else None


def _is_json(request: web.Request) -> bool:
    if request.headers.get("Content-Type") == "application/json":  # the format that GitHub sends
        return True
    return request.content_type == "application/json" and (request.charset or "utf-8").lower() == "utf-8"


NOT_STORED = (
    "This delivery was not stored, because the database does not accept writes: when /readyz answers 200 again, "
    "redeliver it from the App's list of deliveries, or run almanac catch-up.\n"
)


def _status_response(status: int) -> web.Response:
    """A response with only a status, which reveals nothing; the rest of a refused body is not read.

    A 503, which only a sender with the secret sees, says what to do: GitHub's list of deliveries shows it.
    """
    response = web.Response(status=status, text=NOT_STORED if status == 503 else None)
    if status in (403, 408, 413, 415, 429):
        response.force_close()
    if status in (429, 503):
        response.headers["Retry-After"] = "60"
    return response

"""How is a delivery taken in, so that nothing unsigned is read and nothing acknowledged is lost?

Raw bytes are verified before anything is parsed; the inbox row and its jobs are committed before the 202. Every answer
is 2xx or 4xx, and 503 only while the database cannot be written, so that GitHub's log shows the delivery as failed.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from aiohttp import web
from gidgethub.sansio import Event
from msgspec import Struct

from bot.github.payloads import deliveries
from bot.logs import about
from bot.model import InstallationId, RepositoryId
from bot.web.body import LARGEST, BodyError, read_body
from bot.web.failures import FailureLimiter, peer_address
from bot.web.signature import Secrets, is_well_formed

log = logging.getLogger(__name__)

_EVENT = re.compile(r"[a-z][a-z0-9_]{0,63}")
_GUID = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
_HOOK = re.compile(r"[0-9]{1,18}")
_LARGE = 1024 * 1024
"""bytes above which a signature is computed off the event loop"""


class JobRequest(Protocol):
    """A job to defer in the transaction of the inbox row."""

    @property
    def task(self) -> str: ...
    @property
    def ref(self) -> str:
        """Its arguments as one line."""
        ...

    @property
    def serial_key(self) -> str: ...
    @property
    def dedupe_key(self) -> str | None: ...


class Delivery(Struct, frozen=True):
    """One delivery as the inbox keeps it; (`hook`, `guid`) is its key, equal across redeliveries."""

    hook: str
    guid: str
    event: str
    action: str
    installation: InstallationId | None
    repository: RepositoryId | None
    body: bytes
    jobs: Sequence[JobRequest]


class Inbox(Protocol):
    """Where deliveries are kept."""

    async def accept(self, delivery: Delivery) -> bool:
        """Commit the delivery and its jobs in one transaction, then return: False where it was already there.

        Raises an error where that could not be done in time.
        """
        ...


class Routed(Protocol):
    """What the handlers decided."""

    @property
    def jobs(self) -> Sequence[JobRequest]: ...
    @property
    def notes(self) -> Sequence[str]: ...


class Routes(Protocol):
    """The handlers, as far as the door is concerned."""

    @property
    def events(self) -> frozenset[str]: ...

    async def route(self, event: Event) -> Routed: ...


class Door(Struct, frozen=True):
    """The bounds of the door. GitHub gives up after 10 s, so body and commit, which has its own, together take less."""

    body_seconds: float = 5.0
    largest: int = LARGEST
    most_held: int = 256 * 1024 * 1024
    """bytes of bodies in memory at once"""
    address: Callable[[web.Request], str | None] = peer_address
    timer: Callable[[], float] = time.monotonic
    answered: Callable[[str, int, float], None] = lambda event, status, seconds: None
    """told of each answer: the event as it was named, the status, and seconds"""


class Webhook:
    """`handle` answers `POST /webhook`."""

    def __init__(
        self, secrets: Secrets, routes: Routes, *, inbox: Inbox, app_id: int, door: Door | None = None
    ) -> None:
        self._secrets = secrets
        self._routes = routes
        self._inbox = inbox
        self._app_id = app_id
        self._door = door or Door()
        self._failures = FailureLimiter(timer=self._door.timer)
        self._held = 0

    async def handle(self, request: web.Request) -> web.Response:
        """Answer one delivery."""
        begun, event = self._door.timer(), request.headers.get("X-GitHub-Event", "")
        guid = request.headers.get("X-GitHub-Delivery", "")
        with about(delivery=guid if _GUID.fullmatch(guid) else ""):
            response = await self._answer(request)
        self._door.answered(event, response.status, self._door.timer() - begun)
        return response

    async def _answer(self, request: web.Request) -> web.Response:
        address = self._door.address(request)
        refusal = self._refusal(request, address)
        if refusal:
            return _answer(refusal)
        size = request.content_length or self._door.largest
        self._held += size
        try:
            body = await read_body(request, seconds=self._door.body_seconds, largest=self._door.largest)
            if not await self._signed(request, body):
                self._failures.failed(address)
                return _answer(403)
            self._failures.succeeded(address)
            return _answer(await self._take(request, body))
        except BodyError as error:
            return _answer(error.status)
        finally:
            self._held -= size

    def _refusal(self, request: web.Request, address: str | None) -> int:
        """The status a request is refused with before its body is read, 0 for none."""
        if self._failures.refuses(address):
            return 429
        if not is_well_formed(_one(request, "X-Hub-Signature-256")):
            self._failures.failed(address)
            return 403
        if "Content-Encoding" in request.headers:
            return 415
        if (request.content_length or 0) > self._door.largest:
            return 413
        return 429 if self._held > self._door.most_held else 0

    async def _take(self, request: web.Request, body: bytes) -> int:
        """The status for a body that GitHub signed."""
        event, guid = request.headers.get("X-GitHub-Event", ""), request.headers.get("X-GitHub-Delivery", "")
        if not _EVENT.fullmatch(event) or not _GUID.fullmatch(guid):
            return 400
        if event not in self._routes.events:
            return 202
        if not _is_json(request):
            return 415
        told = Event(None, event=event, delivery_id=guid)
        delivery = await read_delivery(self._routes, told, body, hook=self._hook(request))
        if delivery is None:
            return 400
        return 202 if not delivery.jobs or await self._stored(delivery) else 503

    async def _signed(self, request: web.Request, body: bytes) -> bool:
        header = _one(request, "X-Hub-Signature-256")
        if len(body) > _LARGE:
            return await asyncio.to_thread(self._secrets.signed, body, header)
        return self._secrets.signed(body, header)

    async def _stored(self, delivery: Delivery) -> bool:
        """False where the commit did not come in time: the delivery may be there all the same, and is kept once."""
        try:
            new = await self._inbox.accept(delivery)
        except Exception as error:
            log.error("delivery %s not stored: %s", delivery.guid, type(error).__name__)
            return False
        if not new:
            log.info("delivery %s came again", delivery.guid)
        return True

    def _hook(self, request: web.Request) -> str:
        """Whose hook sent it: the App's id, or the id of a repository's or organisation's own hook."""
        if request.headers.get("X-GitHub-Hook-Installation-Target-Type", "integration") == "integration":
            return f"app:{self._app_id}"
        hook = request.headers.get("X-GitHub-Hook-ID", "")
        return f"hook:{hook}" if _HOOK.fullmatch(hook) else f"app:{self._app_id}"


async def read_delivery(routes: Routes, event: Event, body: bytes, *, hook: str) -> Delivery | None:
    """The delivery with the jobs the handlers ask for; None where its body is not what GitHub documents."""
    try:
        event.data = deliveries.read(body)
        hint = deliveries.origin(event.data)
        routed = await routes.route(event)
    except Exception as error:  # whatever a stranger's shape sets off, the answer is a 4xx and the log has its name
        log.warning("delivery %s (%s) refused: %s", event.delivery_id, event.event, type(error).__name__)
        return None
    for note in routed.notes:
        log.info("delivery %s (%s): %s", event.delivery_id, event.event, note)
    return Delivery(
        hook=hook,
        guid=event.delivery_id,
        event=event.event,
        action=hint.action,
        installation=hint.installation,
        repository=hint.repository,
        body=body,
        jobs=tuple(routed.jobs),
    )


def webhook_runner(app: web.Application, **options: Any) -> web.AppRunner:
    """A runner that never unpacks a body: compressed bytes are refused, not decoded before the signature check."""
    return web.AppRunner(app, auto_decompress=False, **options)


def _one(request: web.Request, name: str) -> str | None:
    """A header that is sent exactly once."""
    values = request.headers.getall(name, [])
    return values[0] if len(values) == 1 else None


def _is_json(request: web.Request) -> bool:
    if request.headers.get("Content-Type") == "application/json":  # as GitHub sends it
        return True
    return request.content_type == "application/json" and (request.charset or "utf-8").lower() == "utf-8"


def _answer(status: int) -> web.Response:
    """A status and nothing that helps a stranger; a refused body is not read to its end."""
    response = web.Response(status=status)
    if status in (403, 408, 413, 415, 429):
        response.force_close()
    if status in (429, 503):
        response.headers["Retry-After"] = "60"
    return response

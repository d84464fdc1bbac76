"""How does a delivery enter the inbox together with its jobs, and what did it say to a later job?"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Protocol

from gidgethub.sansio import Event
from msgspec import Struct

from bot.github.payloads import deliveries
from bot.github.payloads.hints import NOTHING, DeliveryHints, read_hints
from bot.model.ids import InstallationId, RepositoryId
from bot.queue.interface import Clock
from bot.services.context import Context
from bot.store import inbox
from bot.store.ingest import GroupWriter
from bot.store.jobs import NewJob

log = logging.getLogger(__name__)


class StoreInbox:
    """Stores a delivery and its jobs in one transaction."""

    def __init__(self, writer: GroupWriter, clock: Clock) -> None:
        self._writer, self._clock = writer, clock

    async def accept(self, delivery: RoutedDelivery) -> bool:
        """Store the delivery; False if it is known. Raises StoreUnavailableError if the database cannot be written."""
        asked = tuple(
            NewJob(job.task, job.ref, serial_key=job.serial_key, dedupe_key=job.dedupe_key) for job in delivery.jobs
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


class FailedDeliveries(Struct, frozen=True):
    """Accepts failed deliveries from GitHub's log, with the webhook's handlers, inbox and key."""

    routes: EventRouter
    inbox: StoreInbox
    hook: str

    async def accept(self, guid: str, event: str, body: bytes) -> bool:
        """Accept one as if it had just arrived; False if it is known or leads to no job."""
        if event not in self.routes.events:
            return False
        delivery_event = Event(None, event=event, delivery_id=guid)
        delivery = await read_delivery(self.routes, delivery_event, body, hook=self.hook)
        return delivery is not None and bool(delivery.jobs) and await self.inbox.accept(delivery)


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


class RoutedDelivery(Struct, frozen=True):
    """One delivery for the inbox; (`hook`, `guid`) is its key, equal across redeliveries."""

    hook: str
    guid: str
    event: str
    action: str
    installation: InstallationId | None
    repository: RepositoryId | None
    body: bytes
    jobs: Sequence[JobRequest]


class RoutingResult(Protocol):
    """What the handlers decided."""

    @property
    def jobs(self) -> Sequence[JobRequest]: ...
    @property
    def notes(self) -> Sequence[str]: ...


class EventRouter(Protocol):
    """The part of the handlers that the webhook uses."""

    @property
    def events(self) -> frozenset[str]: ...

    async def route(self, event: Event) -> RoutingResult: ...


async def read_delivery(routes: EventRouter, event: Event, body: bytes, *, hook: str) -> RoutedDelivery | None:
    """The delivery with the jobs that the handlers ask for; None if its body has not the form that GitHub documents."""
    about = {"delivery": event.delivery_id, "github_event": event.event}
    try:
        event.data = deliveries.read(body)
        hint = deliveries.origin(event.data)
        routed = await routes.route(event)
    except Exception as error:  # any error in a stranger's body is answered with 4xx and logged by its type
        log.warning("delivery not understood", extra=about | {"reason": type(error).__name__})
        return None
    for note in routed.notes:
        log.info("delivery asks for nothing", extra=about | {"reason": note})
    return RoutedDelivery(
        hook=hook,
        guid=event.delivery_id,
        event=event.event,
        action=hint.action,
        installation=hint.installation,
        repository=hint.repository,
        body=body,
        jobs=tuple(routed.jobs),
    )


async def delivery_hints(context: Context, given: dict[str, Any]) -> DeliveryHints:
    """The delivery's hints; `NOTHING` if no delivery led to the job or its body was deleted."""
    guid = given.get("delivery")
    if not guid:
        return NOTHING
    body = await context.store.read(inbox.body_of, f"app:{context.ourselves.id}", guid)
    return read_hints(body) if body else NOTHING

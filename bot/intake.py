"""How does a delivery, wherever it comes from, enter the inbox together with its jobs?"""

from __future__ import annotations

from gidgethub.sansio import Event
from msgspec import Struct

from bot.queue.interface import Clock
from bot.store import inbox
from bot.store.ingest import GroupWriter
from bot.store.jobs import NewJob
from bot.web.webhook import Delivery, read_delivery
from handlers import Handlers


class Inbox:
    """The door's view of the store: a delivery and its jobs are one transaction."""

    def __init__(self, writer: GroupWriter, clock: Clock) -> None:
        self._writer, self._clock = writer, clock

    async def accept(self, delivery: Delivery) -> bool:
        """Raises StoreUnavailableError when the database cannot be written."""
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


class Kept(Struct, frozen=True):
    """Takes deliveries that GitHub kept after they failed: the same handlers, inbox and key as at the door."""

    handlers: Handlers
    inbox: Inbox
    hook: str

    async def take(self, guid: str, event: str, body: bytes) -> bool:
        """Accept one as if it came now; False where nothing is asked for, or it came before."""
        if event not in self.handlers.events:
            return False
        told = Event(None, event=event, delivery_id=guid)
        delivery = await read_delivery(self.handlers, told, body, hook=self.hook)
        return delivery is not None and bool(delivery.jobs) and await self.inbox.accept(delivery)

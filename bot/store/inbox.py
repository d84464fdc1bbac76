"""Which deliveries have arrived: one row for each (app, delivery GUID), for ever; its body until it is pruned."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Index, LargeBinary, Table, UniqueConstraint, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.border import whole_number
from bot.store.bulk import Row, insert_new
from bot.store.columns import METADATA, Instant, Whole, Words
from bot.store.jobs import NewJob, add_rows

INBOX = Table(
    "inbox",
    METADATA,
    Column("id", Whole, primary_key=True),
    Column("app_id", Words, nullable=False),
    Column("guid", Words, nullable=False),
    Column("event", Words, nullable=False),
    Column("action", Words),
    Column("installation_id", Whole),
    Column("repository_id", Whole),
    Column("received_at", Instant, nullable=False),
    Column("body", LargeBinary),
    Column("state", Words, nullable=False, server_default="new"),
    UniqueConstraint("app_id", "guid"),
    Index(None, "received_at"),
)
_SLICE = 500
COLUMNS = ("app_id", "guid", "event", "action", "installation_id", "repository_id", "received_at", "body")


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery as its headers and its first ids tell it. A job without `ref_id` gets the row's id."""

    app_id: str
    guid: str
    event: str
    received_at: datetime
    action: str | None = None
    installation_id: int | None = None
    repository_id: int | None = None
    body: bytes = field(default=b"", repr=False)
    """raw JSON; kept compressed, and not at all where empty"""
    jobs: tuple[NewJob, ...] = ()

    def __post_init__(self) -> None:
        """Refuse here what would fail a whole group of deliveries later; ValueError."""
        whole_number(self.installation_id or 0)
        whole_number(self.repository_id or 0)
        if self.received_at.tzinfo is None:
            raise ValueError("a moment without its zone")


@dataclass(frozen=True, slots=True)
class Received:
    """A stored delivery. `body` is empty once pruned."""

    id: int
    app_id: str
    guid: str
    event: str
    action: str | None
    installation_id: int | None
    repository_id: int | None
    received_at: datetime
    state: str
    body: bytes = field(repr=False)


def packed(body: bytes) -> bytes | None:
    """The body as the inbox keeps it: level 1 makes 3 kB of 26 kB in 45 microseconds."""
    return zlib.compress(body, 1) if body else None


async def accept(conn: AsyncConnection, delivery: Delivery) -> bool:
    """Store the delivery with its jobs in the caller's transaction; False where it was stored before."""
    row = row_of(delivery, packed(delivery.body))
    new = await insert_new(conn, INBOX, COLUMNS, [row], returning=("id",))
    if not new:
        return False
    await add_rows(conn, [job.row_about(new[0][0], delivery) for job in delivery.jobs])
    return True


def row_of(delivery: Delivery, body: bytes | None) -> Row:
    """The values of COLUMNS."""
    words = (delivery.app_id, delivery.guid, delivery.event, delivery.action)
    return (*words, delivery.installation_id, delivery.repository_id, delivery.received_at, body)


async def read(conn: AsyncConnection, inbox_id: int) -> Received | None:
    row = (await conn.execute(select(INBOX).where(INBOX.c.id == inbox_id))).mappings().one_or_none()
    if row is None:
        return None
    body = zlib.decompress(row["body"]) if row["body"] else b""
    return Received(**{**row, "body": body})


async def body_of(conn: AsyncConnection, app_id: str, guid: str) -> bytes:
    """The body of one delivery; empty where it was pruned, or never came."""
    same = (INBOX.c.app_id == app_id) & (INBOX.c.guid == guid)
    body = (await conn.execute(select(INBOX.c.body).where(same))).scalar_one_or_none()
    return zlib.decompress(body) if body else b""


async def known(conn: AsyncConnection, app_id: str, guids: Sequence[str]) -> set[str]:
    """Those of these deliveries that have arrived."""
    found: set[str] = set()
    for at in range(0, len(guids), _SLICE):
        same = (INBOX.c.app_id == app_id) & INBOX.c.guid.in_(guids[at : at + _SLICE])
        found |= set((await conn.execute(select(INBOX.c.guid).where(same))).scalars())
    return found


async def mark(conn: AsyncConnection, inbox_id: int, state: str) -> None:
    """Say what became of it: `done`, `dropped` or `failed`."""
    await conn.execute(update(INBOX).where(INBOX.c.id == inbox_id).values(state=state))


async def drop_bodies(conn: AsyncConnection, before: datetime, *, limit: int | None = None) -> int:
    """Forget the bodies of older deliveries; the keys stay, so that a captured one opens no door. Rows changed."""
    old: Any = (INBOX.c.received_at < before) & INBOX.c.body.is_not(None)
    if limit is not None:
        old = INBOX.c.id.in_(select(INBOX.c.id).where(old).order_by(INBOX.c.received_at).limit(limit))
    return (await conn.execute(update(INBOX).where(old).values(body=None))).rowcount


async def count(conn: AsyncConnection) -> int:
    return (await conn.execute(select(func.count()).select_from(INBOX))).scalar_one()

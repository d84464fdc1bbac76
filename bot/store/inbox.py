"""Which deliveries have arrived: one row for each (app, delivery GUID), for ever; its body until it is pruned."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from isal import isal_zlib
from sqlalchemy import Column, Index, LargeBinary, Table, UniqueConstraint, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.border import clean_text, whole_number
from bot.store.bulk import inserting, inserting_quietly
from bot.store.columns import METADATA, Instant, Whole, Words
from bot.store.dialect import among
from bot.store.jobs import COLUMNS as JOB_COLUMNS
from bot.store.jobs import JOB, NewJob, Waiting, adding
from bot.store.statements import Row
from bot.store.turn import Ask, Plan, Spelling, run, spelling_of

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
Key = tuple[str, str]

_KNOWN = (
    "SELECT json_group_array(json_array(app_id, guid)) FROM json_each(?) CROSS JOIN inbox"
    " WHERE app_id = json_extract(value, '$[0]') AND guid = json_extract(value, '$[1]')"
)
COLUMNS = ("app_id", "guid", "event", "action", "installation_id", "repository_id", "received_at", "body")


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery as its headers and its first ids tell it."""

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


class Arrival(NamedTuple):
    """A delivery made ready outside of any transaction, so that the one writer has little to do."""

    key: Key
    row: Row
    """the values of COLUMNS"""
    jobs: list[Row]


def arrival(delivery: Delivery) -> Arrival:
    """ISA-L makes 3 kB of 26 kB in 15 microseconds, zlib in 40: either costs less than to ask a thread to do it."""
    app_id, guid, when = clean_text(delivery.app_id), clean_text(delivery.guid), delivery.received_at
    body = isal_zlib.compress(delivery.body, 1) if delivery.body else None
    about = (delivery.event, delivery.action, delivery.installation_id, delivery.repository_id)
    jobs = [job.row(when, delivery.installation_id) for job in delivery.jobs]
    return Arrival((app_id, guid), (app_id, guid, *about, when, body), jobs)


def storing(spelling: Spelling, group: Sequence[Arrival], *, told: bool) -> Plan[tuple[list[bool], list[Waiting]]]:
    """Which of the group are new, and the jobs they add where somebody is to be `told` of them."""
    new = yield from _arriving(spelling, group)
    asked = [row for one, is_new in zip(group, new, strict=True) if is_new for row in one.jobs]
    if told or spelling.is_postgresql:
        return new, (yield from adding(spelling, asked))
    yield from inserting_quietly(JOB, JOB_COLUMNS, asked)
    return new, []


def _arriving(spelling: Spelling, group: Sequence[Arrival]) -> Plan[list[bool]]:
    """Insert those that never came before; which of them they are."""
    keys = [one.key for one in group]
    if spelling.is_postgresql:
        rows = [one.row for one in group]
        fresh = yield from inserting(spelling, INBOX, COLUMNS, rows, returning=("app_id", "guid"))
        return _firsts(keys, set(fresh))
    # One process writes the file, so what is not there now cannot come in between. Its driver lets go of Python for
    # each row it is asked for, and waits for the event loop to get it back: one row tells all.
    ((known,),) = yield Ask(_KNOWN, (json.dumps(keys),))
    new = _firsts(keys, set(keys).difference(map(tuple, json.loads(known))))
    yield from inserting_quietly(INBOX, COLUMNS, [one.row for one, is_new in zip(group, new, strict=True) if is_new])
    return new


def _firsts(keys: Sequence[Key], new: set[Key]) -> list[bool]:
    """Whether each key is the first of its like among the new ones."""
    firsts = []
    for key in keys:
        firsts.append(key in new)
        new.discard(key)
    return firsts


async def accept(conn: AsyncConnection, delivery: Delivery) -> bool:
    """Store the delivery with its jobs in the caller's transaction; False where it was stored before."""
    (new,), _ = await run(conn, storing(spelling_of(conn), [arrival(delivery)], told=False))
    return new


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
    for these in among(INBOX.c.guid, guids):
        same = (INBOX.c.app_id == app_id) & these
        found |= set((await conn.execute(select(INBOX.c.guid).where(same))).scalars())
    return found


async def drop_bodies(conn: AsyncConnection, before: datetime, *, limit: int | None = None) -> int:
    """Forget the bodies of older deliveries; the keys stay, so that a captured one opens no door. Rows changed."""
    old: Any = (INBOX.c.received_at < before) & INBOX.c.body.is_not(None)
    if limit is not None:
        old = INBOX.c.id.in_(select(INBOX.c.id).where(old).order_by(INBOX.c.received_at).limit(limit))
    return (await conn.execute(update(INBOX).where(old).values(body=None))).rowcount


async def count(conn: AsyncConnection) -> int:
    return (await conn.execute(select(func.count()).select_from(INBOX))).scalar_one()

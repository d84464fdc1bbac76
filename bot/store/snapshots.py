"""Which dated snapshots of a profile were taken, byte for byte as signed?"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import datetime
from typing import Any

from msgspec import Struct
from sqlalchemy import Column, Connection, Index, Table, delete, func, select

from bot.landing.identity.marks import quotes_marks
from bot.model.ids import Month, PersonKey, RepositoryId
from bot.store.columns import METADATA, CleanText, Instant, Json
from bot.store.digests import PERIOD
from bot.store.inserts import insert_absent

SNAPSHOT = Table(
    "snapshot",
    METADATA,
    Column("id", CleanText, primary_key=True),
    Column("person_key", CleanText, nullable=False),
    Column("naming", CleanText, nullable=False),
    Column("repositories", Json, nullable=False),
    Column("taken_at", Instant, nullable=False),
    Column("text", CleanText, nullable=False),
    Column("signature", CleanText, nullable=False),
    Column("key_id", CleanText, nullable=False),
    Column("month", CleanText),
    Column("scope", CleanText),
    Index(None, "person_key", "taken_at"),
    # Automatic snapshots are taken once a month; requested ones have no month.
    Index(None, "person_key", "month", "scope", unique=True),
)
SCHEDULE = "snapshots"
"""the schedule's name in PERIOD, whose rows are the months already begun"""


class Snapshot(Struct, frozen=True):
    """A profile's original JSON text, its signature (base64), and the repositories whose work it shows.

    A monthly snapshot has the month, and the `scope` of its page.
    """

    person_key: PersonKey
    naming: str
    repositories: tuple[RepositoryId, ...]
    taken_at: datetime
    text: str
    signature: str
    key_id: str
    month: Month | None = None
    scope: str | None = None


class SnapshotEntry(Struct, frozen=True):
    """A snapshot in a list, without its text."""

    id: str
    naming: str
    repositories: tuple[RepositoryId, ...]
    taken_at: datetime
    month: Month | None


def keep(connection: Connection, snapshot: Snapshot) -> str:
    """Save the snapshot; return its random id. A hash of its owner would reveal an unnamed person to a brute-force
    search.

    An existing one is not changed: the same text of the same person is one snapshot.
    """
    same = (SNAPSHOT.c.person_key == snapshot.person_key) & (SNAPSHOT.c.text == snapshot.text)
    known: str | None = connection.execute(select(SNAPSHOT.c.id).where(same)).scalars().first()
    if known is not None:
        return known
    row: dict[str, Any] = {name: getattr(snapshot, name) for name in Snapshot.__struct_fields__}
    row |= {"id": secrets.token_hex(16), "repositories": sorted(snapshot.repositories)}
    insert_absent(connection, SNAPSHOT, [row])
    return str(row["id"])


def snapshot(connection: Connection, person: PersonKey, identity: str) -> Snapshot | None:
    """A person's snapshot by its id."""
    mine = (SNAPSHOT.c.id == identity) & (SNAPSHOT.c.person_key == person)
    found = _read(connection, mine)
    return found[0] if found else None


def snapshots_of(connection: Connection, people: Collection[PersonKey]) -> list[Snapshot]:
    """The snapshots of these people, newest first."""
    return _read(connection, SNAPSHOT.c.person_key.in_(people))


def snapshot_entries(connection: Connection, people: Collection[PersonKey]) -> list[SnapshotEntry]:
    """The snapshots of these people without their texts, newest first."""
    columns = [SNAPSHOT.c[name] for name in SnapshotEntry.__struct_fields__]
    query = select(*columns).where(SNAPSHOT.c.person_key.in_(people))
    rows = connection.execute(query.order_by(SNAPSHOT.c.taken_at.desc(), SNAPSHOT.c.id))
    return [SnapshotEntry(row.id, row.naming, tuple(row.repositories), row.taken_at, row.month) for row in rows]


def is_taken(connection: Connection, person: PersonKey, month: Month, scope: str) -> bool:
    """Whether the month's snapshot of this page exists."""
    same = (SNAPSHOT.c.person_key == person) & (SNAPSHOT.c.month == month) & (SNAPSHOT.c.scope == scope)
    return connection.execute(select(SNAPSHOT.c.id).where(same)).first() is not None


def last_begun(connection: Connection) -> Month | None:
    """The newest month whose snapshots were begun."""
    query = select(func.max(PERIOD.c.period)).where(PERIOD.c.schedule == SCHEDULE)
    found = connection.execute(query).scalar_one_or_none()
    return None if found is None else Month(found)


def forget(connection: Connection, people: Collection[PersonKey]) -> None:
    connection.execute(delete(SNAPSHOT).where(SNAPSHOT.c.person_key.in_(people)))


def forget_quoting(connection: Connection, marks: Collection[str]) -> None:
    """Delete the snapshots of other people in which these words or titles stand; a signed text cannot be edited."""
    for row in connection.execute(select(SNAPSHOT.c.id, SNAPSHOT.c.text)).all():
        if quotes_marks(row.text, marks):
            connection.execute(delete(SNAPSHOT).where(SNAPSHOT.c.id == row.id))


def _read(connection: Connection, which: Any) -> list[Snapshot]:
    query = select(SNAPSHOT).where(which).order_by(SNAPSHOT.c.taken_at.desc(), SNAPSHOT.c.id)
    rows = connection.execute(query).mappings()
    return [
        Snapshot(
            **{name: row[name] for name in Snapshot.__struct_fields__ if name != "repositories"},
            repositories=tuple(row["repositories"]),
        )
        for row in rows
    ]

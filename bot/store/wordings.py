"""What did a language model answer when asked to order a month's entries? Kept, so that posting needs no request."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import Column, Connection, Table, delete, select

from bot.model.ids import Month, PersonKey, RepositoryId
from bot.store.columns import METADATA, CleanText, Instant, WholeNumber
from bot.store.inserts import upsert

WORDING = Table(
    "wording",
    METADATA,
    Column("repository_id", WholeNumber, primary_key=True, autoincrement=False),
    Column("month", CleanText, primary_key=True),
    Column("person_key", CleanText, primary_key=True),
    Column("prompt_hash", CleanText, nullable=False),
    Column("writer", CleanText, nullable=False),
    Column("answer", CleanText, nullable=False),
    Column("answered_at", Instant, nullable=False),
)
EVERYBODY = PersonKey("")
"""the person of wordings about a whole digest"""


class Wording(Struct, frozen=True):
    """One raw answer. `repository_id` is where the digest is posted; `prompt_hash` identifies the prompt's facts."""

    repository_id: RepositoryId
    month: Month
    person_key: PersonKey
    prompt_hash: str
    writer: str
    answer: str
    answered_at: datetime


def keep(connection: Connection, wordings: Collection[Wording]) -> None:
    """Store the newest answers in place of the earlier ones, which were about other facts."""
    upsert(connection, WORDING, [asdict(wording) for wording in wordings])


def of_digest(connection: Connection, repository_id: RepositoryId, month: Month) -> Wording | None:
    """The answer about one digest."""
    same = (WORDING.c.repository_id == repository_id) & (WORDING.c.month == month)
    row = connection.execute(select(WORDING).where(same & (WORDING.c.person_key == EVERYBODY))).mappings().first()
    return Wording(**row) if row else None


def forget(connection: Connection, people: Collection[PersonKey]) -> None:
    """Delete wordings about these people, and about every whole digest, since these may mention anybody's work."""
    connection.execute(delete(WORDING).where(WORDING.c.person_key.in_([*people, EVERYBODY])))

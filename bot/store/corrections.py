"""What did people correct? Append-only events that every rebuild applies again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct
from sqlalchemy import Column, Connection, Index, Table, select

from bot.model.ids import ChangeId, PersonKey, RepositoryId, UserId
from bot.store.columns import METADATA, CleanText, Instant, Json, WholeNumber
from bot.store.dialect import insert_into
from bot.store.installations import REPOSITORY

CorrectionKind = Literal["classify", "credit", "dispute", "forget", "human", "opt-out", "visibility"]

CORRECTION = Table(
    "correction",
    METADATA,
    Column("event_key", CleanText, primary_key=True),
    Column("kind", CleanText, nullable=False),
    Column("repository_id", WholeNumber),
    Column("change_id", CleanText),
    Column("person_key", CleanText),
    Column("made_by", CleanText, nullable=False),
    Column("made_at", Instant, nullable=False),
    Column("value", Json, nullable=False),
    Index(None, "change_id"),
    Index(None, "person_key"),
    Index(None, "repository_id"),
)


class Correction(Struct, frozen=True):
    """One event. `event_key` identifies its source (for example a comment id), so that it is recorded only once."""

    event_key: str
    kind: CorrectionKind
    made_by: PersonKey
    made_at: datetime
    value: Any = None
    repository_id: RepositoryId | None = None
    change_id: ChangeId | None = None
    person_key: PersonKey | None = None


def append(connection: Connection, correction: Correction) -> bool:
    """Append the event; False if it is recorded already."""
    row = {name: getattr(correction, name) for name in correction.__struct_fields__}
    statement = (
        insert_into(connection, CORRECTION).values(row).on_conflict_do_nothing().returning(CORRECTION.c.event_key)
    )
    return connection.execute(statement).first() is not None


def of_repositories(connection: Connection, repositories: Sequence[RepositoryId]) -> list[Correction]:
    """Corrections about changes in these repositories, in the order they were made."""
    of_these = CORRECTION.c.repository_id.in_(repositories) & CORRECTION.c.kind.in_(("classify", "credit", "dispute"))
    return _read(connection, of_these)


def people_who_said_so(connection: Connection, repository: RepositoryId) -> frozenset[UserId]:
    """The accounts whose owners said, anywhere in this repository's installation, that they are no machine."""
    installation = select(REPOSITORY.c.installation_id).where(REPOSITORY.c.id == repository).scalar_subquery()
    reached = select(REPOSITORY.c.id).where(REPOSITORY.c.installation_id == installation)
    query = select(CORRECTION.c.person_key).where(CORRECTION.c.kind == "human", CORRECTION.c.repository_id.in_(reached))
    return frozenset(UserId(int(row.person_key.removeprefix("u:"))) for row in connection.execute(query))


def has_said_so(connection: Connection, person: PersonKey) -> bool:
    """Whether this person has said anywhere that they are no machine."""
    same = (CORRECTION.c.person_key == person) & (CORRECTION.c.kind == "human")
    return connection.execute(select(CORRECTION.c.event_key).where(same).limit(1)).first() is not None


def disputes_of(connection: Connection, people: Collection[PersonKey]) -> list[tuple[RepositoryId, int]]:
    """The repository and number of every change that these people disputed."""
    disputes = CORRECTION.c.made_by.in_(people) & (CORRECTION.c.kind == "dispute")
    found = {(one.repository_id, int(one.value["number"])) for one in _read(connection, disputes) if one.repository_id}
    return sorted(found)


def _read(connection: Connection, which: Any) -> list[Correction]:
    query = select(CORRECTION).where(which).order_by(CORRECTION.c.made_at, CORRECTION.c.event_key)
    return [Correction(**row) for row in connection.execute(query).mappings()]

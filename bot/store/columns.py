"""Which column types give both databases the same values?"""

from __future__ import annotations

import functools
from datetime import UTC, datetime
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Column, DateTime, Integer, MetaData, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from bot.model.fact import PARTS
from bot.store.border import canonical_json, clean_text, whole_number

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class WholeNumber(TypeDecorator[int]):
    """A 64-bit whole number; as a primary key SQLite assigns it."""

    impl = BigInteger().with_variant(Integer, "sqlite")
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | None:
        return None if value is None else whole_number(value)


class CleanText(TypeDecorator[str]):
    """Text from any source, without the characters that a database refuses."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else clean_text(value)


class Json(TypeDecorator[Any]):
    """A JSON value as canonical text: the same bytes on both databases, which JSONB would reorder."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: object, dialect: Dialect) -> str | None:
        return None if value is None else canonical_json(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else msgspec.json.decode(value)


class EncodedJson(str):
    """Canonical JSON text that a `Json` column writes without encoding it again."""

    __slots__ = ()


class Instant(TypeDecorator[datetime]):
    """A moment in UTC. Naive values are refused; SQLite keeps `YYYY-MM-DD HH:MM:SS.ffffff`."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a moment without its zone")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


@functools.lru_cache(maxsize=256)
def instant_text(moment: datetime) -> str:
    """How SQLite stores an `Instant`, for statements that bypass SQLAlchemy; equal moments often follow each other."""
    if moment.tzinfo is None:
        raise ValueError("a moment without its zone")
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return utc.isoformat(" ", "microseconds")[:26]


def moment_of(value: datetime | str) -> datetime:
    """The moment that a driver returns without SQLAlchemy: text on SQLite, a datetime in any zone on PostgreSQL."""
    if isinstance(value, str):
        return datetime.fromisoformat(value).replace(tzinfo=UTC)
    return value.astimezone(UTC)


def counters(*names: str) -> list[Column[int]]:
    """Whole-number columns that start at 0."""
    return [Column(name, WholeNumber, nullable=False, server_default="0") for name in names]


def line_counters() -> list[Column[int]]:
    """One column for each part of the split of lines; they sum to git's total."""
    return counters(*(f"lines_{part}" for part in PARTS))

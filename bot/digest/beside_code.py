"""Which months of a record have work beside code, and what of it belongs to which month?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from bot.model import BesideCode, ChangeId, Lines, Month, MonthRecord, PersonKey, Text

NOTHING_BESIDE: Mapping[PersonKey, BesideCode] = MappingProxyType({})


def with_beside(record: MonthRecord, known: BesideCode | None) -> MonthRecord:
    """The record with what is known of its month beside what its own changes show."""
    if known is None:
        return record
    return replace(record, beside=replace(known, documentation=record.beside.documentation))


def with_seen(
    records: Iterable[MonthRecord], seen: Mapping[Month, BesideCode], first: Mapping[Month, tuple[ChangeId, ...]]
) -> tuple[MonthRecord, ...]:
    """The records with what GitHub alone showed in each month, and with the first contributions that fell in it."""
    nothing = BesideCode()
    return tuple(
        with_beside(record, replace(seen.get(record.month, nothing), first_contributions=first.get(record.month, ())))
        for record in records
    )


def months_beside(seen: Mapping[Month, BesideCode], months: Iterable[Month]) -> tuple[MonthRecord, ...]:
    """A record without a number of code for each of these months in which something was seen, newest first."""
    return tuple(
        MonthRecord(month, Lines(), Text(()), (), beside=seen[month])
        for month in sorted(months, reverse=True)
        if seen.get(month)
    )

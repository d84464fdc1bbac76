"""Which months of a record have non-code activity, and what of it belongs to which month?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from bot.model.fact import Lines
from bot.model.ids import ChangeId, Month, PersonKey
from bot.model.profile import MonthRecord, NonCodeActivity, Text

NO_NON_CODE: Mapping[PersonKey, NonCodeActivity] = MappingProxyType({})


def with_non_code(record: MonthRecord, known: NonCodeActivity | None) -> MonthRecord:
    """The record with what is known of its month beside what its own changes show."""
    if known is None:
        return record
    return replace(record, non_code=replace(known, documentation=record.non_code.documentation))


def with_monthly_non_code(
    records: Iterable[MonthRecord], seen: Mapping[Month, NonCodeActivity], first: Mapping[Month, tuple[ChangeId, ...]]
) -> tuple[MonthRecord, ...]:
    """The records with what GitHub alone showed in each month, and with the first contributions that fell in it."""
    nothing = NonCodeActivity()
    return tuple(
        with_non_code(record, replace(seen.get(record.month, nothing), first_contributions=first.get(record.month, ())))
        for record in records
    )


def non_code_months(seen: Mapping[Month, NonCodeActivity], months: Iterable[Month]) -> tuple[MonthRecord, ...]:
    """A record without a number of code for each of these months in which something was seen, newest first."""
    return tuple(
        MonthRecord(month, Lines(), Text(()), (), non_code=seen[month])
        for month in sorted(months, reverse=True)
        if seen.get(month)
    )

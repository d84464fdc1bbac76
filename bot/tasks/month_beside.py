"""What did the people of a digest do beside code in its month, as far as its readers may know?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from msgspec.structs import replace
from sqlalchemy import Connection

from bot.landing.months import begins_at, month_after, month_of
from bot.metrics.beside_code import seen_by_month
from bot.model import BesideCode, Change, ChangeId, CommitId, PersonKey
from bot.store import first_landings, observations
from bot.store.observations import Observation
from bot.tasks.digest_home import Scope


def beside_month(
    connection: Connection, scope: Scope, keys: Sequence[PersonKey], changes: Iterable[Change], zone: ZoneInfo
) -> dict[PersonKey, BesideCode]:
    """By person: what GitHub showed in the repositories that the digest tells of, and first contributions to them."""
    begin, end = (
        datetime.fromtimestamp(begins_at(month, zone), UTC) for month in (scope.month, month_after(scope.month))
    )
    rows = observations.of_people(connection, keys, scope.ids, (begin, end))
    by_person: dict[PersonKey, list[Observation]] = defaultdict(list)
    for row in rows:
        for key in [row.person_key] if row.person_key else keys:  # a release that is gone is gone for everybody
            by_person[key].append(row)
    names = dict(zip(scope.ids, (one.full_name for one in scope.repositories), strict=True))
    first = _first(connection, scope, keys, changes, zone)
    found: dict[PersonKey, BesideCode] = {}
    for key in keys:
        deeds = observations.deeds_of(by_person[key], names)
        seen = seen_by_month(deeds, {}, zone).get(scope.month, BesideCode())
        found[key] = replace(seen, first_contributions=first.get(key, ()))
    return found


def _first(
    connection: Connection, scope: Scope, keys: Sequence[PersonKey], changes: Iterable[Change], zone: ZoneInfo
) -> Mapping[PersonKey, tuple[ChangeId, ...]]:
    """The changes of this month that brought somebody's first commit to a repository whose whole history is known."""
    whole = first_landings.read_whole(connection, scope.ids)
    carried: dict[CommitId, ChangeId] = {
        commit.fact.commit: change.id for change in changes for commit in change.counted
    }
    found: dict[PersonKey, list[ChangeId]] = defaultdict(list)
    for one in first_landings.first_landings(connection, keys, whole) if whole else ():
        if one.commit in carried and month_of(one.landed_at, zone) == scope.month:
            found[one.person_key].append(carried[one.commit])
    return {key: tuple(sorted(ids)) for key, ids in found.items()}

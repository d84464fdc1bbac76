"""Are changed definitions applied to recorded facts in small steps, first in parallel and then in their place?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from http import HTTPStatus
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from gidgethub import BadRequest
from msgspec.structs import replace
from sqlalchemy import Connection, select, update

from benchmarks.speed.landings import facts_of
from bot.metrics.registry import FACT_METHOD
from bot.model.fact import Fact, fact_from_json, fact_to_json
from bot.model.ids import InstallationId, PersonKey, RepositoryId
from bot.services.digests.publishing import close_months
from bot.services.measuring_again import ask_to_measure_again
from bot.services.recording.record import RecordingTarget, record
from bot.services.snapshots import defer_snapshots
from bot.store import ledger, measurements, readings, snapshots, visibility
from bot.store.dump import canonical_dump
from bot.store.engine import Store
from bot.store.ledger import FACT
from bot.store.lines import LINE_HASH
from bot.store.visibility import subject_of_person
from simulator.server import Simulator
from tests.path.requests import Shop, shop
from tests.services.landed import Town, town
from tests.store.conftest import connection_beside

task = import_module("bot.services.measuring_again")
"""the package names its function likewise"""


@pytest.fixture
async def there(github: Simulator, tmp_path: Path) -> Any:
    async with shop(github, tmp_path) as made:
        made.merge(made.open(), "squash")
        made.merge(made.open(2), "merge")
        await made.cost()
        yield made


async def recorded(there: Shop | Town) -> list[Fact]:
    with there.bot.store.snapshot() as connection:
        return ledger.facts_in(connection, RepositoryId(there.repository.id))


def _commit(fact: Fact) -> str:
    return fact.commit


async def time_passes(there: Shop) -> None:
    for _ in range(4):
        await there.drained()
        there.clock.now += task.PAUSE


async def grow_old(there: Shop | Town) -> list[Fact]:
    """As if all had been measured by the version before, which knew no skills and took everything for chores."""
    table = ledger.FACT
    with there.bot.store.transaction() as connection:
        for row in connection.execute(select(table.c.id, table.c.payload)).all():
            old = fact_to_json(fact_from_json(row.payload)) | {"kind": "chore", "skills": {}, "why": "as read long ago"}
            values = {"method": FACT_METHOD - 1, "payload": old}
            connection.execute(update(table).where(table.c.id == row.id).values(values))
    return await recorded(there)


async def test_facts_of_an_older_version_are_measured_again_and_kept(there: Shop) -> None:
    before = await canonical_dump(there.bot.store)
    facts = await recorded(there)
    old = await grow_old(there)
    assert old != facts
    await ask_to_measure_again(there.bot.context)
    await time_passes(there)
    assert await recorded(there) == facts
    assert await canonical_dump(there.bot.store) == before
    with there.bot.store.snapshot() as connection:
        assert measurements.repositories_outdated(connection, FACT_METHOD) == []
        beside = connection_beside(connection)
    assert {version: sorted(kept, key=_commit) for version, kept in beside.items()} == {
        FACT_METHOD - 1: sorted(old, key=_commit)
    }


async def test_a_recount_waits_for_the_last_commit_and_reads_nothing_stored(
    there: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("bot.jobs.measure_again"), "AT_ONCE", 1)
    old = await grow_old(there)
    await ask_to_measure_again(there.bot.context)
    await ask_to_measure_again(there.bot.context)
    seen = len(there.github.requests)
    for done in range(1, len(old) + 1):
        await there.bot.queue.drain()
        assert await recorded(there) == old
        with there.bot.store.snapshot() as connection:
            assert len(measurements.measured_facts(connection, RepositoryId(there.repository.id), FACT_METHOD)) == done
        there.clock.now += task.PAUSE
    await there.drained()
    assert [fact for fact in await recorded(there) if fact in old] == []
    assert [one for one in there.github.requests[seen:] if one.startswith("GET")] == []


async def test_missing_bodies_are_read_and_deleted_commits_stay_unchanged(
    there: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = await recorded(there)
    old = await grow_old(there)
    with there.bot.store.transaction() as connection:
        readings.forget_all(connection)
    read = task.read_recorded_landings

    async def but_one(place: Any, client: Any, repository: Any, wanted: list[Fact]) -> Any:
        if wanted[0].commit == old[0].commit:
            raise BadRequest(HTTPStatus.NOT_FOUND)
        return await read(place, client, repository, wanted)

    monkeypatch.setattr(task, "read_recorded_landings", but_one)
    seen = len(there.github.requests)
    await ask_to_measure_again(there.bot.context)
    await time_passes(there)
    assert await recorded(there) == [old[0], *facts[1:]]
    assert [one for one in there.github.requests[seen:] if "/commits/" in one]


async def test_a_large_repository_is_recounted_in_bounded_steps(there: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four hundred commits, some of which take others back: no transaction holds more than two hundred of them."""
    place = RecordingTarget(
        InstallationId(there.installation.id), RepositoryId(there.repository.id), there.bot.context.zone
    )
    name = there.repository.full_name
    facts = [_repository_id(fact, name) for fact in facts_of(420, people=9, repositories=1, seed=8)]
    for back in range(90, 420, 60):
        facts[back] = replace(facts[back], reverts=(f"commit:{facts[back - 85].commit}",))
    with there.bot.store.transaction() as connection:
        record(connection, place, facts, now=there.clock.now)
    wanted, new = await canonical_dump(there.bot.store), await with_hashes(there, await recorded(there))
    await grow_old(there)
    with there.bot.store.transaction() as connection:
        measurements.keep(connection, place.repository, new, method=FACT_METHOD, now=there.clock.now)
    steps: list[int] = []

    def counted(connection: Any, target: RecordingTarget, some: list[Fact], **options: Any) -> Any:
        steps.append(len(some))
        return record(connection, target, some, **options)

    monkeypatch.setattr(task, "record", counted)
    await ask_to_measure_again(there.bot.context)
    for _ in range(6):
        await there.drained()
    assert max(steps) == task.ACTIVATED_AT_ONCE
    assert sum(steps) == len(new)
    assert await canonical_dump(there.bot.store) == wanted


async def with_hashes(there: Shop, facts: Sequence[Fact]) -> list[Fact]:
    """The facts as they were measured: the ledger keeps the hashes of their lines in a table of their own."""
    query = select(FACT.c.commit_id, LINE_HASH.c.hashes).join(FACT, FACT.c.id == LINE_HASH.c.fact_id)

    def read(connection: Connection) -> dict[str, bytes]:
        return {row.commit_id: row.hashes for row in connection.execute(query)}

    hashes = await there.bot.store.read(read)
    return [replace(fact, line_hashes=hashes.get(fact.commit, b"")) for fact in facts]


def _repository_id(fact: Fact, name: str) -> Fact:
    keys = tuple(key.replace(fact.repository, name.lower()) for key in fact.keys)
    return replace(fact, repository=name, keys=keys)


async def test_what_was_posted_and_signed_stays_when_a_definition_changes(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings="first_digest: post\n") as there:
        await there.land("feat: add a part")
        await there.land("fix: mend the part", by="bea")
        person = PersonKey(f"u:{there.people['ada'].id}")
        with there.bot.store.transaction() as connection:
            visibility.publish(connection, subject_of_person(person), public=True, now=there.clock.now)
        await there.month_over()
        there.clock.now += timedelta(days=2)
        await defer_snapshots(there.bot.context)
        await there.drained()
        posted, signed = there.digests(), signed_snapshots(there.bot.store, person)
        assert (len(posted), len(signed)) == (1, 1)
        await grow_old(there)
        seen = len(there.github.requests)
        await ask_to_measure_again(there.bot.context)
        for _ in range(4):
            await there.drained()
            there.clock.now += task.PAUSE
        await close_months(there.bot.context)
        await defer_snapshots(there.bot.context)
        await there.drained()
        with there.bot.store.snapshot() as connection:
            assert measurements.repositories_outdated(connection, FACT_METHOD) == []
            kinds = {fact.kind for fact in ledger.facts_in(connection, RepositoryId(there.repository.id))}
        assert kinds == {"feature", "bug_fix"}
        assert (there.digests(), signed_snapshots(there.bot.store, person)) == (posted, signed)
        assert [one for one in there.github.requests[seen:] if "/commits/" in one or not one.startswith("GET")] == []


def signed_snapshots(store: Store, person: PersonKey) -> list[tuple[str, str]]:
    with store.snapshot() as connection:
        return [(one.text, one.signature) for one in snapshots.snapshots_of(connection, [person])]

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import aiohttp
import pytest
import pytest_asyncio
from msgspec.structs import replace
from sqlalchemy import func, select

from bot.history.clone import Clone
from bot.history.opening import open_clones
from bot.history.record import CloneRecord
from bot.model.commit import Person
from bot.model.fact import Lines
from bot.model.ids import PersonKey
from bot.narrative.profile import ProfileScope
from bot.narrative.profile import build as build_profile
from bot.store.dump import canonical_dump
from bot.store.inbox import INBOX
from bot.store.jobs import JOB
from bot.store.ledger import FACT
from simulator.world import World, build_world, play_next
from tests.contract import strict_simulator
from tests.path.running import Running, recorded_profile, running

NOW = datetime(2031, 5, 20, 12, tzinfo=UTC)
SCOPE = ProfileScope(person=Person(PersonKey(""), "", ()), keys=frozenset(), zone=ZoneInfo("UTC"), now=NOW)


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def there(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    """The bot beside an organisation in which eighteen pieces of work have landed; for tests in any order."""
    async with strict_simulator() as github:
        world = build_world(github, NOW)
        async with running(github, world, tmp_path_factory.mktemp("bot")) as found:
            while world.played < 18 and await play_next(world):
                pass
            await found.drained()
            yield found


def checks(world: World) -> dict[str, int]:
    """Our check runs by commit."""
    counts: dict[str, int] = {}
    for repository in world.repositories.values():
        for run in repository.checks.values():
            if run.app is world.app:
                head = run.fields["head_sha"]
                counts[head] = counts.get(head, 0) + 1
    return counts


async def test_a_landing_moves_the_metrics_and_gets_one_neutral_check_run(there: Running) -> None:
    with there.bot.store.snapshot() as connection:
        facts = connection.execute(select(func.count()).select_from(FACT)).scalar_one()
        states = dict(connection.execute(select(JOB.c.state, func.count()).group_by(JOB.c.state)).all())
    assert facts > 18
    assert set(states) == {"done"}
    posted = checks(there.world)
    assert posted
    assert set(posted.values()) == {1}
    repositories = there.world.repositories.values()
    conclusions = {run.fields["conclusion"] for repo in repositories for run in repo.checks.values()}
    assert conclusions == {"neutral"}


async def test_deliveries_twice_and_out_of_order_end_in_the_same_record(there: Running) -> None:
    calm = await canonical_dump(there.bot.store)
    calm_checks = checks(there.world)
    deliveries = there.world.github.deliveries
    deliveries.hold()
    for delivery in list(deliveries.log):
        deliveries.redeliver(delivery.id)
    deliveries.release(shuffle=7)
    await there.drained()
    assert await canonical_dump(there.bot.store) == calm
    assert checks(there.world) == calm_checks
    assert set(calm_checks.values()) == {1}


def named_clones(world: World) -> tuple[Clone, ...]:
    """The organisation's own git repositories, under the names that a clone would read from its remote."""
    names = {repository.git.path.resolve(): repository.full_name for repository in world.repositories.values()}
    clones = open_clones([str(path) for path in names])
    return tuple(
        replace(clone, repository=replace(clone.repository, full_name=names[clone.folder.resolve()]))
        for clone in clones
    )


async def read_from_the_start(there: Running) -> None:
    """Record what landed before the App came: each default branch as if it were new."""
    assert there.world.installation is not None
    with there.bot.store.transaction() as connection:
        for repository in there.world.repositories.values():
            tip = repository.git.tip
            given = {"installation": there.world.installation.id, "repository": repository.id}
            ref = json.dumps(given | {"before": "", "after": tip}, sort_keys=True)
            there.bot.queue.defer(connection, "record_landing", ref, serial_key=f"repository:{repository.id}")
    await there.drained()


async def test_commits_lines_and_months_from_deliveries_equal_those_from_clones(there: Running) -> None:
    """Kinds and outcomes may differ: labels, and the rebase button's pull requests, leave no trace in a clone.

    Neither do the parts of a squash: everybody's lines together are the same.
    """
    world = there.world
    await read_from_the_start(there)
    record = CloneRecord(named_clones(world), cache=False, now=int(NOW.timestamp()))
    record.refresh()
    compared, everybody = 0, [Lines(), Lines()]
    for account in world.people.values():
        persons = record.people.find(account.name or account.login)
        if not persons:
            continue
        scope = replace(SCOPE, person=persons[0], keys=record.keys_of(persons))
        cloned = build_profile(record.changes_of(persons), scope)
        assert world.installation is not None
        live = await recorded_profile(there.bot, world.installation.id, account.login, SCOPE)
        numbers = ("commits", "co_authored", "active_months")
        assert [getattr(live.overall, n) for n in numbers] == [getattr(cloned.overall, n) for n in numbers]
        assert [(m.month, m.commits) for m in live.months] == [(m.month, m.commits) for m in cloned.months]
        everybody = [one + other.overall.lines for one, other in zip(everybody, (live, cloned), strict=True)]
        assert live.activity == cloned.activity
        assert live.overall.outcomes <= cloned.overall.outcomes
        compared += 1
    record.close()
    assert compared >= 6
    assert everybody[0].total == everybody[1].total


async def test_unsigned_flipped_and_encoded_deliveries_are_refused_and_nothing_is_stored(there: Running) -> None:
    delivery = there.world.github.deliveries.log[-1]
    with there.bot.store.snapshot() as connection:
        before = connection.execute(select(func.count()).select_from(INBOX)).scalar_one()
    headers = dict(delivery.headers)
    body = delivery.body
    flipped = bytes([body[0] ^ 1]) + body[1:]
    unsigned = {name: value for name, value in headers.items() if name.lower() != "x-hub-signature-256"}
    async with aiohttp.ClientSession() as session:

        async def status(data: bytes, given: dict[str, str]) -> int:
            async with session.post(f"{there.url}/webhook", data=data, headers=given) as answer:
                return answer.status

        assert await status(flipped, headers) == 403
        assert await status(body, unsigned) == 403
        assert await status(body, headers | {"Content-Encoding": "gzip"}) == 415
    with there.bot.store.snapshot() as connection:
        assert connection.execute(select(func.count()).select_from(INBOX)).scalar_one() == before

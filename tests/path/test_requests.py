"""What does a landing cost at GitHub? One read and one write if possible."""

from __future__ import annotations

import shutil
from collections import Counter
from datetime import timedelta
from pathlib import Path

from simulator.server import Simulator
from simulator.state import SimRepository
from simulator.work import Button
from tests.path.requests import POST, QUICK, WAYS, Shop, again, data, github, shop

__all__ = ["data", "github"]


async def test_each_way_of_landing_costs_its_minimum(github: Simulator, data: Path) -> None:
    """`make campaign-requests` covers the other ways."""
    async with shop(github, data) as there:
        for name in QUICK:
            land, expected = WAYS[name]
            land(there)
            assert await there.cost() == Counter(expected), name
        assert github.count("access_tokens") <= 3, "one to list, one to read, one to post, however many landings"


BUTTONS: tuple[tuple[Button, int], ...] = (("squash", 1), ("merge", 3), ("rebase", 2))


async def test_push_and_pull_request_in_either_order_are_one_post(github: Simulator, data: Path) -> None:
    """With the pause that the usual distance of two writes gives: the other delivery comes within it."""
    async with shop(github, data, settle=timedelta(seconds=2)) as there:
        for how, reads in BUTTONS:
            for first, later in (("push", 1.0), ("pull_request", 5.0 if how == "merge" else 1.0)):
                pull = there.open(2)
                await there.cost()
                await separate_deliveries(there, pull.number, how=how, first=first, later=later)
                cost = there.spent()
                assert cost.pop(POST) == 1, (how, first, later)
                assert [name for name in cost if not name.startswith("GET")] == []
                assert cost.total() == reads, (how, first, later, cost)
                assert (await there.facts())[-1].pull_request == pull.number


async def separate_deliveries(there: Shop, number: int, *, how: Button, first: str, later: float) -> None:
    """Merge; of its two deliveries one is heard at once and the other `later` seconds after it."""
    there.github.deliveries.hold()
    there.merge(there.repository.issues[number].pull or there.open(), how)
    await there.hear(lambda one: one.event == first)
    there.clock.now += timedelta(seconds=later)
    await there.hear(lambda one: one.event in ("push", "pull_request"))
    for _ in range(6):
        there.clock.now += timedelta(seconds=1)
        await there.done()
    there.github.deliveries.release()
    await there.done()


async def test_a_redelivery_costs_nothing(github: Simulator, data: Path) -> None:
    async with shop(github, data) as there:
        there.merge(there.open(3), "rebase")
        await there.cost()
        before = await there.lines("")
        for delivery in list(github.deliveries.log):
            github.deliveries.redeliver(delivery.id)
        assert await there.cost() == Counter()
        assert await there.lines("") == before


async def test_rules_are_read_again_when_a_landing_touches_them(github: Simulator, data: Path) -> None:
    async with shop(github, data) as there:
        there.write(".gitattributes", "*.py linguist-generated\n")
        assert contents(await there.cost()) == 3
        there.push()
        assert contents(await there.cost()) == 0
        assert (await there.facts())[-1].lines.generated == 2


async def test_an_organisations_file_rules_its_repositories_from_their_next_landing(
    github: Simulator, data: Path
) -> None:
    async with shop(github, data) as there:
        shared = shared_repository(there)
        there.push(repo=shared)
        await there.cost()
        there.push()
        assert contents(await there.cost()) == 0, "nothing that rules has changed"
        there.write(".github/almanac.yml", "lines:\n  generated: ['*.py']\n", repo=shared)
        await there.cost()
        there.push()
        assert contents(await there.cost()) == 3, "once"
        there.push()
        assert contents(await there.cost()) == 0
        parts = [(fact.lines.authored, fact.lines.generated) for fact in await there.facts()]
        assert parts[-3:] == [(2, 0), (0, 2), (0, 2)]


def shared_repository(there: Shop) -> SimRepository:
    return there.github.create_repository(
        "acme/.github", at=there.clock.now, files={"README.md": b"# shared\n"}, by=there.mara
    )


def contents(cost: Counter[str]) -> int:
    return sum(count for name, count in cost.items() if name.startswith("GET contents"))


def posts(there: Shop, commit: str) -> int:
    return sum(run.fields["head_sha"] == commit for run in there.repository.checks.values())


async def test_a_restored_database_posts_nothing_twice(github: Simulator, data: Path) -> None:
    old = data / "back-up"
    async with shop(github, data) as there:
        there.push()
        await there.cost()
        old.mkdir()
        for name in ("almanac.sqlite", "almanac.sqlite-wal"):
            if (data / name).exists():
                shutil.copy(data / name, old / name)
        clock, landed = there.clock, [*there.push(), *there.merge(there.open(2), "squash")]
        assert (await there.cost())[POST] == 2
        told = [one for one in github.deliveries.log if one.event in ("push", "pull_request")]
    for name in ("almanac.sqlite", "almanac.sqlite-wal", "almanac.sqlite-shm"):
        (data / name).unlink(missing_ok=True)
    for found in old.iterdir():
        shutil.move(found, data / found.name)
    async with again(there, data) as restored:
        restored.clock.now = clock.now + timedelta(hours=1)
        await restored.drained()
        before = {commit: posts(restored, commit) for commit in landed}
        for delivery in told:
            github.deliveries.redeliver(delivery.id)
        restored.spent()
        cost = await restored.cost()
        assert cost[POST] == 0
        assert cost["GET commits/*/check-runs"] == 2, "one look each"
        assert {commit: posts(restored, commit) for commit in landed} == before
        assert set(before.values()) == {1}
        restored.push()
        assert await restored.cost() == Counter({"GET commits/*": 1, POST: 1}), (
            "what lands from now on is not looked for"
        )

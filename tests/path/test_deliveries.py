"""Do late, repeated, missing and false deliveries leave the record unchanged?"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from simulator.deliveries import SimDelivery
from simulator.server import Simulator
from simulator.work import Button
from tests.path.requests import PULL, Shop, cloned, data, github, shop

__all__ = ["data", "github"]

BUTTONS: tuple[Button, ...] = ("squash", "merge", "rebase")
TELLING = ("push", "pull_request", "repository")


def writes(cost: Counter[str]) -> list[str]:
    return [name for name in cost if not name.startswith("GET")]


async def test_deliveries_repeated_months_later_count_nothing_twice(github: Simulator, data: Path) -> None:
    async with shop(github, data) as there:
        for how in BUTTONS:
            there.merge(there.open(2), how)
        github.rename(there.repository, "renamed", by=there.mara)
        there.push()
        await there.cost()
        before, told = await there.lines(""), [one for one in github.deliveries.log if one.event in TELLING]
        there.clock.now += timedelta(days=200)
        await there.ask("prune_traffic")
        there.spent()
        for delivery in told:
            github.deliveries.redeliver(delivery.id)
        assert await there.cost() == Counter(), "they are known by their GUIDs, although their bodies are gone"
        for number, delivery in enumerate(told):
            github.deliveries.queue(replace(delivery, id=10**6 + number, guid=f"{number:08}-again"))
        assert writes(await there.cost()) == []
        assert await there.lines("") == before


@pytest.mark.parametrize("how", BUTTONS)
async def test_a_push_that_never_comes_is_read_from_its_pull_request(
    github: Simulator, data: Path, how: Button
) -> None:
    async with shop(github, data) as there:
        there.push()
        pull = there.open(2)
        await there.cost()
        github.deliveries.hold()
        there.merge(pull, how)
        (lost,) = await there.hear(lambda one: one.event == "pull_request")
        github.deliveries.waiting = []
        github.deliveries.release()
        assert len(await there.facts()) == 2, "it waits for the push"
        assert writes(await there.cost()) == ["POST check-runs"]
        assert await there.rows() == cloned(there.repository)
        numbers = [fact.pull_request for fact in await there.facts()]
        assert numbers == [None, None] + [1] * (1 if how == "squash" else 2)
        before = without_pusher(await there.lines(""))
        there.clock.now += timedelta(days=1)
        github.deliveries.queue(lost)
        assert writes(await there.cost()) == []
        assert without_pusher(await there.lines("")) == before, "the push only adds who pushed"


async def test_check_runs_of_single_commits_are_updated_when_the_pull_request_arrives(
    github: Simulator, data: Path
) -> None:
    async with shop(github, data) as there:
        pull = there.open(2)
        pull.issue.title = "feat: add two parts"
        await there.cost()
        github.deliveries.hold()
        there.merge(pull, "rebase")
        pushed = [one for one in github.deliveries.waiting if one.event == "push"]
        late = [one for one in github.deliveries.waiting if one.event != "push"]
        github.deliveries.waiting = pushed
        pull.merged_at, merged_at = None, pull.merged_at  # GitHub does not list it yet
        github.deliveries.release()
        await there.cost()
        first = titles(there)
        pull.merged_at = merged_at
        for one in late:
            github.deliveries.queue(one)
        await there.cost()
        assert first == ["Counted: 1 change by Ada Example"] * 2
        assert titles(there) == ["Counted: 1 feature by Ada Example"] * 2, "a check run cannot be taken back"


def without_pusher(lines: list[str]) -> list[list[Any]]:
    """The rows without what only a push can say."""
    rows: list[list[Any]] = [json.loads(line) for line in lines]
    for row in rows:
        if row[0] == "fact" and "evidence" in row[6]:
            row[6]["evidence"][2] = None
    return rows


def titles(there: Shop) -> list[str]:
    """Of the two newest check runs."""
    return [run.fields["output"]["title"] for run in there.repository.checks.values()][-2:]


async def test_the_wait_for_a_push_ends_where_the_clock_does_not_move(github: Simulator, data: Path) -> None:
    async with shop(github, data) as there:
        pull = there.open()
        await there.cost()
        github.deliveries.hold()
        there.merge(pull, "squash")
        now = there.clock.now
        await there.hear(lambda one: one.event == "pull_request")
        for _ in range(3):
            there.clock.now = now + timedelta(seconds=2)  # due again, and no older than before
            await there.done()
            await aged(there, "record_pull_request")
        github.deliveries.waiting = []
        assert len(await there.facts()) == 2


async def aged(there: Shop, task: str) -> None:
    """The job was asked for just now, as a clock that was set back would have it."""
    from sqlalchemy import update

    from bot.store.jobs import JOB

    with there.bot.store.transaction() as connection:
        mine = (JOB.c.task == task) & (JOB.c.state == "ready")
        connection.execute(update(JOB).where(mine).values(created_at=there.clock.now, run_at=there.clock.now))


UNTRUE: dict[str, dict[str, Any]] = {
    "merged, but never": {"merged_at": None},
    "merged, but as nothing": {"merge_commit_sha": None},
    "closed, but open": {"state": "open", "closed_at": None},
    "open, whatever else it says": {"state": "open"},
    "not merged, but at some time": {"merged": False},
}


async def test_a_contradictory_delivery_is_checked_against_github(github: Simulator, data: Path) -> None:
    """A rebase leaves no trace in its commits, so nothing but the pull request itself can tell what they belong to."""
    async with shop(github, data) as there:
        for name, untruth in UNTRUE.items():
            pull = there.open(2)
            await there.cost()
            github.deliveries.hold()
            there.merge(pull, "rebase")
            for delivery in github.deliveries.waiting:
                if delivery.event == "pull_request":
                    untrue(delivery, untruth)
            github.deliveries.release()
            cost = await there.cost()
            assert cost[PULL] == 1, name
            assert [fact.pull_request for fact in await there.facts()][-2:] == [pull.number] * 2, name
        assert await there.rows() == cloned(there.repository)


async def test_a_merge_delivered_as_unmerged_is_corrected_by_the_daily_check(github: Simulator, data: Path) -> None:
    async with shop(github, data) as there:
        pull = there.open(2)
        await there.cost()
        github.deliveries.hold()
        there.merge(pull, "rebase")
        for delivery in github.deliveries.waiting:
            if delivery.event == "pull_request":
                untrue(delivery, {"merged": False, "merged_at": None, "merge_commit_sha": None})
        github.deliveries.release()
        await there.cost()
        assert [fact.pull_request for fact in await there.facts()][-2:] == [None, None]
        await there.ask("reconcile_installation", installation=there.installation.id)
        assert [fact.pull_request for fact in await there.facts()][-2:] == [pull.number] * 2
        assert await there.unlike_rebuilt() == set()


def untrue(delivery: SimDelivery, said: dict[str, Any]) -> None:
    payload = delivery.payload | {"pull_request": delivery.payload["pull_request"] | said}
    delivery.payload, delivery.body = payload, json.dumps(payload).encode()


async def test_pull_request_fields_of_a_delivery_are_recorded(github: Simulator, data: Path) -> None:
    """Title, text, labels, branch and author: nobody is asked for them."""
    async with shop(github, data) as there:
        told: dict[str, Any] = {
            "body": "Tidy.\n\n🤖 Generated with [Claude Code](https://claude.com/claude-code)",
            "labels": ["bug"],
        }
        agent = github.bot("copilot-swe-agent[bot]")
        for how in BUTTONS:
            there.merge(there.open(2, **told), how)
            assert (await there.cost())[PULL] == 0
            written = [fact for fact in await there.facts() if fact.pull_request is not None][-1]
            assert [(mark.tool, mark.level) for mark in written.ai] == [("Claude Code", 4)], how
            assert (written.kind, written.why) == ("bug_fix", "label bug"), how
            there.ada, ada = agent, there.ada
            there.merge(there.open(1, branch=f"copilot/topic-{how}"), how)
            there.ada = ada
            assert (await there.cost())[PULL] == 0
            assert (await there.facts())[-1].ai, how

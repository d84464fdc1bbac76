"""Does a tool that waits for all check suites of a commit ever wait for Almanac's?"""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.faults import Kind
from simulator.server import Simulator
from simulator.state import SimPullRequest
from simulator.work import NewPullRequest, Step
from tests.services.landed import Town, town

PREFERENCES = "PATCH /repositories/.*/check-suites/preferences"


async def open_pull(there: Town, title: str) -> SimPullRequest:
    there.turn += 1
    step = Step(title, {f"open_{there.turn}.py": b"value = 1\n"})
    work = NewPullRequest(title, there.people["ada"], [step], f"open-{there.turn}")
    pull = there.github.open_pull(there.repository, work, at=there.clock.now)
    await there.drained()
    return pull


async def test_the_first_suite_is_completed_and_no_more_are_opened(strict_github: Simulator, tmp_path: Path) -> None:
    async with town(strict_github, tmp_path) as there:
        strict_github.state.opens_suites = True
        first = await open_pull(there, "Add a wheel")
        assert there.repository.suites
        assert not strict_github.is_held_up(there.repository, first.head)
        second = await open_pull(there, "Add a sail")
        assert len(there.repository.suites) == 1, "the second commit has none of ours"
        assert not strict_github.is_held_up(there.repository, second.head)
        assert strict_github.count(PREFERENCES) == 1
        assert list(there.checks("Almanac: nothing to count yet")) == [first.head]


@pytest.mark.parametrize("harm", ["403", "404"])
async def test_where_github_refuses_to_switch_them_off_each_suite_is_completed(
    github: Simulator, tmp_path: Path, harm: Kind
) -> None:
    async with town(github, tmp_path) as there:
        github.state.opens_suites = True
        github.faults.plan(harm, "PATCH /repositories/*/check-suites/preferences", times=99)
        pulls = [await open_pull(there, f"Add part {number}") for number in range(3)]
        assert len(there.repository.suites) == 3
        assert not any(github.is_held_up(there.repository, pull.head) for pull in pulls)


async def test_a_landing_gets_its_own_check_run_and_no_other(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        await open_pull(there, "Add a wheel")
        github.state.opens_suites = True
        pull = await there.land("Add a sail")
        assert pull.landed is not None
        assert not github.is_held_up(there.repository, pull.landed)
        assert pull.landed in there.checks()


async def test_the_suite_of_another_app_is_left_alone(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        other = github.register_app("other-checks", there.repository.owner)
        suite = {"id": 5, "head_sha": there.repository.git.tip, "app": {"id": other.id}}
        event = {"action": "requested", "check_suite": suite}
        github.send_event(there.repository, "check_suite", event, sender=there.people["ada"])
        await there.drained()
        assert github.count(PREFERENCES) == 0
        assert there.repository.checks == {}

"""Does a request fail in the way that was asked for, that often, and then no more?"""

from __future__ import annotations

import json

import aiohttp
import pytest

from simulator.server import Simulator
from tests.simulator.calling import AT, Scene

REPO = "/repos/fenland/reeds"


FAILURES = [("500", 500), ("html", 502), ("404", 404), ("401", 401), ("secondary", 403)]


@pytest.mark.parametrize(("kind", "status"), FAILURES)
async def test_a_planned_fault_comes_once(github: Simulator, kind: str, status: int) -> None:
    scene = Scene.on(github)
    token = await scene.token()
    github.faults.plan(kind, f"GET {REPO}*", after=1)  # type: ignore[arg-type]  # the parameters are kinds
    answers = [(await scene.ask("GET", REPO, token))[0] for _ in range(3)]
    assert answers == [200, status, 200]


async def test_a_primary_limit_says_when_it_ends(github: Simulator) -> None:
    scene = Scene.on(github)
    token = await scene.token()
    github.faults.plan("primary")
    status, _, headers = await scene.ask("GET", REPO, token)
    assert (status, headers["X-RateLimit-Remaining"]) == (403, "0")
    assert int(headers["X-RateLimit-Reset"]) > github.state.clock().timestamp()


async def test_a_truncated_response_is_invalid_json_and_a_reset_is_an_error(github: Simulator) -> None:
    scene = Scene.on(github)
    token = await scene.token()
    github.faults.plan("cut")
    with pytest.raises(json.JSONDecodeError):
        await scene.ask("GET", REPO, token)
    github.faults.plan("reset", times=2)  # aiohttp asks a second time by itself where a connection breaks
    with pytest.raises(aiohttp.ClientError):
        await scene.ask("GET", REPO, token)


async def test_random_faults_are_the_same_for_the_same_seed() -> None:
    async def run(seed: int) -> list[int]:
        async with Simulator() as github:
            scene = Scene.on(github)
            token = await scene.token()
            github.faults.at_random(0.4, seed=seed, kinds=("500", "502"))
            return [(await scene.ask("GET", REPO, token))[0] for _ in range(20)]

    assert await run(1) == await run(1) != await run(2)


async def test_a_dropped_link_header_hides_the_next_page(github: Simulator) -> None:
    scene = Scene.on(github)
    for name in "ab":
        github.close(scene.repo, scene.pull(name), by=scene.author, at=AT)
    token = await scene.token()
    github.faults.plan("no-link")
    _, _, headers = await scene.ask("GET", f"{REPO}/pulls?state=all&per_page=1", token)
    assert "Link" not in headers

"""Does the simulator refuse whom GitHub refuses?"""

from __future__ import annotations

from datetime import timedelta

import pytest

from simulator.server import Simulator
from simulator.state import utc_now
from tests.simulator.calling import AT, Scene, app_token


@pytest.mark.parametrize(("age", "life"), [(-120, 500), (60, -5), (60, 3600)])
async def test_a_jwt_from_the_future_or_the_past_or_too_long_is_refused(github: Simulator, age: int, life: int) -> None:
    scene = Scene.on(github)
    status, _, _ = await scene.ask("GET", "/app", app_token(scene.app, age=age, life=life))
    assert status == 401


async def test_a_narrowed_token_cannot_do_what_was_not_asked_for(github: Simulator) -> None:
    scene = Scene.on(github)
    reading = await scene.token(repository_ids=[scene.repo.id], permissions={"contents": "read"})
    run = {"name": "almanac", "head_sha": scene.repo.git.tip}
    assert (await scene.ask("GET", "/repos/fenland/reeds/commits", reading))[0] == 200
    assert (await scene.ask("POST", "/repos/fenland/reeds/check-runs", reading, json=run))[0] == 403
    assert (await scene.ask("GET", "/repos/fenland/reeds/pulls", reading))[0] == 403


async def test_a_token_for_one_repository_does_not_see_another_private_one(github: Simulator) -> None:
    scene = Scene.on(github)
    other = github.create_repository("fenland/secret", at=AT, files={"a": "b"})
    other.private = True
    token = await scene.token(repository_ids=[scene.repo.id])
    assert (await scene.ask("GET", "/repos/fenland/secret", token))[0] == 404
    assert (await scene.ask("GET", "/repos/fenland/secret", await scene.token()))[0] == 200
    assert (await scene.ask("GET", "/repos/fenland/secret", None))[0] == 404


async def test_permissions_beyond_the_apps_own_are_refused(github: Simulator) -> None:
    scene = Scene.on(github)
    path = f"/app/installations/{scene.installation.id}/access_tokens"
    status, _, _ = await scene.ask("POST", path, app_token(scene.app), json={"permissions": {"contents": "write"}})
    assert status == 422


async def test_tokens_die_after_an_hour_and_with_a_suspension(github: Simulator) -> None:
    scene = Scene.on(github)
    token = await scene.token()
    github.suspend(scene.installation)
    assert (await scene.ask("GET", "/repos/fenland/reeds", token))[0] == 403
    github.unsuspend(scene.installation)
    assert (await scene.ask("GET", "/repos/fenland/reeds", token))[0] == 200
    github.state.clock = lambda: utc_now() + timedelta(minutes=61)
    assert (await scene.ask("GET", "/repos/fenland/reeds", token))[0] == 401


async def test_an_unknown_api_version_is_refused(github: Simulator) -> None:
    scene = Scene.on(github)
    status, _, _ = await scene.ask("GET", "/meta", None, headers={"X-GitHub-Api-Version": "2001-01-01"})
    assert status == 400

"""Do deliveries arrive as GitHub's do: signed, in order, logged, and faulty when asked?"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from simulator.server import Simulator
from tests.simulator.calling import AT, Scene, app_token


class Hook:
    """Accepts deliveries and gives the configured answers."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, str, bytes, str]] = []
        self.answer = 202
        self.url = ""

    async def take(self, request: web.Request) -> web.Response:
        headers = request.headers
        body = await request.read()
        self.taken.append(
            (headers["X-GitHub-Event"], headers["X-GitHub-Delivery"], body, headers["X-Hub-Signature-256"])
        )
        return web.Response(status=self.answer)

    @property
    def events(self) -> list[str]:
        return [event for event, *_ in self.taken]


@pytest.fixture
async def hook() -> AsyncIterator[Hook]:
    found = Hook()
    app = web.Application()
    app.router.add_post("/webhook", found.take)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}/webhook"
    yield found
    await runner.cleanup()


async def test_each_delivery_is_signed_over_its_bytes_and_in_order(github: Simulator, hook: Hook) -> None:
    scene = Scene.on(github, webhook_url=hook.url)
    github.merge(scene.repo, scene.pull(), "squash", by=scene.reviewer, at=AT)
    await github.wait_until_idle()
    assert hook.events == ["installation", "pull_request", "pull_request", "push"]
    for _, _, body, signature in hook.taken:
        assert signature == "sha256=" + hmac.new(scene.app.webhook_secret.encode(), body, hashlib.sha256).hexdigest()
    assert len({guid for _, guid, *_ in hook.taken}) == 4


async def test_a_redelivery_has_the_same_guid_and_body(github: Simulator, hook: Hook) -> None:
    scene = Scene.on(github, webhook_url=hook.url)
    hook.answer = 500
    await github.wait_until_idle()
    _, log, _ = await scene.ask("GET", "/app/hook/deliveries?status=failure", app_token(scene.app))
    hook.answer = 202
    await scene.ask("POST", f"/app/hook/deliveries/{log[0]['id']}/attempts", app_token(scene.app))
    await github.wait_until_idle()
    assert hook.taken[0] == hook.taken[1]
    _, log, _ = await scene.ask("GET", "/app/hook/deliveries", app_token(scene.app))
    assert [(entry["status_code"], entry["redelivery"]) for entry in log] == [(202, True), (500, False)]
    _, full, _ = await scene.ask("GET", f"/app/hook/deliveries/{log[0]['id']}", app_token(scene.app))
    assert full["request"]["payload"]["action"] == "created"


async def test_deliveries_are_dropped_doubled_and_shuffled_on_request(github: Simulator, hook: Hook) -> None:
    scene = Scene.on(github, webhook_url=hook.url)
    await github.wait_until_idle()
    github.deliveries.drop_next = 1
    scene.pull("dropped")
    github.deliveries.duplicate_next = 1
    scene.pull("doubled")
    await github.wait_until_idle()
    assert hook.events == ["installation", "pull_request", "pull_request"]
    assert hook.taken[1][1] == hook.taken[2][1]
    github.deliveries.hold()
    for name in "abcde":
        scene.pull(name)
    before = [entry.guid for entry in github.deliveries.waiting]
    github.deliveries.release(shuffle=3)
    await github.wait_until_idle()
    arrived = [guid for _, guid, *_ in hook.taken[3:]]
    assert sorted(arrived) == sorted(before)
    assert arrived != before


async def test_only_subscribed_events_are_sent(github: Simulator, hook: Hook) -> None:
    scene = Scene.on(github, webhook_url=hook.url)
    scene.app.events.remove("pull_request")
    scene.pull()
    await github.wait_until_idle()
    assert hook.events == ["installation"]

"""Signing in to the settings page with the client that the App's registration brought."""

from __future__ import annotations

import html
import re
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import aiohttp

from bot.app import build, serve_http
from bot.web.owner import ATTEMPT_COOKIE, SESSION_COOKIE
from simulator.demo import free_port, settings_for
from simulator.server import Simulator
from simulator.world import build_world
from tests.simulator.calling import AT, Scene


async def _get(session: aiohttp.ClientSession, address: str, cookies: SimpleCookie) -> tuple[int, str, str]:
    """Status, text and Location of an answer; its cookies are kept, as a browser on https would."""
    sent = {"Cookie": "; ".join(f"{name}={one.value}" for name, one in cookies.items() if one.value)}
    async with session.get(address, headers=sent, allow_redirects=False) as answer:
        for value in answer.headers.getall("Set-Cookie", []):
            cookies.load(value)
        return answer.status, await answer.text(), answer.headers.get("Location", "")


async def test_a_person_signs_in_through_github_and_sees_their_own_settings(github: Simulator, tmp_path: Path) -> None:
    world = build_world(github, AT)
    settings = settings_for(github, world, tmp_path, port=free_port())
    person = world.people["noor"]
    cookies: SimpleCookie = SimpleCookie()
    async with (
        build(settings) as bot,
        serve_http(bot, "127.0.0.1", settings.port),
        aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session,
    ):
        here = settings.public_url
        assert "Sign in with GitHub" in (await _get(session, f"{here}/settings", cookies))[1]
        status, _, to = await _get(session, f"{here}/settings/sign-in", cookies)
        assert (status, to.startswith(f"{github.url}/login/oauth/authorize?")) == (303, True)
        choice = (await _get(session, to, cookies))[1]
        found = next(link for link in re.findall(r'href="([^"]+)"', choice) if f"as={person.login}" in link)
        assert "web-flow" not in choice
        status, _, back = await _get(session, f"{github.url}/login/oauth/authorize{html.unescape(found)}", cookies)
        assert (status, back.startswith(f"{here}/settings/signed-in?code=")) == (302, True)
        attempt = SimpleCookie({ATTEMPT_COOKIE: cookies[ATTEMPT_COOKIE].value})
        assert (await _get(session, back, cookies))[::2] == (303, "/settings")
        assert cookies[SESSION_COOKIE].value
        assert f"The record of {person.login}" in (await _get(session, f"{here}/settings", cookies))[1]
        assert (await _get(session, back, attempt))[0] == 403, "a code is good once"


async def test_the_simulated_github_gives_no_token_without_the_right_secret_and_verifier(github: Simulator) -> None:
    scene = Scene.on(github)
    asked = {
        "client_id": scene.app.client_id,
        "redirect_uri": "http://127.0.0.1/back",
        "state": "s",
        "code_challenge": "c",
        "as": scene.author.login,
    }

    async def code(**changed: str) -> str:
        address = f"{github.url}/login/oauth/authorize?{urlencode(asked | changed)}"
        async with aiohttp.ClientSession() as session, session.get(address, allow_redirects=False) as answer:
            return parse_qs(urlsplit(answer.headers.get("Location", "")).query).get("code", [""])[0]

    async def token(**form: str) -> dict[str, str]:
        given = {"client_id": scene.app.client_id, "client_secret": scene.app.client_secret} | form
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{github.url}/login/oauth/access_token", data=given) as answer,
        ):
            found: dict[str, str] = await answer.json()
            return found

    assert await token(code="nothing") == {"error": "bad_verification_code"}
    assert await token(code=await code(), code_verifier="wrong") == {"error": "bad_verification_code"}
    assert await token(code=await code(), client_secret="x") == {"error": "incorrect_client_credentials"}
    assert "access_token" in await token(code=await code(code_challenge=""))
    assert await code(redirect_uri="https://elsewhere.example/") == ""
    assert await code(client_id="nobody") == ""
    assert (await scene.ask("GET", "/user", None))[0] == 401

"""Does the settings page allow sign-in and decisions, and only one's own?"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import html5lib
import pytest
from aiohttp import web

from bot.configuration.signing import is_signed, signing_key
from bot.model.ids import UserId
from bot.render.html.settings import ClaimRow, SettingsView, page_of_claims, settings_page
from bot.store import links, sessions, visibility
from bot.store.engine import Store
from bot.store.visibility import subject_of_person
from bot.web.decisions import ACTIONS
from bot.web.owner import SESSION_COOKIE
from bot.web.sign_in import SignIn, SignInAttempt
from tests.databases import ON_SQLITE, database_url, store
from tests.web.library import ACME, ADA_KEY, NOW, OPEN, Answer, Site, fill, mint, publish, serve

__all__ = ["database_url", "store"]

CSRF = re.compile(r'name=csrf value="([^"]+)"')


@dataclass
class Browser:
    """A signed-in person at the settings page."""

    site: Site
    cookie: str

    async def page(self) -> str:
        return await self.site.text("/settings", Cookie=f"{SESSION_COOKIE}={self.cookie}")

    async def send(self, action: str, form: dict[str, Any] | None = None, **headers: str) -> Answer:
        """Send a form as the page holds it; `csrf` may be given otherwise."""
        found = CSRF.search(await self.page())
        given = {"csrf": found.group(1) if found else ""} | (form or {})
        sent = {"Cookie": f"{SESSION_COOKIE}={self.cookie}", "Origin": "https://almanac.example"} | headers
        sent["Content-Type"] = "application/x-www-form-urlencoded"
        async with self.site.session.post(
            f"{self.site.url}/settings/{action}", data=urlencode(given), headers=sent, allow_redirects=False
        ) as answer:
            return answer.status, answer.headers.copy(), await answer.read()  # type: ignore[return-value]


@asynccontextmanager
async def signed_in(store: Store, user: int = 7, **more: Any) -> AsyncIterator[Browser]:
    with store.transaction() as connection:
        cookie = sessions.begin(connection, UserId(user), "ada-example", NOW)
    async with serve(store, sign_in=SignIn("client", "secret"), **more) as site:
        yield Browser(site, cookie)


async def test_the_page_asks_to_sign_in_and_then_shows_only_ones_own(store: Store) -> None:
    await fill(store)
    async with signed_in(store) as browser, signed_in(store, 99) as other:
        assert "Sign in with GitHub" in await browser.site.text("/settings")
        mine, theirs = await browser.page(), await other.page()
    assert "acme/open" in mine
    assert "secret-plan" not in mine
    assert "no landed work" in theirs
    assert "acme" not in theirs
    html5lib.HTMLParser(strict=True).parse(mine)


async def test_a_person_makes_the_page_public_and_private_again(store: Store) -> None:
    await fill(store)
    async with signed_in(store) as browser:
        for to, status in (("on", 200), ("off", 404)):
            assert (await browser.send("public", {"to": to}))[0] == 303
            assert (await browser.site.get("/@ada-example"))[0] == status


async def test_leaving_the_name_out_moves_the_page(store: Store) -> None:
    await fill(store)
    async with signed_in(store) as browser:
        await browser.send("public", {"to": "on"})
        await browser.send("naming", {"to": "on"})
        assert (await browser.site.get("/@ada-example"))[0] == 404
        found = re.search(r"/anonymous/[0-9a-f]{20}", await browser.page())
        assert found
        assert "Anonymous contributor" in await browser.site.text(found.group())
        await browser.send("naming", {"to": "off"})
        assert (await browser.site.get(found.group()))[0] == 404
        assert (await browser.site.get("/@ada-example"))[0] == 200


async def test_a_hidden_repository_is_on_no_page(store: Store) -> None:
    await fill(store)
    await publish(store)
    async with signed_in(store) as browser:
        await browser.send("repository", {"repository": OPEN, "to": "on"})
        assert (await browser.site.get("/@ada-example"))[0] == 404
        await browser.send("repository", {"repository": OPEN, "to": "off"})
        assert (await browser.site.get("/@ada-example"))[0] == 200
        assert (await browser.send("repository", {"repository": 4711, "to": "on"}))[0] == 400


async def test_links_are_created_listed_with_their_log_and_revoked(store: Store) -> None:
    await fill(store)
    async with signed_in(store) as browser:
        await browser.send("mint", {"organisation": ACME})
        found = re.search(r"/p/[A-Za-z0-9_-]{43}", await browser.page())
        assert found
        assert (await browser.site.get(found.group()))[0] == 200
        assert "2026-03-04" in await browser.page()
        with store.snapshot() as connection:
            (link,) = links.links_of(connection, subject_of_person(ADA_KEY))
        await browser.send("revoke", {"link": link.nonce})
        assert (await browser.site.get(found.group()))[0] == 404


async def test_a_person_cannot_revoke_anothers_link(store: Store) -> None:
    await fill(store)
    token = await mint(store)
    with store.snapshot() as connection:
        (link,) = links.links_of(connection, subject_of_person(ADA_KEY))
    async with signed_in(store, 99) as other:
        await other.send("revoke", {"link": link.nonce})
        assert (await other.site.get(f"/p/{token}"))[0] == 200


async def test_the_preview_is_what_the_public_page_would_be(store: Store) -> None:
    await fill(store)
    async with signed_in(store) as browser:
        preview = await browser.site.text("/settings/preview", Cookie=f"{SESSION_COOKIE}={browser.cookie}")
        assert "Add part 1" in preview
        assert "secret" not in preview
        assert (await browser.site.get("/settings/preview"))[0] == 404


async def test_the_export_contains_only_ones_own_work_and_addresses(store: Store) -> None:
    await fill(store)
    async with signed_in(store) as browser:
        text = await browser.site.text("/settings/export", Cookie=f"{SESSION_COOKIE}={browser.cookie}")
        assert (await browser.site.get("/settings/export"))[0] == 404
    told = json.loads(text)
    assert len(told["landed"]) == 5
    assert not any("committer" in row or "co_authors" in row for row in told["landed"])


async def test_opting_out_ends_every_link(store: Store) -> None:
    await fill(store)
    await publish(store)
    token = await mint(store)
    async with signed_in(store) as browser:
        await browser.send("opt-out", {"to": "on"})
        assert (await browser.site.get("/@ada-example"))[0] == 404
        await browser.send("opt-out", {"to": "off"})
        assert (await browser.site.get(f"/p/{token}"))[0] == 404
        assert (await browser.site.get("/@ada-example"))[0] == 404


async def test_erasing_needs_the_login_and_leaves_nothing_to_read(store: Store) -> None:
    await fill(store)
    await publish(store)
    erased: list[object] = []

    def erase(connection: object, key: object) -> None:
        erased.append(key)

    async with signed_in(store, erase=erase) as browser:
        assert (await browser.send("erase", {"login": "somebody"}))[0] == 400
        assert erased == []
        assert (await browser.send("erase", {"login": "Ada-Example"}))[0] == 303
        assert erased == [ADA_KEY]
        assert (await browser.site.get("/@ada-example"))[0] == 404
        assert "Sign in" in await browser.page()
    with store.snapshot() as connection:
        state = visibility.person_state(connection, ADA_KEY)
        assert links.links_of(connection, subject_of_person(ADA_KEY)) == []
    assert state is not None
    assert (state.opted_out, state.alias) == (True, "")


@ON_SQLITE
async def test_a_browser_sends_the_origin_with_forms_and_no_referrer_to_other_sites(store: Store) -> None:
    async with signed_in(store) as browser:
        _, headers, _ = await browser.site.get("/settings", Cookie=f"{SESSION_COOKIE}={browser.cookie}")
        assert headers["Referrer-Policy"] == "same-origin"
        assert (await browser.send("sign-out", Origin="null"))[0] == 403


@ON_SQLITE
async def test_a_form_needs_its_token_session_and_origin(store: Store) -> None:
    await fill(store)
    async with signed_in(store) as browser:
        for action in ACTIONS:
            assert (await browser.send(action, {"to": "on", "csrf": "x"}))[0] == 403
            assert (await browser.send(action, {"to": "on"}, Origin="https://evil.example"))[0] == 403
            assert (await Browser(browser.site, "x").send(action, {"to": "on"}))[0] == 403
        assert (await browser.send("public", {"to": "on" * 9000}))[0] == 413
        assert (await browser.send("public", {"to": "perhaps"}))[0] == 400
        assert (await browser.send("nothing", {"to": "on"}))[0] == 404
        assert (await browser.site.get("/@ada-example"))[0] == 404


async def test_a_session_ends(store: Store) -> None:
    await fill(store)
    moment = [NOW]
    async with signed_in(store, clock=lambda: moment[0]) as browser:
        assert "acme/open" in await browser.page()
        moment[0] += sessions.LASTS
        assert "Sign in with GitHub" in await browser.page()
        moment[0] = NOW
        await browser.send("sign-out")
        assert "Sign in with GitHub" in await browser.page()


async def test_a_snapshot_keeps_its_bytes_and_signature_and_hides_with_its_content(store: Store, tmp_path: Any) -> None:
    await fill(store)
    await publish(store)
    key = signing_key(tmp_path / "key.pem")
    assert signing_key(tmp_path / "key.pem").public == key.public
    assert (tmp_path / "key.pem").stat().st_mode & 0o777 == 0o600
    async with signed_in(store, signing=key) as browser:
        await browser.send("snapshot")
        found = re.search(r"/@ada-example/snapshots/[0-9a-f]{32}", await browser.site.text("/@ada-example"))
        assert found
        before = await browser.site.get(found.group())
        sealed = json.loads(before[2])
        keys = json.loads(await browser.site.text("/.well-known/almanac-key.json"))
        (public,) = keys["keys"]
        assert public["id"] == sealed["key"]
        assert is_signed(sealed["profile"], sealed["signature"], public["public_key"])
        assert not is_signed(sealed["profile"].replace("12", "13", 1), sealed["signature"], public["public_key"])
        assert await browser.site.get(found.group()) == before
        await browser.send("repository", {"repository": OPEN, "to": "on"})
        assert (await browser.site.get(found.group()))[0] == 404


# --- signing in ------------------------------------------------------------------------------------------------------


@dataclass
class FakeGitHub:
    """GitHub's two addresses of the flow; checks the verifier against the challenge as GitHub does."""

    challenge: str = ""
    seen: list[str] = field(default_factory=list)

    async def token(self, request: web.Request) -> web.Response:
        form = await request.post()
        self.seen.append(str(form["code"]))
        if SignInAttempt("", str(form["code_verifier"])).challenge != self.challenge:
            return web.json_response({"error": "bad_verification_code"})
        return web.json_response({"access_token": "ghu_example"})

    async def user(self, request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == "Bearer ghu_example"
        return web.json_response({"id": 7, "login": "ada-example"})


@pytest.fixture
async def github_flow() -> AsyncIterator[tuple[FakeGitHub, str]]:
    fake, app = FakeGitHub(), web.Application()
    app.add_routes([web.post("/login/oauth/access_token", fake.token), web.get("/user", fake.user)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield fake, f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_signing_in_needs_the_state_and_the_verifier_of_this_browser(
    store: Store, github_flow: tuple[FakeGitHub, str]
) -> None:
    await fill(store)
    fake, url = github_flow
    async with serve(store, sign_in=SignIn("client", "hush", url, url)) as site:
        _, headers, _ = await site.get("/settings/sign-in")
        asked = {name: values[0] for name, values in parse_qs(urlsplit(headers["Location"]).query).items()}
        fake.challenge = asked["code_challenge"]
        kept = headers["Set-Cookie"]
        assert kept.startswith("__Host-almanac-attempt=")
        assert all(mark in kept for mark in ("HttpOnly", "Secure", "SameSite=Lax", "Path=/"))
        assert asked["redirect_uri"] == "https://almanac.example/settings/signed-in"
        assert "hush" not in headers["Location"]
        cookie = kept.partition(";")[0]
        for state, sent in (("wrong", cookie), (asked["state"], ""), (asked["state"], "__Host-almanac-attempt=a.b")):
            refused = await site.get(f"/settings/signed-in?code=c&state={state}", Cookie=sent)
            assert refused[0] == 403
        assert fake.seen == []
        done = await site.get(f"/settings/signed-in?code=c&state={asked['state']}", Cookie=cookie)
        assert (done[0], done[1]["Location"]) == (303, "/settings")
        session = [one for one in done[1].getall("Set-Cookie") if one.startswith(SESSION_COOKIE + "=")]
        assert len(session) == 1
        mine = await site.text("/settings", Cookie=session[0].partition(";")[0])
    assert "acme/open" in mine


async def test_a_verifier_of_another_browser_signs_nobody_in(store: Store, github_flow: tuple[FakeGitHub, str]) -> None:
    fake, url = github_flow
    async with serve(store, sign_in=SignIn("client", "hush", url, url)) as site:
        _, headers, _ = await site.get("/settings/sign-in")
        fake.challenge = "another's"
        state = parse_qs(urlsplit(headers["Location"]).query)["state"][0]
        cookie = headers["Set-Cookie"].partition(";")[0]
        answer = await site.get(f"/settings/signed-in?code=c&state={state}", Cookie=cookie)
    assert (answer[0], "Set-Cookie" in answer[1], fake.seen) == (403, False, ["c"])


async def test_without_sign_in_there_is_no_settings_page(store: Store) -> None:
    async with serve(store) as site:
        assert (await site.get("/settings"))[0] == 404
        assert "sign in" not in await site.text("/")


@pytest.mark.parametrize(
    ("asked", "rows", "number"),
    [(1, (1, 50), 1), (2, (51, 100), 2), (3, (101, 120), 3), (9, (101, 120), 3), (0, (1, 50), 1)],
)
def test_many_claims_are_shown_in_pages(asked: int, rows: tuple[int, int], number: int) -> None:
    claims = [ClaimRow(1, "acme/app", one, f"Part {one}", 1, ("a trailer",)) for one in range(1, 121)]
    found = page_of_claims(claims, asked)
    assert (found.rows[0].number, found.rows[-1].number, found.number, found.pages) == (*rows, number, 3)
    page = settings_page(SettingsView("ada", "token", known=True, claims=found))
    assert page.count("acme/app#") == len(found.rows)
    assert (f"?claims={number + 1}#" in page, f"?claims={number - 1}#" in page) == (number < 3, number > 1)
    assert f"Page {number} of 3, 120 pull requests" in page


def test_few_claims_need_no_pages() -> None:
    few = page_of_claims([ClaimRow(1, "acme/app", 1, "Part", 1)], 7)
    assert "Page 1" not in settings_page(SettingsView("ada", "token", known=True, claims=few))
    assert page_of_claims([], 1).rows == ()


@pytest.mark.parametrize("asked", ["2", "x", "-1", "9999999999999999999999", "²"])
async def test_any_page_of_claims_can_be_asked_for(store: Store, asked: str) -> None:
    async with signed_in(store) as browser:
        await browser.site.text(f"/settings?claims={asked}", Cookie=f"{SESSION_COOKIE}={browser.cookie}")

"""Who gets the pages over HTTP, in which format and with which headers?"""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zoneinfo import ZoneInfo

import html5lib
import jsonschema
import pytest

from bot.configuration.signing import signing_key
from bot.model.commit import Repository, Signature
from bot.model.ids import Month, UserId
from bot.render.html.site import PROBLEMS, problem_page
from bot.render.text.json import schema
from bot.store import installations, links, people, sessions, visibility
from bot.store.engine import Store
from bot.store.visibility import subject_of_installation, subject_of_person
from bot.web.collaborators import Pages
from bot.web.month_snapshots import take_month_snapshots
from bot.web.owner import SESSION_COOKIE
from bot.web.sign_in import SignIn
from tests.databases import ON_SQLITE, database_url, store
from tests.web.library import (
    ACME,
    ADA_KEY,
    CLOSED,
    NOW,
    OPEN,
    SECRET,
    Answer,
    Site,
    fact,
    fill,
    keep,
    mint,
    publish,
    revoke,
    serve,
)

__all__ = ["database_url", "store"]

DEFINITIONS = Path(__file__).parents[2] / "docs" / "metrics.md"
SUFFIXES = {
    "json": "application/json",
    "txt": "text/plain; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "svg": "image/svg+xml; charset=utf-8",
    "atom": "application/atom+xml; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "heatmap.svg": "image/svg+xml; charset=utf-8",
    "months.svg": "image/svg+xml; charset=utf-8",
    "languages.svg": "image/svg+xml; charset=utf-8",
    "share.svg": "image/svg+xml; charset=utf-8",
    "badge.svg": "image/svg+xml; charset=utf-8",
    "resume.json": "application/json",
}
BELOW = ("/months/2026-03", "/compare/2026-02/2026-03")


async def _absent(site: Site) -> Answer:
    return await site.get("/@nobody-at-all")


@ON_SQLITE
async def test_the_first_page_reveals_nobody(store: Store) -> None:
    await fill(store)
    await publish(store)
    async with serve(store) as site:
        text = await site.text("/")
    assert "ada" not in text.lower()
    assert "acme" not in text


async def test_a_profile_is_private_until_its_person_says_otherwise(store: Store) -> None:
    await fill(store)
    async with serve(store) as site:
        assert await site.get("/@ada-example") == await _absent(site)
        await publish(store)
        assert "Add part 1" in await site.text("/@ada-example")
        assert (await site.get("/@ADA-EXAMPLE"))[0] == 200
        await publish(store, public=False)
        assert await site.get("/@ada-example") == await _absent(site)


async def test_a_signed_link_opens_the_page_and_a_revoked_one_does_not(store: Store) -> None:
    await fill(store)
    token = await mint(store)
    async with serve(store) as site:
        text = await site.text(f"/p/{token}")
        assert "Add part 1" in text
        assert "noindex" in text
        assert "secret" not in text
        assert "Adarella" not in text
        for end in (token[:-1], token + "A", token[:-1] + ("B" if token[-1] != "B" else "C"), "A" * 43):
            assert await site.get(f"/p/{end}") == await _absent(site)
        with store.transaction() as connection:
            links.revoke(connection, subject_of_person(ADA_KEY), NOW)
        assert await site.get(f"/p/{token}") == await _absent(site)


async def test_a_link_ends_at_its_time(store: Store) -> None:
    await fill(store)
    with store.transaction() as connection:
        link = links.Link(subject_of_person(ADA_KEY), ACME, expires_at=NOW + timedelta(hours=1))
        token = links.mint(connection, link, secret=b"a secret of thirty-two bytes, ok!", now=NOW)
    moment = [NOW]
    async with serve(store, clock=lambda: moment[0]) as site:
        assert (await site.get(f"/p/{token}"))[0] == 200
        moment[0] += timedelta(hours=1)
        assert await site.get(f"/p/{token}") == await _absent(site)


async def test_private_work_is_on_a_link_only_if_created_for_it(store: Store) -> None:
    await fill(store)
    await publish(store)
    token = await mint(store, private=True)
    async with serve(store) as site:
        assert "Plan the secret" in await site.text(f"/p/{token}")
        assert "ecret" not in await site.text("/@ada-example")
        public = json.loads(await site.text("/@ada-example.json"))
        private = json.loads(await site.text(f"/p/{token}.json"))
    assert private["overall"]["commits"] == public["overall"]["commits"] + 1


@ON_SQLITE
async def test_every_format_is_served_under_its_suffix(store: Store) -> None:
    await fill(store)
    await publish(store)
    token = await mint(store)
    async with serve(store) as site:
        for base in ("/@ada-example", f"/p/{token}"):
            for suffix, media in SUFFIXES.items():
                status, headers, body = await site.get(f"{base}.{suffix}")
                assert (status, headers["Content-Type"]) == (200, media), suffix
                assert body
            assert (await site.get(f"{base}.exe"))[0] == 404
            assert (await site.get(f"{base}."))[0] == 404
        jsonschema.validate(json.loads(await site.text("/@ada-example.json")), schema())
        feed = ElementTree.fromstring(await site.text("/@ada-example.atom"))  # noqa: S314 - our own
    links_of_feed = [one.get("href") for one in feed.iter("{http://www.w3.org/2005/Atom}link")]
    assert "https://almanac.example/@ada-example.atom" in links_of_feed


@ON_SQLITE
@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("", "text/html"),
        ("*/*", "text/html"),
        ("text/html,application/xhtml+xml,*/*;q=0.8", "text/html"),
        ("application/json", "application/json"),
        ("text/html;q=0.2, application/json;q=0.9", "application/json"),
        ("text/*;q=0.5, text/markdown", "text/markdown"),
        ("application/json;q=0, */*;q=0.1", "text/html"),
        ("image/svg+xml", "image/svg+xml"),
        ("image/*", "image/svg+xml"),
    ],
)
async def test_the_accept_header_decides_the_format_without_a_suffix(store: Store, accept: str, media: str) -> None:
    await fill(store)
    token = await mint(store)
    async with serve(store) as site:
        status, headers, _ = await site.get(f"/p/{token}", Accept=accept)
    assert (status, headers["Content-Type"].partition(";")[0], headers["Vary"]) == (200, media, "Accept")


@ON_SQLITE
async def test_unsupported_formats_and_methods_are_refused(store: Store) -> None:
    await fill(store)
    token = await mint(store)
    async with serve(store) as site:
        assert (await site.get(f"/p/{token}", Accept="application/pdf"))[0] == 406
        assert (await site.get("/@nobody-at-all", Accept="application/pdf"))[0] == 404
        assert (await site.get(f"/p/{token}", "POST"))[0] == 405


async def test_a_page_that_the_browser_has_is_not_sent_again(store: Store) -> None:
    await fill(store)
    await publish(store)
    async with serve(store) as site:
        _, headers, body = await site.get("/@ada-example")
        tag = headers["ETag"]
        for known in (tag, f"W/{tag}", f'"x", {tag}', "*"):
            status, again, nothing = await site.get("/@ada-example", If_None_Match=known)
            assert (status, again["ETag"], nothing) == (304, tag, b"")
        assert (await site.get("/@ada-example", If_None_Match='"x"'))[2] == body
        await keep(store, OPEN, [fact(40, "acme/open", title="Something later")])
        status, newer, later = await site.get("/@ada-example", If_None_Match=tag)
        assert (status, newer["ETag"] != tag) == (200, True)
        assert b"Something later" in later


async def test_another_process_gives_the_same_bytes(store: Store) -> None:
    await fill(store)
    await publish(store)
    async with serve(store) as site, serve(store, clock=lambda: NOW + timedelta(hours=3)) as other:
        assert await site.get("/@ada-example") == await other.get("/@ada-example")


@ON_SQLITE
async def test_head_is_get_without_the_body(store: Store) -> None:
    await fill(store)
    await publish(store)
    async with serve(store) as site:
        for path in ("/", "/@ada-example", "/@ada-example.svg", "/@nobody-at-all", "/robots.txt"):
            got, headed = await site.get(path), await site.get(path, "HEAD")
            assert headed == (got[0], got[1], b"")


@ON_SQLITE
async def test_headers_fit_what_the_page_is(store: Store) -> None:
    await fill(store)
    await publish(store)
    token = await mint(store)
    async with serve(store) as site:
        public = (await site.get("/@ada-example"))[1]
        unlisted = (await site.get(f"/p/{token}"))[1]
        absent = (await _absent(site))[1]
        card = (await site.get("/@ada-example.svg"))[1]
    assert (public["Cache-Control"], "X-Robots-Tag" in public) == ("public, no-cache", False)
    assert (unlisted["Cache-Control"], unlisted["X-Robots-Tag"]) == ("private, no-cache", "noindex")
    assert (absent["Cache-Control"], absent["X-Robots-Tag"]) == ("no-store", "noindex")
    assert card["Cross-Origin-Resource-Policy"] == "cross-origin"
    for found in (public, unlisted, absent, card):
        assert found["Content-Security-Policy"].startswith("default-src 'none'; style-src 'sha256-")
        assert "unsafe" not in found["Content-Security-Policy"]
        assert found["X-Content-Type-Options"] == "nosniff"
        assert found["Referrer-Policy"] == "no-referrer"
        assert found["Strict-Transport-Security"]


async def test_only_a_public_page_says_where_it_is(store: Store) -> None:
    await fill(store)
    await publish(store)
    token = await mint(store)
    async with serve(store) as site:
        public, unlisted = await site.text("/@ada-example"), await site.text(f"/p/{token}")
        for below in BELOW:
            assert "rel=canonical" in await site.text("/@ada-example" + below)
            assert "rel=canonical" not in await site.text(f"/p/{token}{below}")
    assert 'rel=canonical href="https://almanac.example/@ada-example"' in public
    assert "og:title" in public
    assert "ld+json" in public
    assert not any(mark in unlisted for mark in ("canonical", "og:", "ld+json"))


@pytest.mark.parametrize(
    "why", ["opted out", "privatised", "removed", "uninstalled", "suspended", "hidden by its person"]
)
async def test_a_hidden_page_disappears_at_once_with_the_bytes_of_a_missing_one(store: Store, why: str) -> None:
    await fill(store)
    await publish(store)
    token = await mint(store)
    async with serve(store) as site:
        paths = [f"{base}{end}" for base in ("/@ada-example", f"/p/{token}") for end in ("", ".json", *BELOW)]
        for path in paths:
            assert (await site.get(path))[0] == 200
        await revoke(store, why)
        for path in paths:
            assert await site.get(path) == await _absent(site), path
        assert "ada-example" not in await site.text("/sitemap.xml")


async def test_an_anonymous_page_names_nobody_and_the_named_address_is_gone(store: Store) -> None:
    await fill(store)
    await publish(store, naming="anonymous")
    with store.snapshot() as connection:
        state = visibility.person_state(connection, ADA_KEY)
    assert state is not None
    async with serve(store) as site:
        assert await site.get("/@ada-example") == await _absent(site)
        for end in ("", ".json", ".txt", ".md", ".svg", ".atom", *BELOW):
            text = await site.text(f"/anonymous/{state.alias}{end}")
            assert "ada" not in text.replace(state.alias, "").lower().replace("metadata", "")
        places = re.findall("<loc>(.*?)</loc>", await site.text("/sitemap.xml"))
        assert places == ["https://almanac.example/"]


async def test_a_recycled_login_shows_neither_person(store: Store) -> None:
    await fill(store)
    await publish(store)
    newcomer: Any = fact(50, "acme/open").author
    newcomer = type(newcomer)("Another", "other@example.org", 8, "ada-example")
    await keep(store, OPEN, [fact(51, "acme/open", author=newcomer)])
    async with serve(store) as site:
        assert await site.get("/@ada-example") == await _absent(site)


async def test_a_repository_that_took_over_a_name_does_not_show_the_old_ones_work(store: Store) -> None:
    await fill(store)
    await publish(store)
    with store.transaction() as connection:
        installations.save_repositories(connection, ACME, [Repository("acme/open", OPEN, private=True)], NOW)
        installations.save_repositories(connection, ACME, [Repository("acme/open", CLOSED)], NOW)
    async with serve(store) as site:
        assert "Add part" not in await site.text("/@ada-example")


@ON_SQLITE
async def test_an_address_that_asks_too_much_waits(store: Store) -> None:
    seconds = [0.0]
    async with serve(store, requests_a_minute=5, address=lambda _: "192.0.2.1", timer=lambda: seconds[0]) as site:
        found = [(await site.get("/"))[0] for _ in range(7)]
        assert found == [200] * 5 + [429] * 2
        assert (await site.get("/"))[1]["Retry-After"] == "60"
        assert (await site.get("/healthz"))[0] == 200
        seconds[0] = 61.0
        assert (await site.get("/"))[0] == 200


async def test_health_and_readiness_are_reported(store: Store, empty: Store) -> None:
    async with serve(store) as site, serve(empty) as unready:
        assert (await site.get("/healthz"))[2] == b"ok\n"
        assert (await site.get("/readyz"))[0] == 200
        assert (await unready.get("/healthz"))[0] == 200
        assert (await unready.get("/readyz"))[0] == 503


@pytest.fixture
async def empty(tmp_path: Any) -> Any:
    async with await Store.open(f"sqlite:///{tmp_path}/empty.db") as opened:
        yield opened


async def test_an_error_shows_a_plain_page_and_never_its_own_text(
    empty: Store, caplog: pytest.LogCaptureFixture
) -> None:
    async with serve(empty) as site:
        status, headers, body = await site.get("/@ada-example")
    assert status in (500, 503)
    assert headers["Cache-Control"] == "no-store"
    assert b"no such table" not in body
    assert b"sqlite" not in body.lower()
    assert caplog.records


async def test_each_opening_of_a_link_is_in_its_log(store: Store) -> None:
    await fill(store)
    token = await mint(store)
    async with serve(store) as site:
        for end in ("", "", ".json"):
            await site.get(f"/p/{token}{end}")
    with store.snapshot() as connection:
        (link,) = links.links_of(connection, subject_of_person(ADA_KEY))
        uses = links.uses_of(connection, [link.nonce])
    assert [(use.day, use.form, use.times) for use in uses] == [("2026-03-04", "html", 2), ("2026-03-04", "json", 1)]


@ON_SQLITE
async def test_every_page_is_valid_html(store: Store, tmp_path: Path) -> None:
    await fill(store)
    await publish(store)
    others = [Signature(f"Person {at}", f"p{at}@example.org", UserId(50 + at), f"person-{at}") for at in range(6)]
    await keep(store, OPEN, [fact(-700 - at, "acme/open", author=others[at % 6]) for at in range(24)])
    key = signing_key(tmp_path / "key.pem")
    with store.transaction() as connection:
        visibility.publish(connection, subject_of_installation(ACME), public=True, now=NOW)
        mine = sessions.begin(connection, UserId(7), "ada-example", NOW)
        nobodys = sessions.begin(connection, UserId(8), "nobody-here", NOW)
    token = await mint(store)
    organisation = ("/organisations/acme", "/organisations/acme/repositories/open/2026-01")
    more: dict[str, Any] = {"definitions": DEFINITIONS, "sign_in": SignIn("c", "s"), "signing": key}
    async with serve(store, **more) as site:
        await take_month_snapshots(
            Pages(store, site.url, ZoneInfo("UTC"), lambda: NOW, SECRET, key), ADA_KEY, Month("2026-02")
        )
        for path in ("/", "/definitions", "/settings", f"/p/{token}", "/@ada-example", *organisation):
            await _is_valid(site, path)
        for below in BELOW:
            await _is_valid(site, f"/@ada-example{below}")
        for cookie in (mine, nobodys):
            await _is_valid(site, "/settings", Cookie=f"{SESSION_COOKIE}={cookie}")
        await _is_valid(site, "/settings/preview", Cookie=f"{SESSION_COOKIE}={mine}")
        with store.transaction() as connection:
            people.opt_out(connection, ADA_KEY, NOW)
        await _is_valid(site, "/settings", Cookie=f"{SESSION_COOKIE}={mine}")


async def _is_valid(site: Site, path: str, **headers: str) -> None:
    html5lib.HTMLParser(strict=True).parse(await site.text(path, **headers))


@pytest.mark.parametrize("status", [*PROBLEMS, 418])
def test_every_error_page_is_valid_html(status: int) -> None:
    html5lib.HTMLParser(strict=True).parse(problem_page(status))


async def test_a_link_to_neither_a_person_nor_its_own_organisation_opens_nothing(store: Store) -> None:
    await fill(store)
    good = await mint(store, subject=subject_of_installation(ACME))
    others = [
        await mint(store, subject=name) for name in ("installation:2", "repository:10", "acme", "", "person:u:99")
    ]
    async with serve(store) as site:
        absent = await _absent(site)
        assert (await site.get(f"/p/{good}/repositories/open/2026-03"))[0] == 200
        for token in others:
            for below in ("", ".json", "/repositories/open/2026-03", "/months/2026-03"):
                assert await site.get(f"/p/{token}{below}") == absent


@ON_SQLITE
async def test_every_page_for_everybody_answers_head_and_knows_its_tag(store: Store) -> None:
    await fill(store)
    await publish(store)
    token = await mint(store)
    paths = ["/", "/robots.txt", "/sitemap.xml", "/favicon.ico", f"/p/{token}", f"/p/{token}.json"]
    paths += [f"/@ada-example{end}" for end in ("", *(f".{suffix}" for suffix in SUFFIXES), *BELOW)]
    async with serve(store) as site:
        for path in paths:
            status, headers, body = await site.get(path)
            assert (status, await site.get(path, "HEAD")) == (200, (200, headers, b"")), path
            again = await site.get(path, If_None_Match=headers["ETag"])
            assert (again[0], again[2], again[1]["ETag"]) == (304, b"", headers["ETag"]), path
            assert "Content-Type" not in again[1]
            assert again[1].get("X-Robots-Tag") == headers.get("X-Robots-Tag") == ("noindex" if "/p/" in path else None)
            assert body

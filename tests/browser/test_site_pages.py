"""Do the served pages work in a real Chromium under their own headers, at two widths and in both colour schemes?"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.configuration.signing import signing_key
from bot.model.commit import Signature
from bot.model.ids import Month, UserId
from bot.store import sessions, visibility
from bot.store.engine import Store
from bot.store.visibility import subject_of_installation
from bot.web.collaborators import Pages
from bot.web.month_snapshots import take_month_snapshots
from bot.web.owner import SESSION_COOKIE
from bot.web.sign_in import SignIn
from tests.databases import fresh_database
from tests.web.library import ACME, ADA_KEY, NOW, OPEN, SECRET, Site, fact, fill, keep, mint, publish, serve

from .chromium import Tab, chromium, program
from .test_profile_page import AXE

pytestmark = pytest.mark.skipif(program() is None, reason="CHROMIUM IS NOT INSTALLED: the pages were not looked at")

PATHS = (
    "/",
    "/settings",
    "/settings/preview",
    "/@ada-example",
    "/@ada-example/months/2026-03",
    "/@ada-example/compare/2026-02/2026-03",
    "/organisations/acme",
    "/organisations/acme/repositories/open/2026-03",
    "/definitions",
    "/nothing-is-here",
)
PICTURES = ("", ".heatmap", ".months", ".languages", ".share", ".badge")
WINDOWS = ((360, True), (768, False), (1280, False))
"""(width, whether dark)"""
_FITS = "document.documentElement.scrollWidth <= innerWidth"
_WIDTH = "document.documentElement.scrollWidth"
"""compared with the window that was asked for: a phone makes its own as wide as what it shows"""
_UNFOLD = "document.querySelectorAll('details').forEach(one => one.open = true)"
_REACHED = (
    "[...document.querySelectorAll('a[href], summary, button, input:not([type=hidden]), [tabindex]')]"
    ".filter(one => one.checkVisibility()).length"
)


@asynccontextmanager
async def site_of(url: str, folder: Path) -> AsyncIterator[tuple[Site, str, str]]:
    """The pages of an organisation with enough people for sums; a session of Ada's, and a link to her page."""
    file = folder / "metrics.md"
    file.write_text("# Metrics\n\nText.\n\n## Lines\n\n| part | what |\n|---|---|\n| docs | " + "word " * 60 + "|\n")
    others = [Signature(f"Person {at}", f"p{at}@example.org", UserId(50 + at), f"person-{at}") for at in range(6)]
    key = signing_key(folder / "key.pem")
    async with await Store.open(url) as store:
        await fill(store)
        work = [fact(-700 - at, "acme/open", author=others[at % 6], title=f"Add a wall {at}") for at in range(24)]
        await keep(store, OPEN, work)
        await publish(store)
        token = await mint(store)
        pages = Pages(store, "https://almanac.example", ZoneInfo("UTC"), lambda: NOW, SECRET, signing=key)
        await take_month_snapshots(pages, ADA_KEY, Month("2026-02"))
        with store.transaction() as connection:
            visibility.publish(connection, subject_of_installation(ACME), public=True, now=NOW)
            cookie = sessions.begin(connection, UserId(7), "ada-example", NOW)
        async with serve(store, sign_in=SignIn("c", "s"), signing=key, definitions=file) as site:
            yield site, cookie, f"/p/{token}"


async def _sign_in(tab: Tab, site: Site, cookie: str) -> None:
    secure = site.url.replace("http:", "https:")
    await tab.call(
        "Network.setCookie", name=SESSION_COOKIE, value=cookie, url=secure, path="/", secure=True, httpOnly=True
    )


async def _look(url: str, folder: Path) -> list[str]:
    """What is wrong with the pages; nothing where all is well."""
    wrong: list[str] = []
    async with site_of(url, folder) as (site, cookie, link), chromium() as tab:
        await _sign_in(tab, site, cookie)
        for path in (*PATHS, link):
            for width, dark in WINDOWS:
                tab.requests.clear()
                await tab.open(site.url + path, width=width, dark=dark)
                await tab.evaluate(_UNFOLD)
                wrong += [] if await tab.evaluate(_WIDTH) <= width else [f"{path} is wider than {width}"]
                wrong += [f"{path} asks {one}" for one in tab.requests if not one.startswith(site.url)]
            for width, dark in ((1280, False), (360, True)) if AXE.exists() else ():
                wrong += await _violations(tab, site.url + path, width, dark)
            await tab.call("Emulation.setEmulatedMedia", media="print")
            wrong += [] if await tab.evaluate(_FITS) else [f"{path} does not fit when printed"]
        wrong += [error for error in tab.errors if "/nothing-is-here" not in error]
    return wrong


async def _violations(tab: Tab, address: str, width: int, dark: bool) -> list[str]:
    """axe is a script, which the pages' own policy rightly forbids, so the policy is bypassed only here."""
    await tab.call("Page.setBypassCSP", enabled=True)
    await tab.open(address, width=width, dark=dark)
    await tab.evaluate(_UNFOLD)
    found = [f"{address}: {one['id']}" for one in await tab.axe(AXE.read_text("utf-8"))]
    await tab.call("Page.setBypassCSP", enabled=False)
    return found


def test_every_page_fits_loads_nothing_external_and_has_no_violation_or_error(tmp_path: Path) -> None:
    with fresh_database("sqlite", tmp_path) as url:
        assert asyncio.run(_look(url, tmp_path)) == []


async def _walk(url: str, folder: Path) -> list[str]:
    """The pages on which the tab key does not reach every control."""
    wrong: list[str] = []
    async with site_of(url, folder) as (site, cookie, _), chromium() as tab:
        await _sign_in(tab, site, cookie)
        for path in ("/settings", "/@ada-example", "/organisations/acme"):
            await tab.open(site.url + path)
            await tab.evaluate(_UNFOLD)
            wanted, seen = await tab.evaluate(_REACHED), set()
            for _ in range(wanted + 3):
                for kind in ("keyDown", "keyUp"):
                    await tab.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
                seen.add(await tab.evaluate("[...document.querySelectorAll('*')].indexOf(document.activeElement)"))
            wrong += [] if len(seen) >= wanted else [f"{path}: {len(seen)} of {wanted}"]
    return wrong


def test_everything_that_can_be_used_is_reached_by_the_tab_key(tmp_path: Path) -> None:
    with fresh_database("sqlite", tmp_path) as url:
        assert asyncio.run(_walk(url, tmp_path)) == []


async def _pictures(url: str, folder: Path) -> list[str]:
    """What is wrong with the pictures, opened alone and inside another site's page, in both schemes."""
    wrong: list[str] = []
    async with site_of(url, folder) as (site, _, link), chromium() as tab:
        for dark in (False, True):
            for name in PICTURES:
                await tab.open(f"{site.url}/@ada-example{name}.svg", dark=dark)
                paint = await tab.evaluate(
                    "(one => one ? getComputedStyle(one).fill : '')(document.querySelector('text'))"
                )
                light = paint in ("", "rgb(29, 32, 36)", "rgb(89, 95, 103)", "rgb(255, 255, 255)")
                wrong += [] if dark is not light or paint in ("", "rgb(255, 255, 255)") else [f"{name} alone: {paint}"]
            images = "".join(f"<img src={site.url}/@ada-example{name}.svg>" for name in PICTURES)
            (folder / "readme.html").write_text(f"<!doctype html><title>x</title>{images}")
            await tab.open((folder / "readme.html").as_uri(), dark=dark)
            sizes = await tab.evaluate("[...document.images].map(one => one.complete && one.naturalWidth)")
            wrong += [f"{name} in a page: {size}" for name, size in zip(PICTURES, sizes, strict=True) if not size]
        (folder / "readme.html").write_text(f"<!doctype html><title>x</title><img src={site.url}{link}.svg>")
        await tab.open((folder / "readme.html").as_uri())
        hidden = await tab.evaluate("document.images[0].naturalWidth")
        wrong += [f"an unlisted card is shown elsewhere: {hidden}"] if hidden else []
    return wrong


def test_pictures_render_alone_and_inside_another_page_in_both_schemes(tmp_path: Path) -> None:
    with fresh_database("sqlite", tmp_path) as url:
        assert asyncio.run(_pictures(url, tmp_path)) == []

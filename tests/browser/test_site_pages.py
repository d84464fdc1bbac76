"""The served pages in a real Chromium: under their own headers, at two widths and in both schemes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.model import UserId
from bot.signatures import signing_key
from bot.store import sessions, visibility
from bot.store.engine import Store
from bot.store.visibility import subject_of_installation
from bot.web.owner import SESSION_COOKIE
from bot.web.sign_in import SignIn
from tests.databases import fresh_database
from tests.web.library import ACME, NOW, fill, mint, publish, serve

from .chromium import Tab, chromium, program
from .test_profile_page import AXE

pytestmark = pytest.mark.skipif(program() is None, reason="CHROMIUM IS NOT INSTALLED: the pages were not looked at")

PATHS = (
    "/",
    "/settings",
    "/@ada-example",
    "/@ada-example/months/2026-03",
    "/@ada-example/compare/2026-02/2026-03",
    "/organisations/acme/repositories/open/2026-03",
    "/definitions",
)
_FITS = "document.documentElement.scrollWidth <= innerWidth"


async def _look(url: str, folder: Path) -> list[str]:
    """What is wrong with the pages; nothing where all is well."""
    file = folder / "metrics.md"
    file.write_text("# Metrics\n\nText.\n\n## Lines\n\n| part | what |\n|---|---|\n| docs | " + "word " * 60 + "|\n")
    wrong: list[str] = []
    async with await Store.open(url) as store:
        await fill(store)
        await publish(store)
        token = await mint(store)
        async with store.begin() as conn:
            await visibility.publish(conn, subject_of_installation(ACME), public=True, now=NOW)
            cookie = await sessions.begin(conn, UserId(7), "ada-example", NOW)
        more = {"sign_in": SignIn("c", "s"), "signing": signing_key(folder / "key.pem"), "definitions": file}
        async with serve(store, **more) as site, chromium() as tab:
            secure = site.url.replace("http:", "https:")
            await tab.call(
                "Network.setCookie", name=SESSION_COOKIE, value=cookie, url=secure, path="/", secure=True, httpOnly=True
            )
            for path in (*PATHS, f"/p/{token}"):
                for width, dark in ((1280, False), (360, True)):
                    tab.requests.clear()
                    await tab.open(site.url + path, width=width, dark=dark)
                    await tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
                    wrong += [] if await tab.evaluate(_FITS) else [f"{path} is wider than {width}"]
                    wrong += [f"{path} asks {one}" for one in tab.requests if not one.startswith(site.url)]
                    wrong += await _violations(tab, site.url + path, width, dark) if AXE.exists() else []
            wrong += tab.errors
    return wrong


async def _violations(tab: Tab, address: str, width: int, dark: bool) -> list[str]:
    """axe is a script, which the pages' own policy rightly forbids: it is put aside for this alone."""
    await tab.call("Page.setBypassCSP", enabled=True)
    await tab.open(address, width=width, dark=dark)
    found = [f"{address}: {one['id']}" for one in await tab.axe(AXE.read_text("utf-8"))]
    await tab.call("Page.setBypassCSP", enabled=False)
    return found


def test_every_page_fits_asks_nobody_else_and_has_no_violation_and_no_error(tmp_path: Path) -> None:
    with fresh_database("sqlite", tmp_path) as url:
        assert asyncio.run(_look(url, tmp_path)) == []

"""Does a site of files work in a real Chromium, from disk and from a sub-path of a server, without a broken link?"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import web

from bot.cli.recomputing.offline import read_window
from bot.cli.recomputing.site.build import build_site
from bot.landing.repo_config.files import PEOPLE_PATH
from tests.history.repository import BEN, Repository

from .chromium import Tab, chromium, program
from .test_profile_page import AXE

pytestmark = pytest.mark.skipif(program() is None, reason="CHROMIUM IS NOT INSTALLED: the site was not looked at")

ADA = ("Ada Brook", "7+ada-brook@users.noreply.github.com")
_LINKS = "[...document.querySelectorAll('a[href], img[src]')].map(one => one.href || one.src)"
_FITS = "document.documentElement.scrollWidth <= 360"
_UNFOLD = "document.querySelectorAll('details').forEach(one => one.open = true)"
_OURS = "document.querySelector('body > header > .brand') !== null"
_SEEN = "[...document.images].every(one => one.complete && one.naturalWidth > 0)"


def made_site(folder: Path) -> Path:
    clone = Repository(folder / "rocket")
    clone.commit("Name who has a page", {PEOPLE_PATH: "people:\n  - ada-brook\n"}, author=ADA)
    for at in range(24):
        files = {f"src/engine/stage{at}.py": f"value = {at}\n" * 9}
        clone.commit(f"Fix the deadlock of stage {at} (#{at + 1})", files, author=(ADA, BEN)[at % 2], days=4)
    build_site([str(clone.folder)], folder / "site", read_window(None, None, "UTC"))
    return folder / "site"


async def _visit(tab: Tab, start: str) -> list[str]:
    """What is wrong with the pages that links lead to, beginning with `start`."""
    wrong, seen, waiting = [], set(), [f"{start}index.html"]
    while waiting:
        page = waiting.pop()
        seen.add(page)
        await tab.open(page, width=360, dark=len(seen) % 2 == 0)
        wrong += [] if await tab.evaluate(_OURS) else [f"{page} is not there"]
        wrong += [] if await tab.evaluate(_SEEN) else [f"{page} lacks a picture"]
        await tab.evaluate(_UNFOLD)
        wrong += [] if await tab.evaluate(_FITS) else [f"{page} is wider than 360"]
        if AXE.exists():
            wrong += [f"{page}: {one['id']}" for one in await tab.axe(AXE.read_text("utf-8"))]
        for link in await tab.evaluate(_LINKS):
            address = link.partition("#")[0]
            own = address.startswith(start)
            wrong += [] if own or address.startswith("https://") else [f"{page} leads to {address}"]
            if own and address.endswith(".html") and address not in {*seen, *waiting}:
                waiting.append(address)
    wrong += [error for error in tab.errors if "favicon.ico" not in error]
    return [*wrong, *([] if len(seen) > 8 else ["few pages were reached"])]


async def _look(folder: Path) -> list[str]:
    app = web.Application()
    app.router.add_static("/deep/down/", folder)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    served = f"http://127.0.0.1:{runner.addresses[0][1]}/deep/down/"
    try:
        async with chromium() as tab:
            return [*await _visit(tab, folder.as_uri() + "/"), *await _visit(tab, served)]
    finally:
        await runner.cleanup()


def test_every_page_opens_from_disk_and_from_a_sub_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert asyncio.run(_look(made_site(tmp_path))) == []

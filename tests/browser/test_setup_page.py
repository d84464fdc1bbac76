"""Does the complete set-up work in a real Chromium under the pages' own headers, up to the settings page?"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from simulator.server import Simulator
from tests.setup.running import bare_settings, serving, until, visitor

from .chromium import Tab, chromium, program
from .test_profile_page import AXE

pytestmark = pytest.mark.skipif(program() is None, reason="CHROMIUM IS NOT INSTALLED: the pages were not looked at")

_FITS = "document.documentElement.scrollWidth <= innerWidth"


async def _press(tab: Tab, selector: str, ends_at: str, *, says: str = "") -> None:
    """Press, and wait for the page it leads to."""
    await tab.evaluate(f"document.querySelector({selector!r}).click()")

    async def there() -> bool:
        try:
            here = f"location.href.includes({ends_at!r}) && document.readyState === 'complete'"
            return bool(await tab.evaluate(f"{here} && document.body.innerText.includes({says!r})"))
        except RuntimeError:  # the page went away while it was asked
            return False

    await until(there)


async def _look(tab: Tab, wrong: list[str]) -> None:
    """Whether the page that is open fits two widths."""
    for width in (360, 1280):
        await tab.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500
        )
        wrong += [] if await tab.evaluate(_FITS) else [f"{await tab.evaluate('document.title')} is wider than {width}"]


async def _axe(tab: Tab, address: str) -> list[str]:
    if not AXE.exists():
        return []
    await tab.call("Page.setBypassCSP", enabled=True)
    await tab.open(address, width=360, dark=True)
    found = [str(one["id"]) for one in await tab.axe(AXE.read_text("utf-8"))]
    await tab.call("Page.setBypassCSP", enabled=False)
    return found


async def _registered(github: Simulator, folder: Path, told: pytest.CaptureFixture[str]) -> list[str]:
    github.account("ada-fen", name="Ada Fen")
    settings = bare_settings(github, folder)
    wrong: list[str] = []
    async with serving(settings), visitor(settings) as browser, chromium() as tab:
        found = re.search(r"http://127\.0\.0\.1:\d+/setup/[\w-]+", told.readouterr().out)
        assert found
        wrong += await _axe(tab, found[0])
        await tab.open(found[0])
        await _look(tab, wrong)
        await tab.evaluate("document.getElementById('organisation').value = 'fenland'")
        await _press(tab, ".asked button", "/setup/")
        await until(lambda: tab.evaluate("document.title.startsWith('Continue at GitHub')"))
        await _look(tab, wrong)
        await _press(tab, "form button", "/setup/done")
        await _look(tab, wrong)
        assert "is registered" in await tab.evaluate("document.body.innerText")
        await until(lambda: _ready(browser))
        await tab.open(f"{settings.public_url}/settings")
        await _press(tab, "a[href='/settings/sign-in']", "/login/oauth/authorize")
        await _press(tab, "li a", f"{settings.port}/settings")
        await until(lambda: tab.evaluate("document.title.startsWith('Settings')"))
        assert "The record of ada-fen" in await tab.evaluate("document.body.innerText")
        await _press(tab, "form[action='/settings/sign-out'] button", "/settings", says="Sign in with GitHub")
        strangers = [one for one in tab.requests if not one.startswith((settings.public_url, github.url, "about:"))]
        return wrong + strangers + [error for error in tab.errors if not _is_of_the_browser(error, github)]


def _is_of_the_browser(error: str, github: Simulator) -> bool:
    """It asks for an icon by itself: GitHub's, or ours in the moment in which the bot takes over from the set-up."""
    return "favicon" in error and (github.url in error or "ERR_CONNECTION_REFUSED" in error)


async def _ready(browser: object) -> bool:
    try:
        status, text, _ = await browser.get("/readyz")  # type: ignore[attr-defined]  # a Visitor
        return bool(status == 200 and "no App" not in text)
    except OSError:
        return False


async def test_an_app_is_registered_and_its_owner_signs_in_with_a_browser(
    github: Simulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await asyncio.wait_for(_registered(github, tmp_path, capsys), 180) == []

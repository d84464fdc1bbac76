"""Does the profile page work in a real Chromium: no axe violation, no request, nothing cut off, usable by keyboard?

Needs Chromium, and axe-core's source at AXE_CORE or in node_modules; says so loudly where they are absent.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from bot.landing.identity.credit import person_key
from bot.model.commit import Person
from bot.model.profile import Profile
from bot.narrative.profile import ProfileScope, build
from bot.render import RENDERERS
from tests.render.factories import NOW, SOMEBODY, empty_profile, long_profile, small_profile

from .chromium import Tab, chromium, program

AXE = Path(os.environ.get("AXE_CORE", "node_modules/axe-core/axe.min.js"))
PROFILES = {"small": small_profile(), "empty": empty_profile(), "long": long_profile()}

_UNFOLD = "document.querySelectorAll('details').forEach(one => one.open = true)"

pytestmark = pytest.mark.skipif(program() is None, reason="CHROMIUM IS NOT INSTALLED: the page was not looked at")


@pytest.fixture
async def tab() -> AsyncIterator[Tab]:
    async with chromium() as opened:
        yield opened


@pytest.fixture
def axe() -> str:
    if not AXE.exists():
        pytest.skip("AXE-CORE IS NOT INSTALLED: accessibility was not checked")
    return AXE.read_text("utf-8")


def page_file(folder: Path, name: str) -> str:
    path = folder / f"{name}.html"
    path.write_text(RENDERERS["html"](PROFILES[name]), "utf-8")
    return path.as_uri()


@pytest.mark.parametrize("name", sorted(PROFILES))
async def test_axe_finds_no_violation_at_any_width_in_either_scheme(
    tab: Tab, tmp_path: Path, axe: str, name: str
) -> None:
    address = page_file(tmp_path, name)
    for width, dark in ((360, False), (360, True), (768, False), (1280, False), (1280, True)):
        await tab.open(address, width=width, dark=dark)
        await tab.evaluate(_UNFOLD)
        assert [(found["id"], width, dark) for found in await tab.axe(axe)] == []


@pytest.mark.parametrize("name", sorted(PROFILES))
async def test_the_page_asks_for_nothing_and_reports_no_error(tab: Tab, tmp_path: Path, name: str) -> None:
    address = page_file(tmp_path, name)
    await tab.open(address)
    assert tab.requests == [address]
    assert tab.errors == []


async def test_nothing_is_wider_than_the_window(tab: Tab, tmp_path: Path) -> None:
    address = page_file(tmp_path, "long")
    for width in (320, 360, 768, 1280, 2560):
        await tab.open(address, width=width)
        await tab.evaluate(_UNFOLD)
        assert await tab.evaluate("document.documentElement.scrollWidth") <= width


def _decade() -> Profile:
    """Ten years in three parts of four repositories, with the longest texts that are quoted, told by the narrative."""
    changes = []
    for number, one in enumerate(long_profile().changes):
        (commit,) = one.commits
        part = ("synchronization", "administration", "notifications")[number % 3]
        title = f"{one.title}, so that everybody who waits for a connection is told how far each of them is by now"
        fact = replace(commit.fact, title=title, paths=(f"src/{part}/part{number}.py",))
        changes.append(replace(one, title=title, commits=(replace(commit, fact=fact),)))
    who = Person(person_key(SOMEBODY), SOMEBODY.name, (SOMEBODY.email,))
    scope = ProfileScope(person=who, keys=frozenset({who.key}), zone=ZoneInfo("UTC"), now=NOW)
    return build(changes, scope)


async def test_the_first_screen_of_ten_years_is_short_on_a_phone(tab: Tab, tmp_path: Path) -> None:
    told = _decade()
    assert [one.role for one in told.narrative.sentences].count("theme") == 3
    assert [one.role for one in told.narrative.sentences].count("entry") == 6
    path = tmp_path / "decade.html"
    path.write_text(RENDERERS["html"](told), "utf-8")
    await tab.open(path.as_uri(), width=360)
    end = await tab.evaluate("document.querySelector('#history').getBoundingClientRect().top + scrollY")
    assert 600 < end < 1600


async def test_a_citation_opens_the_row_that_it_names(tab: Tab, tmp_path: Path) -> None:
    await tab.open(page_file(tmp_path, "small"))
    await tab.evaluate("document.querySelector('.skills a').click()")
    assert await tab.evaluate("document.querySelector(location.hash).checkVisibility()")


async def test_every_link_and_details_element_is_reached_by_the_tab_key(tab: Tab, tmp_path: Path) -> None:
    await tab.open(page_file(tmp_path, "small"))
    wanted = await tab.evaluate(
        "[...document.querySelectorAll('a[href], summary, [tabindex]')].filter(one => one.checkVisibility()).length"
    )
    seen = set()
    for _ in range(wanted + 5):
        for kind in ("keyDown", "keyUp"):
            await tab.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        seen.add(await tab.evaluate("[...document.querySelectorAll('*')].indexOf(document.activeElement)"))
    assert len(seen) >= wanted

"""The pictures of a profile page in docs/images, taken anew by Chromium: `python -m scripts.refresh_pictures`."""

from __future__ import annotations

import asyncio
import base64
import tempfile
from pathlib import Path
from typing import NamedTuple

from bot.render import RENDERERS
from tests.browser.chromium import chromium
from tests.render.factories import small_profile

IMAGES = Path("docs/images")
_UNFOLD = "document.querySelectorAll('#history details').forEach(one => one.open = true)"
_TOP = "document.querySelector('{begin}').getBoundingClientRect().top + scrollY"


class Picture(NamedTuple):
    """A part of the page: where it begins, and its size in pixels."""

    name: str
    begin: str
    width: int
    height: int
    dark: bool = False


PICTURES = (
    Picture("profile", "body", 1200, 860),
    Picture("history", "#history", 1200, 880),
    Picture("quality-dark", "#quality", 1200, 800, dark=True),
    Picture("phone", "body", 360, 1000),
)


async def _take(page: str, picture: Picture) -> None:
    async with chromium() as tab:
        await tab.open(page, width=picture.width, dark=picture.dark)
        if picture.begin == "#history":
            await tab.evaluate(_UNFOLD)
        top = await tab.evaluate(_TOP.format(begin=picture.begin))
        clip = {"x": 0, "y": top, "width": picture.width, "height": picture.height, "scale": 1}
        shot = await tab.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
    (IMAGES / f"{picture.name}.png").write_bytes(base64.b64decode(shot["data"]))


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "profile.html"
        page.write_text(RENDERERS["html"](small_profile()), "utf-8")
        for picture in PICTURES:
            await _take(page.as_uri(), picture)


if __name__ == "__main__":
    asyncio.run(main())

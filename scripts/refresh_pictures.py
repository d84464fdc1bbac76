"""How are the pictures of a profile page and a digest in docs/images updated? Chromium takes them again.

`python -m scripts.refresh_pictures`; the page is that of a made-up clone, and the digest what
the bot posts on the simulated GitHub.
"""

from __future__ import annotations

import asyncio
import base64
import tempfile
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

from bot.cli.recomputing.offline import profile, read_window
from bot.render import RENDERERS
from scripts.example_clone import example_clone
from simulator.server import Simulator
from tests.browser.chromium import chromium
from tests.render.factories import small_profile
from tests.services.landed import town

IMAGES = Path("docs/images")
_UNFOLD = "document.querySelectorAll('#history details').forEach(one => one.open = true)"
_TOP = "document.querySelector('{begin}').getBoundingClientRect().top + scrollY"


_WORK = (
    ("feat: add a retry to HTTPClient", "ada"),
    ("fix(parser): stop the crash on empty input", "ada"),
    ("docs: describe retry_after for callers", "bea"),
    ("feat(cli): print a table with --format table", "bea"),
    ("refactor: split the loader", "mara"),
)
_COMMENTS = """<!doctype html><meta charset=utf-8><style>
body { font: 15px/1.5 -apple-system, "Noto Sans", Arial, sans-serif; color: #1f2328; margin: 0; padding: 16px 20px }
main { border: 1px solid #d0d7de; border-radius: 6px; padding: 0 16px; margin-bottom: 16px }
h2 { border-bottom: 1px solid #d0d7de; padding-bottom: 8px }
a { color: #0969da; text-decoration: none }
code { background: #eff1f3; border-radius: 6px; padding: 3px 5px; font-size: 13px }
table { border-collapse: collapse }
td, th { border: 1px solid #d0d7de; padding: 4px 12px }
blockquote { margin: 0 0 16px; padding-left: 14px; border-left: 4px solid #d0d7de; color: #59636e }
</style>"""


class Screenshot(NamedTuple):
    """A part of the page: where it starts, and its size in pixels."""

    name: str
    begin: str
    width: int
    height: int
    dark: bool = False


PICTURES = (
    Screenshot("profile", "body", 1200, 860),
    Screenshot("history", "#history", 1200, 880),
    Screenshot("quality-dark", "#quality", 1200, 800, dark=True),
    Screenshot("phone", "body", 360, 1000),
)
DIGEST = Screenshot("digest", "body", 860, 600)


async def _take_screenshot(page: str, picture: Screenshot) -> None:
    async with chromium() as tab:
        await tab.open(page, width=picture.width, dark=picture.dark)
        if picture.begin == "#history":
            await tab.evaluate(_UNFOLD)
        top = await tab.evaluate(_TOP.format(begin=picture.begin))
        clip = {"x": 0, "y": top, "width": picture.width, "height": picture.height, "scale": 1}
        shot = await tab.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
    (IMAGES / f"{picture.name}.png").write_bytes(base64.b64decode(shot["data"]))


async def _digest(folder: Path) -> str:
    """Two months as the bot posts them: in the second, a feature of the first is reverted after a dispute."""
    async with Simulator() as github, town(github, folder, settings="first_digest: post\n") as there:
        (reverted, *_) = [await there.land(title, by=login) for title, login in _WORK]
        await there.month_over()
        issue = next(one for one in there.repository.issues.values() if one.app is there.app)
        await there.say(issue, "/almanac dispute the loader was two pieces of work", by="mara")
        body = f"Reverts acme/app#{reverted.number}\n\nThis reverts commit {reverted.landed}."
        await there.land(f'Revert "{_WORK[0][0]}"', by="mara", body=body)
        await there.month_over(7)
        comments = [MarkdownIt("commonmark").enable("table").render(text) for text in there.digests()]
    return _COMMENTS + "".join(f"<main>{comment}</main>" for comment in comments)


def _profile(clone: Path) -> str:
    """The page of an invented person, as `almanac profile` writes it."""
    paths, months = [str(example_clone(clone))], read_window(None, None, "UTC")
    return "".join(profile(paths, "ada@example.org", months, form="html", anonymous=False))


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        digest = Path(folder) / "digest.html"
        digest.write_text(await _digest(Path(folder)), "utf-8")
        await _take_screenshot(digest.as_uri(), DIGEST)
        page = Path(folder) / "profile.html"
        page.write_text(_profile(Path(folder) / "rocket"), "utf-8")
        rated = Path(folder) / "rated.html"  # so small a clone has no ratings
        rated.write_text(RENDERERS["html"](small_profile()), "utf-8")
        for picture in PICTURES:
            await _take_screenshot((rated if picture.begin == "#quality" else page).as_uri(), picture)


if __name__ == "__main__":
    asyncio.run(main())

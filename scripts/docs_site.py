"""What is the documentation site made of? The documents, pages written from the code, and two example sites.

`stage` writes build/docs, from which mkdocs builds build/site. The documents keep their paths, so their links work on
GitHub and here; files that they link to are copied too. `finish` adds the example sites and looks for lost links.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bot.cli.recomputing.offline import read_window
from bot.cli.recomputing.site.build import build_site
from scripts.docs_reference import PAGES
from scripts.example_clone import example_clone

ROOT = Path(__file__).parents[1]
STAGED, SITE = ROOT / "build" / "docs", ROOT / "build" / "site"
DOCUMENTS = ("*.md", "docs/**/*.md")
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
EXAMPLES = """# Example sites

Both are written by `almanac site`, and need no server: [A site without a server](site.md) describes how.

- <a href="../example/index.html">A made-up project</a> in which two people agreed to have a page, such as
  <a href="../example/people/ada-brook/index.html">Ada Brook</a>. It has months, digests, cards, feeds and data.
- <a href="../itself/index.html">Almanac itself</a>. Nobody added themselves, so its months and digests name nobody.
"""


# --- before mkdocs ---------------------------------------------------------------------------------------------------


def documents() -> list[Path]:
    """Every document, relative to the repository."""
    return sorted({path.relative_to(ROOT) for pattern in DOCUMENTS for path in ROOT.glob(pattern)})


def linked_files(document: Path) -> Iterator[Path]:
    """The files of the repository that a document links to, other documents aside."""
    for target in LINK.findall((ROOT / document).read_text("utf-8")):
        path = (ROOT / document).parent / target
        if "://" not in target and path.is_file() and path.suffix != ".md":
            yield path.resolve().relative_to(ROOT)


def stage(folder: Path = STAGED) -> None:
    """Write everything that mkdocs reads."""
    shutil.rmtree(folder, ignore_errors=True)
    for path in documents():
        for file in (path, *linked_files(path)):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / file, folder / file)
    (folder / "docs/reference").mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (folder / "docs/reference" / name).write_text(page(), "utf-8")
    (folder / "docs/examples.md").write_text(EXAMPLES, "utf-8")


# --- after mkdocs ----------------------------------------------------------------------------------------------------


def finish(site: Path = SITE) -> list[str]:
    """Add the example sites; returns the links that lead nowhere."""
    with tempfile.TemporaryDirectory(prefix="almanac-example-") as made:
        for name, clone in (("example", example_clone(Path(made) / "rocket")), ("itself", _own_clone(Path(made)))):
            build_site([str(clone)], site / name, read_window(None, None, "UTC"))
    return lost_links(site)


def _own_clone(folder: Path) -> Path:
    """This repository, or where it has no origin a clone whose folder has its name."""
    if _git("remote"):
        return ROOT
    _git("clone", "-q", "--bare", "--shared", str(ROOT), str(folder / "almanac"))
    _git("--git-dir", str(folder / "almanac"), "remote", "remove", "origin")
    return folder / "almanac"


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


class _Links(HTMLParser):
    """The addresses that a page names, and those that it loads from another host."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = {"a": "href", "img": "src", "link": "href", "script": "src"}
        addresses = [value for name, value in attrs if value and name == names.get(tag)]
        self.found += addresses
        if tag != "a":
            self.loaded += [address for address in addresses if urlsplit(address).netloc]


def lost_links(site: Path) -> list[str]:
    """Links of every page to a file of the site that is not there, and what it loads from another host."""
    lost = []
    for page in sorted(site.rglob("*.html")):
        links = _Links()
        links.feed(page.read_text("utf-8"))
        lost += [f"{page.relative_to(site)} loads {address}" for address in links.loaded]
        for address in links.found:
            parts = urlsplit(address)
            target = page.parent / unquote(parts.path) if not parts.path.startswith("/") else site / parts.path[1:]
            if not parts.scheme and not parts.netloc and parts.path and not target.exists() and page.name != "404.html":
                lost.append(f"{page.relative_to(site)}: {address}")
    return lost


if __name__ == "__main__":
    if sys.argv[1:] == ["stage"]:
        stage()
    elif lost := finish():
        sys.exit("links that lead nowhere:\n" + "\n".join(lost))

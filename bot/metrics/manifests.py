"""Which packages, images and actions does a changed line of a manifest ask for? `manifests.toml` has a row for each."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

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
_NOT_SOURCES = ("setup.py", "conanfile.py", "mix.exs", "package.swift", "gems.rb")


@dataclass(frozen=True, slots=True)
class Manifest:
    """A way to ask for packages: which files, names of which namespaces, and where in a line the name stands."""

    name: str
    files: re.Pattern[str]
    spaces: tuple[str, ...]
    pattern: re.Pattern[str]
    needles: tuple[str, ...] = ()


@cache
def manifests() -> tuple[Manifest, ...]:
    """Every kind of manifest that is read."""
    text = resources.files("bot.metrics").joinpath("manifests.toml").read_text(encoding="utf-8")
    return tuple(
        Manifest(
            row["name"],
            re.compile(row["files"], re.I),
            tuple(row["spaces"].split()),
            re.compile(row["pattern"]),
            tuple(row.get("needles", ())),
        )
        for row in tomllib.loads(text)["manifest"]
    )


@lru_cache(maxsize=8192)
def manifests_of(path: str) -> tuple[Manifest, ...]:
    """How this file asks for packages; nothing for most."""
    lower = path.lower()
    if lower.endswith(_SOURCES) and not lower.endswith(_NOT_SOURCES):
        return ()
    rooted = "/" + path
    return tuple(manifest for manifest in manifests() if manifest.files.search(rooted))


def asked_for(lines: Sequence[str], manifest: Manifest) -> Iterator[str]:
    """The names that these lines ask for."""
    needles = manifest.needles
    match = manifest.pattern.match
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

"""Which skills does an import, a package, a path, a token, a topic or a label indicate?

The vocabulary is `vocabulary/*.toml`, one line per skill, and `docs/skills.md` says how to add one. This module reads
what `scripts/refresh_tables.py` generates from it: the vocabulary by each indicator of a skill.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache

from msgspec import Struct

from bot.configuration.package_files import read_bytes, read_text
from bot.landing.lines.linguist import LONGEST_NAME

SEPARATORS: Mapping[str, str] = {
    "python": ".",
    "pypi": "",
    "npm": "/",
    "go": "/",
    "crates": "::",
    "java": ".",
    "maven": ".",
    "gems": "/",
    "php": "\\",
    "composer": "/",
    "dotnet": ".",
    "swift": ".",
    "hex": "",
    "elixir": ".",
    "erlang": "",
    "pub": "/",
    "headers": "/",
    "cmake": "",
    "lua": ".",
    "perl": "::",
    "r": "",
    "julia": ".",
    "haskell": ".",
    "hackage": "",
    "clojure": ".",
    "ocaml": ".",
    "nim": "/",
    "d": ".",
    "tcl": "::",
    "fortran": "",
    "qml": ".",
    "elm": ".",
    "solidity": "/",
    "powershell": ".",
    "docker": "/",
    "actions": "/",
    "terraform": "/",
    "helm": "/",
    "hooks": "/",
    "starlark": "/",
    "tool": ".",
}
"""the separator of names in each namespace; a name indicates a skill if its first parts do"""

_WORD = re.compile(r"[^a-z0-9+#]+")

Skills = tuple[str, ...]
NONE: Skills = ()


class Names(dict[str, Mapping[str, Sequence[str]]]):
    """The names of each namespace, decoded on first lookup: a repository uses a few of forty."""

    def __init__(self, text: str) -> None:
        self._rows = dict(line.split(" ", 1) for line in text.split("\n") if line)

    def __missing__(self, space: str) -> Mapping[str, Sequence[str]]:
        table: Mapping[str, Sequence[str]] = json.loads(self._rows[space])
        self[space] = table
        return table


class Index(Struct, frozen=True):
    """The vocabulary by each indicator of a skill."""

    names: Mapping[str, Mapping[str, Sequence[str]]]
    stems: Mapping[str, Sequence[tuple[str, Sequence[str]]]]
    """names that end in `*`, by namespace, longest first"""
    paths: Mapping[str, Sequence[str]]
    folders: Sequence[tuple[str, Sequence[str]]]
    """folders, `/` before and after"""
    ends: Sequence[tuple[str, Sequence[str]]]
    """names with parent folders, with a leading `/`"""
    tokens: Mapping[str, Sequence[tuple[str, str]]]
    words: Mapping[str, str]
    homes: Mapping[str, Sequence[str]]
    """by the full name of a repository in lower case; `owner/*` and `owner/start*` name several"""
    common: Sequence[str]


def plain_name(word: str) -> str:
    """A name without case, spaces and punctuation, so that variants are equal."""
    return _WORD.sub("", word.lower())


@cache
def index() -> Index:
    """The vocabulary, ready for lookups."""
    names = Names(read_text("bot.metrics", "skill_names.txt"))
    return Index(names, **json.loads(read_bytes("bot.metrics", "skill_index.json")))


def normal_name(space: str, name: str) -> str:
    """A name normalised as its registry compares it."""
    if space == "pypi":
        return name.lower().replace("_", "-").replace(".", "-")
    if space == "crates":
        return name.replace("-", "_")
    if space == "docker":
        return name.lower().removeprefix("docker.io/").removeprefix("library/")
    if space in ("npm", "go", "perl", "headers", "julia", "haskell", "elixir", "swift", "r", "elm", "d"):
        return name
    return name.lower()


@lru_cache(maxsize=2048)
def skills_named(space: str, name: str) -> Skills:
    """The skills of a name in a namespace: those of its longest known prefix, then of its stem."""
    table = index().names[space]
    name = normal_name(space, name)
    separator = SEPARATORS[space]
    part = name
    while part:
        found = table.get(part)
        if found is not None:
            return tuple(found)
        part = part.rpartition(separator)[0] if separator else ""
    for stem, found in index().stems[space]:
        if name.startswith(stem):
            return tuple(found)
    return NONE


@lru_cache(maxsize=2048)
def skills_by_path(path: str) -> Skills:
    """The skills of a path by the conventions of its name and its folders."""
    known = index()
    lower = "/" + path.lower()
    base = lower[lower.rfind("/") + 1 :][-LONGEST_NAME:]
    found: dict[str, None] = {}
    for name in _shapes(base):
        found.update(dict.fromkeys(known.paths.get(name, NONE)))
    for folder, skills_there in known.folders:
        if folder in lower:
            found.update(dict.fromkeys(skills_there))
    for end, skills_there in known.ends:
        if lower.endswith(end):
            found.update(dict.fromkeys(skills_there))
    return tuple(found)


def _shapes(base: str) -> Iterator[str]:
    """The patterns for `a.b.c` in the vocabulary: itself, `a.b.*`, `a.*`, `*.b.c`, `*.c`."""
    yield base
    cut = base.rfind(".")
    while cut > 0:
        yield base[:cut] + ".*"
        cut = base.rfind(".", 0, cut)
    cut = base.find(".", 1)
    while cut >= 0:
        yield "*" + base[cut:]
        cut = base.find(".", cut + 1)


@lru_cache(maxsize=256)
def skills_at_home(repository: str) -> Skills:
    """The skills that every change of code in this repository develops: those of its full name and of its owner."""
    homes, name = index().homes, repository.lower()
    owner, _, rest = name.partition("/")
    several = [found for stem in _stems(rest) for found in homes.get(f"{owner}/{stem}*", NONE)]
    return tuple(dict.fromkeys([*homes.get(name, NONE), *several]))


def _stems(name: str) -> Iterator[str]:
    """The beginnings of a name that end where a word does: `terraform-provider-x` gives ``, `terraform-` and so on."""
    yield ""
    yield from (name[: at + 1] for at, letter in enumerate(name) if letter in "-_.")


def skill_by_word(word: str) -> str | None:
    """The skill that a whole repository topic or label names."""
    return index().words.get(plain_name(word))

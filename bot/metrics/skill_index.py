"""Which skills does an import, a package, a path, a token, a topic or a label stand for?

The vocabulary is `vocabulary/*.toml`, one line a skill; `docs/skills.md` says how to add one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources
from typing import Any

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
"""What parts a name in each namespace of the vocabulary; a name stands for a skill if its first parts do."""

_LIKE: Mapping[str, tuple[str, ...]] = {
    "python": ("pypi",),
    "java": ("maven", "clojure"),
    "elixir": ("hex",),
    "haskell": ("hackage",),
}
"""Namespaces whose names are, by habit, also names in another one."""

_WORD = re.compile(r"[^a-z0-9+#]+")

Skills = tuple[str, ...]
NONE: Skills = ()


@dataclass(frozen=True, slots=True)
class Skill:
    """One line of the vocabulary. `evidence` maps a namespace to the names that stand for the skill."""

    name: str
    category: str
    evidence: Mapping[str, tuple[str, ...]]
    paths: tuple[str, ...] = ()
    tokens: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    """topics, labels and synonyms"""
    home: tuple[str, ...] = ()
    """full names, in lower case, of the repositories where the technology itself is made"""
    common: bool = False
    """part of nearly every project of its language, so that it tells little of a person and weighs half"""


@dataclass(frozen=True, slots=True)
class Index:
    """The vocabulary by each thing that stands for a skill."""

    skills: tuple[Skill, ...]
    names: Mapping[str, Mapping[str, Skills]]
    stems: Mapping[str, tuple[tuple[str, Skills], ...]]
    """names that end in `*`, by namespace, longest first"""
    paths: Mapping[str, Skills]
    folders: tuple[tuple[str, Skills], ...]
    """folders, `/` before and after"""
    ends: tuple[tuple[str, Skills], ...]
    """names with folders before them, `/` first"""
    tokens: Mapping[str, tuple[tuple[str, str], ...]]
    words: Mapping[str, str]
    homes: Mapping[str, str]
    common: frozenset[str]


def plain(word: str) -> str:
    """A name without case, blanks and punctuation: twins are equal so."""
    return _WORD.sub("", word.lower())


def _listed(value: Any) -> tuple[str, ...]:
    return tuple(value.split()) if isinstance(value, str) else tuple(value)


def _skill(name: str, category: str, row: Mapping[str, Any]) -> Skill:
    known = {"paths", "tokens", "topics", "also", "common", "home"}
    return Skill(
        name=name,
        category=category,
        evidence={key: _listed(row[key]) for key in row if key not in known},
        paths=_listed(row.get("paths", "")),
        tokens={family: _listed(values) for family, values in row.get("tokens", {}).items()},
        words=(*_listed(row.get("topics", "")), *_listed(row.get("also", ()))),
        home=_listed(row.get("home", "")),
        common=bool(row.get("common")),
    )


@cache
def skills() -> tuple[Skill, ...]:
    """Every skill of the vocabulary, by file and in the order of the file."""
    found: list[Skill] = []
    folder = resources.files("bot.metrics").joinpath("vocabulary")
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".toml"):
            table = tomllib.loads(file.read_text(encoding="utf-8"))
            found += [_skill(name, table["category"], row) for name, row in table["skills"].items()]
    return tuple(found)


def _names(all_skills: Iterable[Skill]) -> Iterator[tuple[str, str, str]]:
    for skill in all_skills:
        for namespace, names in skill.evidence.items():
            for name in names:
                for space in (namespace, *_LIKE.get(namespace, ())):
                    yield space, normal(space, name), skill.name


def _with(table: dict[str, Skills], key: str, skill: str) -> None:
    known = table.get(key, NONE)
    if skill not in known:
        table[key] = (*known, skill)


@cache
def index() -> Index:
    """The vocabulary, ready to be asked."""
    names: dict[str, dict[str, Skills]] = {space: {} for space in SEPARATORS}
    stems: dict[str, dict[str, Skills]] = {space: {} for space in SEPARATORS}
    for space, name, skill in _names(skills()):
        _with(stems[space] if name.endswith("*") else names[space], name.rstrip("*"), skill)
    paths: dict[str, Skills] = {}
    folders: dict[str, Skills] = {}
    ends: dict[str, Skills] = {}
    tokens: dict[str, list[tuple[str, str]]] = {}
    words: dict[str, str] = {}
    for one in skills():
        for path in one.paths:
            table = folders if path.endswith("/") else ends if "/" in path else paths
            _with(table, path.lower(), one.name)
        for family, found in one.tokens.items():
            tokens.setdefault(family, []).extend((token, one.name) for token in found)
        for word in (one.name, *one.words):
            words.setdefault(plain(word), one.name)
    return Index(
        skills(),
        names,
        {space: tuple(sorted(table.items(), key=lambda row: -len(row[0]))) for space, table in stems.items()},
        paths,
        tuple((f"/{folder}", found) for folder, found in folders.items()),
        tuple((f"/{end}", found) for end, found in ends.items()),
        {family: tuple(found) for family, found in tokens.items()},
        words,
        {home: one.name for one in skills() for home in one.home},
        frozenset(one.name for one in skills() if one.common),
    )


def normal(space: str, name: str) -> str:
    """A name as its registry compares it."""
    if space == "pypi":
        return name.lower().replace("_", "-").replace(".", "-")
    if space == "crates":
        return name.replace("-", "_")
    if space == "docker":
        return name.lower().removeprefix("docker.io/").removeprefix("library/")
    if space in ("npm", "go", "perl", "headers", "julia", "haskell", "elixir", "swift", "r", "elm", "d"):
        return name
    return name.lower()


@lru_cache(maxsize=8192)
def named(space: str, name: str) -> Skills:
    """The skills that a name of a namespace stands for: those of its longest known beginning, then of its stem."""
    table = index().names[space]
    name = normal(space, name)
    separator = SEPARATORS[space]
    part = name
    while part:
        found = table.get(part)
        if found is not None:
            return found
        part = part.rpartition(separator)[0] if separator else ""
    for stem, found in index().stems[space]:
        if name.startswith(stem):
            return found
    return NONE


@lru_cache(maxsize=8192)
def by_path(path: str) -> Skills:
    """The skills that a path stands for by the conventions of its name and its folders."""
    known = index()
    lower = "/" + path.lower()
    base = lower[lower.rfind("/") + 1 :]
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
    """`a.b.c` as the vocabulary may write it: itself, `a.b.*`, `a.*`, `*.b.c`, `*.c`."""
    yield base
    cut = base.rfind(".")
    while cut > 0:
        yield base[:cut] + ".*"
        cut = base.rfind(".", 0, cut)
    cut = base.find(".", 1)
    while cut >= 0:
        yield "*" + base[cut:]
        cut = base.find(".", cut + 1)


def by_word(word: str) -> str | None:
    """The skill that a repository topic or a label names, whole."""
    return index().words.get(plain(word))

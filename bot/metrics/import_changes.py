"""Which modules does a commit begin or stop to import, and which packages does it declare, file by file?

Only imports that a graph of the repository's own folders can resolve later are read: Python, JavaScript and TypeScript,
Go, Rust, Java and Kotlin, C and C++. Imports inside a Python function are left out: they load when they are called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from posixpath import dirname, normpath

from bot.landing.lines.split import ReadFile
from bot.metrics.imports import import_lines, syntax_by_language
from bot.model.fact import ImportChange

_MOST_FILES = 100
_MOST_NAMES = 40
_LONGEST = 300
"""characters read of a line"""

_PYTHON = re.compile(r"(?:from (\.*)([\w.]*) c?import \(?([\w, ]*)|c?import ([\w., ]+))")
_JAVASCRIPT = re.compile(r"(?!//|\*|/\*)(?:[^\n]*?\b(?:from|require|import)\b ?\(? ?)[\"'`](@?[\w.][\w@./-]*)[\"'`]")
_GO = re.compile(r"(?:import )?(?:[\w.]+ )?\"([\w.~-]+(?:/[\w.~-]+)+)\"")
_RUST = re.compile(r"(?:pub(?:\([a-z ]+\))? )?use (?:::)?([A-Za-z_]\w*(?:::\w+)*)")
_JAVA = re.compile(r"import (?:static )?([a-z]\w*(?:\.\w+)+)")
_C = re.compile(r"# ?include \"([\w./+-]+)\"")

_DECLARATIONS: Mapping[str, re.Pattern[str]] = {
    "go.mod": re.compile(r"module (\S+)"),
    "package.json": re.compile(r"\s{1,4}\"name\": ?\"([^\"]+)\""),
    "Cargo.toml": re.compile(r"name ?= ?\"([\w-]+)\""),
}
MANIFESTS = tuple(_DECLARATIONS)
DECLARES = "="
"""before the name that a file gives to the package in its folder"""
ANCHOR = "/"
"""before a path from the root of the repository"""


def import_changes(read: Sequence[ReadFile]) -> tuple[ImportChange, ...]:
    """What each file of a commit begins and stops to import, in the order of the files."""
    found = []
    for file in read:
        change = _declaration(file) or _imports(file)
        if change is not None:
            found.append(change)
    return tuple(found[:_MOST_FILES])


def _declaration(file: ReadFile) -> ImportChange | None:
    pattern = _DECLARATIONS.get(file.change.path.rpartition("/")[2])
    if pattern is None:
        return None
    name = next((match[1] for line in file.added if (match := pattern.match(line))), None)
    return (file.change.path, (DECLARES + name,), ()) if name else None


def _imports(file: ReadFile) -> ImportChange | None:
    syntax = syntax_by_language().get(file.language) if file.language and file.part == "authored" else None
    names = _READERS.get(syntax.family) if syntax else None
    if syntax is None or names is None:
        return None
    sides = []
    for lines in (file.added, file.removed):
        wanted = import_lines(lines, "\n".join(lines), syntax, flush=syntax.family == "python") if lines else ()
        read = (name for line in wanted for name in names(line.strip()[:_LONGEST], file.change.path))
        sides.append(dict.fromkeys(read))
    begun = tuple(name for name in sides[0] if name not in sides[1])[:_MOST_NAMES]
    ended = tuple(name for name in sides[1] if name not in sides[0])[:_MOST_NAMES]
    return (file.change.path, begun, ended) if begun or ended else None


def _python(line: str, path: str) -> Iterator[str]:
    match = _PYTHON.match(line)
    if match is None:
        return
    dots, module, names, plain = match.groups()
    if plain:
        yield from (name.split()[0].replace(".", "/") for name in plain.split(",") if name.split())
        return
    base = module.replace(".", "/")
    if dots:
        folder = dirname(path)
        for _ in dots[1:]:
            folder = dirname(folder)
        base = ANCHOR + "/".join(filter(None, (folder, base)))
    found = [name.split()[0] for name in (names or "").split(",") if name.split()]
    yield from (f"{base.rstrip('/')}/{name}" for name in found)
    if not found:
        yield base


def _javascript(line: str, path: str) -> Iterator[str]:
    match = _JAVASCRIPT.match(line)
    if match is not None:
        name = match[1]
        yield ANCHOR + normpath(f"{dirname(path)}/{name}").lstrip("./") if name.startswith(".") else name


def _go(line: str, _path: str) -> Iterator[str]:
    match = _GO.match(line)
    if match is not None:
        yield match[1]


def _rust(line: str, path: str) -> Iterator[str]:
    match = _RUST.match(line)
    if match is None:
        return
    first, *rest = match[1].split("::")
    if first == "crate":
        root, mark, _ = f"/{path}".rpartition("/src/")
        yield ANCHOR + "/".join((f"{root}{mark}".strip("/"), *rest)).lstrip("/")
    elif first == "super":
        folder = dirname(path) if path.rpartition("/")[2] != "mod.rs" else dirname(dirname(path))
        while rest and rest[0] == "super":
            folder, rest = dirname(folder), rest[1:]
        yield ANCHOR + "/".join(filter(None, (folder, *rest)))
    elif first not in ("self", "std", "core", "alloc"):
        yield "/".join((first, *rest))


def _java(line: str, _path: str) -> Iterator[str]:
    match = _JAVA.match(line)
    if match is not None:
        yield match[1].replace(".", "/")


def _c(line: str, path: str) -> Iterator[str]:
    match = _C.match(line)
    if match is not None:
        name = match[1]
        yield ANCHOR + normpath(f"{dirname(path)}/{name}").lstrip("./") if name.startswith("..") else name


_READERS: Mapping[str, Callable[[str, str], Iterator[str]]] = {
    "python": _python,
    "javascript": _javascript,
    "go": _go,
    "rust": _rust,
    "java": _java,
    "c": _c,
}

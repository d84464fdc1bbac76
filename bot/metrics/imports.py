"""Which names does a line of source code import? `imports.toml` has one row for each import syntax."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

import msgspec
from msgspec import Struct

from bot.configuration.package_files import read_bytes

_LONGEST = 300
"""characters read of a line"""


class Syntax(Struct, frozen=True):
    """How some languages import.

    A line is read if it contains one of `needles`. Each group of `pattern`, matched at the first character that is not
    blank, is a name, or names separated by commas.
    """

    family: str
    languages: tuple[str, ...]
    space: str
    needles: tuple[str, ...]
    pattern: str


_compiled = cache(re.compile)  # compiled on demand: a repository uses few languages

SYNTAXES = msgspec.json.decode(read_bytes("bot.metrics", "imports.json"), type=tuple[Syntax, ...])


@cache
def syntax_by_language() -> Mapping[str, Syntax]:
    """The syntax of each language; the first row that names it counts."""
    found: dict[str, Syntax] = {}
    for syntax in SYNTAXES:
        for language in syntax.languages:
            found.setdefault(language, syntax)
    return found


@cache
def syntax_by_family() -> Mapping[str, Syntax]:
    """The syntax of each family."""
    return {syntax.family: syntax for syntax in SYNTAXES}


def import_lines(lines: Sequence[str], text: str, syntax: Syntax, *, flush: bool = False) -> Iterable[str]:
    """The lines that may import something; `text` is the lines joined. `flush`: only unindented ones."""
    needles = [needle for needle in syntax.needles if needle in text]
    if not needles:
        return ()
    found = _candidates(lines, text, needles)
    return [line for line in found if line[:1] not in " \t"] if flush else found


def imported_names(line: str, syntax: Syntax) -> Iterator[str]:
    """The names that one line imports."""
    found = _compiled(syntax.pattern).match(line.strip()[:_LONGEST])
    if found is not None:
        for group in found.groups():
            if group:
                yield from _split_names(group)


def _candidates(lines: Sequence[str], text: str, needles: Sequence[str]) -> Iterator[str]:
    """The lines with a needle, found in the joined text, so that lines without one cost nothing."""
    if len(needles) == 1:
        needle = needles[0]
        yield from [line for line in lines if needle in line]
        return
    starts: set[int] = set()
    for needle in needles:
        at = text.find(needle)
        while at >= 0:
            start = text.rfind("\n", 0, at) + 1
            end = text.find("\n", at)
            if start not in starts:
                starts.add(start)
                yield text[start : end if end >= 0 else len(text)]
            at = text.find(needle, end) if end >= 0 else -1


def _split_names(group: str) -> Iterator[str]:
    """`a, b as c` gives a and b."""
    if "," not in group and " " not in group:
        yield group
        return
    for name in group.split(","):
        first = name.split(maxsplit=1)
        if first:
            yield first[0]

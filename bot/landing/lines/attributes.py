"""What do a repository's attributes files say about a path, by git's own rules (gitattributes(5))?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from msgspec import Struct, field

from bot.landing.lines.globs import glob

Value = bool | str | None

_NAME = re.compile(r"[A-Za-z0-9_.][-A-Za-z0-9_.]*\Z")
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", '"': '"', "\\": "\\"}
_BINARY: tuple[tuple[str, Value], ...] = (("diff", False), ("merge", False), ("text", False))
_LONGEST_LINE = 2_048
_MOST_LINES = 20_000


class AttributeLine(Struct, frozen=True):
    """One line: its pattern, and the settings for matching paths in the order written."""

    pattern: re.Pattern[str]
    settings: tuple[tuple[str, Value], ...]


class Attributes(Struct, frozen=True, eq=False):
    """The attributes files of one repository. Later lines win, and deeper folders win over the root."""

    lines: tuple[AttributeLine, ...] = ()
    macros: Mapping[str, tuple[tuple[str, Value], ...]] = field(default_factory=lambda: {"binary": _BINARY})

    @classmethod
    def parse(cls, text: str) -> Attributes:
        """The attributes in the text of the root `.gitattributes`. As in git, a malformed line is skipped."""
        return cls.of({".gitattributes": text})

    @classmethod
    def of(cls, files: Mapping[str, str]) -> Attributes:
        """The attributes in several files, by path. Macros are read only from the file at the root."""
        lines: list[AttributeLine] = []
        macros: dict[str, tuple[tuple[str, Value], ...]] = {"binary": _BINARY}
        for path in sorted(files, key=lambda path: (path.count("/"), path)):
            base = path[: path.rfind("/") + 1]
            for pattern, settings in _read_lines(files[path]):
                if pattern.startswith("[attr]"):
                    if not base:
                        macros[pattern[6:].strip()] = settings
                elif not pattern.startswith("!"):
                    lines.append(AttributeLine(glob(pattern, base), settings))
        return cls(tuple(lines), macros)

    def get(self, path: str, name: str) -> Value:
        """True (set), False (unset), the text of a value, or None (unspecified, or reset by `!name`).

        The values "true" and "false" are returned as True and False, as Linguist reads them.
        """
        found = _attributes_of(self, path).get(name)
        return {"true": True, "false": False}.get(found, found) if isinstance(found, str) else found

    def all(self, path: str) -> dict[str, Value]:
        """Every attribute of the path, as `git check-attr -a` prints them."""
        return dict(_attributes_of(self, path))

    def fill(self, settings: tuple[tuple[str, Value], ...], values: dict[str, Value]) -> None:
        """Read from the last setting back, as in git: the first value found wins, and only then does a macro expand."""
        opened = [reversed(settings)]
        while opened:
            for name, value in opened[-1]:
                if name not in values:
                    values[name] = value
                    if value is True and name in self.macros:
                        opened.append(reversed(self.macros[name]))
                        break
            else:
                opened.pop()


@lru_cache(maxsize=4096)
def _attributes_of(attributes: Attributes, path: str) -> Mapping[str, Value]:
    """Cached, because callers ask for several attributes of one path."""
    values: dict[str, Value] = {}
    for line in reversed(attributes.lines):
        if line.pattern.match(path):
            attributes.fill(line.settings, values)
    return {name: value for name, value in values.items() if value is not None}


NO_ATTRIBUTES = Attributes()


def _read_lines(text: str) -> Iterator[tuple[str, tuple[tuple[str, Value], ...]]]:
    """(pattern, settings) of each valid line."""
    for raw in text.removeprefix("\ufeff").split("\n")[:_MOST_LINES]:
        line = raw.strip(" \t\r")
        if not line or line.startswith("#") or len(line) > _LONGEST_LINE:
            continue
        pattern, rest = _pattern(line)
        if pattern.startswith("[attr]") and not _NAME.match(pattern[6:].strip()):
            continue
        settings = _settings(rest.split())
        if settings is not None and pattern:
            yield pattern, settings


def _pattern(line: str) -> tuple[str, str]:
    """The pattern, either C-quoted or up to the first blank, and the rest of the line."""
    if line.startswith("[attr]"):
        words = line[6:].split(None, 1)
        return "[attr]" + (words[0] if words else ""), words[1] if len(words) > 1 else ""
    if line.startswith('"'):
        unquoted = _unquote(line)
        if unquoted is not None:
            return unquoted
    words = line.split(None, 1)
    return words[0], words[1] if len(words) > 1 else ""


def _unquote(line: str) -> tuple[str, str] | None:
    """The text between the quotes with its escapes decoded, and what follows; None if it is malformed."""
    out = bytearray()
    at = 1
    while at < len(line) and line[at] != '"':
        step = _escape(line, at) if line[at] == "\\" else (line[at].encode(errors="surrogateescape"), at + 1)
        if step is None:
            return None
        out += step[0]
        at = step[1]
    if at >= len(line):
        return None
    return out.decode(errors="surrogateescape"), line[at + 1 :]


def _escape(line: str, at: int) -> tuple[bytes, int] | None:
    letter = line[at + 1 : at + 2]
    if letter in _ESCAPES and letter:
        return _ESCAPES[letter].encode(), at + 2
    octal = line[at + 1 : at + 4]
    if len(octal) == 3 and octal[0] in "0123" and all(digit in "01234567" for digit in octal):
        return bytes([int(octal, 8)]), at + 4
    return None


def _settings(words: list[str]) -> tuple[tuple[str, Value], ...] | None:
    """The settings of a line; None if git does not allow one of the names, which makes the line invalid."""
    out: list[tuple[str, Value]] = []
    for word in words:
        if word[0] in "-!":
            name = word[1:]
            value: Value = False if word[0] == "-" else None
        else:
            name, equals, text = word.partition("=")
            value = text if equals else True
        if not _NAME.match(name) or name.startswith("builtin_"):
            return None
        out.append((name, value))
    return tuple(out)

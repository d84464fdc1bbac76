"""Which language do the first lines of a file suggest, by Linguist's rules about content, mode lines and interpreters?

Only a bounded head is searched, and its lines are truncated, so that no text can make a pattern slow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from bot.configuration.package_files import read_bytes

HEAD_CHARACTERS = 16_384
HEAD_LINES = 400
LINE_CHARACTERS = 200

_EMACS = re.compile(
    r"-\*-[ \t]*(?:([^:;\s]+)[ \t]*-\*-|(?:[^\n]{0,150}?[ \t;])?mode[ \t]*:[ \t]*([^:;\s]+?)[ \t]*(?:;|-\*-))", re.I
)
_VIM = re.compile(
    r"(?:(?:^|[ \t])(?:vi|Vi(?=m))(?:m[<=>]?\d+|m)?|[ \t]ex):"
    r"[^\n]{0,150}?[ \t:](?:filetype|ft|syntax)[ \t]*=(\w+)(?=$|\s|:)",
    re.M,
)
_EXEC = re.compile(r"exec (\w+)[\s\"']+\$0[\s\"']+\$@")
_ENV_OPTION = re.compile(r"-[i0uCSv]*|--\S+|\S+=\S+")
_MODE_LINES = 5
_VIM_OPTIONS = ("ft", "syntax", "filetype")
_LINE_START = re.compile(r"(?:\((?:\?:|\?i:)?)*\^")
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|[(|)]", re.DOTALL)
"""an escape, a character set, or a character that structures the pattern"""


def head(text: str) -> list[str]:
    """The lines of a text that the rules examine: at most 400, of 200 characters each."""
    return cut(text[:HEAD_CHARACTERS].split("\n")[:HEAD_LINES])


def cut(lines: list[str]) -> list[str]:
    return [line[:LINE_CHARACTERS] for line in lines] if max(map(len, lines), default=0) > LINE_CHARACTERS else lines


def editor_mode(lines: Sequence[str]) -> str | None:
    """The mode that an Emacs or Vim line names within the first or last five lines."""
    few = len(lines) <= 2 * _MODE_LINES
    edge = "\n".join(lines if few else (*lines[:_MODE_LINES], *lines[-_MODE_LINES:]))
    emacs = "-*-" in edge
    vim = "=" in edge and ":" in edge and any(map(edge.__contains__, _VIM_OPTIONS))
    if not (emacs or vim) or "UseVimball" in edge:
        return None
    found = _EMACS.search(edge) if emacs else None
    if found:
        return found[1] or found[2]
    vim_mode = _VIM.search(edge) if vim else None
    return vim_mode[1] if vim_mode else None


def interpreter(lines: Sequence[str]) -> str:
    """The program that a `#!` line names, without its folder and minor version; empty if none."""
    words = lines[0][2:].split()
    if not words:
        return ""
    name = words[0].rsplit("/", 1)[-1]
    if name == "env":
        rest = words[1:]
        while len(rest) > 1 and _ENV_OPTION.fullmatch(rest[0]):
            rest = rest[1:]
        name = rest[0].rsplit("/", 1)[-1] if rest else ""
    if name == "sh":
        script = _EXEC.search("\n".join(lines[:_MODE_LINES]))
        name = script[1] if script else name
    if name == "osascript" and "-l" in words:
        return ""
    return re.sub(r"\.\d+$", "", name)


def is_xml(lines: Sequence[str]) -> bool:
    return any("<?xml version=" in line for line in lines[:2])


Search = Callable[[str, str], bool]
"""whether a text matches; called with the text, and with the text after a line break"""


class Rule(Struct, frozen=True):
    """One rule of a disambiguation: the language, if every wanted pattern matches and no unwanted one does."""

    language: str | None
    conditions: tuple[tuple[bool, Search], ...]

    def holds(self, text: str, rooted: str) -> bool:
        return not [wanted for wanted, search in self.conditions if search(text, rooted) is not wanted]


@cache
def _raw() -> dict[str, Any]:
    raw: dict[str, Any] = json.loads(read_bytes("bot.landing.lines", "linguist_data/heuristics.json"))
    return raw


@cache
def rules(extension: str) -> tuple[Rule, ...]:
    """Linguist's disambiguation rules for that extension, compiled at first use."""
    raw = _raw()
    at = raw["extensions"].get(extension)
    return () if at is None else tuple(_rule(*row) for row in raw["rules"][at])


def _rule(language: str | list[str] | None, conditions: list[tuple[int, str]]) -> Rule:
    """Where a rule leaves several languages open, as Linguist's for `.mod` does, the first is used."""
    one = language[0] if isinstance(language, list) else language
    return Rule(one, tuple((bool(wanted), compile_search(pattern)) for wanted, pattern in conditions))


def compile_search(pattern: str) -> Search:
    """A fast search for a pattern: its alternatives are tried one by one, each only where it can start."""
    ways = [_one_way(one) for one in _alternatives(pattern)]
    return ways[0] if len(ways) == 1 else lambda text, rooted: any(way(text, rooted) for way in ways)


def _one_way(pattern: str) -> Search:
    flags = re.MULTILINE | re.ASCII
    if pattern.startswith("\\A"):
        at_start = re.compile(pattern, flags).match
        return lambda text, rooted: at_start(text) is not None
    opened = _LINE_START.match(pattern)
    if opened and "^" not in re.sub(r"\[\^|\\\^", "", pattern[opened.end() :]):
        # a search that starts with a line break jumps from line to line; one for a line's start tries each character
        on_line = re.compile(opened[0][:-1] + "\\n" + pattern[opened.end() :], flags).search
        return lambda text, rooted: on_line(rooted) is not None
    anywhere = re.compile(pattern, flags).search
    return lambda text, rooted: anywhere(text) is not None


def _alternatives(pattern: str) -> Iterator[str]:
    """The parts of a pattern between the bars that are outside all brackets."""
    start = depth = 0
    for token in _TOKEN.finditer(pattern):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if token[0] == "|" and not depth:
            yield pattern[start : token.start()]
            start = token.end()
    yield pattern[start:]


def has_rules(extension: str) -> bool:
    """Whether there are rules about the content of files with this extension."""
    return extension in _raw()["extensions"]


def language_by_rules(extension: str, lines: Sequence[str]) -> str | None:
    """The language of the first rule that matches."""
    known = rules(extension)
    if not known:
        return None
    text = "\n".join(lines)
    rooted = "\n" + text
    for rule in known:
        if rule.holds(text, rooted):
            return rule.language
    return None


@cache
def default_language(extension: str) -> str | None:
    """Linguist's choice when no pattern of this extension matches."""
    return next((rule.language for rule in rules(extension) if not rule.conditions), None)

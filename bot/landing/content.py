"""Which language the first lines of a file speak: Linguist's rules about content, mode lines and interpreters.

Only a bounded head is ever searched, and its lines are cut, so that no text can make a pattern slow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import islice
from typing import Any

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


def head(text: str) -> str:
    """The part of a text that rules look at: at most 400 lines of 200 characters."""
    return cut(islice(text[:HEAD_CHARACTERS].split("\n"), HEAD_LINES))


def cut(lines: Iterable[str]) -> str:
    return "\n".join([line[:LINE_CHARACTERS] for line in lines])


def editor_mode(text: str) -> str | None:
    """The mode an Emacs or Vim line names within the first or last five lines."""
    if "-*-" not in text and "vi" not in text and "ex:" not in text and "Vi" not in text:
        return None
    lines = text.split("\n")
    edge = "\n".join(lines if len(lines) <= 2 * _MODE_LINES else lines[:_MODE_LINES] + lines[-_MODE_LINES:])
    if "UseVimball" in edge:
        return None
    found = _EMACS.search(edge)
    if found:
        return found[1] or found[2]
    vim = _VIM.search(edge)
    return vim[1] if vim else None


def interpreter(text: str) -> str:
    """The program that a `#!` line names, without its folder and minor version; empty if none."""
    words = text.split("\n", 1)[0][2:].split()
    if not words:
        return ""
    name = words[0].rsplit("/", 1)[-1]
    if name == "env":
        rest = words[1:]
        while len(rest) > 1 and _ENV_OPTION.fullmatch(rest[0]):
            rest = rest[1:]
        name = rest[0].rsplit("/", 1)[-1] if rest else ""
    if name == "sh":
        script = _EXEC.search("\n".join(text.split("\n", _MODE_LINES)[:_MODE_LINES]))
        name = script[1] if script else name
    if name == "osascript" and "-l" in words:
        return ""
    return re.sub(r"\.\d+$", "", name)


def is_xml(text: str) -> bool:
    return "<?xml version=" in "\n".join(text.split("\n", 2)[:2])


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a disambiguation: all patterns found or, where not wanted, not found -> the language."""

    language: str | None
    conditions: tuple[tuple[bool, re.Pattern[str]], ...]

    def holds(self, text: str) -> bool:
        return all((pattern.search(text) is not None) is wanted for wanted, pattern in self.conditions)


@cache
def _raw() -> dict[str, Any]:
    text = resources.files("bot.landing").joinpath("linguist_data", "heuristics.json").read_text(encoding="utf-8")
    raw: dict[str, Any] = json.loads(text)
    return raw


@cache
def rules(extension: str) -> tuple[Rule, ...]:
    """Linguist's disambiguation of that extension, compiled when first asked for."""
    raw = _raw()
    at = raw["extensions"].get(extension)
    return () if at is None else tuple(_rule(*row) for row in raw["rules"][at])


def _rule(language: str | None, conditions: list[tuple[int, str]]) -> Rule:
    flags = re.MULTILINE | re.ASCII
    return Rule(language, tuple((bool(wanted), re.compile(pattern, flags)) for wanted, pattern in conditions))


def decides(extension: str) -> bool:
    """Whether content has a say in this extension."""
    return extension in _raw()["extensions"]


def decide(extension: str, text: str) -> str | None:
    """The language of the first rule that holds."""
    return next((rule.language for rule in rules(extension) if rule.holds(text)), None)


@cache
def preferred(extension: str) -> str | None:
    """What Linguist takes when no pattern of this extension is found."""
    return next((rule.language for rule in rules(extension) if not rule.conditions), None)

"""What does a landing say it belongs to? Issues, tickets, stacks, series and scopes, as keys for grouping items."""

from __future__ import annotations

import re

from bot.landing.conventions.recognition import Recognised
from bot.model.commit import Landing

_NUMBERS = (
    (("#",), re.compile(r"#(\d{1,7})\b")),
    (("h-", "H-"), re.compile(r"\b[Gg][Hh]-(\d{1,7})\b")),
    (("/issues/", "/pull/"), re.compile(r"/(?:issues|pull)/(\d{1,7})\b")),
)
"""how a number is written, with a substring of every such text: searching for that first is much cheaper"""
_REPOSITORY = re.compile(r"(?:https://[\w.-]{1,100}/)?([\w.-]{1,39}/[\w.-]{1,100})$")
_LINK_WORDS = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?|references|part of|follow[- ]?up (?:to|of|for)|reland of|see|"
    r"for|related(?: to)?|addresses|towards?)\s{0,3}:?\s{0,3}$",
    re.IGNORECASE,
)
_BEFORE = 280
"""characters before a number that contain the repository and the linking word"""
_TICKET = re.compile(r"^\W{0,2}([A-Z][A-Z0-9]{1,9}-\d{1,7})\b")
_NO_TICKETS = frozenset({"CVE", "PEP", "RFC", "UTF", "SHA", "ISO", "MD", "GH", "BASE", "PY", "X"})
_STACK_LINE = re.compile(r"^\s{0,8}(?:[*-]\s{0,3})?(?:__->__\s{0,3}|\*\*|➡️\s{0,3}|👉\s{0,3})?#(\d{1,7})\b")
_STACK_HEAD = ("stack from", "stack:", "stacked on", "this stack", "* **#", "graphite")
_SERIES = re.compile(r"[\[(]?\b(?P<at>\d{1,3}|n)\s?(?:/|of)\s?(?P<of>\d{1,3}|n)\b[\])]?", re.IGNORECASE)
_SCOPE = re.compile(r"^[a-zA-Z]{2,15}\((?P<scope>[^()\n]{1,40})\)!?:|^\[(?P<tag>[^\]\n]{1,40})\]")
_MOST = 12
"""a text with more issues than this is a list (release notes, a roll-up) and links nothing"""
_MOST_MARKS = 60
_HEAD = 20_000
"""characters read of a message"""


def _issues(text: str, repository: str) -> list[str]:
    """Search for numbers first: they are rare, and looking back from one is cheaper than searching for every word."""
    if text.count("#") > _MOST_MARKS:
        return []
    patterns = [pattern for signs, pattern in _NUMBERS if any(map(text.__contains__, signs))]
    found = {link for each in patterns for match in each.finditer(text) if (link := _link_key(text, match, repository))}
    return sorted(found) if len(found) <= _MOST else []


def _link_key(text: str, match: re.Match[str], repository: str) -> str | None:
    """The key of one number, if a linking word precedes it."""
    before = text[max(match.start() - _BEFORE, 0) : match.start()].rpartition("\n")[2]
    named_repository = _REPOSITORY.search(before, before.rfind(" ") + 1) if before[-1:].strip() else None
    if not named_repository and match[0][0] == "/":
        return None
    words_before = before[: named_repository.start()] if named_repository else before
    number = match[1]
    return (
        f"issue:{named_repository[1] if named_repository else repository}#{number}"
        if _LINK_WORDS.search(words_before[-30:])
        else None
    )


def _stack(text: str, repository: str) -> list[str]:
    """Pull requests of a stack block, as ghstack, Graphite and spr write it into the body."""
    if "#" not in text or not any(map(text.lower().__contains__, _STACK_HEAD)):
        return []
    lines = text.split("\n")
    heads = [index for index, line in enumerate(lines) if line.strip().lower().startswith(_STACK_HEAD)]
    numbers: set[str] = set()
    for head in heads[:2]:
        for line in lines[head : head + 40]:
            match = _STACK_LINE.match(line)
            if match:
                numbers.add(match[1])
    return [f"stack:{repository}#{number}" for number in sorted(numbers, key=int)] if len(numbers) > 1 else []


def _series(title: str, scope: str) -> list[str]:
    if not scope:
        return []
    match = _SERIES.search(title)
    if not match or (match["at"].isdigit() and match["of"].isdigit() and int(match["at"]) > int(match["of"])):
        return []
    return [f"series:{scope}|{match['of'].lower()}"]


def scope_of(title: str) -> str:
    """The scope of a conventional prefix or the leading bracket tag, in lower case; empty if there is none."""
    match = _SCOPE.match(title.strip())
    return (match["scope"] or match["tag"]).strip().lower() if match else ""


def links(landing: Landing, recognised: Recognised) -> tuple[str, ...]:
    """Keys for what this landing says it belongs to, sorted: `issue:`, `ticket:`, `stack:`, `series:` and `scope:`."""
    repository = landing.repository.full_name
    pull_request = landing.pull_request
    text = landing.commit.message[:_HEAD] + ("\n" + pull_request.body[:_HEAD] if pull_request else "")
    title = recognised.title
    scope = scope_of(title)
    keys = _issues(text, repository) + _stack(text, repository) + _series(title, scope)
    ticket = _TICKET.match(title)
    if ticket and ticket[1].split("-")[0] not in _NO_TICKETS:
        keys.append(f"ticket:{ticket[1]}")
    if scope:
        keys.append(f"scope:{scope}")
    return tuple(sorted(set(keys)))

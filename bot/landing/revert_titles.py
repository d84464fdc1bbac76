"""What does a subject such as `Revert "Title (#12)"` say it takes back?"""

from __future__ import annotations

import re

from bot.landing.keys import plain_title, pull_key, title_key
from bot.landing.reading import Finding, Reading, number_at_end, pull_reference

COMMIT = re.compile(r"\b[0-9a-f]{7,40}\b")
DIFF = re.compile(r"\bD([1-9][0-9]{3,11})\b")
QUOTED = re.compile(
    r"^(?:\[[^\]]{1,40}\] ?){0,3}(?:[a-z]{2,12}(?:\([^()]{0,60}\))?!?: ?)?"
    r"(?:partial(?:ly)? )?(revert|back out|backout|unland|roll ?back|reapply|reland|re-land)(?:ed|s)?(?:[: ]|: )? ?"
    r"[\"“'](.{3,400})",
    re.IGNORECASE,
)
PREFIXED = re.compile(r"^revert(?:\(([^()]{0,60})\))?!?: ?(.{3,400})", re.IGNORECASE)
PLAIN = re.compile(
    r"^(?:\[[^\]]{1,40}\] ?){0,3}(?:partial(?:ly)? )?"
    r"(?:revert(?:s|ed|ing)?|back(?:ed|ing)? ?out|unland|roll ?back)\b:? ?(.{0,300})",
    re.IGNORECASE,
)
_LONGEST_TITLE = 400


def says_revert(subject: str) -> bool:
    return bool(QUOTED.match(subject) or PREFIXED.match(subject) or PLAIN.match(subject))


def read_title(reading: Reading) -> Finding | None:
    """`Revert "T"`, nested as often as buttons were pressed: an even number of times brings T back."""
    depth, title, whole = 0, reading.subject, ""
    while depth < 20 and (found := QUOTED.match(title)):
        if found[1].lower() in ("reapply", "reland", "re-land"):
            depth += 1
        depth += 1
        title = _inner(found[2])
        whole = whole or title
    if not depth:
        return _without_quotes(reading)
    keys = named_targets(title, reading.repository)
    if depth % 2:
        return Finding(reverts=(*(named_targets(whole, reading.repository) if whole != title else ()), *keys))
    again = (title_key(reading.repository, whole),) if whole != title else ()
    return Finding(reverts=again, relands=keys)


def _without_quotes(reading: Reading) -> Finding | None:
    prefixed = PREFIXED.match(reading.subject)
    if prefixed:
        scope, title = prefixed[1], without_numbers(prefixed[2])
        return (
            Finding(reverts=(title_key(reading.repository, title),))
            if not scope
            else Finding(reverts=(title_key(reading.repository, title), *spelt_targets(title, reading.repository)))
        )
    plain = PLAIN.match(reading.subject)
    if plain is None:
        return None
    diff, colon, title = plain[1].partition(": ")
    titles = (
        (title_key(reading.repository, title),) if colon and DIFF.fullmatch(diff.strip()) and len(title) > 2 else ()
    )
    keys = (*spelt_targets(plain[1], reading.repository), *titles)
    return Finding(reverts=keys) if keys else None


def spelt_targets(text: str, repository: str) -> tuple[str, ...]:
    """A commit or pull request named right behind the word."""
    words = text.split()[:4]
    while words and words[0].lower().strip(":") in ("commit", "pr", "pull", "request", "merge", "of"):
        words = words[1:]
    if not words:
        return ()
    target = pull_reference(words[0], repository)
    if target is not None:
        return (pull_key(*target),)
    sha = words[0].strip(".,:;()\"'")
    return (f"commit:{sha}",) if COMMIT.fullmatch(sha) and is_commit_id(sha) else ()


def _inner(quoted: str) -> str:
    """The text up to the quote that closes the outermost one."""
    for mark in ('"', "”", "'"):
        at = quoted.rfind(mark)
        if at > 0 and _only_numbers(quoted[at + 1 :]):
            return quoted[:at].strip()
    return without_numbers(quoted).rstrip("\"'”…").strip()


def _only_numbers(text: str) -> bool:
    return not without_numbers(text).strip("\"'” .")


def without_numbers(text: str) -> str:
    while (numbered := number_at_end(text.rstrip())) is not None:
        text = numbered[1]
    return text.rstrip()


def named_targets(title: str, repository: str) -> tuple[str, ...]:
    """The keys of what a quoted title means: the number inside it, the merge it quotes, the title itself."""
    merged = title.lower().removeprefix("rollup ").removeprefix("auto ")
    if merged.startswith(("merge pull request #", "merge of #", "merge #")):
        target = pull_reference("#" + title.partition("#")[2], repository)
        return (pull_key(*target),) if target else ()
    numbered = number_at_end(title)
    keys = (pull_key(repository, numbered[0]),) if numbered else ()
    return (*keys, title_key(repository, title[:_LONGEST_TITLE])) if plain_title(title) else keys


def is_commit_id(text: str) -> bool:
    """A hexadecimal word that is no plain number and no English word."""
    return len(text) == 40 or (any(sign.isdecimal() for sign in text) and any(sign.isalpha() for sign in text))

"""Which commit, pull request, revision or issue follows a word such as `Revert`?"""

from __future__ import annotations

import re

from bot.landing.message.parts import LandingReading, leading_number, pull_reference
from bot.landing.same_work.keys import pull_key, title_key

COMMIT = re.compile(r"\b[0-9a-f]{7,40}\b")
_ISSUE = re.compile(r"[\[(]?([A-Z][A-Z0-9]{1,15})-([1-9][0-9]{0,6})(?![A-Za-z0-9-])")
_NO_TRACKERS = frozenset(
    "AES,AVX,BASE,CRC,CVE,ECMA,ES,GPL,HTTP,IPV,ISO,JDK,KIP,LGPL,MD,PEP,RC,RFC,RSA,SHA,SSE,TLS,UCS,UTF".split(",")  # noqa: SIM905 - one line, not 24
)
"""prefixes before a hyphen and a number that are no issue tracker's project"""
_BEFORE_PULLS = frozenset(("pr", "pull", "request"))
_BEFORE_LISTS = frozenset(("cl", "changelist"))
_BEFORE = _BEFORE_PULLS | _BEFORE_LISTS | {"commit", "merge", "of", "changeset"}
_BEFORE_ISSUES = frozenset(
    (
        "a",
        "accidental",
        "change",
        "changes",
        "commit",
        "fix",
        "for",
        "merge",
        "my",
        "of",
        "patch",
        "previous",
        "the",
        "to",
    )
)
_REVISION_FROM = 10_000
"""a smaller number after the word is more likely a port, a year or a count than a revision"""


def explicit_targets(text: str, reading: LandingReading) -> tuple[str, ...]:
    """A commit, changelist or pull request named right after the word."""
    words = text.split()[:5]
    introduced_by = ""
    while words and (word := words[0].lower().strip(":")) in _BEFORE:
        introduced_by = word if word != "of" else introduced_by
        words = words[1:]
    if not words:
        return ()
    word = words[0].strip(".,:;()\"'")
    if (change := _changelist(word, introduced_by)) is not None:
        return (f"piper:{change}",)
    named = words[0] if introduced_by not in _BEFORE_PULLS or "#" in word else "#" + word
    target = pull_reference(named, reading.repository, reading.host)
    if target is not None:
        return (pull_key(*target),)
    word = word.rpartition("/commit/")[2]
    if not COMMIT.fullmatch(word) or not is_commit_id(word):
        return ()
    return (f"commit:{word}", *([f"shipit:{word[:12]}"] if introduced_by == "changeset" and len(word) >= 12 else []))


def _changelist(word: str, introduced_by: str) -> int | None:
    """The number of `changelist 123456789` or `cl/123456789`, which Copybara writes as PiperOrigin-RevId."""
    if word.lower().startswith("cl/"):
        return leading_number(word[3:])
    return leading_number(word) if introduced_by in _BEFORE_LISTS else None


def is_commit_id(text: str) -> bool:
    """Whether a hexadecimal word is neither a plain number nor an English word."""
    return len(text) == 40 or (any(sign.isdecimal() for sign in text) and any(sign.isalpha() for sign in text))


def issue_at_start(title: str) -> str | None:
    """The issue that a title begins with, as in `ABC-12: Add a parser` or `[ABC-12] …`."""
    found = _ISSUE.match(title)
    return f"{found[1]}-{found[2]}" if found and found[1] not in _NO_TRACKERS else None


def issues_of(title: str) -> set[str]:
    """The issue at a title's start, and the one after its last semicolon (`Add a parser; patched by A; ABC-12`)."""
    if "-" not in title:
        return set()
    found = (issue_at_start(title), issue_at_start(title.rpartition("; ")[2]))
    return {issue for issue in found if issue}


def issue_target(text: str, repository: str) -> tuple[str, ...]:
    """`Revert ABC-12`, `Revert commit to ABC-12 since …`: the latest earlier work whose title begins with it."""
    words = text.split()[:6]
    while words and (words[0].lower() in _BEFORE_ISSUES or not words[0].strip("0123456789abcdef")):
        words = words[1:]
    issue = issue_at_start(words[0]) if words else None
    return (title_key(repository, issue),) if issue else ()


def revision_targets(text: str, reading: LandingReading) -> tuple[str, ...]:
    """`Revert r1234567` in a history imported from Subversion; a revision after `back to` is not reverted."""
    origin = (reading.only_value("git-svn-id") or "").split()
    own = leading_number(origin[0].rpartition("@")[2]) if len(origin) == 2 else None
    if own is None:
        return ()
    words = [word.strip(".,:;()").lower() for word in text.partition(" back to ")[0].split()[:6]]
    numbers = [number for word in words if (number := leading_number(word.removeprefix("r"))) is not None]
    return tuple(f"svn:{origin[1].lower()}@{number}" for number in numbers if _REVISION_FROM <= number < own)


def previous_target(text: str, reading: LandingReading) -> tuple[str, ...]:
    """`Revert previous commit`: the parent."""
    words = [word.strip(".,:;").lower() for word in text.split()[:3]]
    words = words[1:] if words[:1] == ["the"] else words
    parents = reading.landing.commit.parents
    return (f"commit:{parents[0]}",) if words[:2] in (["previous", "commit"], ["last", "commit"]) and parents else ()

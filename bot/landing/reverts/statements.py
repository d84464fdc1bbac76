"""What does a commit say it reverts, and what does it say it brings back?

The form of targets is defined in `bot.landing.same_work.keys`. Each wording is from public histories; `FORMS` has
examples.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from bot.landing.message.lines import message_lines, read_message
from bot.landing.message.parts import NO_FINDING, LandingReading, MessageFinding, pull_address, pull_reference
from bot.landing.reverts.targets import COMMIT, explicit_targets, is_commit_id
from bot.landing.reverts.titles import (
    DIFF,
    PLAIN,
    QUOTED,
    is_revert_subject,
    named_targets,
    read_title,
    without_numbers,
)
from bot.landing.same_work.keys import PART, pull_key

_RELAND_PATTERN = re.compile(r"\bre-?land(?:s|ed|ing)?\b|\breappl(?:y|ies|ied)\b|\bre-?apply\b", re.IGNORECASE)
_RELAND_MARK = re.compile(
    r"^(?:\[ ?(?:re-?land|re-?apply)[^\]]{0,30}\] ?|(?:re-?land|re-?apply)(?:s|ed|ing)?\b[: ]? ?)", re.IGNORECASE
)
_RELAND_WORDS = ("reland", "re-land", "reappl", "re-appl")
"""the start of each of them"""
_PARTLY = re.compile(r"\b(?:partly|partially|parts? of|partial (?:revert|back|roll))", re.IGNORECASE)
_PARTIAL_REVERT = re.compile(
    r"\b(?:partly|partial|partially)(?: \w{1,12})? (?:revert|back|roll)"
    r"|\b(?:revert(?:s|ed|ing)?|back(?:s|ed|ing)? ?out|roll(?:s|ed|ing)? ?back)"
    r"(?:(?: (?:the|this|that|a|only|main|some)){0,2}| the \S{1,60}) (?:partly|partially|parts? of)\b",
    re.IGNORECASE,
)
_MOST_READ = 65_536
"""characters of a message that are searched for these words"""
_HEDGES = ("but ", "except ", "keep", "only ", "apart from", "while ")
_HEDGED = slice(60, 140)
"""where in a line they appear after the commit: beyond this they belong to its reasons"""


class RevertForm(Struct, frozen=True):
    """One wording of a revert or re-land."""

    name: str
    example: str
    evidence: str
    read: Callable[[LandingReading], MessageFinding | None]


def read_reverts(reading: LandingReading) -> MessageFinding:
    """Everything the commit says it reverts or brings back; an empty finding if nothing."""
    if not _worth_reading(reading):
        return NO_FINDING
    found = [finding for form in REVERT_FORMS if (finding := form.read(reading)) is not None]
    if not found and (pull := _pull_request_text(reading)) is not None:
        found = [finding for form in REVERT_FORMS if (finding := form.read(pull)) is not None]
    reverts = list(dict.fromkeys(key for finding in found for key in finding.reverts))
    relands = tuple(dict.fromkeys(key for finding in found for key in finding.relands))
    reverts, relands = own_keys(reading, reverts), tuple(own_keys(reading, relands))
    if _is_partial_revert(reading):
        reverts = [key if key.startswith(PART) else PART + key for key in reverts]
    return MessageFinding(reverts=tuple(reverts), relands=relands)


def own_keys(reading: LandingReading, keys: Sequence[str]) -> list[str]:
    """The keys; in imported history without pull requests, as the numbers are another repository's."""
    if not reading.is_imported_history:
        return list(keys)
    return [key for key in keys if not key.startswith(pull_key(reading.repository, 0)[:-1])]


def _pull_request_text(reading: LandingReading) -> LandingReading | None:
    """The pull request's own title and text, if its title says that it reverts something."""
    pull_request = reading.landing.pull_request
    lines = (
        [pull_request.title.strip(), *message_lines(pull_request.body)]
        if pull_request
        else [line.strip() for line in reading.merge_lines[1:]]
    )
    while lines and not lines[0]:
        lines = lines[1:]
    if not lines or not QUOTED.match(lines[0]):
        return None
    return reading._replace(subject=lines[0], lines=lines, message=read_message("\n".join(lines)))


_REVERT_WORDS = re.compile(r"re(?:vert|-?land|-?appl)")
_OTHER_REVERT_WORDS = re.compile(r"back(?:ed|ing)?[ -]?out|unland|roll(?:ed|ing)?[ -]?back|original (?:commit|phab)")
_HINTS = ("out", "back", "unland", "original ")


def _worth_reading(reading: LandingReading) -> bool:
    """Whether any text in reach mentions a revert or re-land.

    In a long message one word that starts with literal text is searched for, which is fast; the forms use other words
    only in the subject, or in a line that says "this partly".
    """
    lower = reading.message.lower[:_MOST_READ]
    if (
        _REVERT_WORDS.search(lower)
        or _mentions_revert(reading.subject.lower())
        or ("\nthis part" in lower and _mentions_revert(lower))
    ):
        return True
    pull_request = reading.landing.pull_request
    merge_texts = (reading.merge_subject, *reading.merge_lines[1:4]) if reading.merged else ()
    return any(
        _mentions_revert(text.lower()) for text in (*merge_texts, pull_request.title if pull_request else "") if text
    )


def _mentions_revert(lower: str) -> bool:
    if _REVERT_WORDS.search(lower):
        return True
    return any(map(lower.__contains__, _HINTS)) and _OTHER_REVERT_WORDS.search(lower) is not None


def _is_partial_revert(reading: LandingReading) -> bool:
    if "part" not in reading.message.lower:
        return False
    if _PARTLY.search(_without_quoted(reading.subject)):
        return True
    return any(_PARTIAL_REVERT.search(_without_quoted(line[:200])) for line in reading.lines[1:])


def _without_quoted(line: str) -> str:
    """The line without a quoted title, whose words are not this commit's own."""
    before, quote, rest = line.partition('"')
    return before + rest.rpartition('"')[2] if quote else line


def _is_squash(lines: Sequence[str]) -> bool:
    """A squash merge lists the messages of its commits, which may have reverted one another."""
    return sum(line.startswith("* ") for line in lines[1:]) > 1


_COMMIT_LINES = ("this reverts", "reverts commit", "revert commit", "this partially", "this partly")


def _commit_line(reading: LandingReading) -> MessageFinding | None:
    if not any(("\n" + words) in reading.message.lower for words in _COMMIT_LINES):
        return None
    if not is_revert_subject(reading.subject) and not _RELAND_MARK.match(reading.subject) and _is_squash(reading.lines):
        return None
    keys: list[str] = []
    for number, line in enumerate(reading.lines[1:], 1):
        lower = line[:60].lower()
        if not lower.startswith(_COMMIT_LINES):
            continue
        head, _, tail = line.partition(", reversing")
        hedged = PART if any(word in head[_HEDGED].lower() for word in _HEDGES) else ""
        if not tail and head.rstrip(" ,:").lower().endswith(("commit", "commits")):
            head = " ".join((head, *_listed_lines(reading.lines[number + 1 :])))
        keys += [f"{hedged}commit:{sha}" for sha in COMMIT.findall(head) if is_commit_id(sha)]
    return MessageFinding(reverts=tuple(keys)) if keys else None


def _listed_lines(lines: Iterable[str]) -> Iterator[str]:
    """The lines that begin with a commit or its address; blank lines may precede and separate them."""
    for line in lines:
        words = line.lstrip(" -*`").split(None, 1)
        if words and not COMMIT.search(words[0]):
            return
        yield line


def _pull_line(reading: LandingReading) -> MessageFinding | None:
    if "\nrevert" not in reading.message.lower:
        return None
    keys: list[str] = []
    for line in reading.lines[1:]:
        if line[:8] not in ("Reverts ", "Reverted", "reverts "):
            continue
        target = pull_reference(line.partition(" ")[2], reading.repository, reading.host)
        if target is not None and ("on behalf of" in line or not line.startswith("Reverted")):
            keys.append(pull_key(*target))
    return MessageFinding(reverts=tuple(keys)) if keys else None


def _button_branch(reading: LandingReading) -> MessageFinding | None:
    head, mark, rest = reading.merge_subject.partition("/revert-")
    digits = rest.partition("-")[0]
    if not mark or not head.startswith("Merge pull request #") or not digits.isdecimal() or len(digits) > 9:
        return None
    if not reading.subject.lower().startswith("revert"):
        return None
    return MessageFinding(reverts=(pull_key(reading.repository, int(digits)),))


def _phabricator(reading: LandingReading) -> MessageFinding | None:
    keys: list[str] = []
    if is_revert_subject(reading.subject):
        rest = PLAIN.match(reading.subject)
        keys += [f"drev:{diff[0]}" for diff in [DIFF.search(rest[1][:40])] if diff] if rest else []
        for line in reading.lines[1:]:
            if line[:20].lower().startswith(("this reverts d", "this diff reverts d", "this diff backs")):
                keys += [f"drev:D{number}" for number in DIFF.findall(line)]
        keys += [
            f"drev:D{number}"
            for value in reading.trailers.get("original phabricator diff", ())
            for number in DIFF.findall(value)
        ]
        keys += ["shipit:" + value[:12] for value in reading.trailers.get("original commit changeset", ())]
    return MessageFinding(reverts=tuple(dict.fromkeys(keys))) if keys else None


def _reland(reading: LandingReading) -> MessageFinding | None:
    keys: list[str] = []
    mark = _RELAND_MARK.match(reading.subject)
    if mark and not QUOTED.match(reading.subject):
        title = reading.subject[mark.end() :].strip(" :\"'“”")
        keys += explicit_targets(title, reading)
        keys += named_targets(without_numbers(title), reading.repository) if len(title) > 2 else ()
        diff = DIFF.match(title)
        keys += [f"drev:{diff[0]}"] if diff else []
    keys += _reland_lines(reading)
    return MessageFinding(relands=tuple(dict.fromkeys(keys))) if keys else None


def _reland_lines(reading: LandingReading) -> list[str]:
    """`Reland of #12`, `This relands commit …`, `Re-land D123` at the start of a line."""
    if not any(map(reading.message.lower.__contains__, _RELAND_WORDS)) or _is_squash(reading.lines):
        return []
    keys: list[str] = []
    for line in reading.lines[1:]:
        match = _RELAND_PATTERN.search(line[:40])
        if match is None or match.start() > 12:
            continue
        rest = line[match.end() : 300].strip(" :")
        for word in ("of ", "the ", "diff ", "pr "):
            rest = rest[len(word) :] if rest.lower().startswith(word) else rest
        keys += explicit_targets(rest, reading)
        keys += [f"drev:D{number}" for number in DIFF.findall(rest[:40])]
        address = pull_address(rest, reading.host)
        keys += [pull_key(*address)] if address else []
    return keys


REVERT_FORMS: tuple[RevertForm, ...] = (
    RevertForm(
        "git revert",
        "This reverts commit 0123456789abcdef0123456789abcdef01234567, reversing\nchanges made to …",
        "https://git-scm.com/docs/git-revert",
        _commit_line,
    ),
    RevertForm(
        "revert button",
        "Reverts owner/name#12",
        "https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/reverting-a-pull-request",
        _pull_line,
    ),
    RevertForm("revert branch", "Merge pull request #13 from owner/revert-12-branch", "as above", _button_branch),
    RevertForm(
        "Phabricator",
        'Revert D1234567: Title · Back out "Title" · Original Phabricator Diff: D1234567',
        "https://github.com/facebook/watchman/commits/main",
        _phabricator,
    ),
    RevertForm(
        "title",
        'Revert "Title (#12)" · revert: title (#12) (#15) · Revert 0123abc · '
        "Automated rollback of changelist 123456789 · Revert r1234567 · Revert ABC-12",
        "https://github.com/pytorch/ao, https://github.com/google/gvisor, https://github.com/apache/zookeeper",
        read_title,
    ),
    RevertForm("re-land", '[reland] Title · Reapply "Title" · Reland of #12', "https://github.com/pytorch/ao", _reland),
)

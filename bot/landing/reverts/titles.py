"""What does a subject such as `Revert "Title (#12)"` say it reverts?"""

from __future__ import annotations

import re

from bot.landing.message.parts import LandingReading, MessageFinding, leading_number, number_at_end
from bot.landing.reverts.targets import explicit_targets, issue_target, previous_target, revision_targets
from bot.landing.same_work.keys import plain_title, pull_key, title_key

DIFF = re.compile(r"\bD([1-9][0-9]{3,11})\b")
QUOTED = re.compile(
    r"^(?:\[[^\]]{1,40}\] ?){0,3}(?:[a-z]{2,12}(?:\([^()]{0,60}\))?!?: ?)?"
    r"(?:partial(?:ly)? )?(revert|back out|backout|unland|roll ?back|reapply|reland|re-land)(?:ed|s)?(?:[: ]|: )? ?"
    r"[\"“'](.{3,400})",
    re.IGNORECASE,
)
PREFIXED = re.compile(r"^revert(?:\(([^()]{0,60})\))?!?: ?(.{3,400})", re.IGNORECASE)
PLAIN = re.compile(
    r"^(?:\[[^\]]{1,40}\] ?){0,3}(?:[a-z]{2,12}(?:\([^()]{0,60}\))?!?: ?)?(?:partial(?:ly)? |automat(?:ed|ic) )?"
    r"(?:revert(?:s|ed|ing)?|back(?:ed|ing)? ?out|unland|roll(?:ed|ing)? ?back)\b:? ?(?:of )?(.{0,300})",
    re.IGNORECASE,
)
_LONGEST_TITLE = 400
_LEAST_OWN_TITLE = 20
"""an unquoted title of at least this many characters is hardly ever the title of other work"""


def is_revert_subject(subject: str) -> bool:
    return bool(QUOTED.match(subject) or PREFIXED.match(subject) or PLAIN.match(subject))


def read_title(reading: LandingReading) -> MessageFinding | None:
    """`Revert "T"`, nested once for each press of the button: an even number brings T back."""
    depth, title, outer_title = 0, reading.subject, ""
    while depth < 20 and (found := QUOTED.match(title)):
        if found[1].lower() in ("reapply", "reland", "re-land"):
            depth += 1
        depth += 1
        title = _inner(found[2])
        outer_title = outer_title or title
    if not depth:
        return _without_quotes(reading)
    keys = named_targets(title, reading.repository)
    if depth % 2:
        return MessageFinding(
            reverts=(*(named_targets(outer_title, reading.repository) if outer_title != title else ()), *keys)
        )
    reverted_title = (title_key(reading.repository, outer_title),) if outer_title != title else ()
    return MessageFinding(reverts=reverted_title, relands=keys)


def _without_quotes(reading: LandingReading) -> MessageFinding | None:
    prefixed = PREFIXED.match(reading.subject)
    if prefixed:
        targets = [*_inner_numbers(prefixed[2], reading), title_key(reading.repository, without_numbers(prefixed[2]))]
        targets += explicit_targets(prefixed[2], reading) if prefixed[1] else ()
        targets += _loose_targets(prefixed[2], reading)
        return MessageFinding(reverts=tuple(targets))
    plain = PLAIN.match(reading.subject)
    if plain is None:
        return None
    diff, colon, title = plain[1].partition(": ")
    named = colon and DIFF.fullmatch(diff.strip()) and len(title) > 2
    keys = [*explicit_targets(plain[1], reading), *([title_key(reading.repository, title)] if named else [])]
    keys += () if named else _loose_targets(plain[1], reading)
    if not keys and _is_own_title(reading.subject[: plain.start(1)], plain[1], reading):
        keys = [title_key(reading.repository, without_numbers(plain[1]))]
    return MessageFinding(reverts=tuple(keys)) if keys else None


def _is_own_title(introduction: str, rest: str, reading: LandingReading) -> bool:
    """Whether the rest is a title: `Rollback: Add a parser of dates`; Copybara's `Revert Add a parser of dates`."""
    return len(rest) >= _LEAST_OWN_TITLE and (
        introduction.rstrip().endswith(":") or "piperorigin-revid" in reading.trailers
    )


def _inner_numbers(text: str, reading: LandingReading) -> list[str]:
    """`title (#12) (#15)`: the last number is the landing's own, unless a merge brought it under another one."""
    numbers = []
    while (numbered := number_at_end(text.rstrip())) is not None:
        numbers.append(numbered[0])
        text = numbered[1]
    merge_number = number_at_end(reading.merge_subject)
    named = merge_number[0] if merge_number else leading_number(reading.merge_subject.partition("#")[2])
    others = [number for number in numbers if number != named] if reading.merged else numbers[1:]
    return [pull_key(reading.repository, number) for number in others]


def _loose_targets(text: str, reading: LandingReading) -> tuple[str, ...]:
    """The target named by a revision, by an issue, or as the previous commit: the first of these that applies."""
    return revision_targets(text, reading) or issue_target(text, reading.repository) or previous_target(text, reading)


def _inner(quoted: str) -> str:
    """The text up to the closing quote of the outermost pair."""
    for mark in ('"', "”", "'"):
        at = quoted.rfind(mark)
        if at > 0 and (_only_numbers(quoted[at + 1 :]) or (mark == '"' and not quoted.count(mark, 0, at) % 2)):
            return quoted[:at].strip()
    return without_numbers(quoted).rstrip("\"'”…").strip()


def _only_numbers(text: str) -> bool:
    return not without_numbers(text).strip("\"'” .")


def without_numbers(text: str) -> str:
    while (numbered := number_at_end(text.rstrip())) is not None:
        text = numbered[1]
    return text.rstrip()


def named_targets(title: str, repository: str) -> tuple[str, ...]:
    """The keys for a quoted title: the number in it, the merge it quotes, the title itself."""
    merged = title.lower().removeprefix("rollup ").removeprefix("auto ")
    if merged.startswith(("merge pull request #", "merge of #", "merge #")):
        number = leading_number(title.partition("#")[2])
        return (pull_key(repository, number),) if number else ()
    numbered = number_at_end(title)
    keys = (pull_key(repository, numbered[0]),) if numbered else ()
    return (*keys, title_key(repository, title[:_LONGEST_TITLE])) if plain_title(title) else keys

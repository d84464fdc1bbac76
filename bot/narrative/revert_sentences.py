"""How does a text mention every revert and re-land, and name what was reverted?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from bot.model.change import Change
from bot.model.profile import Sentence
from bot.narrative.clauses import name_of
from bot.narrative.timeline import Course, Turn
from bot.narrative.words import fill_phrase, join_list, month_name, phrases, quantity, sentence_case

_ORDER: tuple[Course, ...] = ("reverted", "reverted_now", "partly", "relanded", "relanded_later", "took_back")
_NAMED = 4


_HEAD = re.compile(
    r"\s{0,3}(?:[-*]\s|[\w./+*-]{1,40}:\s{1,3})?(?:revert|reverts|reverted|back out|backout|undo)\b[\s:\-–]{0,4}",
    re.IGNORECASE,
)
_MARKS = "\"'“”‘’"
_LONGEST = 300


def revert_sentences(turns: Sequence[Turn], most: int) -> list[Sentence]:
    """One sentence for each course that work took; every turn is cited, and beyond `most` the last ones are joined."""
    ordered = sorted(turns, key=lambda turn: (_ORDER.index(turn.course), _key(turn), turn.month or "", turn.change.id))
    found = [_sentence(list(group)) for _, group in groupby(ordered, key=_alike)]
    if len(found) <= most:
        return found
    rest = found[most - 1 :]
    text = phrases()["lists"]["semicolon"].join(sentence.text.rstrip(".") for sentence in rest) + "."
    return [*found[: most - 1], Sentence(text, tuple(name for sentence in rest for name in sentence.evidence))]


def _alike(turn: Turn) -> tuple[Course, str]:
    return turn.course, _key(turn) + (turn.month or "")


def _key(turn: Turn) -> str:
    if turn.course != "reverted":
        return turn.course
    if turn.month:
        return "reverted_in"
    return "reverted" if len(turn.evidence) > 1 else "reverted_since"


def _sentence(turns: Sequence[Turn]) -> Sentence:
    changes = [turn.change for turn in turns]
    key = _key(turns[0])
    if key == "took_back" and len(turns) > 1:
        key = "took_back_several"
    text = fill_phrase(
        "turns",
        key,
        titles=_titles(changes),
        was="was" if len(changes) == 1 else "were",
        has="has" if len(changes) == 1 else "have",
        when=month_name(turns[0].month) if turns[0].month else "",
    )
    return Sentence(sentence_case(text), tuple(dict.fromkeys(name for turn in turns for name in turn.evidence)))


def _titles(changes: Sequence[Change]) -> str:
    names = list(dict.fromkeys(_names(changes)))
    if len(names) == len(changes) <= _NAMED:
        return join_list(names)
    number = quantity(len(changes), "change")
    return fill_phrase("turns", "among", titles=join_list(names[:_NAMED]), changes=number) if names else number


def _names(changes: Iterable[Change]) -> Iterable[str]:
    for change in changes:
        name = name_of(reverted_title(change.title) if change.kind == "revert" else change.title)
        if name:
            yield name


def reverted_title(title: str) -> str:
    """`Revert "Add X" (#12)` as `Add X`; a revert of a revert keeps its inner `Revert`."""
    head = _HEAD.match(title)
    rest = title[head.end() :] if head else title
    return _quoted(rest[:_LONGEST]) or rest.lstrip(_MARKS)


def _quoted(text: str) -> str | None:
    """What stands between the mark that the text begins with and the one that closes it."""
    depth = 0
    for at, char in enumerate(text):
        if char not in _MARKS:
            if not depth:
                return None
            continue
        before, after = text[at - 1 : at].strip() if at else "", text[at + 1 : at + 2]
        if before.isalnum() and after.isalnum():
            continue
        depth += 1 if not before or before in "([{" else -1
        if not depth:
            return text[1:at]
    return None

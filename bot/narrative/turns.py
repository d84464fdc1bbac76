"""How does a text say that work was reverted or landed again?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from bot.model.profile import Sentence
from bot.narrative.quotes import Quotes
from bot.narrative.sentences import change_label, citations
from bot.narrative.timeline import Course, Turn
from bot.narrative.words import capitalise, join_list, month_name, quantity

_ORDER: tuple[Course, ...] = ("reverted", "reverted_now", "partly", "relanded", "relanded_later", "took_back")
_NAMED = 3
_PHRASES = {
    "reverted": "{names} {was} reverted the same month",
    "reverted_in": "{names} {was} reverted in {when}",
    "reverted_since": "{names} {has} since been reverted",
    "reverted_now": "{names}, from an earlier month, {was} reverted",
    "partly": "{names} {was} reverted in part",
    "relanded": "{names} landed again after a revert",
    "relanded_later": "{names} {was} reverted and landed again in {when}",
}


def turn_sentences(turns: Iterable[Turn], quotes: Quotes, most: int = 4) -> list[Sentence]:
    """One sentence for each course that work took, at most `most`; the last ones are joined so that none is lost."""
    ordered = sorted(
        turns, key=lambda turn: (_ORDER.index(turn.course), _phrase(turn), turn.month or "", turn.change.id)
    )
    found = [
        _sentence(list(group), quotes) for _, group in groupby(ordered, key=lambda turn: (_phrase(turn), turn.month))
    ]
    if len(found) <= most:
        return found
    rest = found[most - 1 :]
    text = "; ".join(sentence.text.rstrip(".") for sentence in rest) + "."
    return [*found[: most - 1], Sentence(text, citations(name for one in rest for name in one.evidence), "course")]


def _phrase(turn: Turn) -> str:
    if turn.course != "reverted":
        return turn.course
    if turn.month:
        return "reverted_in"
    return "reverted" if len(turn.evidence) > 1 else "reverted_since"


def _sentence(turns: Sequence[Turn], quotes: Quotes) -> Sentence:
    names = _names(turns, quotes)
    one = len(turns) == 1
    if turns[0].course == "took_back":
        text = f"{quantity(len(turns), 'revert')} landed: {names}"
    else:
        text = _PHRASES[_phrase(turns[0])].format(
            names=names,
            was="was" if one else "were",
            has="has" if one else "have",
            when=month_name(turns[0].month) if turns[0].month else "",
        )
    return Sentence(capitalise(text) + ".", citations(name for turn in turns for name in turn.evidence), "course")


def _names(turns: Sequence[Turn], quotes: Quotes) -> str:
    """`“Cache the tide table” (#52) and #54`; of many only the first and how many more."""
    names = [_name(turn, quotes) for turn in turns]
    if len(names) > _NAMED + 1:
        names = [*names[:_NAMED], quantity(len(names) - _NAMED, "other change")]
    return join_list(names)


def _name(turn: Turn, quotes: Quotes) -> str:
    entry = quotes.entries.get(turn.change.id)
    label = change_label(turn.change)
    return f"“{entry.quoted}” ({label})" if entry and turn.course != "took_back" else label

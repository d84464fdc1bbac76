"""Which names, addresses, logins and titles in a text are an erased person's, and how does it read without them?

A mark is such a word or title in its plain form. Whoever stores marks may store their hashes: `candidates` are all the
marks that a text could contain, so that they can be looked up.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from bot.landing.same_work.keys import plain_title
from bot.model.commit import Signature
from bot.model.fact import ChangelogLine, Fact

NAME, TITLE = "[name]", "[title]"
"""what replaces a word, and a title"""
_ADDRESS = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")
_LOGIN = re.compile(r"@?\w+(?:-\w+)*")
_WORD = re.compile(r"\w+")
_BETWEEN = re.compile(r"[\s._'’-]{1,3}")
_FIRST_QUOTE, _LAST_QUOTE = re.compile(r"[\"“]"), re.compile(r"[\"”](?=[^\"”]*$)")
_PREFIX = re.compile(r"\[[^\]]{1,40}\]\s*")
_MOST_WORDS = 4
"""words of the longest name that is looked for"""
_SHORTEST_WORD, _SHORTEST_QUOTE, _SHORTEST_TITLE = 3, 12, 24
"""fewest letters of a word that is no mention, of a title within a text, and of one that nobody else writes by
chance"""


class Candidate(NamedTuple):
    """A part of a text that could be a mark."""

    start: int
    end: int
    mark: str


def marks_of(signatures: Iterable[Signature], titles: Iterable[str], ordinary: Container[str]) -> set[str]:
    """The marks of one person. A login or name of one ordinary word counts only as a mention, after an @."""
    found = {f"title:{plain}" for title in titles if (plain := plain_title(title))}
    for sig in signatures:
        found |= {f"word:{sig.email.strip().lower()}"} if "@" in sig.email else set()
        for name in filter(None, (sig.login, sig.name)):
            words = _WORD.findall(name.casefold())
            if name == sig.login:
                found.add(f"word:@{name.casefold()}")
                identifies = _identifies(name.casefold(), ordinary)
            else:
                identifies = len(words) > 1 or _identifies("".join(words), ordinary)
            if identifies and 0 < len(words) <= _MOST_WORDS:
                found |= {f"word:{name.casefold()}", f"word:{' '.join(words)}"}
    return found


def _identifies(word: str, ordinary: Container[str]) -> bool:
    return len(word) >= _SHORTEST_WORD and not word.isdecimal() and word not in ordinary


def candidates(text: str) -> Iterator[Candidate]:
    """Every part of the text that could be a mark, the longest kinds first."""
    yield from _titles(text)
    for found in _ADDRESS.finditer(text):
        yield Candidate(found.start(), found.end(), f"word:{found[0].lower()}")
    for found in _LOGIN.finditer(text):
        yield Candidate(found.start(), found.end(), f"word:{found[0].casefold()}")
    words = list(_WORD.finditer(text))
    for at, first in enumerate(words):
        name = first[0].casefold()
        yield Candidate(first.start(), first.end(), f"word:{name}")
        for before, after in zip(words[at:], words[at + 1 : at + _MOST_WORDS], strict=False):
            if not _BETWEEN.fullmatch(text, before.end(), after.start()):
                break
            name += f" {after[0].casefold()}"
            yield Candidate(first.start(), after.end(), f"word:{name}")


def _titles(text: str) -> Iterator[Candidate]:
    """The whole text if it is long, also without a prefix as `[1.x]`, and what stands in quotation marks."""
    line = text.partition("\n")[0]
    prefix = _PREFIX.match(line)
    for start in {0, prefix.end() if prefix else 0}:
        if len(line) - start >= _SHORTEST_TITLE:
            yield Candidate(start, len(line), f"title:{plain_title(line[start:])}")
    start, end = 0, len(line)
    while (first := _FIRST_QUOTE.search(line, start, end)) is not None:
        last = _LAST_QUOTE.search(line[:end], first.end())
        start, end = first.end(), last.start() if last else end
        yield Candidate(start, end, f"title:{plain_title(line[start:end])}")


def without_marks(text: str, marks: Container[str]) -> str:
    """The text with every mark replaced; the same text if it has none."""
    found = sorted({one for one in candidates(text) if one.mark in marks}, key=lambda one: (one.start, -one.end))
    out, at = [], 0
    for one in found:
        if one.start >= at:
            out += [text[at : one.start], TITLE if one.mark.startswith("title:") else NAME]
            at = one.end
    return "".join([*out, text[at:]]) if out else text


def quotes_marks(text: str, marks: Collection[str]) -> bool:
    """Whether a text of several lines has any of the marks; titles of a few words count anywhere in it."""
    plain = " ".join(text.lower().split())
    full = [mark.removeprefix("title:") for mark in marks if mark.startswith("title:")]
    titles = (*full, *(title.partition(": ")[2] for title in full))  # entries leave out a prefix as `feat: `
    if any(len(title) >= _SHORTEST_QUOTE and title in plain for title in titles):
        return True
    words = {mark for mark in marks if mark.startswith("word:")}
    return any(one.mark in words for one in candidates(text))


def texts_of_fact(fact: Fact) -> Iterator[str]:
    """Every text of a fact that somebody else may stand in."""
    yield from (fact.title, fact.subject, fact.merge_subject, *fact.headings)
    yield from (text for line in fact.changelog for text in (line.text, *line.people))
    yield from (one.title for one in fact.evidence.shares) if fact.evidence else ()
    yield from (mark.source for mark in fact.ai)
    yield from (_title_in(key) for key in (*fact.keys, *fact.reverts, *fact.relands) if "title:" in key)


def _title_in(key: str) -> str:
    """The title in a key as `title:owner/name:some title`, perhaps behind other prefixes."""
    return key.partition("title:")[2].partition(":")[2]


def fact_without_marks(fact: Fact, marks: Container[str]) -> Fact:
    """The fact with every mark in its texts replaced, and without the keys that are such titles."""

    def clean(text: str) -> str:
        return without_marks(text, marks)

    def keys(given: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(key for key in given if "title:" not in key or not _is_marked(_title_in(key), marks))

    evidence = fact.evidence
    if evidence is not None and any(one.title != clean(one.title) for one in evidence.shares):
        evidence = replace(evidence, shares=tuple(replace(one, title=clean(one.title)) for one in evidence.shares))
    return replace(
        fact,
        title=clean(fact.title),
        subject=clean(fact.subject),
        merge_subject=clean(fact.merge_subject),
        headings=tuple(map(clean, fact.headings)),
        changelog=tuple(_clean_line(line, marks) for line in fact.changelog),
        ai=tuple(replace(mark, source=clean(mark.source)) for mark in fact.ai),
        keys=keys(fact.keys),
        reverts=keys(fact.reverts),
        relands=keys(fact.relands),
        evidence=evidence,
    )


def _clean_line(line: ChangelogLine, marks: Container[str]) -> ChangelogLine:
    people = tuple(who for who in line.people if without_marks(who, marks) == who)
    return line._replace(text=without_marks(line.text, marks), people=people)


def _is_marked(title: str, marks: Container[str]) -> bool:
    return f"title:{plain_title(title)}" in marks or without_marks(title, marks) != title

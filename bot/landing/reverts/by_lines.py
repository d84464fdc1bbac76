"""Which work does a revert take back that names nothing: neither a commit, nor a number, nor a title?

A commit offers, for each of its largest files, a key of the lines that it added and removed there (`made:`). A commit
whose text says that it takes something back asks for the opposite (`undoes:`): what added the lines that it removes and
removed those that it adds. Blanks around lines, paths and line numbers are not compared.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate

from bot.landing.lines.patch import PatchLines
from bot.landing.same_work.keys import MADE, UNDOES, digest
from bot.model.fact import Fact

_MOST_FILES = 3
_TINY = 3
"""with fewer changed lines, a file may be equal to another one by chance"""
_SHORT = 24
"""letters and digits of which a file's lines must have at least so many"""
_SUBJECT = re.compile(
    r"\b(?:re-?vert(?:s|ed|ing)?|back(?:s|ed|ing)?[ -]?out|und(?:o|oes|oing|one|id)|roll(?:s|ed|ing)?[ -]?back|rollback"
    r"|restor(?:e|es|ed|ing)|reinstat(?:e|es|ed|ing)|(?:bring|brings|put|puts|brought) back|re-?add(?:s|ed|ing)?|unland"
    r"|go(?:es|ing)? back to|back to)\b"
)
_BODY = re.compile(r"\brevert(?:s|ed|ing)?\b")
_BODY_CHARACTERS = 2000


def mentions_revert(subject: str, message: str) -> bool:
    """Both in lower case."""
    if _SUBJECT.search(subject):
        return True
    body = message[:_BODY_CHARACTERS]
    return "revert" in body and _BODY.search(body) is not None


def line_keys(patches: Iterable[PatchLines | None], *, undoing: bool) -> list[str]:
    """The keys of a commit with these patches; with `undoing`, those of what it reverts as well."""
    sides = [lines.bare for lines in _largest(patches)]
    found = [MADE + digest("\0".join(filter(None, added)), "\0".join(filter(None, lost))) for added, lost in sides]
    if undoing:
        found += [
            UNDOES + MADE + digest("\0".join(filter(None, lost)), "\0".join(filter(None, added)))
            for added, lost in sides
        ]
    return found


def _largest(patches: Iterable[PatchLines | None]) -> list[PatchLines]:
    sizes = [(len(one.added) + len(one.removed), one) for one in patches if one is not None]
    largest = sorted((row for row in sizes if row[0] >= _TINY), key=lambda row: -row[0])
    return [one for _, one in largest[:_MOST_FILES] if _is_distinctive(one)]


def _is_distinctive(lines: PatchLines) -> bool:
    """Whether the lines are more than brackets and blanks."""
    texts = [text for side in lines.bare for text in side[:40] if text]
    if len(texts) < _TINY:
        return False
    letters = accumulate(sum(map(str.isalnum, text)) for text in texts)
    return any(count >= _SHORT for count in letters)


class InverseLines:
    """What commits take back by their lines, and where these lines came back; facts are identified by their index."""

    def __init__(self, facts: Sequence[Fact], indexes: Iterable[int]) -> None:
        self._facts = facts
        self._asked = {
            index: frozenset(key.removeprefix(UNDOES) for key in facts[index].keys if key.startswith(UNDOES))
            for index in indexes
            if any(key.startswith(UNDOES) for key in facts[index].keys)
        }
        self._makers: dict[str, list[int]] = defaultdict(list)

    @property
    def asking(self) -> Collection[int]:
        return self._asked.keys()

    def find_makers(self, keys: Mapping[int, Sequence[str]]) -> None:
        """Look through the keys of all facts, in order, for those that some commit reverts."""
        wanted = frozenset[str]().union(*self._asked.values())
        for index, own in keys.items() if wanted else ():
            for key in () if wanted.isdisjoint(own) else wanted.intersection(own):
                self._makers[key].append(index)

    def targets(self, index: int) -> list[int]:
        """The earlier commits of the same repository most of whose lines this one reverts, oldest first."""
        return [one for one in self._like(index) if one < index]

    def commits_restoring(self, index: int) -> list[int]:
        """The later commits that bring back what this one removed, oldest first."""
        return [one for one in self._like(index) if one > index]

    def _like(self, index: int) -> list[int]:
        asked = self._asked.get(index, frozenset())
        shared = Counter(one for key in asked for one in self._makers.get(key, ()) if one != index)
        repository = self._facts[index].repository
        return sorted(
            one
            for one, count in shared.items()
            if self._facts[one].repository == repository and 2 * count > len(asked) and 2 * count > self._size(one)
        )

    def _size(self, index: int) -> int:
        return sum(key.startswith(MADE) for key in self._facts[index].keys)

"""Who agreed to have a page? Whoever is named in the people file by a commit of their own, and is still named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from bot.model.commit import Signature
from bot.model.ids import CommitId

MOST_ENTRIES = 5_000
_ENTRY = re.compile(r"""\s*-\s+(?P<quote>["']?)@?(?P<entry>[^"'#\s][^"'#\n]{0,199}?)(?P=quote)\s*(?:\s\#.*)?""")
_FRAME = re.compile(r"\s*(?:#.*|people:\s*(?:#.*|\[\s*\]\s*)?|---|\.\.\.)?")


class PeopleFile(Struct, frozen=True):
    """The people file as one commit left it. The first parent comes first, as in git."""

    commit: CommitId
    parents: tuple[CommitId, ...]
    author: Signature
    entries: frozenset[str]


class OwnEntry(Struct, frozen=True):
    """An entry of the people file, the commit that added it, and that commit's author."""

    entry: str
    commit: CommitId
    author: Signature


def entries_in(text: str) -> frozenset[str]:
    """The logins, addresses or names that the file lists, one in each line that begins with a dash."""
    found = (match["entry"].strip() for line in text.split("\n") if (match := _ENTRY.fullmatch(line.rstrip("\r"))))
    return frozenset(entry for entry, _ in zip(found, range(MOST_ENTRIES), strict=False) if entry)


def unreadable_lines(text: str) -> Iterator[int]:
    """The numbers of the lines that are neither an entry, a comment nor the heading `people:`."""
    for number, line in enumerate(text.split("\n"), 1):
        if not _ENTRY.fullmatch(line.rstrip("\r")) and not _FRAME.fullmatch(line.rstrip("\r")):
            yield number


class _Lineage(Struct):
    """Who added each entry that a commit holds, and the additions that were removed before it."""

    added: dict[str, CommitId]
    withdrawn: frozenset[tuple[str, CommitId]]


def added_entries(versions: Iterable[PeopleFile]) -> tuple[OwnEntry, ...]:
    """The entries of the last version, each with the commit that added it; parents come before their children.

    An entry that a merge or a revert brings back after it was removed counts as added by that commit.
    """
    seen: dict[CommitId, _Lineage] = {}
    authors: dict[CommitId, Signature] = {}
    last = _Lineage({}, frozenset())
    for one in versions:
        authors[one.commit] = one.author
        last = seen[one.commit] = _lineage(one, [seen[parent] for parent in one.parents if parent in seen])
    return tuple(OwnEntry(entry, commit, authors[commit]) for entry, commit in sorted(last.added.items()))


def _lineage(one: PeopleFile, parents: Sequence[_Lineage]) -> _Lineage:
    withdrawn = frozenset(gone for parent in parents for gone in parent.withdrawn)
    added = {entry: _adder(entry, one.commit, parents, withdrawn) for entry in one.entries}
    removed = {pair for parent in parents for pair in parent.added.items() if pair[0] not in one.entries}
    return _Lineage(added, withdrawn | removed)


def _adder(
    entry: str, commit: CommitId, parents: Sequence[_Lineage], withdrawn: frozenset[tuple[str, CommitId]]
) -> CommitId:
    """The addition that a parent knows and nobody has removed, else this commit."""
    known = [parent.added[entry] for parent in parents if entry in parent.added]
    return next((adder for adder in known if (entry, adder) not in withdrawn), commit)

"""What do other landings of a repository tell of a person's changes: changelog entries, headings, moves, releases?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct, field

from bot.landing.changelogs.evidence import entry_key, heading_key, renames_key
from bot.landing.changelogs.headings import heading_token
from bot.model.fact import ChangelogLine, Fact
from bot.model.ids import CommitId, PersonKey


class CitedLine(NamedTuple):
    """A changelog entry, the commit that added it, and when that landed."""

    line: ChangelogLine
    commit: CommitId
    landed_at: int


class Move(NamedTuple):
    """A file or folder that got a new path, and when that landed."""

    landed_at: int
    old: str
    new: str


Numbered = tuple[str, int]
"""a repository's full name in lower case, a number of an issue or pull request there"""


class ProjectTexts(Struct, frozen=True):
    """What is known beside the changes themselves; empty where nothing is."""

    lines: Mapping[Numbered, tuple[CitedLine, ...]] = field(default_factory=dict)
    """the changelog entries that name a number, oldest first"""
    pulls: Collection[Numbered] = frozenset()
    """of the numbers that stand beside others in an entry, those of known pull requests"""
    headings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """by repository in lower case and token: a heading of its documentation as written"""
    moves: Mapping[str, tuple[Move, ...]] = field(default_factory=dict)
    """by repository in lower case, oldest first"""
    releases: Mapping[CommitId, str] = field(default_factory=dict)
    """the first release whose tag contains a commit"""
    nameable: Collection[PersonKey] | None = None
    """the people whom an entry may name beside the person; None for all, on pages that nobody is served"""


NO_TEXTS = ProjectTexts()


def sought_evidence(facts: Iterable[Fact]) -> tuple[str, ...]:
    """The keys of evidence about these facts, for a store to look up."""
    keys: set[str] = set()
    tokens: set[tuple[str, str]] = set()
    for fact in facts:
        keys.add(renames_key(fact.repository))
        if fact.pull_request is not None:
            keys.add(entry_key(fact.repository, fact.pull_request))
        tokens.update((fact.repository, token) for path in fact.paths for token in _tokens(path))
    return tuple(sorted(keys.union(heading_key(*each) for each in tokens)))


@lru_cache(maxsize=1 << 15)
def _tokens(path: str) -> frozenset[str]:
    """The tokens of a path's folders and of its file without the ending: a heading may spell them."""
    *folders, file = path.split("/")
    return frozenset(token for part in (*folders, file.partition(".")[0]) if len(token := heading_token(part)) > 1)


def companions(found: Iterable[Fact]) -> set[Numbered]:
    """The numbers that stand beside others in an entry: a store is asked which of them are pull requests."""
    numbers = set()
    for fact in found:
        for line in fact.changelog:
            if len(line.numbers) > 1:
                numbers |= {(fact.repository.lower(), number) for number in line.numbers}
    return numbers


def project_texts(
    found: Sequence[Fact],
    *,
    pulls: Collection[Numbered] = (),
    releases: Mapping[CommitId, str] | None = None,
) -> ProjectTexts:
    """`found` are the facts stored under `sought_evidence`."""
    lines: dict[Numbered, list[CitedLine]] = defaultdict(list)
    moves: dict[str, list[Move]] = defaultdict(list)
    for fact in sorted(found, key=lambda fact: (fact.landed_at, fact.commit)):
        name = fact.repository.lower()
        for line in fact.changelog:
            for number in line.numbers:
                lines[name, number].append(CitedLine(line, fact.commit, fact.landed_at))
        moves[name] += [Move(fact.landed_at, old, new) for old, new in fact.renames]
    return ProjectTexts(
        {key: tuple(cited) for key, cited in lines.items()},
        frozenset(pulls),
        _headings(found),
        {name: tuple(each) for name, each in moves.items() if each},
        releases or {},
    )


def _headings(facts: Iterable[Fact]) -> dict[str, dict[str, str]]:
    """The headings by repository and token; of several spellings the one with most capitals inside words."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for written, repository in sorted((each, fact.repository.lower()) for fact in facts for each in fact.headings):
        token = heading_token(written)
        known = found[repository].get(token)
        if known is None or _capitals(written) > _capitals(known):
            found[repository][token] = written
    return dict(found)


def _capitals(written: str) -> tuple[int, int]:
    """Names such as WebSocket before sentence case, the shorter before the longer."""
    return sum(char.isupper() for word in written.split() for char in word[1:]), -len(written)

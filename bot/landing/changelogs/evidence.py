"""Under which keys is a fact evidence about other changes and the project, so that a store finds it for a page?

`entry:<owner/name>#<n>`            it adds a changelog entry that names this number
`heading:<owner/name>:<token>`  it adds a heading with this token to the documentation
`renames:<owner/name>`              it moves files

Such a key joins no facts into one change, unlike those of `bot.landing.same_work.keys`.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.landing.changelogs.headings import heading_token
from bot.model.fact import Fact


def entry_key(repository: str, number: int) -> str:
    return f"entry:{repository.lower()}#{number}"


def heading_key(repository: str, token: str) -> str:
    return f"heading:{repository.lower()}:{token}"


def renames_key(repository: str) -> str:
    return f"renames:{repository.lower()}"


def evidence_keys(fact: Fact) -> tuple[str, ...]:
    """The keys of one fact, sorted."""
    if not (fact.changelog or fact.headings or fact.renames):
        return ()
    return tuple(sorted(set(_keys(fact))))


def _keys(fact: Fact) -> Iterator[str]:
    for line in fact.changelog:
        for number in line.numbers:
            yield entry_key(fact.repository, number)
    for heading in fact.headings:
        yield heading_key(fact.repository, heading_token(heading))
    if fact.renames:
        yield renames_key(fact.repository)

"""Which stored facts tell of a person's changes: changelog entries about them, headings and moves of their files?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, Text, select, type_coerce

from bot.model.fact import Fact
from bot.model.ids import RepositoryId
from bot.narrative.project_texts import Numbered, companions, sought_evidence
from bot.store.dialect import among
from bot.store.fact_keys import EVIDENCE
from bot.store.ledger import FACT, FACT_KEY, fact_of


def evidence_about(
    connection: Connection, facts: Sequence[Fact], repositories: Mapping[RepositoryId, str]
) -> tuple[tuple[str, ...], frozenset[Numbered]]:
    """The texts of facts in these repositories that tell of the given ones, oldest first, and the pull requests
    among the numbers that stand together in their changelog entries.
    """
    keys = sought_evidence(facts)
    payload = type_coerce(FACT.c.payload, Text).label("text")
    found: dict[int, tuple[int, str, str]] = {}
    for these in among(FACT_KEY.c.key, keys):
        numbers = select(FACT_KEY.c.fact_id).where(these, FACT_KEY.c.role == EVIDENCE)
        query = select(FACT.c.id, FACT.c.landed_at, FACT.c.commit_id, payload)
        query = query.where(FACT.c.id.in_(numbers), FACT.c.repository_id.in_(list(repositories)))
        found |= {row.id: (row.landed_at, row.commit_id, row.text) for row in connection.execute(query)}
    texts = tuple(text for _, _, text in sorted(found.values()))
    return texts, _pulls(connection, companions(map(fact_of, texts)), repositories)


def _pulls(
    connection: Connection, numbers: set[Numbered], repositories: Mapping[RepositoryId, str]
) -> frozenset[Numbered]:
    """Of these numbers, those of pull requests that landed."""
    known: set[Numbered] = set()
    for repository_id, name in repositories.items():
        asked = sorted(number for each, number in numbers if each == name.lower())
        for these in among(FACT.c.pull_request, asked):
            query = select(FACT.c.pull_request).where(FACT.c.repository_id == repository_id, these).distinct()
            known |= {(name.lower(), number) for number in connection.execute(query).scalars()}
    return frozenset(known)

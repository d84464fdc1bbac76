"""Which facts make up one month of some people, including all that must be folded with them?"""

from __future__ import annotations

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, select

from bot.landing.months import month_after, month_start
from bot.model.fact import Fact
from bot.model.ids import CommitId, Month, PersonKey, RepositoryId
from bot.store.installations import REPOSITORY
from bot.store.ledger import FACT, FACT_PERSON, component


def component_of_month(
    connection: Connection, people: Sequence[PersonKey], month: Month, *, zone: ZoneInfo, within: int
) -> list[Fact]:
    """The facts in which these people have a part that landed in one month, with everything that folds together with
    them.

    `within` is the installation: facts of others are not reached.
    """
    since, until = month_start(month, zone), month_start(month_after(month), zone)
    query = (
        select(FACT.c.repository_id, FACT.c.commit_id)
        .join(FACT_PERSON, FACT_PERSON.c.fact_id == FACT.c.id)
        .join(REPOSITORY, REPOSITORY.c.id == FACT.c.repository_id)
        .where(FACT_PERSON.c.person_key.in_(people), FACT.c.landed_at >= since, FACT.c.landed_at < until)
        .where(REPOSITORY.c.installation_id == within)
    )
    seeds = [(RepositoryId(row[0]), CommitId(row[1])) for row in connection.execute(query)]
    return component(connection, sorted(set(seeds)), installation_id=within)

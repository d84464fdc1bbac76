"""What happens when a person says that they are no machine?"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Connection

from bot.metrics.registry import FACT_METHOD
from bot.model.ids import InstallationId, PersonKey, RepositoryId
from bot.services.context import Context
from bot.services.measuring_again import defer_step
from bot.store import corrections, measurements, visibility
from bot.store.corrections import Correction


def say_human(
    connection: Connection, context: Context, key: PersonKey, where: tuple[InstallationId, RepositoryId], *, event: str
) -> None:
    """Withhold no credit from this account in that installation any more, and measure its recorded work again."""
    installation, repository = where
    said = Correction(event, "human", key, context.clock(), {}, repository_id=repository, person_key=key)
    if corrections.append(connection, said) and measurements.mark_outdated(connection, installation, key, FACT_METHOD):
        defer_step(connection, context, installation, timedelta(0))


def say_human_everywhere(connection: Connection, context: Context, key: PersonKey, event: str) -> None:
    """The same in every installation that holds work by this account."""
    homes: dict[InstallationId, RepositoryId] = {}
    for one in visibility.repositories_with(connection, [key]):
        if one.installation is not None and one.active:
            homes.setdefault(one.installation, one.id)
    for installation, repository in homes.items():
        say_human(connection, context, key, (installation, repository), event=f"{event}:{installation}")

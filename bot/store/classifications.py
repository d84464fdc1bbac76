"""What have people said of the kinds of changes, as the pure core takes it?"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection

from bot.landing.corrections import SAID_KINDS, Classified
from bot.model import RepositoryId
from bot.store import corrections


def classified(connection: Connection, names: Mapping[RepositoryId, str]) -> tuple[Classified, ...]:
    """Every classification in these repositories, oldest first; `names` are their full names of today."""
    said = corrections.of_repositories(connection, sorted(names))
    return tuple(
        Classified(
            names[RepositoryId(one.repository_id or 0)],
            one.value["number"],
            SAID_KINDS[one.value["kind"]],
            one.value["by"],
        )
        for one in said
        if one.kind == "classify"
    )

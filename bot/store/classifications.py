"""What have people said of the kinds of changes, as the pure core takes it?"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection

from bot.landing.corrections import CLASSIFY_KINDS, Classification
from bot.model.ids import RepositoryId
from bot.store import corrections


def classified(connection: Connection, names: Mapping[RepositoryId, str]) -> tuple[Classification, ...]:
    """Every classification in these repositories, oldest first; `names` are their full names of today."""
    corrections_made = corrections.of_repositories(connection, sorted(names))
    return tuple(
        Classification(
            names[RepositoryId(one.repository_id or 0)],
            one.value["number"],
            CLASSIFY_KINDS[one.value["kind"]],
            one.value["by"],
        )
        for one in corrections_made
        if one.kind == "classify"
    )

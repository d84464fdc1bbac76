"""How have people classified changes, in the types of the pure core?"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection

from bot.landing.corrections import CLASSIFY_KINDS, Classification
from bot.model.ids import RepositoryId
from bot.store import corrections


def read_classifications(connection: Connection, names: Mapping[RepositoryId, str]) -> tuple[Classification, ...]:
    """Every classification in these repositories, oldest first; `names` maps ids to current full names."""
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

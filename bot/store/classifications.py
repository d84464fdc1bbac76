"""What have people corrected, in the types of the pure core?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from bot.landing.corrections import CLASSIFY_KINDS, Classification, Corrections, Decision
from bot.model.ids import PersonKey, RepositoryId
from bot.store import corrections


def read_corrections(connection: Connection, names: Mapping[RepositoryId, str]) -> Corrections:
    """Every correction of changes in these repositories, oldest first; `names` maps ids to current full names."""
    return tuple(
        correction_of(names[RepositoryId(one.repository_id or 0)], one.value)
        for one in corrections.of_repositories(connection, sorted(names))
        if one.kind in ("classify", "credit")
    )


def correction_of(repository: str, value: Mapping[str, Any]) -> Classification | Decision:
    """The correction with this stored value."""
    if "accepted" in value:
        keys = tuple(map(PersonKey, value["keys"]))
        return Decision(repository, keys, value["accepted"], value["number"], value["until"])
    return Classification(repository, value["number"], CLASSIFY_KINDS[value["kind"]], value["by"])

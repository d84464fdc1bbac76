"""Does this GitHub find repositories by their id, or only by name?

`/repositories/ID` is documented nowhere. Where it is a 404, and the same repository is found by its last known name,
everything is asked by name from then on; GitHub's redirects lead from an old name to a renamed repository.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from gidgethub import BadRequest

from bot.model.ids import RepositoryId

log = logging.getLogger(__name__)
BY_ID = "repositories/"
ReadAt = Callable[[str], Awaitable[dict[str, Any]]]
"""GitHub's answer about the repository at an address"""


@dataclass(slots=True)
class Addressing:
    """What all clients of one GitHub know of it. `by_name` is None until the host has answered, or not, at an id."""

    by_name: bool | None = None
    names: Callable[[RepositoryId], Awaitable[str | None]] | None = None
    """the last known full name of a repository"""

    def note_answer(self, variables: Mapping[str, Any]) -> None:
        """Remember that the host answered at an id."""
        if self.by_name is None and str(variables.get("repository", "")).startswith(BY_ID):
            self.by_name = False

    async def found_by_name(self, number: int, read_at: ReadAt) -> dict[str, Any] | None:
        """The repository of this id under its last known name; None if that name belongs to no such repository."""
        name = None if self.names is None else await self.names(RepositoryId(number))
        found = None if name is None else await _found_at(f"repos/{name}", read_at)
        return found if found is not None and found.get("id") == number else None

    async def variables_by_name(self, variables: Mapping[str, Any], read_at: ReadAt) -> dict[str, Any] | None:
        """After a 404: what to ask for by name instead; None if the host answers at ids, or nobody knows the name."""
        address = str(variables.get("repository", ""))
        if self.by_name is not None or not address.startswith(BY_ID):
            return None
        found = await self.found_by_name(int(address.removeprefix(BY_ID)), read_at)
        if found is None or await _found_at(address, read_at) is not None:
            return None
        self.by_name = True
        log.warning("repositories are asked for by name from now on")
        return {**variables, "repository": f"repos/{found['full_name']}"}


async def _found_at(address: str, read_at: ReadAt) -> dict[str, Any] | None:
    """None for a 404."""
    try:
        return await read_at(address)
    except BadRequest as error:
        if error.status_code != HTTPStatus.NOT_FOUND:
            raise
        return None

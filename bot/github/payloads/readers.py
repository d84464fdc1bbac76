"""Who may read a repository, according to GitHub's answers?"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from bot.github.payloads.reading import Person, read
from bot.model.ids import UserId


class _Collaborator(Struct, frozen=True):
    id: Person
    permissions: Mapping[str, bool] = {}


class _Visible(Struct, frozen=True):
    visibility: str | None = None


def reader(answer: object) -> tuple[UserId, bool]:
    """A collaborator's id, and whether GitHub says that they may read the repository."""
    row = read(answer, _Collaborator)
    return row.id, row.permissions.get("pull", False)


def is_internal(answer: object) -> bool:
    """Whether a whole enterprise may read the repository, though it is not public."""
    return read(answer, _Visible).visibility == "internal"

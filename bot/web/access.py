"""Who may see what? The one policy: pure functions from how things stand to what may be shown, used by every route.

Private by default. None means 404, and nothing tells a viewer which of the reasons it was.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from msgspec import Struct

from bot.model.ids import InstallationId, PersonKey, RepositoryId
from bot.store.visibility import Naming, OrganisationState, PersonState, RepositoryState

FEWEST_PEOPLE = 5
"""people without whom a sum would tell of a single one"""


class Viewer(Struct, frozen=True):
    """Anybody, whoever holds a good link, or the person whose page it is, signed in."""

    kind: Literal["anybody", "link", "owner"] = "anybody"
    installation: InstallationId | None = None
    """the one installation that a link opens"""
    private: bool = False
    """the link was minted to show private repositories too"""


ANYBODY = Viewer()
OWNER = Viewer("owner")


class Grant(Struct, frozen=True):
    """What may be shown: work in these repositories, under this naming; search engines only where `public`."""

    repositories: frozenset[RepositoryId]
    naming: Naming = "named"
    public: bool = False


def grant_for_person(
    person: PersonState | None,
    repositories: Iterable[RepositoryState],
    viewer: Viewer,
    *,
    hidden: Collection[RepositoryId] = (),
) -> Grant | None:
    """What a viewer may see of a person's work; `hidden` are the repositories which that person leaves out."""
    if person is None or person.bot or person.opted_out:
        return None
    if viewer.kind == "anybody" and not person.public:
        return None
    visible = frozenset(one.id for one in repositories if one.id not in hidden and _may_show(one, viewer))
    # An empty page would tell that there is work which is not shown.
    return Grant(visible, person.naming, viewer.kind == "anybody") if visible else None


def grant_for_organisation(
    organisation: OrganisationState | None, repositories: Iterable[RepositoryState], viewer: Viewer
) -> Grant | None:
    """What a viewer may see of an organisation's sums."""
    if organisation is None or not organisation.active or viewer.kind == "owner":
        return None
    if viewer.kind == "anybody" and not organisation.public:
        return None
    if viewer.kind == "link" and viewer.installation != organisation.installation:
        return None
    own = [one for one in repositories if one.installation == organisation.installation]
    visible = frozenset(one.id for one in own if _may_show(one, viewer))
    return Grant(visible, public=viewer.kind == "anybody") if visible else None


def _may_show(repository: RepositoryState, viewer: Viewer) -> bool:
    if not repository.active:
        return False
    if viewer.kind == "link":
        return repository.installation == viewer.installation and (repository.public or viewer.private)
    return repository.public


def shows_snapshot(grant: Grant, repositories: Collection[RepositoryId], naming: str) -> bool:
    """Whether a snapshot that tells of these repositories under this naming may still be shown."""
    return grant.repositories.issuperset(repositories) and naming == grant.naming


def enough_people(people: int) -> bool:
    """Whether so many people are enough for a sum to be shown."""
    return people >= FEWEST_PEOPLE


def visible_groups(people: Mapping[str, frozenset[PersonKey]]) -> frozenset[str]:
    """The groups whose sums may stand beside the sum of all.

    Each has enough people, and so has all the rest together: else subtraction would tell of a few.
    """
    visible = {name for name, members in people.items() if enough_people(len(members))}
    while visible:
        rest = frozenset[PersonKey]().union(*(people[name] for name in people if name not in visible))
        if not rest or enough_people(len(rest)):
            break
        visible.remove(min(visible, key=lambda name: (len(people[name]), name)))
    return frozenset(visible)

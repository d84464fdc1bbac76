"""Who may see what? The one policy: pure functions from the current state to what may be shown, used by every route.

Private by default. None means 404, and a viewer cannot find out the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from msgspec import Struct

from bot.model.ids import InstallationId, PersonKey, RepositoryId
from bot.store.organisations import OrganisationState
from bot.store.visibility import Naming, PersonState, RepositoryState

FEWEST_PEOPLE = 5
"""with fewer people a sum could reveal a single one"""


class Viewer(Struct, frozen=True):
    """Anybody, the holder of a valid link, or the signed-in person whose page it is."""

    kind: Literal["anybody", "link", "owner"] = "anybody"
    installation: InstallationId | None = None
    """the one installation that a link opens"""
    private: bool = False
    """the link also shows private repositories"""


ANYBODY = Viewer()
OWNER = Viewer("owner")


class Grant(Struct, frozen=True):
    """What may be shown: work in these repositories, under this naming; to search engines only if `public`."""

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
    """What a viewer may see of a person's work; `hidden` are the repositories that the person leaves out."""
    if person is None or not may_open_person(person, viewer):
        return None
    visible = frozenset(one.id for one in repositories if one.id not in hidden and _may_show(one, viewer))
    # An empty page would reveal that there is hidden work.
    return Grant(visible, person.naming, viewer.kind == "anybody") if visible else None


def may_open_person(person: PersonState, viewer: Viewer) -> bool:
    """Whether the viewer may see anything of this person, whatever the repositories are."""
    return not person.bot and not person.opted_out and (person.public or viewer.kind != "anybody")


def may_open_organisation(organisation: OrganisationState, viewer: Viewer) -> bool:
    """Whether the viewer may see anything of this organisation, whatever the repositories are."""
    if not organisation.active or viewer.kind == "owner":
        return False
    return organisation.public or viewer.kind != "anybody"


def grant_for_organisation(
    organisation: OrganisationState | None, repositories: Iterable[RepositoryState], viewer: Viewer
) -> Grant | None:
    """What a viewer may see of an organisation's sums."""
    if organisation is None or not may_open_organisation(organisation, viewer):
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
    """Whether a snapshot about these repositories under this naming may still be shown."""
    return grant.repositories.issuperset(repositories) and naming == grant.naming


def enough_people(people: int) -> bool:
    """Whether there are enough people for a sum to be shown."""
    return people >= FEWEST_PEOPLE


def visible_groups(people: Mapping[str, frozenset[PersonKey]]) -> frozenset[str]:
    """The groups whose sums may be shown beside the sum of all.

    Each has enough people, and so have the others together: otherwise subtraction would reveal a few.
    """
    visible = {name for name, members in people.items() if enough_people(len(members))}
    while visible:
        rest = frozenset[PersonKey]().union(*(people[name] for name in people if name not in visible))
        if not rest or enough_people(len(rest)):
            break
        visible.remove(min(visible, key=lambda name: (len(people[name]), name)))
    return frozenset(visible)

"""Who may see what, and do sums reveal nobody?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.model.ids import InstallationId, PersonKey, RepositoryId, UserId
from bot.store.organisations import OrganisationState
from bot.store.visibility import PersonState, RepositoryState
from bot.web.access import (
    ANYBODY,
    FEWEST_PEOPLE,
    OWNER,
    Viewer,
    grant_for_organisation,
    grant_for_person,
    shows_snapshot,
    visible_groups,
)

HERE, THERE = InstallationId(1), InstallationId(2)
ADA = PersonState(PersonKey("u:7"), frozenset({PersonKey("u:7")}), UserId(7), "ada-example")
SHOWN = replace(ADA, public=True)
OPEN = RepositoryState(RepositoryId(1), "acme/open", HERE, public=True, active=True)
CLOSED = replace(OPEN, id=RepositoryId(2), full_name="acme/closed", public=False)
GONE = replace(OPEN, id=RepositoryId(3), active=False)
FOREIGN = replace(OPEN, id=RepositoryId(4), full_name="other/open", installation=THERE)
LINK, PRIVATE_LINK = Viewer("link", HERE), Viewer("link", HERE, private=True)
ALL = (OPEN, CLOSED, GONE, FOREIGN)


@pytest.mark.parametrize(
    ("person", "viewer", "shown"),
    [
        (None, ANYBODY, None),
        (None, LINK, None),
        (ADA, ANYBODY, None),
        (ADA, LINK, {1}),
        (ADA, PRIVATE_LINK, {1, 2}),
        (ADA, OWNER, {1, 4}),
        (SHOWN, ANYBODY, {1, 4}),
        (SHOWN, LINK, {1}),
        (replace(SHOWN, opted_out=True), ANYBODY, None),
        (replace(SHOWN, opted_out=True), LINK, None),
        (replace(SHOWN, opted_out=True), PRIVATE_LINK, None),
        (replace(SHOWN, opted_out=True), OWNER, None),
        (replace(SHOWN, bot=True), ANYBODY, None),
        (replace(SHOWN, bot=True), LINK, None),
    ],
)
def test_the_access_table_decides_who_sees_a_person(
    person: PersonState | None, viewer: Viewer, shown: set[int] | None
) -> None:
    grant = grant_for_person(person, ALL, viewer)
    assert (None if grant is None else set(grant.repositories)) == shown


@pytest.mark.parametrize(
    ("repositories", "viewer"),
    [((CLOSED,), ANYBODY), ((GONE,), ANYBODY), ((CLOSED,), LINK), ((FOREIGN,), PRIVATE_LINK), ((GONE,), PRIVATE_LINK)],
)
def test_a_page_without_content_does_not_exist(repositories: tuple[RepositoryState, ...], viewer: Viewer) -> None:
    assert grant_for_person(SHOWN, repositories, viewer) is None


def test_only_what_anybody_sees_is_for_search_engines() -> None:
    found = {viewer: grant_for_person(SHOWN, ALL, viewer) for viewer in (ANYBODY, LINK, PRIVATE_LINK, OWNER)}
    assert [viewer for viewer, grant in found.items() if grant and grant.public] == [ANYBODY]


def test_a_repository_that_its_person_hides_is_hidden_from_every_viewer() -> None:
    for viewer in (ANYBODY, LINK, PRIVATE_LINK, OWNER):
        grant = grant_for_person(SHOWN, ALL, viewer, hidden={OPEN.id})
        assert grant is None or OPEN.id not in grant.repositories


@pytest.mark.parametrize(
    ("organisation", "viewer", "shown"),
    [
        (None, ANYBODY, None),
        (OrganisationState(HERE, "acme", True, False), ANYBODY, None),
        (OrganisationState(HERE, "acme", True, True), ANYBODY, {1}),
        (OrganisationState(HERE, "acme", True, False), LINK, {1}),
        (OrganisationState(HERE, "acme", True, False), PRIVATE_LINK, {1, 2}),
        (OrganisationState(HERE, "acme", True, True), Viewer("link", THERE, private=True), None),
        (OrganisationState(HERE, "acme", False, True), ANYBODY, None),
        (OrganisationState(HERE, "acme", False, True), PRIVATE_LINK, None),
        (OrganisationState(HERE, "acme", True, True), OWNER, None),
    ],
)
def test_the_access_table_decides_who_sees_an_organisation(
    organisation: OrganisationState | None, viewer: Viewer, shown: set[int] | None
) -> None:
    grant = grant_for_organisation(organisation, ALL, viewer)
    assert (None if grant is None else set(grant.repositories)) == shown


def test_a_snapshot_is_visible_only_while_everything_in_it_is() -> None:
    grant = grant_for_person(SHOWN, (OPEN,), ANYBODY)
    assert grant is not None
    assert shows_snapshot(grant, (OPEN.id,), "named")
    assert not shows_snapshot(grant, (OPEN.id, CLOSED.id), "named")
    assert not shows_snapshot(grant, (OPEN.id,), "anonymous")
    assert not shows_snapshot(replace(grant, naming="anonymous"), (OPEN.id,), "named")


_STATES = st.builds(
    RepositoryState,
    id=st.integers(1, 6).map(RepositoryId),
    full_name=st.just("a/b"),
    installation=st.sampled_from([HERE, THERE, None]),
    public=st.booleans(),
    active=st.booleans(),
)
_VIEWERS = st.sampled_from([ANYBODY, LINK, PRIVATE_LINK, OWNER, Viewer("link", THERE)])


@given(st.lists(_STATES, unique_by=lambda one: one.id), _VIEWERS, st.booleans(), st.booleans())
def test_everything_shown_is_active_and_private_work_needs_its_installations_link(
    repositories: list[RepositoryState], viewer: Viewer, public: bool, opted_out: bool
) -> None:
    grant = grant_for_person(replace(ADA, public=public, opted_out=opted_out), repositories, viewer)
    if grant is None:
        return
    assert not opted_out
    assert public or viewer.kind != "anybody"
    for one in repositories:
        if one.id in grant.repositories:
            assert one.active
            assert one.public or (viewer.private and viewer.installation == one.installation)


_GROUPS = st.dictionaries(
    st.sampled_from("abcdef"), st.frozensets(st.integers(0, 12).map(lambda n: PersonKey(f"u:{n}")), min_size=1)
)


@given(_GROUPS)
def test_no_group_and_no_rest_has_fewer_than_five_people(groups: dict[str, frozenset[PersonKey]]) -> None:
    shown = visible_groups(groups)
    rest = frozenset[PersonKey]().union(*(members for name, members in groups.items() if name not in shown))
    assert all(len(groups[name]) >= FEWEST_PEOPLE for name in shown)
    assert not shown or not rest or len(rest) >= FEWEST_PEOPLE
    everybody = frozenset[PersonKey]().union(*groups.values())
    if all(len(members) >= FEWEST_PEOPLE for members in groups.values()):
        assert shown == set(groups), everybody

"""Does the ledger contain each fact once, and group related facts?"""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from bot.model.commit import Repository
from bot.model.fact import Fact
from bot.model.ids import PersonKey, RepositoryId
from bot.store import installations, ledger
from bot.store.engine import Store
from bot.store.ledger import FACT
from tests.store.conftest import ACME, ADA, APP, BEA, FOREIGN, FORK, NOW, executed, fact, seed


async def _add(store: Store, facts: list[Fact], repository: RepositoryId = APP) -> list[str]:
    with store.transaction() as connection:
        new = ledger.append_facts(connection, repository, facts, NOW)
        return [one.fact.commit for one in new.values()]


async def _component(store: Store, one: Fact, *, everywhere: bool = False) -> list[str]:
    with store.snapshot() as connection:
        scope = None if everywhere else ACME
        found = ledger.component(connection, [(APP, one.commit)], installation_id=scope)
    return [each.title for each in found]


async def test_a_fact_is_read_back_unchanged_and_counts_once(store: Store) -> None:
    await seed(store)
    one = fact(1, co_authors=(BEA,), languages={"Rust": 2, "C": 1}, keys=("drev:D9",), certain=False, title="nul\0")
    assert await _add(store, [one, one]) == [one.commit]
    assert await _add(store, [one]) == []
    with store.snapshot() as connection:
        (found,) = ledger.facts_in(connection, APP)
        assert ledger.recorded_commits(connection, APP, [one.commit, fact(2).commit]) == {one.commit}
    assert found.title == "nul\ufffd"
    assert (found.languages, found.lines, found.co_authors, found.certain) == (
        one.languages,
        one.lines,
        one.co_authors,
        False,
    )


async def test_the_same_commit_in_a_fork_is_a_fact_of_its_own_and_of_the_same_component(store: Store) -> None:
    await seed(store)
    await _add(store, [fact(1)])
    assert await _add(store, [fact(1, FORK)], FORK) == [fact(1).commit]
    assert len(await _component(store, fact(1))) == 2


async def test_a_revert_and_a_reland_are_found_from_any_of_the_three(store: Store) -> None:
    await seed(store)
    landed = fact(1, title="landed", keys=("pr:acme/app#5",))
    revert = fact(2, title="revert", reverts=("commit:" + landed.commit[:12],))
    reland = fact(3, title="reland", keys=("pr:acme/app#5",))
    await _add(store, [reland, revert, fact(4, title="alone"), landed])
    for one in (landed, revert, reland):
        assert await _component(store, one) == ["landed", "revert", "reland"]
    assert await _component(store, fact(4)) == ["alone"]


async def test_a_component_stays_inside_its_installation(store: Store) -> None:
    await seed(store)
    await _add(store, [fact(1, title="mine", keys=("drev:D1",))])
    await _add(store, [fact(2, FOREIGN, title="theirs", keys=("drev:D1",))], FOREIGN)
    assert await _component(store, fact(1)) == ["mine"]
    assert await _component(store, fact(1), everywhere=True) == ["mine", "theirs"]


async def test_facts_of_a_person_are_those_authored_and_co_authored_where_asked(store: Store) -> None:
    await seed(store)
    await _add(store, [fact(1, title="a"), fact(2, author=BEA, title="b"), fact(3, co_authors=(BEA,), title="both")])
    await _add(store, [fact(4, FORK, author=BEA, title="elsewhere")], FORK)
    with store.snapshot() as connection:
        found = ledger.facts_of(connection, [PersonKey("e:bea@example.org")], repositories=[APP])
    assert [one.title for one in found] == ["b", "both"]


async def test_a_rename_moves_only_the_facts_of_that_repository(store: Store) -> None:
    await seed(store)
    await _add(store, [fact(1, keys=("pr:acme/app#5", "title:acme/app:x"), links=("issue:acme/app#9",))])
    await _add(store, [fact(2, FORK, keys=("slice:acme/app#5",))], FORK)
    with store.transaction() as connection:
        assert ledger.follow_rename(connection, APP, "acme/app", "Acme/Tool") == 1
        (mine,) = ledger.facts_in(connection, APP)
        (other,) = ledger.facts_in(connection, FORK)
    assert mine.repository == "Acme/Tool"
    assert mine.keys == ("pr:acme/tool#5", "title:acme/tool:x")
    assert other.keys == ("slice:acme/app#5",)
    await _add(store, [fact(3, title="later", keys=("pr:acme/tool#5",))])
    assert "later" in await _component(store, fact(1))


async def test_statements_for_a_landing_do_not_grow_with_the_ledger_or_the_batch(store: Store) -> None:
    await seed(store)
    counted: list[int] = []
    for batch in ([fact(1)], [fact(number) for number in range(2, 100)], [fact(200, keys=("pr:acme/app#1",))]):
        with executed() as statements, store.transaction() as connection:
            ledger.append_facts(connection, APP, batch, NOW)
            ledger.component(connection, [(APP, batch[0].commit)], installation_id=ACME)
        counted.append(len(statements))
    assert counted[0] > 0
    assert counted[0] == counted[1] == counted[2]


def _model(facts: list[Fact], start: Fact) -> set[str]:
    """Components by their definition, the slow way."""
    from bot.landing.same_work.keys import offered_keys, sought_keys

    inside, grown = {start.commit}, True
    while grown:
        members = [one for one in facts if one.commit in inside]
        offered = {key for one in members for key in offered_keys(one)}
        asked = {key for one in members for key in sought_keys(one)}
        near = {one.commit for one in facts if offered & set(sought_keys(one)) or asked & set(offered_keys(one))}
        grown = not near <= inside
        inside |= near
    return set(inside)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 9)), min_size=1, max_size=10), st.randoms()
)
async def test_components_are_those_of_the_definition_in_any_order(
    store: Store, links: list[tuple[int, int, int]], rng: random.Random
) -> None:
    await seed(store)
    facts = [
        fact(number, keys=(f"drev:D{one}", f"title:acme/app:t{two}"), reverts=(f"title:acme/app:t{three}",))
        for number, (one, two, three) in enumerate(links, 1)
    ]
    shuffled = rng.sample(facts, len(facts))
    with store.transaction() as connection:
        connection.execute(FACT.delete())
        for one in shuffled:
            ledger.append_facts(connection, APP, [one], NOW)
        for one in facts:
            found = ledger.component(connection, [(APP, one.commit)], installation_id=ACME)
            assert {each.commit for each in found} == _model(facts, one)
            assert [each.landed_at for each in found] == sorted(each.landed_at for each in found)


async def test_a_fact_needs_its_repository(store: Store) -> None:
    with pytest.raises(Exception, match=r"(?i)foreign key"):
        await _add(store, [fact(1)])


async def test_the_author_key_is_the_proved_one_where_there_is_one(store: Store) -> None:
    await seed(store)
    await _add(store, [fact(1), fact(2, author=BEA)])
    with store.snapshot() as connection:
        keys = list(connection.execute(select(FACT.c.author_key).order_by(FACT.c.landed_at)).scalars())
    assert keys == ["u:7", "e:bea@example.org"]


async def test_removed_repositories_hide_at_once_and_return_with_their_facts(store: Store) -> None:
    await seed(store)
    await _add(store, [fact(1)])
    with store.transaction() as connection:
        installations.remove_repositories(connection, [APP], NOW)
        hidden = installations.repository(connection, APP)
        installations.save_repositories(connection, ACME, [Repository("acme/app", APP, private=True)], NOW)
        back = installations.repository_named(connection, "Acme/App")
        assert len(ledger.facts_in(connection, APP)) == 1
    assert hidden is not None
    assert back is not None
    assert (hidden.visibility, hidden.removed_at, back.visibility, back.removed_at) == ("hidden", NOW, "private", None)
    assert ADA.user_id == 7

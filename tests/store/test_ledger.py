"""The ledger: facts once each, and together what belongs together."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from bot.model import Fact, PersonKey, Repository, RepositoryId
from bot.store import installations, ledger
from bot.store.engine import Store
from bot.store.ledger import FACT
from tests.store.conftest import ACME, ADA, APP, BEA, FOREIGN, FORK, NOW, executed, fact, seed


async def _add(store: Store, facts: list[Fact], repository: RepositoryId = APP) -> list[str]:
    async with store.begin() as conn:
        return list(await ledger.add_facts(conn, repository, facts, now=NOW))


async def _component(store: Store, one: Fact, *, everywhere: bool = False) -> list[str]:
    async with store.read() as conn:
        scope = None if everywhere else ACME
        found = await ledger.component(conn, [(APP, one.commit)], installation_id=scope)
    return [each.title for each in found]


async def test_a_fact_comes_back_equal_and_counts_once(store: Store) -> None:
    await seed(store)
    one = fact(1, co_authors=(BEA,), languages={"Rust": 2, "C": 1}, keys=("drev:D9",), certain=False, title="nul\0")
    assert await _add(store, [one, one]) == [one.commit]
    assert await _add(store, [one]) == []
    async with store.read() as conn:
        (found,) = await ledger.facts_in(conn, APP)
        assert await ledger.known(conn, APP, [one.commit, fact(2).commit]) == {one.commit}
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
    async with store.read() as conn:
        found = await ledger.facts_of(conn, [PersonKey("e:bea@example.org")], repositories=[APP])
    assert [one.title for one in found] == ["b", "both"]


async def test_a_rename_takes_its_own_facts_along_and_no_others(store: Store) -> None:
    await seed(store)
    await _add(store, [fact(1, keys=("pr:acme/app#5", "title:acme/app:x"), links=("issue:acme/app#9",))])
    await _add(store, [fact(2, FORK, keys=("slice:acme/app#5",))], FORK)
    async with store.begin() as conn:
        assert await ledger.follow_rename(conn, APP, "acme/app", "Acme/Tool") == 1
        (mine,) = await ledger.facts_in(conn, APP)
        (other,) = await ledger.facts_in(conn, FORK)
    assert mine.repository == "Acme/Tool"
    assert mine.keys == ("pr:acme/tool#5", "title:acme/tool:x")
    assert other.keys == ("slice:acme/app#5",)
    await _add(store, [fact(3, title="later", keys=("pr:acme/tool#5",))])
    assert "later" in await _component(store, fact(1))


async def test_statements_for_a_landing_do_not_grow_with_the_ledger_or_the_batch(store: Store) -> None:
    await seed(store)
    counted: list[int] = []
    for batch in ([fact(1)], [fact(number) for number in range(2, 100)], [fact(200, keys=("pr:acme/app#1",))]):
        with executed() as statements:
            async with store.begin() as conn:
                await ledger.add_facts(conn, APP, batch, now=NOW)
                await ledger.component(conn, [(APP, batch[0].commit)], installation_id=ACME)
        counted.append(len(statements))
    assert counted[0] > 0
    assert counted[0] == counted[1] == counted[2]


def _model(facts: list[Fact], start: Fact) -> set[str]:
    """Components by their definition, the slow way."""
    from bot.landing.keys import asks, offers

    inside, grown = {start.commit}, True
    while grown:
        members = [one for one in facts if one.commit in inside]
        offered = {key for one in members for key in offers(one)}
        asked = {key for one in members for key in asks(one)}
        near = {one.commit for one in facts if offered & set(asks(one)) or asked & set(offers(one))}
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
    async with store.begin() as conn:
        await conn.execute(FACT.delete())
        for one in shuffled:
            await ledger.add_facts(conn, APP, [one], now=NOW)
        for one in facts:
            found = await ledger.component(conn, [(APP, one.commit)], installation_id=ACME)
            assert {each.commit for each in found} == _model(facts, one)
            assert [each.landed_at for each in found] == sorted(each.landed_at for each in found)


async def test_a_fact_needs_its_repository(store: Store) -> None:
    with pytest.raises(Exception, match=r"(?i)foreign key"):
        await _add(store, [fact(1)])


async def test_the_author_key_is_the_proved_one_where_there_is_one(store: Store) -> None:
    await seed(store)
    await _add(store, [fact(1), fact(2, author=BEA)])
    async with store.read() as conn:
        keys = list((await conn.execute(select(FACT.c.author_key).order_by(FACT.c.landed_at))).scalars())
    assert keys == ["u:7", "e:bea@example.org"]


async def test_removed_repositories_hide_at_once_and_return_with_their_facts(store: Store) -> None:
    await seed(store)
    await _add(store, [fact(1)])
    async with store.begin() as conn:
        await installations.remove_repositories(conn, [APP], NOW)
        hidden = await installations.repository(conn, APP)
        await installations.see_repositories(conn, ACME, [Repository("acme/app", APP, private=True)], NOW)
        back = await installations.repository_named(conn, "Acme/App")
        assert len(await ledger.facts_in(conn, APP)) == 1
    assert hidden is not None
    assert back is not None
    assert (hidden.visibility, hidden.removed_at, back.visibility, back.removed_at) == ("hidden", NOW, "private", None)
    assert ADA.user_id == 7

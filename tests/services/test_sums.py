"""Do totals that grew landing by landing equal totals computed from all facts at once?"""

from __future__ import annotations

import asyncio
import random
import tempfile
from functools import reduce
from operator import iadd
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from benchmarks.speed.landings import NOW, UTC_ZONE, facts_of, organisation
from bot.landing.changes import fold
from bot.metrics.ai_usage import usage
from bot.metrics.totals import commits_by_day, work_by_month
from bot.model.commit import Repository, Signature
from bot.model.fact import AiMark, Fact
from bot.model.ids import InstallationId, RepositoryId
from bot.services.recording.change_rows import sums
from bot.services.recording.rebuild import rebuild
from bot.services.recording.record import LedgerState, RecordingTarget, fold_state, record, recount
from bot.store import fact_keys
from bot.store.dump import dump_lines
from bot.store.engine import Store
from bot.store.folding import Standing
from bot.store.schema import RECORD
from bot.store.totals import COUNTERS, Sum
from tests.databases import fresh_database
from tests.landing.components import component
from tests.store.conftest import database_url, store

__all__ = ["database_url", "store"]

HELPER = Signature("Bea", "bea@example.org")


def _story(seed: int, number: int) -> list[Fact]:
    """Landings of three people in three repositories: some revert, re-land, copy or co-author, across two months."""
    chance, found = random.Random(seed), list[Fact]()
    for count, plain in enumerate(facts_of(number, people=3, repositories=3, seed=seed)):
        fact = replace(plain, landed_at=plain.landed_at + chance.randrange(40) * 86_400, reverts=())
        if chance.random() < 0.3:
            fact = replace(fact, co_authors=(HELPER, HELPER))
        if chance.random() < 0.2:
            fact = replace(fact, ai=(AiMark(3, "Tool", "Assisted-by: Tool"),))
        if found and chance.random() < 0.5:
            fact = _about(fact, chance.choice(found), chance.choice(("revert", "reland", "part", "backport", "fork")))
        found.append(fact if fact.commit not in {one.commit for one in found} else replace(fact, keys=fact.keys[:1]))
        assert len(found) == count + 1
    return found


def _about(fact: Fact, other: Fact, what: str) -> Fact:
    if what == "revert":
        return replace(fact, reverts=(f"commit:{other.commit}",), kind="revert")
    if what == "part":
        return replace(fact, reverts=(f"part:commit:{other.commit}",))
    if what == "reland":
        return replace(fact, relands=(f"commit:{other.commit}",))
    if what == "backport":
        return replace(fact, keys=(*fact.keys, f"commit:{other.commit}"), pull_request=None)
    return replace(other, repository="acme/part-2", landed_at=fact.landed_at)


async def _dump(store: Store) -> list[str]:
    return await store.read(lambda connection: list(dump_lines(connection, RECORD)))


async def _play(url: str, seed: int, *, batch: int, number: int = 14) -> None:
    chance = random.Random(seed)
    facts = _story(seed, number)
    chance.shuffle(facts)
    async with await Store.open(url) as store:
        ids = await organisation(store, 3)
        for at in range(0, number, batch):
            for name, where in ids.items():
                some = [fact for fact in facts[at : at + batch] if fact.repository == name]
                with store.transaction() as connection:
                    record(connection, _target(where), some, now=NOW)
                    if some and chance.random() < 0.3:
                        longer = replace(some[0], lines=replace(some[0].lines, authored=500))
                        record(connection, _target(where), [longer], now=NOW, again=True)
                    if some and chance.random() < 0.3:
                        recount(connection, _target(where), [some[0].commit])
        before = await _dump(store)
        await rebuild(store, InstallationId(1), UTC_ZONE)
        assert await _dump(store) == before


def _target(where: RepositoryId) -> RecordingTarget:
    return RecordingTarget(InstallationId(1), where, UTC_ZONE)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10_000), st.sampled_from((1, 3, 14)))
@example(1804, 1)
def test_totals_that_grew_are_those_of_a_rebuild(seed: int, batch: int) -> None:
    with tempfile.TemporaryDirectory() as folder, fresh_database("sqlite", Path(folder)) as url:
        asyncio.run(_play(url, seed, batch=batch))


async def test_work_that_loses_its_link_on_remeasuring_leaves_its_change(store: Store) -> None:
    """Its title was edited, say, by which another commit found it."""
    ids = await organisation(store, 1)
    plain, other = facts_of(2, people=2, repositories=1)
    linked = replace(other, keys=(*other.keys, f"commit:{plain.commit}"))
    for facts, again in (([plain, linked], False), ([other], True)):
        with store.transaction() as connection:
            record(connection, _target(ids["acme/part-0"]), facts, now=NOW, again=again)
    before = await _dump(store)
    await rebuild(store, InstallationId(1), UTC_ZONE)
    assert await _dump(store) == before


@given(st.integers(0, 10_000), st.integers(1, 40))
@settings(max_examples=40, deadline=None)
def test_unrelated_facts_give_the_same_changes_when_folded_separately(seed: int, number: int) -> None:
    facts = dict(enumerate(_story(seed, number)))
    names = {f"acme/part-{one}": RepositoryId(10 + one) for one in range(3)}
    stands = Standing({name: Repository(name, one) for name, one in names.items()}, names)
    apart = fact_keys.unconnected_facts(fact_keys.with_keys(facts))
    assert fold_state(LedgerState(stands, ()), apart, facts) == fold(facts.values(), stands.repositories)


@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=30, deadline=None)
def test_work_of_one_repository_folds_the_same_without_the_others(seed: int, has_fork: bool) -> None:
    facts, names = _story(seed, 14), [f"acme/part-{number}" for number in range(3)]
    known = {name: Repository(name, RepositoryId(10 + number)) for number, name in enumerate(names)}
    if has_fork:
        known[names[2]] = replace(known[names[2]], fork=True, parent=names[0])
    whole = fold(facts, known)
    for fact in facts:
        together = component(fact, facts, known)
        if {one.repository for one in together} == {fact.repository}:
            alone = fold(together, {fact.repository: known[fact.repository]})
            assert all(change in whole for change in alone)


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_a_total_is_the_sum_of_the_months_of_a_profile(seed: int) -> None:
    folded = fold(_story(seed, 20))
    ids = {f"acme/part-{number}": RepositoryId(10 + number) for number in range(3)}
    found = sums(folded, ids, UTC_ZONE)
    for person in {cell[0] for cell in found}:
        for month, work in work_by_month(folded, (person,), UTC_ZONE).items():
            here = [one for cell, one in found.items() if (cell[0], cell[2]) == (person, month)]
            both = [sum(one.numbers[place] for one in here) for place in range(len(COUNTERS))]
            ai = usage(commit.fact for _, commit in work.commits)
            outcomes = sum(1 for change in work.delivered if change.outcome)
            wanted = [len(work.commits), len(work.co_authored), outcomes, ai.declared, ai.detected, ai.unknown]
            assert both == wanted
            assert _merge(here, "days") == commits_by_day([work], UTC_ZONE)
            assert _merge(here, "languages") == {name: n for name, n in work.languages.items() if n}
            assert sum(sum(one.numbers[len(COUNTERS) :]) for one in here) == work.lines.total


def _merge(found: list[Sum], tally: str) -> dict[str, int]:
    total: dict[str, int] = getattr(reduce(iadd, found, Sum()), tally)
    return dict(sorted(total.items())) if tally == "days" else total


def test_totals_that_grew_on_postgresql_are_those_of_a_rebuild(tmp_path: Path) -> None:
    for seed in (1,):
        with fresh_database("postgresql", tmp_path) as url:
            asyncio.run(_play(url, seed, batch=3))

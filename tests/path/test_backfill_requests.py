"""What does a history cost? One page per hundred pull requests, and a few requests that do not grow with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from bot.landing.identity.credit import credits_of
from bot.model.change import CountedCommit
from bot.model.ids import CommitId, RepositoryId
from bot.store import configurations, ledger
from simulator.server import Simulator
from simulator.state import SimAccount
from simulator.web_host import noreply_domain
from simulator.work import NewPullRequest, Step
from simulator.world import World
from tests.path.running import Running
from tests.path.test_backfill import START, backfill_of, bot_on, install, settled, small_world, the_repository

PEOPLE, BATCH = 70, 10
"""more people than fit into a page's query, in more than one batch of commits"""


async def land(world: World, author: SimAccount, turns: Iterable[int]) -> None:
    github, repository = world.github, the_repository(world)
    for turn in turns:
        at = START + timedelta(days=turn)
        steps = [Step(f"Part {turn}", {f"part_{turn}.py": b"a = 1\n"})]
        pull = github.open_pull(repository, NewPullRequest(f"Part {turn}", author, steps, f"topic-{turn}"), at=at)
        github.merge(repository, pull, "squash", by=world.people["mara"], at=at)
    await github.wait_until_idle()


def push_of_many(world: World) -> None:
    people = [world.github.account(f"person-{number}", email=f"p{number}@example.org") for number in range(PEOPLE)]
    steps = [Step(f"By {one.login}", {f"{one.login}.py": b"a = 1\n"}, author=one.signature) for one in people]
    world.github.push(the_repository(world), "main", steps, by=world.people["mara"], at=START)


async def read_history(there: Running) -> tuple[int, Counter[str]]:
    """The requests as its row counts them, and those about this repository or by query that GitHub received."""
    github, asked = there.world.github, len(there.world.github.requests)
    install(there.world)
    await settled(there)
    own = Counter(
        one
        for one in github.requests[asked:]
        if one == "POST /graphql" or one.startswith(("GET /repositories/", "GET /repos/"))
    )
    return (await backfill_of(there)).requests, own


async def test_settings_in_the_clone_apply_without_a_request(github: Simulator, tmp_path: Path) -> None:
    world = small_world(github)
    text = "timezone: Europe/Vienna\n"
    repository = the_repository(world)
    github.push(
        repository, "main", [Step("Settle", {".github/almanac.yml": text.encode()})], by=world.people["mara"], at=START
    )
    async with bot_on(github, world, tmp_path, backfill=True) as there:
        counted, asked = await read_history(there)
        with there.bot.store.snapshot() as connection:
            kept = configurations.read(connection, RepositoryId(repository.id))
    assert (kept.own, kept.problems) == (text, ())
    assert f"GET /repositories/{repository.id}/contents/.github/almanac.yml" not in asked
    assert counted == asked.total() == 3, "the repository, the settings of its account, and a page"


async def test_people_beyond_the_page_query_are_requested_once(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("bot.jobs.backfill_commits"), "BATCH", BATCH)
    world = small_world(github)
    push_of_many(world)
    mender = github.bot("mender[bot]")
    mender.email = f"mender[bot]@{noreply_domain()}"
    await land(world, world.people["ada"], range(1, 5))
    await land(world, mender, range(5, 9))
    async with bot_on(github, world, tmp_path, backfill=True) as there:
        counted, asked = await read_history(there)
        with there.bot.store.snapshot() as connection:
            facts = ledger.facts_in(connection, RepositoryId(the_repository(world).id))
    assert {fact.author.login for fact in facts} >= {"ada", "mender[bot]", "person-0", f"person-{PEOPLE - 1}"}
    assert None not in {person.user_id for fact in facts for person in (fact.author, fact.committer)}
    assert asked["POST /graphql"] == 2, "a page, and everybody who found no room beside it"
    assert counted == asked.total() == 5, "and one commit that a machine wrote and GitHub's button committed"


async def test_a_deleted_node_is_left_out_of_its_page(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, world = import_module("simulator.graphql"), small_world(github)
    await land(world, world.people["ada"], range(3))
    answer = graph.answer

    def without_one(*given: object, **more: object) -> tuple[dict[str, Any], int]:
        found, cost = answer(*given, **more)
        found["data"]["repository"]["pullRequests"]["nodes"][1] = None
        return found | {"errors": [{"type": "NOT_FOUND", "path": ["repository", "pullRequests", "nodes", 1]}]}, cost

    monkeypatch.setattr(graph, "answer", without_one)
    async with bot_on(github, world, tmp_path, backfill=True) as there:
        await read_history(there)
        row = await backfill_of(there)
    assert (row.state, row.pulls, row.pulls_done, row.commits_done) == ("done", 3, 2, 4)


async def test_a_page_that_is_too_slow_is_halved_and_the_next_ones_grow_again(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("bot.github.client"), "retry_wait", lambda *_: 0.0)
    world = small_world(github)
    await land(world, world.people["ada"], range(2))
    async with bot_on(github, world, tmp_path, backfill=True) as there:
        github.faults.plan("502", "POST /graphql", times=4)
        await read_history(there)
        row = await backfill_of(there)
    assert (row.state, row.pulls_done, row.size) == ("done", 2, 60)


async def test_collaborators_come_with_the_page_and_grade_as_deliveries_do(github: Simulator, tmp_path: Path) -> None:
    world = small_world(github)
    repository, sid = the_repository(world), github.account("sid", name="Sid Example")
    ada = world.people["ada"].signature
    steps = [Step("Part 1", {"a.py": b"a = 1\n"}), Step("Part 2", {"b.py": b"b = 2\n"}, author=ada)]
    pull = github.open_pull(repository, NewPullRequest("Parts", sid, steps, "topic"), at=START)
    github.merge(repository, pull, "squash", by=world.people["mara"], at=START)
    async with bot_on(github, world, tmp_path, backfill=True) as there:
        await read_history(there)
        with there.bot.store.snapshot() as connection:
            found = {one.commit: one for one in ledger.facts_in(connection, RepositoryId(repository.id))}
    fact = found[CommitId(pull.merge_commit or "")]
    assert fact.evidence is not None
    assert fact.evidence.collaborators == (world.people["ada"].id,)
    grades = {one.person: one.grade for one in credits_of(CountedCommit(fact, counts=True, lines=fact.lines))}
    assert grades == {f"u:{sid.id}": "proved", f"u:{world.people['ada'].id}": "attributed"}

"""Is a commit read again of which GitHub showed only a part, and are totals and posts corrected?"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.github import graphql
from bot.model.ids import CommitId, RepositoryId
from bot.store import ledger
from simulator import payloads
from simulator.faults import Kind
from simulator.server import Simulator
from simulator.work import NewPullRequest, Step
from tests.services.landed import NOW, Town, town


def recorded(there: Town, commit: str) -> tuple[int, bool]:
    """The lines of a recorded commit, and whether they are marked as partial."""
    with there.bot.store.snapshot() as connection:
        (fact,) = ledger.facts_at(connection, RepositoryId(there.repository.id), [CommitId(commit)])
    return fact.lines.total, fact.partial


async def test_rows_with_zeros_are_marked_and_mended_when_github_shows_them(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        github.faults.plan("zeros", "GET /repositories/*/commits/*", times=4)
        pull = await there.land("Add a wheel")
        assert recorded(there, pull.landed or "") == (0, True)
        (before,) = there.checks().values()
        there.clock.now += timedelta(minutes=11)
        await there.drained()
        assert recorded(there, pull.landed or "") == (0, True), "still partial at the second look"
        there.clock.now += timedelta(minutes=21)
        await there.drained()
        assert recorded(there, pull.landed or "") == (2, False)
        (after,) = there.checks().values()
        assert before != after


async def test_a_fault_that_stays_is_asked_about_a_bounded_number_of_times(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        github.faults.plan("zeros", "GET /repositories/*/commits/*", times=10_000)
        pull = await there.land("Add a wheel")
        asked = github.count("GET /repositories/.*/commits/")
        for _ in range(100):
            there.clock.now += timedelta(hours=1)
            await there.drained()
        assert recorded(there, pull.landed or "") == (0, True)
        assert github.count("GET /repositories/.*/commits/") - asked <= 16


async def land_together(there: Town) -> str:
    """A squash of a commit by ada and one by bea; the id of what landed."""
    ada, bea = there.people["ada"], there.people["bea"]
    wheel = Step("Add a wheel", {"wheel.py": b"size = 1\n"}, ada.signature, NOW)
    axle = Step("Add an axle", {"axle.py": b"size = 2\nlength = 3\n"}, bea.signature, NOW)
    credit = f"Co-authored-by: {bea.name} <{bea.signature.email}>"
    work = NewPullRequest("Add a cart", ada, [wheel, axle], "cart", credit)
    pull = there.github.open_pull(there.repository, work, at=NOW)
    there.github.merge(there.repository, pull, "squash", by=there.people["mara"], at=NOW)
    await there.drained()
    return pull.landed or ""


def parts_of(there: Town, commit: str) -> list[tuple[str | None, int]]:
    with there.bot.store.snapshot() as connection:
        (fact,) = ledger.facts_at(connection, RepositoryId(there.repository.id), [CommitId(commit)])
    assert not fact.partial
    return [(share.author.login, share.lines) for share in fact.evidence.shares] if fact.evidence else []


@pytest.mark.parametrize("harm", ["short", "empty"])
async def test_parts_of_a_squash_that_were_not_shown_are_read_when_github_shows_them(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: Kind
) -> None:
    monkeypatch.setattr(graphql, "BEFORE_NEXT_READING", 0.0)
    async with town(github, tmp_path) as there:
        github.faults.plan(harm, "POST /graphql", times=8)
        landed = await land_together(there)
        assert parts_of(there, landed) == []
        there.clock.now += timedelta(minutes=11)
        await there.drained()
        assert parts_of(there, landed) == [], "still fewer than GitHub says at the second look"
        there.clock.now += timedelta(minutes=21)
        await there.drained()
        assert parts_of(there, landed) == [("ada", 1), ("bea", 2)]
        asked = github.count("POST /graphql")
        there.clock.now += timedelta(days=3)
        await there.drained()
        assert github.count("POST /graphql") == asked


async def test_collaborators_that_were_not_all_listed_are_read_again(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphql, "BEFORE_NEXT_READING", 0.0)
    async with town(github, tmp_path) as there:
        there.repository.permissions["bea"] = "write"
        known = graphql.parts
        monkeypatch.setattr(graphql, "parts", lambda *given: replace(known(*given), collaborators=(), complete=False))
        landed = await land_together(there)
        monkeypatch.setattr(graphql, "parts", known)
        assert parts_of(there, landed) == [("ada", 1), ("bea", 2)]
        there.clock.now += timedelta(minutes=11)
        await there.drained()
        with there.bot.store.snapshot() as connection:
            (fact,) = ledger.facts_at(connection, RepositoryId(there.repository.id), [CommitId(landed)])
        assert fact.evidence is not None
        assert fact.evidence.collaborators == (there.people["bea"].id,)


async def test_a_false_number_of_commits_takes_no_rebased_commit_from_its_pull_request(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path) as there:
        ada, mara = there.people["ada"], there.people["mara"]
        steps = [Step(f"Add part {number}", {f"part_{number}.py": b"size = 1\n"}) for number in range(2)]
        work = NewPullRequest("Add a cart", ada, steps, "cart")
        pull = github.open_pull(there.repository, work, at=NOW)
        landed = github.merge(there.repository, pull, "rebase", by=mara, at=NOW)
        await there.drained()

        def brought_by() -> list[int | None]:
            names = [CommitId(one) for one in landed]
            with there.bot.store.snapshot() as connection:
                facts = ledger.facts_at(connection, RepositoryId(there.repository.id), names)
            return [fact.pull_request for fact in facts]

        assert brought_by() == [pull.number] * 2
        pull.issue.title = "Add a better cart"
        fault = github.faults.plan("counts", "GET /repositories/*/pulls/*")
        edited = payloads.pull_request(github.api_url, there.repository, "edited", pull=pull)
        github.send_event(there.repository, "pull_request", edited, sender=mara)
        await there.drained()
        assert fault.times == 0, "the pull request was read again"
        assert brought_by() == [pull.number] * 2

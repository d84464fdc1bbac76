"""Is a commit read again of which GitHub showed only a part, and are totals and posts corrected?"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from bot.model.ids import CommitId, RepositoryId
from bot.store import ledger
from simulator.server import Simulator
from tests.services.landed import Town, town


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

"""Does the bot work on a host that finds no repository by its id?"""

from __future__ import annotations

from pathlib import Path

from simulator.server import Simulator
from tests.services.landed import town


async def test_repositories_are_asked_for_by_name_where_ids_are_unknown(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        github.state.serves_ids = False
        pull = await there.land("feat: add a lamp")
        assert [commit for commit in there.checks() if commit == pull.landed]
        refused = github.count("/repositories/")
        await there.land("feat: add a bell")
        assert len(there.checks()) == 2
        assert github.count("/repositories/") == refused


async def test_a_404_of_a_missing_repository_changes_nothing(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        gone = await there.second_repository("gone")
        await there.land("feat: add a lamp", repo=gone)
        del github.state.repositories[gone.id]
        defer = f'{{"installation":{there.installation.id},"repository":{gone.id}}}'
        with there.bot.store.transaction() as connection:
            there.bot.queue.defer(connection, "update_repository", defer)
        await there.drained()
        before = github.count("/repos/acme/app")
        await there.land("feat: add a bell")
        assert github.count("/repositories/") > 0
        assert github.count("/repos/acme/app") == before

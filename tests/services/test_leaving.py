"""Does a repository without access disappear at once from digests in other repositories?"""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.server import Simulator
from simulator.state import SimRepository
from tests.services.landed import Town, town

SHARED = "first_digest: post\ndigest_repository: acme/team\n"


async def posted_at_team(there: Town, *names: str) -> tuple[SimRepository, list[SimRepository]]:
    """`team`, and others whose May its digest covers, each with one landing that is named after it."""
    team = await there.second_repository("team")
    found = []
    for name in names:
        repository = await there.second_repository(name)
        await there.write(".github/almanac.yml", SHARED, repo=repository)
        await there.land(f"feat: add the {name} wheel", repo=repository)
        found.append(repository)
    await there.month_over()
    return team, found


@pytest.mark.parametrize("way", ["deselected", "deleted", "moved away"])
async def test_a_removed_repository_is_reported_no_more_but_the_others_are(
    github: Simulator, tmp_path: Path, way: str
) -> None:
    async with town(github, tmp_path) as there:
        team, (port, mill) = await posted_at_team(there, "port", "mill")
        (before,) = there.digests(team)
        assert "port wheel" in before
        assert "mill wheel" in before
        if way == "deselected":
            github.select(there.installation, [there.repository, team, mill])
        elif way == "deleted":
            told = {"action": "deleted", "repository": {"id": port.id}, "installation": {"id": there.installation.id}}
            del github.state.repositories[port.id]
            github.deliveries.add(there.app, "repository", told, installation=there.installation)
        else:
            port.owner, port.name = github.organisation("other"), "port"
            other = github.install(there.app, port.owner)
            assert other.id != there.installation.id
        await there.drained()
        (after,) = there.digests(team)
        assert "port" not in after
        assert "mill wheel" in after
        assert after.split("\n")[0] == before.split("\n")[0]


async def test_the_comment_is_empty_when_all_opted_out_and_refilled_on_return(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path) as there:
        team, (port,) = await posted_at_team(there, "port")
        await there.write(".github/almanac.yml", "digest: off\n", repo=team)
        await there.land("feat: add what team keeps to itself", repo=team)
        github.select(there.installation, [there.repository, team])
        await there.drained()
        (gone,) = there.digests(team)
        assert gone.partition("\n")[2] == "Nothing in May 2031 is counted any more.\n"
        github.select(there.installation, [there.repository, team, port])
        await there.drained()
        (back,) = there.digests(team)
        assert "port wheel" in back

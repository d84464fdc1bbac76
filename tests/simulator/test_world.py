"""Is the demo's organisation as rich as it promises, and the same every time?"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from simulator.git import run_git
from simulator.server import Simulator
from simulator.world import World, build_world, play

NOW = datetime(2026, 11, 21, 8, tzinfo=UTC)


async def played() -> tuple[World, dict[str, str | None], list[tuple[str, str, int]]]:
    """A world after its story, the tips it led to, and (repository, subject, changed lines) of each landed commit."""
    async with Simulator() as github:
        world = build_world(github, NOW)
        await play(world)
        landed = []
        for repo in world.repositories.values():
            run_git(repo.git.path, "fsck", "--strict")
            for id_ in repo.git.history(repo.git.tip or ""):
                if len(repo.git.commits[id_].parents) == 1:
                    lines = sum(entry.additions + entry.deletions for entry in repo.differences.of_commit(id_))
                    landed.append((repo.name, repo.git.commits[id_].draft.message, lines))
        return world, {name: repo.git.tip for name, repo in world.repositories.items()}, landed


async def test_the_story_is_rich_real_and_repeats_exactly() -> None:
    world, tips, landed = await played()
    _, again, _ = await played()
    assert tips == again
    assert len(tips) >= 4
    assert 80 <= len(landed) <= 150
    assert [message for _, message, lines in landed if lines == 0] == []
    messages = "\n".join(message for _, message, _ in landed)
    for sign in ("Co-authored-by:", "Co-Authored-By: Claude", "This reverts commit", "Pull Request resolved:", "(#2)"):
        assert sign in messages, sign
    assert any(repo.private for repo in world.repositories.values())
    pulls = [pull for repo in world.repositories.values() for pull in repo.pulls]
    months = {(pull.issue.closed_at or NOW).strftime("%Y-%m") for pull in pulls}
    assert len(months) >= 6
    assert all(pull.issue.closed_at and pull.issue.closed_at < NOW for pull in pulls)
    authors = {pull.issue.user.login for pull in pulls if pull.issue.user and pull.issue.user.type == "User"}
    assert len(authors) == 8


def test_the_story_and_its_templates_are_part_of_the_package() -> None:
    folder = Path(__file__).parent.parent.parent / "simulator"
    assert {"story.toml", "templates.toml", "openapi.json"} <= {file.name for file in folder.iterdir()}

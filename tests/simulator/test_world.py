"""Is the demo's organisation as rich as it promises, and the same every time?"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

from simulator.git import run_git
from simulator.server import Simulator
from simulator.world import World, build_world, play

NOW = datetime(2026, 11, 21, 8, tzinfo=UTC)


@contextlib.asynccontextmanager
async def played_world() -> AsyncIterator[World]:
    """A world after its story."""
    async with Simulator() as github:
        world = build_world(github, NOW)
        await play(world)
        yield world


def tips(world: World) -> dict[str, str | None]:
    return {name: repo.git.tip for name, repo in world.repositories.items()}


def landed_in(world: World) -> list[tuple[str, str, int]]:
    """Repository, subject and changed lines of each landed commit, in repositories in which git finds no fault."""
    landed = []
    for repo in world.repositories.values():
        run_git(repo.git.path, "fsck", "--strict")
        counted = run_git(
            repo.git.path, "log", "--format=%x00%H", "--numstat", "--no-merges", repo.git.tip or ""
        ).decode()
        for id_, *rows in (one.split("\n") for one in counted.split("\0")[1:]):
            if repo.git.commits[id_].parents:
                lines = sum(int(count) for row in rows for count in row.split("\t")[:2] if count.isdecimal())
                landed.append((repo.name, repo.git.commits[id_].draft.message, lines))
    return landed


async def test_the_story_is_rich_real_and_repeats_exactly() -> None:
    async with played_world() as world:
        landed = landed_in(world)
    async with played_world() as again:
        assert tips(again) == tips(world)
    assert len(tips(world)) >= 4
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

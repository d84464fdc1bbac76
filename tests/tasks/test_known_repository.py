"""What GitHub says of many repositories is kept in a few statements: on SQLite deliveries wait meanwhile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sqlalchemy import event

from bot.model import InstallationId, Repository, RepositoryId
from bot.store import installations
from bot.store.engine import Store
from bot.tasks.known_repository import see_repositories
from simulator.server import Simulator
from tests.tasks.landed import NOW, Town, town


async def _seen(place: Town, told: list[Repository]) -> int:
    """How many statements it took to see them."""
    statements: list[str] = []
    store: Store = place.bot.store

    def noted(*asked: object) -> None:
        statements.append(str(asked[2]))

    async with store.begin() as conn:
        event.listen(conn.sync_connection, "before_cursor_execute", noted)
        await see_repositories(conn, place.bot.place, InstallationId(place.installation.id), told, NOW)
        event.remove(conn.sync_connection, "before_cursor_execute", noted)
    return len(statements)


async def test_a_thousand_repositories_are_seen_in_a_few_statements(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as place:
        owner = place.repository.owner.login
        told = [Repository(f"{owner}/app{number}", RepositoryId(10**6 + number)) for number in range(1000)]
        assert await _seen(place, told) <= 12
        private = [replace(one, private=True) for one in told[:900]]
        renamed = replace(told[-1], full_name=f"{owner}/other")
        assert await _seen(place, [*private, renamed]) <= 40
        async with place.bot.store.read() as conn:
            kept = await installations.repositories(conn, [one.id for one in told if one.id is not None])
        assert {one.visibility for one in kept.values()} == {"private", "public"}
        assert sum(one.visibility == "private" for one in kept.values()) == 900
        assert kept[RepositoryId(10**6 + 999)].repository.full_name == f"{owner}/other"

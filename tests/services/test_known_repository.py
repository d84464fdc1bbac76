"""Is the state of repositories stored in few statements, and does hiding take effect at once and last?"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import event

from bot.model.commit import Repository
from bot.model.ids import InstallationId, RepositoryId
from bot.queue import rows
from bot.services.repositories.repository import save_repositories
from bot.store import installations
from bot.store.engine import Store
from bot.store.installations import StoredRepository
from simulator.server import Simulator
from tests.services.landed import NOW, Town, town


async def _seen(world: Town, told: list[Repository]) -> int:
    """The number of statements that recording these repositories took."""
    statements: list[str] = []
    store: Store = world.bot.store

    def noted(*asked: object) -> None:
        statements.append(str(asked[2]))

    with store.transaction() as connection:
        event.listen(connection, "before_cursor_execute", noted)
        save_repositories(connection, world.bot.context, InstallationId(world.installation.id), told, NOW)
        event.remove(connection, "before_cursor_execute", noted)
    return len(statements)


async def test_a_thousand_repositories_are_seen_in_a_few_statements(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as world:
        owner = world.repository.owner.login
        told = [Repository(f"{owner}/app{number}", RepositoryId(10**6 + number)) for number in range(1000)]
        assert await _seen(world, told) <= 12
        private = [replace(one, private=True) for one in told[:900]]
        renamed = replace(told[-1], full_name=f"{owner}/other")
        assert await _seen(world, [*private, renamed]) <= 40
        with world.bot.store.snapshot() as connection:
            kept = installations.repositories(connection, [one.id for one in told if one.id is not None])
        assert {one.visibility for one in kept.values()} == {"private", "public"}
        assert sum(one.visibility == "private" for one in kept.values()) == 900
        assert kept[RepositoryId(10**6 + 999)].repository.full_name == f"{owner}/other"


async def _stored(world: Town) -> StoredRepository:
    with world.bot.store.snapshot() as connection:
        found = installations.repository(connection, RepositoryId(world.repository.id))
    assert found is not None
    return found


def _take_away(world: Town) -> None:
    world.github.select(world.installation, [])


def _make_private(world: Town) -> None:
    world.repository.private = True
    world.github.unsuspend(world.installation)  # whatever makes it be looked at


@pytest.mark.parametrize("happens", [_take_away, _make_private])
async def test_work_hidden_while_a_landing_is_read_stays_hidden(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, happens: Callable[[Town], None]
) -> None:
    async with town(github, tmp_path) as world:
        recording, worker = sys.modules["bot.jobs.record_landing"], world.bot.health.worker
        read = recording.read_push
        hidden: list[str] = []

        async def read_and_hide(*given: object, **more: object) -> object:
            found = await read(*given, **more)
            if not hidden:
                world.clock.now += timedelta(seconds=1)
                happens(world)
                await github.wait_until_idle()
                with world.bot.store.transaction() as connection:
                    claim = rows.claim(connection, rows.Wanted(["update_installation"]), worker.lease())
                assert claim is not None
                await worker.work(claim)
                hidden.append((await _stored(world)).visibility)
            return found

        monkeypatch.setattr(recording, "read_push", read_and_hide)
        await world.land("Landed, and hidden")
        assert [(await _stored(world)).visibility] == hidden == ["hidden" if happens is _take_away else "private"]


@pytest.mark.parametrize(("action", "expected"), [("privatized", "private"), ("deleted", "hidden")])
async def test_hiding_takes_effect_before_github_is_asked(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: str, expected: str
) -> None:
    monkeypatch.setattr(import_module("bot.github.client"), "retry_wait", lambda *_: 0.0)
    async with town(github, tmp_path) as world:
        await world.land("Landed in public")
        github.faults.plan("502", times=99)
        github.send_event(world.repository, "repository", {"action": action}, sender=world.people["mara"])
        await world.drained()
        assert (await _stored(world)).visibility == expected
        github.faults.calm()
        world.clock.now += timedelta(minutes=1)
        await world.drained()
        assert (await _stored(world)).visibility == "public", "an old delivery, as GitHub says"


async def test_a_renamed_organisation_renames_its_repositories_and_hides_none(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path) as world:
        await world.land("Add a wheel")
        github.rename_account(world.repository.owner, "acme-works")
        await world.drained()
        stored = await _stored(world)
        assert (stored.repository.full_name, stored.removed_at) == ("acme-works/app", None)
        await world.land("Add a sail")
        assert len(world.checks()) == 2

"""In any world, does everybody read only what they may, and does private content look nonexistent?"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bot.store.engine import Store
from bot.store.visibility import RepositoryState
from bot.web import access
from bot.web.access import Grant, Viewer
from tests.databases import fresh_database
from tests.web import worlds
from tests.web.library import serve


def run(seed: int, *, forms: int) -> worlds.Crawl:
    """Make one world on SQLite and read all of it."""
    with tempfile.TemporaryDirectory() as folder, fresh_database("sqlite", Path(folder)) as url:
        return asyncio.run(_run(url, seed, forms))


async def _run(url: str, seed: int, forms: int) -> worlds.Crawl:
    rng = random.Random(seed)
    world = worlds.make(rng)
    async with await Store.open(url) as store:
        await worlds.write(world, store, rng)
        async with serve(store) as site:
            return await worlds.crawl(world, site, rng, forms=forms)


@pytest.mark.parametrize("seed", range(6))
def test_a_world_is_read_without_a_canary(seed: int) -> None:
    """The short form of `make campaign-visibility`."""
    assert run(seed, forms=2).faults == []


def test_the_worlds_show_something_and_hide_something() -> None:
    found = worlds.summary(run(seed, forms=0) for seed in range(2))
    assert found.pages > found.absent > 0


def test_the_test_detects_a_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = access.grant_for_person

    def leaking(person: Any, repositories: Iterable[RepositoryState], viewer: Viewer, **more: Any) -> Grant | None:
        return policy(person, [replace(one, public=True) for one in repositories], viewer, **more)

    monkeypatch.setattr(access, "grant_for_person", leaking)
    assert any(run(seed, forms=1).faults for seed in range(4))

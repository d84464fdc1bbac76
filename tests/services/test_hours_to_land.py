"""Is the opening time of a pull request, which only GitHub knows, on pages, not in clones, and noted by `verify`?"""

from __future__ import annotations

import json
import subprocess
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.cli.recomputing.verify import examine
from bot.landing.identity.people import People
from bot.model.commit import Repository
from bot.model.ids import PersonKey, RepositoryId
from bot.model.profile import Profile
from bot.narrative.profile import ProfileContext, ProfileScope, build
from bot.render.text.json import render_json
from bot.store import records
from bot.store.lines import bring_up_to_date
from simulator.server import Simulator
from simulator.web_host import web
from simulator.work import NewPullRequest, Step
from tests.services.landed import NOW, Town, town

UTC = ZoneInfo("UTC")


async def landed_after(there: Town, number: int, wait: timedelta) -> None:
    """A pull request by ada that was merged so long after it was opened."""
    step = Step(f"feat: add part {number}", {f"part_{number}.py": f"value = {number}\n".encode()})
    work = NewPullRequest(f"feat: add part {number}", there.people["ada"], [step], f"topic-{number}")
    pull = there.github.open_pull(there.repository, work, at=there.clock.now - wait)
    there.github.merge(there.repository, pull, "squash", by=there.people["mara"], at=there.clock.now)
    await there.drained()


async def profile_of(there: Town, name: str = "ada") -> Profile:
    number = RepositoryId(there.repository.id)
    keys = frozenset((PersonKey(f"u:{there.people[name].id}"),))
    await bring_up_to_date(there.bot.store, [number])
    found = await there.bot.store.read(records.facts_about, keys, [number])
    people = People.of([sig for fact in found.facts() for sig in (fact.author, *fact.co_authors)])
    (person,) = (one for one in people.all() if one.key in keys)
    scope = ProfileScope(person=person, keys=keys, zone=UTC, now=there.clock.now + timedelta(days=1))
    changes = found.changes({"acme/app": Repository("acme/app", number)})
    lines = found.own_lines(changes, UTC)
    beside = ProfileContext(lines, non_code=found.non_code_by_month(UTC), partial=found.partial())
    return build(changes, scope, beside)


def clone_of(there: Town, folder: Path) -> str:
    subprocess.run(["git", "clone", "-q", there.repository.git.path, folder], check=True)
    subprocess.run(["git", "-C", folder, "remote", "set-url", "origin", f"{web()}/acme/app.git"], check=True)
    return str(folder)


async def test_a_page_shows_the_median_and_a_clone_can_neither_confirm_nor_refute_it(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: NOW.timestamp() + 86_400)
    async with town(github, tmp_path) as there:
        for number, wait in enumerate((timedelta(hours=2), timedelta(minutes=30), timedelta(hours=50))):
            await landed_after(there, number, wait)
            there.clock.now += timedelta(hours=1)
        profile = await profile_of(there)
        clone = clone_of(there, tmp_path / "app")
    assert profile.overall.numbers["hours_to_land"] == 2
    text = render_json(profile)
    assert json.loads(text)["overall"]["metrics"]["hours_to_land"] == {"value": 2.0, "unit": "hours"}
    found = examine([clone], text)
    assert found.differences == ()
    assert "overall.metrics.hours_to_land is 2.0" in found.stated

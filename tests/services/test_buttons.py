from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import func, select

from bot.model.ids import UserId
from bot.store import sessions
from bot.store.sessions import SESSION
from simulator.server import Simulator
from tests.services.landed import Town, town


async def press(there: Town, check_run: int, identifier: str, *, by: str) -> None:
    who = there.people[by]
    given = {"installation": there.installation.id, "repository": there.repository.id, "check_run": check_run}
    ref = json.dumps(given | {"identifier": identifier, "login": who.login, "user": who.id}, sort_keys=True)
    with there.bot.store.transaction() as connection:
        there.bot.queue.defer(connection, "answer_button", ref, serial_key=f"repository:{there.repository.id}")
    await there.drained()


@pytest.mark.parametrize(("who", "title"), [("ada", "1 bug fix"), ("mara", "1 bug fix"), ("sid", "1 feature")])
async def test_a_button_is_equivalent_to_a_command_and_needs_the_same_permission(
    github: Simulator, tmp_path: Path, who: str, title: str
) -> None:
    async with town(github, tmp_path) as there:
        pull = await there.land("feat: add a part")
        ((number, run),) = [(n, run) for n, run in there.repository.checks.items() if run.app is there.app]
        assert run.fields["output"]["title"] == "Counted: 1 feature by Ada Example"
        for identifier in ("classify:fix", "classify:sausage", "nothing"):
            await press(there, number, identifier, by=who)
        await press(there, 999_999, "classify:other", by=who)
        assert there.checks()[pull.landed or ""]["title"] == f"Counted: {title} by Ada Example"


async def test_revoking_the_authorization_ends_every_session(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        ada, bea = (UserId(there.people[name].id) for name in ("ada", "bea"))
        with there.bot.store.transaction() as connection:
            for user in (ada, bea):
                sessions.begin(connection, user, "somebody", there.clock.now)
            there.bot.queue.defer(connection, "end_authorization", f'{{"user":{ada}}}', serial_key=f"user:{ada}")
        await there.drained()
        with there.bot.store.snapshot() as connection:
            rows = connection.execute(select(SESSION.c.user_id, func.count()).group_by(SESSION.c.user_id))
            assert [tuple(row) for row in rows] == [(bea, 1)]

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import aiohttp
from sqlalchemy import select

from bot.model.ids import PersonKey, UserId
from bot.services.context import job_reference
from bot.services.digests.publishing import close_months
from bot.store import sessions
from bot.store.dump import dump_lines
from bot.store.inbox import INBOX
from bot.store.jobs import JOB
from bot.store.schema import TABLES
from bot.store.visibility import person_state
from bot.web.owner import SESSION_COOKIE
from simulator.server import Simulator
from simulator.web_host import noreply_domain
from simulator.work import NewPullRequest, Step
from tests.services.landed import NOW, Town, reactions, town

POST_AT_ONCE = "first_digest: post\n"
APRIL = NOW.replace(month=4, day=10)


async def _posted_texts(there: Town) -> None:
    """One change by each of two people in April, in a digest."""
    await there.land("feat: add a lamp", by="ada", at=APRIL)
    await there.land("feat: add a bell", by="bea", at=APRIL + timedelta(hours=1))
    await close_months(there.bot.context)
    await there.drained()


async def _dump(there: Town) -> str:
    """Every row except delivery bodies and jobs, which contain only ids."""
    tables = [table for table in TABLES if table not in (INBOX, JOB)]
    return "\n".join(await there.bot.store.read(lambda connection: list(dump_lines(connection, tables))))


async def test_opting_out_removes_a_person_from_digests_and_notes_at_once(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings=POST_AT_ONCE) as there:
        await _posted_texts(there)
        (before,) = there.digests()
        assert "Ada Example" in before
        assert "Bea Example" in before
        issue = next(issue for issue in there.repository.issues.values() if issue.app is there.app)
        assert reactions(await there.say(issue, "/almanac opt-out", by="ada")) == ["+1"]
        (after,) = there.digests()
        assert "Ada Example" not in after
        assert "lamp" not in after
        assert "Bea Example" in after
        summaries = [output["summary"] for output in there.checks().values()]
        assert not [text for text in summaries if "| ada |" in text]
        assert [text for text in summaries if "| bea |" in text]


async def test_posts_follow_decisions_on_the_settings_page(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings=POST_AT_ONCE) as there:
        await _posted_texts(there)
        with there.bot.store.transaction() as connection:
            ada = sessions.begin(connection, UserId(there.people["ada"].id), "ada", there.clock.now)
        for action, to, said, silent in (
            ("naming", "on", "somebody who is not named", "Ada Example"),
            ("naming", "off", "Ada Example", "somebody who is not named"),
            ("opt-out", "on", "Bea Example", "lamp"),
            ("opt-out", "off", "lamp", "somebody who"),
        ):
            await _decide(there, ada, action, to)
            (digest,) = there.digests()
            assert said in digest
            assert silent not in digest


async def _decide(there: Town, cookie: str, action: str, to: str) -> None:
    """A form of the settings page, sent by the browser that holds the cookie."""
    address = f"{(there.app.webhook_url or '').removesuffix('/webhook')}/settings"
    headers = {"Cookie": f"{SESSION_COOKIE}={cookie}"}
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), headers=headers) as browser:
        async with browser.get(address) as page:
            token = re.search(r'name=csrf value="([^"]+)"', await page.text())
        assert token
        form = {"csrf": token[1], "to": to}
        async with browser.post(f"{address}/{action}", data=form, allow_redirects=False) as answer:
            assert answer.status == 303
    await there.drained()


async def test_an_anonymous_person_is_counted_without_the_name(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings=POST_AT_ONCE) as there:
        await _posted_texts(there)
        await there.land("feat: paint Ada's lamp", by="bea", at=APRIL + timedelta(hours=2))
        pull = there.repository.pulls[0]
        await there.say(pull.issue, "/almanac anonymise", by="ada")
        (after,) = there.digests()
        assert "Ada" not in after
        assert "somebody who is not named" in after
        assert "3 commits by 2 contributors" in after
        assert "lamp" in after
        await there.say(pull.issue, "/almanac public on", by="ada")
        with there.bot.store.snapshot() as connection:
            state = person_state(connection, PersonKey(f"u:{there.people['ada'].id}"))
        assert state is not None
        assert (state.public, state.naming, state.opted_out) == (True, "anonymous", False)


async def test_an_erased_person_is_nowhere_and_replays_do_not_restore_them(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path, settings=POST_AT_ONCE) as there:
        await _posted_texts(there)
        credit = f"Co-authored-by: Ada Example <{there.people['ada'].id}+ada@{noreply_domain()}>"
        await there.land("feat: add a horn", by="bea", body=credit)
        pull = there.repository.pulls[0]
        await there.say(pull.issue, "/almanac me", by="ada")
        number = there.people["ada"].id
        marks = ("Ada Example", f"{number}+ada@", f"u:{number}")
        whole = await _dump(there)
        assert all(mark in whole for mark in marks)
        assert reactions(await there.say(pull.issue, "/almanac forget-me", by="ada")) == ["+1"]
        for delivery in list(github.deliveries.log):
            github.deliveries.redeliver(delivery.id)
        for commit in ("", pull.base):
            await _landed_again(there, commit)
        assert not [line for line in (await _dump(there)).splitlines() if any(mark in line for mark in marks)]
        (digest,) = there.digests()
        assert "Ada" not in digest
        assert "Bea Example" in digest
        assert there.ours(pull.issue) == []
        assert all("| ada" not in output["summary"] for output in there.checks().values())
        bodies = select(INBOX.c.guid).where(INBOX.c.body.is_not(None), INBOX.c.received_at < there.clock.now)
        with there.bot.store.snapshot() as connection:
            assert connection.execute(bodies).all() == []
    assert b"Ada Example" not in _raw(tmp_path)


async def test_erasure_covers_other_addresses_disputes_and_jobs(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        ada, there.repository.permissions["ada"] = there.people["ada"], "write"
        ada.email = "fen@corp.example"
        step = Step("feat: add a lamp\n", {"lamp.py": b"LAMP = 1\n"})
        mine = github.open_pull(
            there.repository, NewPullRequest("feat: add a lamp", ada, [step], "ada-fen", "By A. Fen"), at=NOW
        )
        github.merge(there.repository, mine, "squash", by=there.people["mara"], at=NOW)
        theirs = await there.land("feat: add a horn", by="bea", body="Co-authored-by: A. Fen <fen@corp.example>")
        await there.say(theirs.issue, "/almanac dispute Fen knows better", by="ada")
        run = next(number for number, run in there.repository.checks.items() if run.app is there.app)
        given = {"installation": there.installation.id, "repository": there.repository.id, "check_run": run}
        with there.bot.store.transaction() as connection:
            press = job_reference(given | {"identifier": "classify:fix", "login": ada.login, "user": ada.id})
            there.bot.queue.defer(connection, "answer_button", press, serial_key="press")
        await there.drained()
        checks = [output["summary"] for output in there.checks().values()]
        assert [text for text in checks if "A. Fen" in text]
        assert [text for text in checks if "Fen knows better" in text]
        await there.say(theirs.issue, "/almanac forget-me", by="ada")
        assert "Fen" not in "".join(output["summary"] for output in there.checks().values())
        marks = ("Fen", "ada-fen", "fen@corp.example", f'user\\":{ada.id}', f"user:{ada.id}", f"u:{ada.id}")
        others = [table for table in TABLES if table is not INBOX]
        rows = await there.bot.store.read(lambda connection: list(dump_lines(connection, others)))
        assert [line for line in rows if any(mark in line for mark in marks)] == []
    assert b"fen" not in _raw(tmp_path).lower()


def _raw(folder: Path) -> bytes:
    """Every byte on disk once the database is closed."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def _landed_again(there: Town, before: str) -> None:
    """A push of everything, as a catch-up would deliver it."""
    given = {"installation": there.installation.id, "repository": there.repository.id, "before": before}
    ref = json.dumps(given | {"after": there.repository.git.tip}, sort_keys=True)
    with there.bot.store.transaction() as connection:
        there.bot.queue.defer(connection, "record_landing", ref, serial_key=f"repository:{there.repository.id}")
    await there.drained()

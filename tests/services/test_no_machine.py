"""Can a person whose login looks like a machine's say so, and decide claims, in a comment or on the settings page?"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode

from aiohttp import ClientSession
from sqlalchemy import select

from bot.model.ids import PersonKey, RepositoryId, UserId
from bot.services.measuring_again import PAUSE
from bot.services.recording.rebuild import rebuild
from bot.store import corrections, people, sessions
from bot.store.totals import TOTALS
from bot.web.owner import SESSION_COOKIE
from simulator.server import Simulator
from simulator.state import SimAccount
from tests.services.conftest import github
from tests.services.landed import Town, reactions, town

__all__ = ["github"]

CSRF = re.compile(r'name=csrf value="([^"]+)"')


def _counted(there: Town, name: str) -> tuple[int, int]:
    """(commits, lines) of a person in the totals."""
    key = PersonKey(f"u:{there.people[name].id}")
    query = select(TOTALS.c.commits, TOTALS.c.lines_authored).where(TOTALS.c.person_key == key)
    with there.bot.store.snapshot() as connection:
        rows = [tuple(row) for row in connection.execute(query)]
    return (sum(row[0] for row in rows), sum(row[1] for row in rows))


def _account_like_a_machine(there: Town) -> SimAccount:
    there.people["talk-bot"] = there.github.account("talk-bot", name="Tal K. Bott")
    there.repository.permissions["talk-bot"] = "read"
    return there.people["talk-bot"]


async def _measured_again(there: Town) -> None:
    for _ in range(3):
        await there.drained()
        there.clock.now += PAUSE
    await there.drained()


async def test_an_account_says_that_it_is_a_person_and_its_work_counts_also_after_a_rebuild(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path) as there:
        _account_like_a_machine(there)
        pull = await there.land("feat: add a lamp", by="talk-bot")
        assert _counted(there, "talk-bot") == (0, 0)
        await there.say(pull.issue, "/almanac human", by="sid")
        await _measured_again(there)
        assert _counted(there, "talk-bot") == (0, 0), "only the account itself can say it"
        said = await there.say(pull.issue, "/almanac human", by="talk-bot")
        assert reactions(said) == ["+1"]
        await _measured_again(there)
        assert _counted(there, "talk-bot") == (1, 2)
        await there.land("feat: add a horn", by="talk-bot")
        assert _counted(there, "talk-bot") == (2, 4)
        result = await rebuild(there.bot.store, there.installation.id, there.bot.context.zone)  # type: ignore[arg-type]  # its number
        assert (result.wrong, _counted(there, "talk-bot")) == (0, (2, 4))


async def test_it_holds_in_that_installation_alone(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        talker = _account_like_a_machine(there)
        pull = await there.land("feat: add a lamp", by="talk-bot")
        await there.say(pull.issue, "/almanac human", by="talk-bot")
        birch = there.github.organisation("birch")
        at = there.clock.now - timedelta(days=9)
        other = there.github.create_repository("birch/lib", at=at, files={"a": b"1"}, by=there.people["mara"])
        there.github.install(there.app, birch)
        await there.drained()
        with there.bot.store.snapshot() as connection:
            here, elsewhere = (
                corrections.people_who_said_so(connection, RepositoryId(one.id)) for one in (there.repository, other)
            )
        assert (here, elsewhere) == ({UserId(talker.id)}, frozenset())


async def test_a_bot_cannot_say_it(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        there.people["lamp"] = there.github.bot("lamp[bot]")
        pull = await there.land("feat: add a lamp", by="lamp")
        said = await there.say(pull.issue, "/almanac human", by="lamp")
        await _measured_again(there)
        assert (reactions(said), _counted(there, "lamp")) == ([], (0, 0))


class _Browser:
    """A signed-in person without scripts: reads the page and sends its forms as they stand."""

    def __init__(self, there: Town, session: ClientSession, name: str) -> None:
        self.session, self.url = session, str(there.app.webhook_url).removesuffix("/webhook")
        user, now = UserId(there.people[name].id), there.clock.now
        with there.bot.store.transaction() as connection:  # as signing in does
            people.see_accounts(connection, [people.GitHubAccount(user, name, at=int(now.timestamp()))])
            cookie = sessions.begin(connection, user, name, now)
        self.headers = {"Cookie": f"{SESSION_COOKIE}={cookie}"}

    async def page(self) -> str:
        async with self.session.get(f"{self.url}/settings", headers=self.headers) as answer:
            return await answer.text()

    async def press(self, label: str) -> int:
        """Send the first form with a button of this label."""
        forms = re.findall(r'<form method=post action="([^"]+)">(.*?)</form>', await self.page(), re.DOTALL)
        action, inside = next(one for one in forms if f">{label}</button>" in one[1])
        fields = re.findall(r'<input type=hidden name=(\S+) value="([^"]*)">', inside)
        headers = self.headers | {"Content-Type": "application/x-www-form-urlencoded"}
        url = self.url + action
        async with self.session.post(url, data=urlencode(fields), headers=headers, allow_redirects=False) as answer:
            return answer.status


async def test_the_settings_page_asks_an_account_that_looks_like_a_machine(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there, ClientSession() as session:
        _account_like_a_machine(there)
        await there.land("feat: add a lamp", by="talk-bot")
        await there.land("feat: add a horn", by="ada")
        browser, other = _Browser(there, session, "talk-bot"), _Browser(there, session, "ada")
        assert "Taken for a machine" not in await other.page()
        assert await browser.press("I am a person") == 303
        await _measured_again(there)
        assert _counted(there, "talk-bot") == (1, 2)
        assert "Taken for a machine" not in await browser.page()


async def test_claims_are_listed_with_their_reason_and_decided_by_forms_alone(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path) as there, ClientSession() as session:
        bea = there.people["bea"].signature
        await there.land("feat: add a lamp", by="sid", body=f"Co-authored-by: {bea.name} <{bea.email}>")
        browser = _Browser(there, session, "bea")
        assert "why only a claim: named only in a trailer" in await browser.page()
        assert await browser.press("Accept") == 303
        with there.bot.store.snapshot() as connection:
            mine = TOTALS.c.person_key == f"u:{there.people['bea'].id}"
            counted = connection.execute(select(TOTALS.c.co_authored).where(mine)).scalars().all()
        assert counted == [1]
        assert "Claimed by others" not in await browser.page()


async def test_a_rejected_claim_is_gone(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there, ClientSession() as session:
        bea = there.people["bea"].signature
        await there.land("feat: add a lamp", by="sid", body=f"Co-authored-by: {bea.name} <{bea.email}>")
        browser = _Browser(there, session, "bea")
        assert await browser.press("Reject") == 303
        assert "Claimed by others" not in await browser.page()

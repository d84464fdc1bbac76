"""Do squashes show each person's own part, and do claims wait for the person?"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import select

from bot.model.ids import PersonKey
from bot.services.recording.rebuild import rebuild
from bot.store.people import PERSON
from bot.store.totals import TOTALS
from simulator.server import Simulator
from simulator.web_host import noreply_domain
from simulator.work import NewPullRequest, Step
from tests.services.conftest import github, strict_github
from tests.services.landed import NOW, Town, town

__all__ = ["github", "strict_github"]


def _counted(there: Town, name: str) -> tuple[int, int, int]:
    """(commits, co-authored commits, lines) of a person in the totals."""
    key = f"u:{there.people[name].id}"
    query = select(TOTALS.c.commits, TOTALS.c.co_authored, TOTALS.c.lines_authored).where(TOTALS.c.person_key == key)
    with there.bot.store.snapshot() as connection:
        rows = [tuple(row) for row in connection.execute(query)]
    return tuple(map(sum, zip(*rows, strict=True))) if rows else (0, 0, 0)  # type: ignore[return-value]  # three sums


async def _squash_of_two(there: Town, opener: str) -> int:
    """A pull request with forty lines of the opener's and two of Bea's, squashed by the maintainer."""
    mine, other = there.people[opener], there.people["bea"]
    steps = [
        Step("feat: add a lamp\n", {"lamp.py": b"".join(b"lamp_%d = %d\n" % (n, n) for n in range(40))}),
        Step("fix: the wick\n", {"wick.py": b"wick = 1\nwax = 2\n"}, author=other.signature),
    ]
    work = NewPullRequest("feat: add a lamp", mine, steps, f"{opener}-lamp")
    pull = there.github.open_pull(there.repository, work, at=NOW)
    there.github.merge(there.repository, pull, "squash", by=there.people["mara"], at=NOW)
    await there.drained()
    return pull.number


async def test_each_author_of_a_squash_has_their_own_lines_for_one_request(
    strict_github: Simulator, tmp_path: Path
) -> None:
    async with town(strict_github, tmp_path) as there:
        there.repository.permissions["ada"] = "write"
        before = sum("graphql" in request for request in there.github.requests)
        await _squash_of_two(there, "ada")
        assert sum("graphql" in request for request in there.github.requests) - before == 1
        assert _counted(there, "ada") == (1, 0, 40)
        assert _counted(there, "bea") == (0, 1, 2)


async def test_an_outsiders_co_author_counts_once_they_accept_also_after_a_rebuild(
    github: Simulator, tmp_path: Path
) -> None:
    async with town(github, tmp_path) as there:
        number = await _squash_of_two(there, "sid")
        assert _counted(there, "sid") == (1, 0, 40)
        assert _counted(there, "bea") == (0, 0, 0)
        issue = there.repository.issues[number]
        await there.say(issue, "/almanac accept", by="bea")
        assert _counted(there, "bea") == (0, 1, 2)
        result = await rebuild(there.bot.store, there.installation.id, there.bot.context.zone)  # type: ignore[arg-type]  # its number
        assert (result.wrong, _counted(there, "bea")) == (0, (0, 1, 2))
        await there.say(issue, "/almanac reject", by="bea")
        assert _counted(there, "bea") == (0, 0, 0)


async def test_a_trailer_writes_nothing_about_the_account_that_it_names(github: Simulator, tmp_path: Path) -> None:
    async with town(github, tmp_path) as there:
        await there.land("feat: add a lamp", by="ada")
        ada = there.people["ada"].id

        def row() -> tuple[object, ...]:
            columns = (PERSON.c.user_id, PERSON.c.login, PERSON.c.name, PERSON.c.bot)
            with there.bot.store.snapshot() as connection:
                return tuple(connection.execute(select(*columns).where(PERSON.c.key == PersonKey(f"u:{ada}"))).one())

        before, counted = row(), _counted(there, "ada")
        for forged in (
            f"Someone Else <{ada}+x@{noreply_domain()}>",
            f"x[bot] <{ada}+x[bot]@{noreply_domain()}>",
        ):
            await there.land("feat: add a horn", by="sid", body=f"Co-authored-by: {forged}")
        assert (row(), _counted(there, "ada")) == (before, counted)

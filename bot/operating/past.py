"""What an operator asks of the past from a terminal: histories read with progress and price, and what was missed."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import ColumnElement, Connection, func, select

from bot import app
from bot.errors import UnusableInputError
from bot.github import operations as op
from bot.github.graphql import MOST_GLANCES, PAGE, read_glances
from bot.model import InstallationId, Repository, RepositoryId
from bot.operating.running import read_settings, told_to_the_operator, with_bot
from bot.store import backfills, inbox
from bot.store.backfills import Backfill
from bot.store.jobs import JOB
from bot.store.ledger import FACT
from bot.store.lock import StoreInUseError
from bot.tasks import wishes
from bot.tasks.backfill import open_backfills
from bot.tasks.catch_up import ask_to_catch_up
from bot.tasks.chosen_repositories import read_chosen
from bot.tasks.known_repository import see_repositories
from bot.tasks.workplace import Workplace

Told = Callable[[str], None]
_STEPS = ("backfill_repository", "backfill_pages", "backfill_commits")
_LOOKS = ("catch_up", "reconcile", "reconcile_installation")
_FINDS = ("record_landing", "record_pull_request")
_FIXED, _POINTS = 4, 3
"""requests a repository needs beside its pages, and points a page costs"""
_LOOK = 0.25
_PATIENCE = 60.0
"""seconds that the running process may take to answer: it asks GitHub first"""


def backfill(target: str) -> None:
    """Raises UnusableInputError where the App is not installed there."""
    _with_bot(lambda bot: _backfill(bot, target, _tell), ("backfill", target))


def catch_up() -> None:
    _with_bot(lambda bot: _catch_up(bot, _tell), ("catch-up", ""))


def _with_bot(work: Callable[[app.Bot], Awaitable[None]], wish: tuple[str, str]) -> None:
    """Do it here, or ask it of the process that has the database: only one may write to a SQLite file."""
    settings = replace(read_settings(serving=True), backfill=True)
    with told_to_the_operator(settings):
        try:
            with_bot(settings, work)
        except StoreInUseError as error:
            _ask_the_running(settings.data, wish, str(error))


def _ask_the_running(data: Path, wish: tuple[str, str], refusal: str) -> None:
    """Raises UnusableInputError with the running process's reason, or where it does not answer."""
    file = wishes.leave(data, *wish)
    until = time.monotonic() + _PATIENCE
    while (answer := wishes.answer_at(file)) is None and time.monotonic() < until:
        time.sleep(_LOOK)
    if answer is None:
        wishes.withdraw(file)
        raise UnusableInputError(f"the database cannot be used: {refusal}; it was asked, and did not answer")
    if not answer.granted:
        raise UnusableInputError(answer.words)
    _tell(f"sent to the running process: {answer.words}; almanac jobs list shows what waits")


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


# --- backfill --------------------------------------------------------------------------------------------------------


async def _backfill(bot: app.Bot, target: str, told: Told) -> None:
    place, started, asked = bot.place, time.monotonic(), bot.place.clock()
    installation, chosen = await read_chosen(place, target)
    pulls, spent = await _estimate(place, installation, chosen)
    pages = sum(max(1, -(-count // PAGE)) for count in pulls)
    told(
        f"{len(chosen)} repositories with {sum(pulls)} closed pull requests: about {pages + _FIXED * len(chosen)} "
        f"requests and {_POINTS * pages} GraphQL points; an installation has 5000 of each an hour"
    )
    ids = [RepositoryId(one.id or 0) for one in chosen]

    def save(connection: Connection) -> None:
        see_repositories(connection, place, installation, chosen, asked)
        open_backfills(connection, place, installation, ids, again=True)

    await place.store.write(save)
    done = await _worked(bot, _Asked(_STEPS, installation), lambda: _progress(place, ids))
    requests, points = sum(one.requests for one in done), sum(one.points for one in done)
    told(
        f"done in {time.monotonic() - started:.0f} s: {sum(one.pulls_done for one in done)} pull requests and "
        f"{sum(one.commits_done for one in done)} commits, for {requests + spent[0]} requests "
        f"and {points + spent[1]} points"
    )


async def _estimate(
    place: Workplace, installation: InstallationId, chosen: Sequence[Repository]
) -> tuple[list[int], tuple[int, int]]:
    """How many closed pull requests each has, and what asking for it cost (requests, points)."""
    client = place.github.installation(installation, permissions=op.needed(op.CONTENT, op.CLOSED_PULL_REQUESTS))
    counts: list[int] = []
    points = requests = 0
    for at in range(0, len(chosen), MOST_GLANCES):
        seen = await read_glances(client, chosen[at : at + MOST_GLANCES])
        counts += [one.pulls if one else 0 for one in seen.found]
        points, requests = points + seen.points.cost, requests + 1
    return counts, (requests, points)


class _Progress(Struct, frozen=True):
    """How far the histories are, from 0 to 1, and in words."""

    share: float
    words: str
    rows: Sequence[Backfill]


async def _progress(place: Workplace, ids: Sequence[RepositoryId]) -> _Progress:
    rows = await place.store.read(backfills.of, ids)
    share = sum(_share(one) for one in rows) / max(len(rows), 1)
    pulls, commits = sum(one.pulls_done for one in rows), sum(one.commits_done for one in rows)
    return _Progress(share, f"{pulls} pull requests, {commits} commits", rows)


def _share(one: Backfill) -> float:
    """Pull requests are quick: they are taken for a tenth of the work."""
    if one.state == "done":
        return 1.0
    return 0.1 * one.pulls_done / max(one.pulls, 1) + 0.9 * one.commits_done / max(one.commits, 1)


class _Asked(Struct, frozen=True):
    """What a command waits for: the jobs of these tasks, of one installation or of all. Those above the number `newest`
    came later, of deliveries, which never end where other processes take them."""

    tasks: Sequence[str]
    installation: InstallationId | None = None
    newest: int | None = None

    def among(self, *states: str) -> ColumnElement[bool]:
        found = JOB.c.task.in_(self.tasks) & JOB.c.state.in_(states)
        if self.newest is not None:
            found &= JOB.c.id <= self.newest
        return found if self.installation is None else found & (JOB.c.installation_id == self.installation)


async def _worked(bot: app.Bot, asked: _Asked, look: Callable[[], Awaitable[_Progress]]) -> Sequence[Backfill]:
    """Work until none of these jobs is left, and tell how far it is; whatever is live goes first, as ever."""
    before = await _given_up(bot.place, asked)
    worker = asyncio.create_task(bot.queue.run())
    told = _Bar()
    try:
        while await _waiting(bot.place, asked):
            told(await look())
            await asyncio.wait({worker}, timeout=_LOOK)
        end = await look()
        told(end)
        return end.rows
    finally:
        bot.queue.stop()
        await worker
        _refuse({number: why for number, why in (await _given_up(bot.place, asked)).items() if number not in before})


async def _waiting(place: Workplace, asked: _Asked) -> int:
    def read(connection: Connection) -> int:
        query = select(func.count()).select_from(JOB).where(asked.among("ready", "running"))
        return int(connection.execute(query).scalar_one())

    return await place.store.read(read)


async def _given_up(place: Workplace, asked: _Asked) -> dict[int, str]:
    """What was given up or set aside, by number, each with its reason."""
    query = select(JOB.c.id, JOB.c.task, JOB.c.last_error).where(asked.among("dead", "parked")).order_by(JOB.c.id)

    def read(connection: Connection) -> dict[int, str]:
        return {row.id: f"{row.task} could not go on: {row.last_error}" for row in connection.execute(query)}

    return await place.store.read(read)


def _refuse(given_up: Mapping[int, str]) -> None:
    if given_up:
        raise UnusableInputError(f"{given_up[max(given_up)]}; see almanac jobs list")


class _Bar:
    """A bar with the time left on a terminal, a plain line every tenth otherwise; both on stderr."""

    def __init__(self) -> None:
        self._started, self._tenth = time.monotonic(), -1

    def __call__(self, now: _Progress) -> None:
        tenth = int(now.share * 10)
        if sys.stderr.isatty():
            end = "\n" if now.share >= 1 else ""
            bar = "#" * int(now.share * 30)
            sys.stderr.write(f"\r[{bar:30}] {now.words}{self._left(now.share)}   {end}")
            sys.stderr.flush()
        elif tenth != self._tenth:
            sys.stderr.write(f"{now.share:.0%}: {now.words}{self._left(now.share)}\n")
        self._tenth = tenth

    def _left(self, share: float) -> str:
        if not 0.02 < share < 1:
            return ""
        seconds = (time.monotonic() - self._started) * (1 - share) / share
        return f", about {seconds / 60:.0f} min left" if seconds > 90 else f", about {seconds:.0f} s left"


# --- catch-up --------------------------------------------------------------------------------------------------------


async def _catch_up(bot: app.Bot, told: Told) -> None:
    place = bot.place
    before = place.github.traffic.requests
    facts, stored = await place.store.read(_counted)
    await ask_to_catch_up(place, thorough=True)

    async def look() -> _Progress:
        return _Progress(0.0, f"{await _waiting(place, _Asked((*_LOOKS, *_FINDS)))} jobs left", ())

    await _worked(bot, _Asked(_LOOKS), look)

    newest = await place.store.read(_newest_job)
    await _worked(bot, _Asked(_FINDS, newest=newest), look)
    facts_now, stored_now = await place.store.read(_counted)
    told(
        f"caught up: {stored_now - stored} deliveries taken from the log, {facts_now - facts} commits recorded, "
        f"for {place.github.traffic.requests - before} requests"
    )


def _newest_job(connection: Connection) -> int:
    return int(connection.execute(select(func.max(JOB.c.id))).scalar_one())


def _counted(connection: Connection) -> tuple[int, int]:
    facts = connection.execute(select(func.count()).select_from(FACT)).scalar_one()
    return int(facts), inbox.count(connection)

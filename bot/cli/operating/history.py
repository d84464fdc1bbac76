"""How does an operator read histories, with progress and cost, and fetch missed deliveries?"""

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
from bot.cli.operating.run import operator_errors, read_settings_of_a_record, with_bot
from bot.configuration.errors import UnusableInputError
from bot.github import operations as op
from bot.github.graphql import MOST_GLANCES, PAGE, read_glances
from bot.model.commit import Repository
from bot.model.ids import InstallationId, RepositoryId
from bot.services import operator_requests
from bot.services.backfill.steps import open_backfills
from bot.services.context import Context
from bot.services.deliveries.catch_up import ask_to_catch_up
from bot.services.repositories.chosen import read_chosen
from bot.services.repositories.repository import save_repositories
from bot.store import backfills, inbox
from bot.store.backfills import Backfill
from bot.store.jobs import JOB
from bot.store.ledger import FACT
from bot.store.lock import StoreInUseError

Report = Callable[[str], None]
_STEPS = ("backfill_repository", "backfill_pages", "backfill_commits")
_LOOKS = ("catch_up", "reconcile", "reconcile_installation")
_FINDS = ("record_landing", "record_pull_request")
_FIXED, _POINTS = 4, 3
"""requests per repository besides its pages, and points per page"""
_LOOK = 0.25
_PATIENCE = 60.0
"""seconds to wait for the running process's answer: it asks GitHub first"""


def backfill(target: str) -> None:
    """Read the history of one repository or account. Raises UnusableInputError if the App is not installed there."""
    _with_bot(lambda bot: _backfill(bot, target, _print_line), ("backfill", target))


def catch_up() -> None:
    _with_bot(lambda bot: _catch_up(bot, _print_line), ("catch-up", ""))


def _with_bot(work: Callable[[app.Bot], Awaitable[None]], request: tuple[str, str]) -> None:
    """Run `work` here, or request it from the running process: only one process may write to a SQLite file."""
    settings = replace(read_settings_of_a_record(serving=True), backfill=True)
    with operator_errors(settings):
        try:
            with_bot(settings, work, asking=True)
        except StoreInUseError as error:
            _ask_running_process(settings.data, request, str(error))


def _ask_running_process(data: Path, request: tuple[str, str], refusal: str) -> None:
    """Pass the request on and print the answer. Raises UnusableInputError if it is refused or not answered."""
    file = operator_requests.leave_request(data, *request)
    until = time.monotonic() + _PATIENCE
    while (answer := operator_requests.read_result(file)) is None and time.monotonic() < until:
        time.sleep(_LOOK)
    if answer is None:
        operator_requests.withdraw_request(file)
        raise UnusableInputError(f"the database cannot be used: {refusal}; it was asked, and did not answer")
    if not answer.accepted:
        raise UnusableInputError(answer.message)
    _print_line(f"sent to the running process: {answer.message}; almanac jobs list shows what waits")


def _print_line(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


# --- backfill --------------------------------------------------------------------------------------------------------


async def _backfill(bot: app.Bot, target: str, report: Report) -> None:
    context, started, asked = bot.context, time.monotonic(), bot.context.clock()
    installation, chosen = await read_chosen(context, target)
    pulls, spent = await _estimate(context, installation, chosen)
    pages = sum(max(1, -(-count // PAGE)) for count in pulls)
    report(
        f"{len(chosen)} repositories with {sum(pulls)} closed pull requests: about {pages + _FIXED * len(chosen)} "
        f"requests and {_POINTS * pages} GraphQL points; an installation has 5000 of each an hour"
    )
    ids = [RepositoryId(one.id or 0) for one in chosen]

    def save(connection: Connection) -> None:
        save_repositories(connection, context, installation, chosen, asked)
        open_backfills(connection, context, installation, ids, again=True)

    await context.store.write(save)
    done = await _work_until_done(bot, _JobFilter(_STEPS, installation), lambda: _progress(context, ids))
    requests, points = sum(one.requests for one in done), sum(one.points for one in done)
    report(
        f"done in {time.monotonic() - started:.0f} s: {sum(one.pulls_done for one in done)} pull requests and "
        f"{sum(one.commits_done for one in done)} commits, for {requests + spent[0]} requests "
        f"and {points + spent[1]} points"
    )


async def _estimate(
    context: Context, installation: InstallationId, chosen: Sequence[Repository]
) -> tuple[list[int], tuple[int, int]]:
    """The number of closed pull requests of each repository, and the cost of asking (requests, points)."""
    client = context.github.installation(
        installation, permissions=op.required_permissions(op.CONTENT, op.CLOSED_PULL_REQUESTS)
    )
    counts: list[int] = []
    points = requests = 0
    for at in range(0, len(chosen), MOST_GLANCES):
        seen = await read_glances(client, chosen[at : at + MOST_GLANCES])
        counts += [one.pulls if one else 0 for one in seen.found]
        points, requests = points + seen.points.cost, requests + 1
    return counts, (requests, points)


class _Progress(Struct, frozen=True):
    """The progress of the backfills, from 0 to 1, and in words."""

    share: float
    words: str
    rows: Sequence[Backfill]


async def _progress(context: Context, ids: Sequence[RepositoryId]) -> _Progress:
    rows = await context.store.read(backfills.of, ids)
    share = sum(_share(one) for one in rows) / max(len(rows), 1)
    pulls, commits = sum(one.pulls_done for one in rows), sum(one.commits_done for one in rows)
    return _Progress(share, f"{pulls} pull requests, {commits} commits", rows)


def _share(one: Backfill) -> float:
    """Progress of one backfill; pull requests are fast and count as a tenth of the work."""
    if one.state == "done":
        return 1.0
    return 0.1 * one.pulls_done / max(one.pulls, 1) + 0.9 * one.commits_done / max(one.commits, 1)


class _JobFilter(Struct, frozen=True):
    """The jobs that a command waits for: of these tasks, and of one installation or all.

    Jobs with numbers above `newest` came later, from deliveries, which never end while other processes accept them.
    """

    tasks: Sequence[str]
    installation: InstallationId | None = None
    newest: int | None = None

    def among(self, *states: str) -> ColumnElement[bool]:
        found = JOB.c.task.in_(self.tasks) & JOB.c.state.in_(states)
        if self.newest is not None:
            found &= JOB.c.id <= self.newest
        return found if self.installation is None else found & (JOB.c.installation_id == self.installation)


async def _work_until_done(
    bot: app.Bot, asked: _JobFilter, look: Callable[[], Awaitable[_Progress]]
) -> Sequence[Backfill]:
    """Work until none of these jobs is left, and report progress; live jobs go first as usual."""
    before = await _failed_jobs(bot.context, asked)
    worker = asyncio.create_task(bot.queue.run())
    bar = _Bar()
    try:
        while await _count_waiting(bot.context, asked):
            bar(await look())
            await asyncio.wait({worker}, timeout=_LOOK)
        end = await look()
        bar(end)
        return end.rows
    finally:
        bot.queue.stop()
        await worker
        _raise_failures(
            {number: why for number, why in (await _failed_jobs(bot.context, asked)).items() if number not in before}
        )


async def _count_waiting(context: Context, asked: _JobFilter) -> int:
    def read(connection: Connection) -> int:
        query = select(func.count()).select_from(JOB).where(asked.among("ready", "running"))
        return int(connection.execute(query).scalar_one())

    return await context.store.read(read)


async def _failed_jobs(context: Context, asked: _JobFilter) -> dict[int, str]:
    """The dead and parked jobs, by number, with their reasons."""
    query = select(JOB.c.id, JOB.c.task, JOB.c.last_error).where(asked.among("dead", "parked")).order_by(JOB.c.id)

    def read(connection: Connection) -> dict[int, str]:
        return {row.id: f"{row.task} could not go on: {row.last_error}" for row in connection.execute(query)}

    return await context.store.read(read)


def _raise_failures(given_up: Mapping[int, str]) -> None:
    if given_up:
        raise UnusableInputError(f"{given_up[max(given_up)]}; see almanac jobs list")


class _Bar:
    """A progress bar with the remaining time on a terminal, otherwise a line for every tenth; both on stderr."""

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


async def _catch_up(bot: app.Bot, report: Report) -> None:
    context = bot.context
    before = context.github.traffic.requests
    facts, stored = await context.store.read(_count_rows)
    await ask_to_catch_up(context, thorough=True)

    async def look() -> _Progress:
        return _Progress(0.0, f"{await _count_waiting(context, _JobFilter((*_LOOKS, *_FINDS)))} jobs left", ())

    await _work_until_done(bot, _JobFilter(_LOOKS), look)

    newest = await context.store.read(_newest_job)
    await _work_until_done(bot, _JobFilter(_FINDS, newest=newest), look)
    facts_now, stored_now = await context.store.read(_count_rows)
    report(
        f"caught up: {stored_now - stored} deliveries taken from the log, {facts_now - facts} commits recorded, "
        f"for {context.github.traffic.requests - before} requests"
    )


def _newest_job(connection: Connection) -> int:
    return int(connection.execute(select(func.max(JOB.c.id))).scalar_one())


def _count_rows(connection: Connection) -> tuple[int, int]:
    facts = connection.execute(select(func.count()).select_from(FACT)).scalar_one()
    return int(facts), inbox.count(connection)

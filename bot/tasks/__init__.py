"""Which jobs are there? `TASKS` is the whole list: a job is a file and a line here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

from msgspec import Struct

from bot.queue.interface import Job
from bot.tasks.answer_button import answer_button
from bot.tasks.answer_command import answer_command
from bot.tasks.backfill import backfill_installation, backfill_repository
from bot.tasks.backfill_commits import backfill_commits
from bot.tasks.backfill_pages import backfill_pages
from bot.tasks.catch_up import catch_up
from bot.tasks.close_month import close_month
from bot.tasks.end_authorization import end_authorization
from bot.tasks.erase_person import erase_person
from bot.tasks.measure_again import measure_again
from bot.tasks.observe_beside_code import observe_beside_code
from bot.tasks.observe_pull_request import observe_pull_request
from bot.tasks.prune_traffic import prune_traffic
from bot.tasks.publish_post import publish_post
from bot.tasks.reconcile import reconcile, reconcile_installation
from bot.tasks.record_landing import record_landing
from bot.tasks.record_pull_request import record_pull_request
from bot.tasks.refresh_check import refresh_check
from bot.tasks.retell_person import retell_person
from bot.tasks.take_snapshots import take_snapshots
from bot.tasks.update_installation import update_installation
from bot.tasks.update_repository import update_repository
from bot.tasks.workplace import Workplace


class Kind(Struct, frozen=True):
    """A kind of job: what to call, how long one call may take, and after how many failures it is given up."""

    function: Callable[[Job, Workplace], Awaitable[None]]
    time_out: timedelta = timedelta(minutes=10)
    max_attempts: int = 10


TASKS: dict[str, Kind] = {
    "answer_button": Kind(answer_button),
    "answer_command": Kind(answer_command),
    "backfill_commits": Kind(backfill_commits, timedelta(minutes=30)),
    "backfill_installation": Kind(backfill_installation),
    "backfill_pages": Kind(backfill_pages, timedelta(minutes=30)),
    "backfill_repository": Kind(backfill_repository, timedelta(hours=3)),
    "catch_up": Kind(catch_up, timedelta(hours=1)),
    "close_month": Kind(close_month),
    "end_authorization": Kind(end_authorization),
    "erase_person": Kind(erase_person, timedelta(minutes=30)),
    "measure_again": Kind(measure_again, timedelta(minutes=30)),
    "observe_beside_code": Kind(observe_beside_code),
    "observe_pull_request": Kind(observe_pull_request),
    "prune_traffic": Kind(prune_traffic, timedelta(hours=1)),
    "publish_post": Kind(publish_post),
    "reconcile": Kind(reconcile),
    "reconcile_installation": Kind(reconcile_installation, timedelta(hours=1)),
    "record_landing": Kind(record_landing, timedelta(minutes=30)),
    "record_pull_request": Kind(record_pull_request, timedelta(minutes=30)),
    "refresh_check": Kind(refresh_check),
    "retell_person": Kind(retell_person, timedelta(minutes=30)),
    "take_snapshots": Kind(take_snapshots, timedelta(minutes=5)),
    "update_installation": Kind(update_installation),
    "update_repository": Kind(update_repository),
}

"""Which jobs are there? `JOBS` lists them all: a new job is a file and a line here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

from msgspec import Struct

from bot.jobs.answer_button import answer_button
from bot.jobs.answer_command import answer_command
from bot.jobs.backfill_commits import backfill_commits
from bot.jobs.backfill_installation import backfill_installation
from bot.jobs.backfill_pages import backfill_pages
from bot.jobs.backfill_repository import backfill_repository
from bot.jobs.catch_up import catch_up
from bot.jobs.check_readers import check_readers
from bot.jobs.close_check_suite import close_check_suite
from bot.jobs.close_month import close_month
from bot.jobs.complete_fact import complete_fact
from bot.jobs.end_authorization import end_authorization
from bot.jobs.erase_person import erase_person
from bot.jobs.measure_again import measure_again
from bot.jobs.observe_non_code import observe_non_code
from bot.jobs.observe_pull_request import observe_pull_request
from bot.jobs.prune_traffic import prune_traffic
from bot.jobs.publish_post import publish_post
from bot.jobs.reconcile import reconcile
from bot.jobs.reconcile_installation import reconcile_installation
from bot.jobs.record_landing import record_landing
from bot.jobs.record_pull_request import record_pull_request
from bot.jobs.refresh_check import refresh_check
from bot.jobs.refresh_person import refresh_person
from bot.jobs.scrub_database import scrub_database
from bot.jobs.take_snapshots import take_snapshots
from bot.jobs.update_installation import update_installation
from bot.jobs.update_repository import update_repository
from bot.queue.interface import Job
from bot.services.context import Context


class JobKind(Struct, frozen=True):
    """A kind of job: its function, its time limit, and the number of failures after which it becomes a dead letter."""

    function: Callable[[Job, Context], Awaitable[None]]
    time_out: timedelta = timedelta(minutes=10)
    max_attempts: int = 10


JOBS: dict[str, JobKind] = {
    "answer_button": JobKind(answer_button),
    "answer_command": JobKind(answer_command),
    "backfill_commits": JobKind(backfill_commits, timedelta(minutes=30)),
    "backfill_installation": JobKind(backfill_installation),
    "backfill_pages": JobKind(backfill_pages, timedelta(minutes=30)),
    "backfill_repository": JobKind(backfill_repository, timedelta(hours=3)),
    "catch_up": JobKind(catch_up, timedelta(hours=1)),
    "check_readers": JobKind(check_readers, timedelta(hours=1)),
    "close_check_suite": JobKind(close_check_suite),
    "close_month": JobKind(close_month),
    "complete_fact": JobKind(complete_fact),
    "end_authorization": JobKind(end_authorization),
    "erase_person": JobKind(erase_person, timedelta(minutes=30)),
    "measure_again": JobKind(measure_again, timedelta(minutes=30)),
    "observe_non_code": JobKind(observe_non_code),
    "observe_pull_request": JobKind(observe_pull_request),
    "prune_traffic": JobKind(prune_traffic, timedelta(hours=1)),
    "publish_post": JobKind(publish_post),
    "reconcile": JobKind(reconcile),
    "reconcile_installation": JobKind(reconcile_installation, timedelta(hours=1)),
    "record_landing": JobKind(record_landing, timedelta(minutes=30)),
    "record_pull_request": JobKind(record_pull_request, timedelta(minutes=30)),
    "refresh_check": JobKind(refresh_check),
    "refresh_person": JobKind(refresh_person, timedelta(minutes=30)),
    "scrub_database": JobKind(scrub_database, timedelta(minutes=30)),
    "take_snapshots": JobKind(take_snapshots, timedelta(minutes=5)),
    "update_installation": JobKind(update_installation),
    "update_repository": JobKind(update_repository),
}

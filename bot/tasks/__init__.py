"""Which jobs are there? `TASKS` is the whole list: a job is a file and a line here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from bot.queue.interface import Job
from bot.tasks.answer_button import answer_button
from bot.tasks.answer_command import answer_command
from bot.tasks.close_month import close_month
from bot.tasks.end_authorization import end_authorization
from bot.tasks.erase_person import erase_person
from bot.tasks.publish_post import publish_post
from bot.tasks.record_landing import record_landing
from bot.tasks.record_pull_request import record_pull_request
from bot.tasks.refresh_check import refresh_check
from bot.tasks.update_installation import update_installation
from bot.tasks.update_repository import update_repository
from bot.tasks.workplace import Workplace


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of job: what to call, how long one call may take, and after how many failures it is given up."""

    function: Callable[[Job, Workplace], Awaitable[None]]
    time_out: timedelta = timedelta(minutes=10)
    max_attempts: int = 10


TASKS: dict[str, Kind] = {
    "answer_button": Kind(answer_button),
    "answer_command": Kind(answer_command),
    "close_month": Kind(close_month),
    "end_authorization": Kind(end_authorization),
    "erase_person": Kind(erase_person, timedelta(minutes=30)),
    "publish_post": Kind(publish_post, timedelta(minutes=2)),
    "record_landing": Kind(record_landing, timedelta(minutes=30)),
    "record_pull_request": Kind(record_pull_request, timedelta(minutes=30)),
    "refresh_check": Kind(refresh_check),
    "update_installation": Kind(update_installation),
    "update_repository": Kind(update_repository),
}

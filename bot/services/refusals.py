"""GitHub refused something (403) or did not find it (404): will it go on doing so?

Tokens and objects are replicated with a delay, so one answer proves nothing. What GitHub says of the installation is
the second opinion: only a suspension or a permission that was not granted ends the doubt at once. All other refused
jobs are tried again for a day, and then parked.
https://github.com/octokit/auth-app.js/issues/589
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

from gidgethub import BadRequest

from bot.github.auth import NotGranted
from bot.github.client import is_missing
from bot.github.payloads.answers import Installation
from bot.github.reads import read_installation
from bot.model.ids import InstallationId
from bot.queue.interface import Job, Park, Refused
from bot.services.context import Context

A_DAY = timedelta(days=1)
A_MONTH = timedelta(days=30)
"""a job that is still refused after this long becomes a dead letter"""
A_MINUTE = timedelta(minutes=1)
"""replicas have caught up after this long"""
_LEVELS = ("read", "write", "admin")


async def run_doubting(function: Callable[[Job, Context], Awaitable[None]], job: Job, context: Context) -> None:
    """Run the job. Raises Park if a second opinion confirms a refusal, Refused if it does not."""
    try:
        await function(job, context)
    except Refused as refused:
        raise await _second_opinion(context, job, refused) from refused
    except BadRequest as error:
        if not is_missing(error):
            raise
        missing = Refused(f"GitHub does not find what the job is about: {error}")
        raise await _second_opinion(context, job, missing) from error


async def _second_opinion(context: Context, job: Job, refused: Refused) -> Park | Refused:
    number = job.claim.installation_id
    if number is None:
        return refused
    try:
        found = await read_installation(context.github.app, InstallationId(number))
    except Exception:
        return refused
    if found is None:
        return refused
    if found.suspended:
        return Park(f"installation {number} is suspended")
    lacking = _lacking_permissions(found, refused.__cause__)
    return Park(f"installation {number} has not granted {', '.join(lacking)}") if lacking else refused


def _lacking_permissions(found: Installation, cause: BaseException | None) -> list[str]:
    """The permissions that a token was asked for and that the installation does not have."""
    if not isinstance(cause, NotGranted):
        return []
    return sorted(
        f"{name}: {level}"
        for name, level in cause.permissions.items()
        if _rank(found.permissions.get(name)) < _rank(level)
    )


def _rank(level: str | None) -> int:
    return _LEVELS.index(level) + 1 if level in _LEVELS else 0

"""What does a job work with? The store, the queue, GitHub, and the operator's settings."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from gidgethub import BadRequest, GitHubBroken
from msgspec import Struct

from bot.github.auth import InstallationClosed, NotGranted
from bot.github.client import Client, QueryFailed
from bot.github.connection import Connection
from bot.github.limits import Limited
from bot.github.operations import POSTING_CHECKS, POSTING_DIGESTS, READING, required_permissions
from bot.github.posts import Ourselves, Publisher
from bot.github.reads import read_app
from bot.github.transport import is_passing
from bot.history.fetching import Clones
from bot.model.ids import InstallationId, Month, PersonKey, RepositoryId
from bot.queue.interface import Queue, Refused, RetryLater
from bot.services.writer import NO_WRITER, Writer
from bot.store.engine import Store

log = logging.getLogger(__name__)


class Context(Struct, frozen=True):
    """Everything a job needs; built once, by `bot.app.build`."""

    store: Store
    queue: Queue
    github: Connection
    ourselves: Ourselves
    zone: ZoneInfo
    public_url: str
    clock: Callable[[], datetime]
    clones: Clones | None = None
    """the clones for backfills; None if this process does not read histories"""
    accept_delivery: Callable[[str, str, bytes], Awaitable[bool]] | None = None
    """accepts a redelivered delivery (GUID, event, body) as the webhook would; False if nothing was accepted"""
    settle: timedelta = timedelta(0)
    """how long a post waits, so that several deliveries about one landing give one post"""
    take_snapshots: Callable[[PersonKey, Month], Awaitable[object]] | None = None
    """stores the signed snapshots of a person's pages for a month; None if no pages are served"""
    writer: Writer = NO_WRITER
    """the optional writer of digest texts, checked against the templates"""
    on_posted: Callable[[str, str], None] = lambda kind, outcome: None
    """called after each attempt to post with the kind of post and its outcome"""
    started: datetime | None = None
    """when this process started: no earlier process can have reported a later landing; None if unknown"""

    def reader(self, installation: int, repository: int) -> Client:
        """A client that may only read one repository."""
        return self.github.installation(
            InstallationId(installation),
            repositories=(RepositoryId(repository),),
            permissions=required_permissions(*READING),
        )

    def publisher(
        self, installation: int, repository: int, *, comments: bool, urgent: bool = True
    ) -> tuple[Client, Publisher]:
        """A client that may only post check runs, or comments, in one repository.

        What is not `urgent` leaves a part of the hourly budget to landings.
        """
        operations = POSTING_DIGESTS if comments else POSTING_CHECKS
        client = self.github.installation(
            InstallationId(installation),
            repositories=(RepositoryId(repository),),
            permissions=required_permissions(*operations),
            urgent=urgent,
        )
        return client, Publisher(client, self.ourselves)


def job_arguments(ref_id: str) -> dict[str, Any]:
    """The arguments of a job, as the handlers wrote them. Raises TypeError if they are not an object."""
    found = json.loads(ref_id)
    if not isinstance(found, dict):
        raise TypeError("a job's arguments are an object")
    return found


def job_reference(given: Mapping[str, object]) -> str:
    """A job's arguments as one line, equal for equal arguments, in the format of the handlers."""
    return json.dumps(given, sort_keys=True, separators=(",", ":"))


@contextmanager
def translate_github_errors() -> Iterator[None]:
    """Turn GitHub's errors into what the queue understands.

    Rate limits, outages and a rejected App key raise RetryLater. What GitHub refuses raises Refused: one answer proves
    nothing (`bot/services/refusals.py`). Every other error passes through, for example 404.
    """
    try:
        yield
    except Limited as limited:
        raise RetryLater(limited.wait, "GitHub's rate limit") from limited
    except (InstallationClosed, NotGranted) as closed:
        raise Refused(str(closed)) from closed
    except QueryFailed as failed:
        if failed.kinds == {"FORBIDDEN"}:
            raise Refused(f"GitHub refuses: {failed}") from failed
        if failed.kinds <= {"", "SERVICE_UNAVAILABLE"}:
            raise RetryLater(None, f"GitHub is not available: {failed}") from failed
        raise
    except BadRequest as error:
        if error.status_code in (403, 451):
            raise Refused(f"GitHub refuses: {error}") from error
        if error.status_code == 401:
            raise RetryLater(None, f"GitHub does not accept the App's key: {error}; run almanac doctor") from error
        raise
    except Exception as error:
        if isinstance(error, GitHubBroken) or is_passing(error):
            raise RetryLater(None, f"GitHub is not available: {type(error).__name__}: {error}") from error
        raise


async def ask_identity(context: Context) -> None:
    """Ask GitHub for the App's id and login. Raises what a request that fails raises."""
    app = await read_app(context.github.app)
    context.ourselves.id, context.ourselves.login = app.id, f"{app.slug}[bot]"


async def introduce(context: Context) -> None:
    """The same without raising: if GitHub is unreachable, the id identifies most of our posts."""
    try:
        await ask_identity(context)
    except Exception as error:
        log.warning("App's identity not confirmed", extra={"reason": str(error)})

"""What a task works with: the store, the queue, GitHub, and what the operator decided."""

from __future__ import annotations

import json
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
from bot.github.operations import POSTING_CHECKS, POSTING_DIGESTS, READING, needed
from bot.github.posts import Ourselves, Publisher
from bot.github.transport import is_passing
from bot.history.fetching import Clones
from bot.model.ids import InstallationId, Month, PersonKey, RepositoryId
from bot.queue.interface import Park, Queue, RetryLater
from bot.services.writer import NO_WRITER, Writer
from bot.store.engine import Store


class Context(Struct, frozen=True):
    """Built once by the composition root."""

    store: Store
    queue: Queue
    github: Connection
    ourselves: Ourselves
    zone: ZoneInfo
    public_url: str
    clock: Callable[[], datetime]
    clones: Clones | None = None
    """where histories are read; None: none is, unless somebody asks for it"""
    accept_delivery: Callable[[str, str, bytes], Awaitable[bool]] | None = None
    """takes a delivery (GUID, event, body) that GitHub kept, as the webhook does; False where nothing came of it"""
    settle: timedelta = timedelta(0)
    """that a post waits for what else is told of the same landing"""
    take_snapshots: Callable[[PersonKey, Month], Awaitable[object]] | None = None
    """keeps the signed snapshots of a person's pages as of the end of a month; None where no pages are served"""
    writer: Writer = NO_WRITER
    """who words digests beside the templates"""
    started: datetime | None = None
    """when this process began: what landed since, no earlier one can have told; None where that is not known"""

    def reader(self, installation: int, repository: int) -> Client:
        """A client that may read one repository and nothing else."""
        return self.github.installation(
            InstallationId(installation), repositories=(RepositoryId(repository),), permissions=needed(*READING)
        )

    def publisher(self, installation: int, repository: int, *, comments: bool) -> tuple[Client, Publisher]:
        """A client that may post check runs, or comments, in one repository."""
        operations = POSTING_DIGESTS if comments else POSTING_CHECKS
        client = self.github.installation(
            InstallationId(installation), repositories=(RepositoryId(repository),), permissions=needed(*operations)
        )
        return client, Publisher(client, self.ourselves)


def job_arguments(ref_id: str) -> dict[str, Any]:
    """The arguments a job carries, as the handlers wrote them."""
    found = json.loads(ref_id)
    if not isinstance(found, dict):
        raise TypeError("a job's arguments are an object")
    return found


def job_reference(given: Mapping[str, object]) -> str:
    """The arguments of a job as it carries them: one line, equal for equal arguments, as the handlers write it."""
    return json.dumps(given, sort_keys=True, separators=(",", ":"))


@contextmanager
def translate_github_errors() -> Iterator[None]:
    """GitHub's limits put a job off, and so does a GitHub that is out of order, or knows our key no more; a closed or
    narrowed installation sets it aside; what is gone stays an error."""
    try:
        yield
    except Limited as limited:
        raise RetryLater(limited.wait, "GitHub's rate limit") from limited
    except (InstallationClosed, NotGranted) as closed:
        raise Park(str(closed)) from closed
    except QueryFailed as failed:
        if failed.kinds == {"FORBIDDEN"}:
            raise Park(f"GitHub refuses: {failed}") from failed
        if failed.kinds <= {"", "SERVICE_UNAVAILABLE"}:
            raise RetryLater(None, f"GitHub is not available: {failed}") from failed
        raise
    except BadRequest as error:
        if error.status_code in (403, 451):
            raise Park(f"GitHub refuses: {error}") from error
        if error.status_code == 401:
            raise RetryLater(None, f"GitHub does not accept the App's key: {error}; run almanac doctor") from error
        raise
    except Exception as error:
        if isinstance(error, GitHubBroken) or is_passing(error):
            raise RetryLater(None, f"GitHub is not available: {type(error).__name__}: {error}") from error
        raise

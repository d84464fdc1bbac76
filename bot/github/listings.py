"""What does GitHub list? Installations, recently closed pull requests, reviews, and the accounts behind a commit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime

from msgspec import Struct

from bot.github import operations as op
from bot.github.client import BadAnswer, Client
from bot.github.payloads import answers, readers
from bot.github.payloads import commits as commits_of
from bot.github.payloads.answers import Installation
from bot.github.payloads.reading import read, required_moment
from bot.model.commit import PullRequest, Repository, Signature
from bot.model.ids import CommitId, UserId


class _Updated(Struct, frozen=True):
    updated_at: str | None = None


async def read_installations(app: Client) -> AsyncIterator[Installation]:
    """Every installation of the App; `app` must be the App's own client."""
    async for row in app.items(op.INSTALLATIONS):
        yield answers.installation(row)


async def read_closed_since(client: Client, repository: Repository, since: datetime) -> list[PullRequest]:
    """The closed pull requests that changed since then, without commits; reads pages until one has not changed."""
    found: list[PullRequest] = []
    async for row in client.items(op.CLOSED_PULL_REQUESTS, repository=client.repository_path(repository)):
        if required_moment(read(row, _Updated).updated_at) < since:
            break
        found.append(answers.pull_request(row).pull_request)
    return found


async def read_readers(client: Client, repository: Repository) -> frozenset[UserId] | None:
    """Who may read a private repository; None for an internal one, whose readers GitHub does not list.

    Raises `BadAnswer` for an empty list: somebody owns every repository.
    """
    path = client.repository_path(repository)
    if readers.is_internal(await client.read(op.REPOSITORY, repository=path)):
        return None
    listed = [readers.reader(row) async for row in client.items(op.COLLABORATORS, repository=path)]
    found = frozenset(user for user, may_read in listed if may_read)
    if not found:
        raise BadAnswer("a repository without collaborators")
    return found


async def read_people_of(client: Client, repository: Repository, commit: CommitId) -> tuple[Signature, Signature]:
    """A commit's author and committer, with their accounts of any type."""
    row = await client.read(op.COMMIT, repository=client.repository_path(repository), commit=commit, size=1)
    found = commits_of.commit(row)
    return found.author, found.committer

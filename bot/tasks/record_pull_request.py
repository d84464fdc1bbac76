"""A pull request was closed or edited: keep what GitHub says of it, and let the commits it landed know."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from bot.github.client import Client
from bot.github.reads import Landed, read_landed_by, read_pull_request, read_repository
from bot.model import Commit, InstallationId, PullRequest, Repository, RepositoryId
from bot.queue.interface import Job
from bot.store import erasure, installations, ledger, pulls
from bot.tasks.known_installation import know_installation
from bot.tasks.landed_before import landed_before
from bot.tasks.measuring import Brought
from bot.tasks.pull_request_json import kept
from bot.tasks.record_landing import record_landed
from bot.tasks.workplace import Workplace, arguments, asking_github


async def record_pull_request(job: Job, place: Workplace) -> None:
    """Closed unmerged is a candidate too: a merge bot may have pushed its commits, or will; `again` measures anew."""
    given = arguments(job.ref_id)
    await know_installation(place, given["installation"])
    client = place.reader(given["installation"], given["repository"])
    with asking_github():
        repository = await read_repository(client, RepositoryId(given["repository"]))
        pull_request = await read_pull_request(client, repository, given["number"])
        merged = await read_landed_by(client, repository, given["number"]) if pull_request.merged_at else ()
    told = await _keep(place, InstallationId(given["installation"]), repository, pull_request)
    own = _own(merged, pull_request)
    with asking_github():
        found = await _explained(place, client, repository, pull_request)
    landed = {one.commit.id: one for one in (*own, *found)}
    brought = Brought(pull_request, frozenset(one.commit.id for one in own))
    again = told or bool(given.get("again"))
    await record_landed(job, place, (client, repository), list(landed.values()), again=again, brought=brought)


def _own(landed: tuple[Landed, ...], pull_request: PullRequest) -> tuple[Landed, ...]:
    """Of what reached the branch since the base, what this pull request brought; pushes tell of what landed beside it.

    The merge commit carries its own. The rebase button makes new commits of the pull request's, which keep author and
    message, and only the last of them is the merge commit.
    """
    carried = [one for one in landed if one.carrier.id == pull_request.merge_commit]
    written = Counter(_writing(commit) for commit in pull_request.commits)
    if len(carried) == 1 and carried[0].commit.id == pull_request.merge_commit and written[_writing(carried[0].commit)]:
        return tuple(one for one in landed if one.carrier.id == one.commit.id and written[_writing(one.commit)])
    return tuple(carried)


def _writing(commit: Commit) -> tuple[str, str, int]:
    """What a rebase keeps of a commit."""
    return commit.author.email.lower(), commit.message.strip(), int(commit.authored_at.timestamp())


async def _keep(
    place: Workplace, installation: InstallationId, repository: Repository, pull_request: PullRequest
) -> bool:
    """Store the reading; True where it says something new, so that its commits have to be measured again."""
    row = pulls.PullRequestRow(
        repository_id=RepositoryId(repository.id or 0),
        number=pull_request.number,
        head_id=pull_request.head_id,
        read_at=place.clock(),
        merge_commit=pull_request.merge_commit if pull_request.merged_at else None,
        merged_at=pull_request.merged_at,
        closed_at=pull_request.closed_at,
        payload=kept(pull_request),
    )
    async with place.store.begin() as conn:
        row = replace(row, payload=await erasure.pull_request_without_buried(conn, row.payload))
        await installations.see_repositories(conn, installation, [repository], row.read_at)
        before = await pulls.read(conn, row.repository_id, row.number)
        await pulls.see(conn, row)
    return before is None or before.payload != row.payload or before.merge_commit != row.merge_commit


async def _explained(
    place: Workplace, client: Client, repository: Repository, pull_request: PullRequest
) -> list[Landed]:
    """Commits recorded earlier whose message names this pull request: they landed before its delivery came."""
    repository_id = RepositoryId(repository.id or 0)
    async with place.store.read() as conn:
        facts = await ledger.facts_named(conn, repository_id, pull_request.number)
    return await landed_before(client, repository, facts)

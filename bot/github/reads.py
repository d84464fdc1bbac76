"""What does GitHub currently say about a repository, a commit, a pull request or a landing?

A payload is only a hint, so everything that counts is read here. Each function returns the model's types and marks what
GitHub's limits have hidden. All raise gidgethub's exceptions, `Limited`, `BadAnswer` and `PayloadError`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from gidgethub import BadRequest
from msgspec import Struct

from bot.github import operations as op
from bot.github.client import BadAnswer, Client, is_missing
from bot.github.payloads import answers
from bot.github.payloads import commits as commits_of
from bot.github.payloads.reading import read
from bot.landing.conventions.batches import pull_requests_by_commit
from bot.model.commit import Commit, FileChange, Repository
from bot.model.ids import CommitId, InstallationId, RepositoryId

_COMMITS_SHOWN = 250
"""commits that GitHub lists for one pull request; a comparison shows the rest"""
_PAGE, _SMALLER_PAGE = 300, 50
_MOST_LANDED = 5000
"""commits of one push; anything more is history and is read from a clone"""

T = TypeVar("T")


class TooMuchHistory(BadAnswer):
    """A push brought more commits than are read one by one; a backfill has to read them."""


class LandedCommit(Struct, frozen=True):
    """A non-merge commit that a push brought, and the first-parent commit that brought it in. Neither has files yet."""

    commit: Commit
    merge_commit: Commit
    brought_by: int | None = None
    """the pull request whose branch held the commit, if `merge_commit` merges what was merged before"""


async def read_repository(client: Client, repository_id: RepositoryId) -> Repository:
    """A repository under its current name."""
    return answers.repository(await client.read_repository(repository_id))


async def read_app(app: Client) -> answers.App:
    """The App as GitHub knows it: whether the key belongs to the id, and the slug under which it posts."""
    return read(await app.read(op.APP), answers.App)


async def read_installation(app: Client, installation: InstallationId) -> answers.Installation | None:
    """An installation, read as the App; None once it is deleted."""
    try:
        return answers.installation(await app.read(op.INSTALLATION, installation=installation))
    except BadRequest as error:
        if is_missing(error):
            return None
        raise


async def read_installation_repositories(client: Client) -> tuple[Repository, ...]:
    """Every repository that the installation can access, by id. Raises `BadAnswer` if a page is missing."""
    found: dict[RepositoryId | None, Repository] = {}
    total = 0
    async for page in client.pages(op.INSTALLATION_REPOSITORIES):
        total, listed = answers.repositories(page)
        found.update((repository.id, repository) for repository in listed)
    _expect(len(found), total, "repositories of an installation")
    return tuple(sorted(found.values(), key=lambda repository: repository.id or 0))


async def read_permission(client: Client, repository: Repository, login: str) -> str:
    """A person's permission in a repository: `admin`, `write`, `read` or `none`."""
    return answers.permission(
        await client.read(op.PERMISSION, repository=client.repository_path(repository), login=login)
    )


async def read_file(client: Client, repository: Repository, path: str, *, ref: str | None = None) -> str | None:
    """The text of one file (at most 1 MB); None if it does not exist or is not text."""
    repository_path, segments = client.repository_path(repository), path.split("/")
    try:
        pages = [
            page async for page in client.pages(op.CONTENT, repository=repository_path, segments=segments, ref=ref)
        ]
    except BadRequest as error:
        if is_missing(error):
            return None
        raise
    return answers.content(pages[0])


async def read_comment(client: Client, repository: Repository, comment: int) -> answers.CommentAnswer:
    """The current state of a comment on an issue or pull request."""
    repository_path = client.repository_path(repository)
    return answers.comment(await client.read_late(op.COMMENT, repository=repository_path, comment=comment))


async def read_issue(client: Client, repository: Repository, number: int) -> answers.IssueAnswer:
    """The current state of an issue or pull request."""
    return answers.issue(await client.read(op.ISSUE, repository=client.repository_path(repository), number=number))


async def issue_exists(client: Client, repository: Repository, number: int) -> bool:
    """False if GitHub says that the issue is gone."""
    try:
        await read_issue(client, repository, number)
    except BadRequest as error:
        if is_missing(error):
            return False
        raise
    return True


async def read_commit(client: Client, repository: Repository, commit: CommitId) -> Commit:
    """A commit with its files, up to GitHub's 3,000.

    If the rows do not sum to the commit's own totals, smaller pages are tried once; what remains is `partial`.
    """
    found = await _read_commit(client, repository, commit, size=_PAGE)
    if found.partial and len(found.files) < commits_of.MOST_FILES:
        return await _read_commit(client, repository, commit, size=_SMALLER_PAGE)
    return found


async def read_pull_request(client: Client, repository: Repository, number: int) -> answers.PullRequestAnswer:
    """A pull request in its current state, without its commits."""
    repository_path = client.repository_path(repository)
    known = answers.pull_request(await client.read_late(op.PULL_REQUEST, repository=repository_path, number=number))
    if repository.id is not None and known.base_repository != repository.id:
        raise BadAnswer("another repository has taken this name")
    return known


async def read_pull_request_commits(
    client: Client, repository: Repository, known: answers.PullRequestAnswer
) -> tuple[Commit, ...]:
    """A pull request's own commits, without files."""
    if known.commits > _COMMITS_SHOWN:
        compared = await _read_compared(client, repository, before=known.base_id, after=known.pull_request.head_id)
        return tuple(compared)
    where = {"repository": client.repository_path(repository), "number": known.pull_request.number}
    commits = await _gather(client, op.PULL_REQUEST_COMMITS, commits_of.commit, **where)
    _expect(len(commits), known.commits, "commits of a pull request")
    return tuple(commits)


async def read_landed(
    client: Client, repository: Repository, *, before: CommitId | None, after: CommitId
) -> tuple[LandedCommit, ...]:
    """The non-merge commits that a push from `before` to `after` brought, ordered by `merge_commit`, oldest first.

    The `merge_commit` is the first commit on the first-parent line of `after` that reaches the commit, as in `git log
    --first-parent`. `before` None means a new branch. A push whose first parents bypass `before` (the old tip merged
    into a topic) also moves the merge commits of older landings; those are not reported. Raises `TooMuchHistory` above
    5,000 commits.
    """
    if before is None:
        commits = await _read_all(client, repository, after)
    else:
        commits = await _read_compared(client, repository, before=before, after=after)
    return landed_commits(commits, after)


async def read_landed_from(
    client: Client, repository: Repository, known: answers.PullRequestAnswer
) -> tuple[LandedCommit, ...]:
    """The commits that reached the default branch with a merged pull request; empty if it was not merged there.

    The comparison starts at the pull request's own base, so it may include commits that landed in parallel: each is
    counted only once anyway.
    """
    merge = known.pull_request.merge_commit
    if merge is None or known.pull_request.base_ref != repository.default_branch:
        return ()
    return await read_landed(client, repository, before=known.base_id, after=merge)


async def read_tip(client: Client, repository: Repository, branch: str) -> CommitId:
    """The newest commit of a branch; a missing branch is a 404 or a 422."""
    repository_path = client.repository_path(repository)
    return commits_of.commit(await client.read(op.COMMIT, repository=repository_path, commit=branch, size=1)).id


async def read_beyond(client: Client, repository: Repository, *, before: CommitId, after: str) -> list[CommitId]:
    """The commits, including merges, that `after` (a commit or a branch) reaches and `before` does not."""
    return [commit.id for commit in await _read_compared(client, repository, before=before, after=after)]


def landed_commits(commits: list[Commit], after: CommitId) -> tuple[LandedCommit, ...]:
    """Each non-merge commit of `commits` with the commit of the first-parent line of `after` that first reaches it."""
    known = {commit.id: commit for commit in commits}
    left = dict(known)
    line: list[Commit] = []
    tip = left.pop(after, None)
    while tip is not None:
        line.append(tip)
        tip = left.pop(tip.parents[0], None) if tip.parents else None
    seen: set[CommitId] = set()
    landed: list[LandedCommit] = []
    for merge_commit in reversed(line):
        brought = _reached(merge_commit.id, known, seen)
        numbers = pull_requests_by_commit(merge_commit, brought, known)
        own = [commit for commit in brought if len(known[commit].parents) < 2]
        landed += [LandedCommit(known[commit], merge_commit, numbers.get(commit)) for commit in own]
    return tuple(landed)


def _reached(start: CommitId, known: dict[CommitId, Commit], seen: set[CommitId]) -> list[CommitId]:
    """The commits reachable from `start` and not in `seen`; parents before children, as far as git's dates show it."""
    stack, found = [start], []
    while stack:
        commit = stack.pop()
        if commit in seen or commit not in known:
            continue
        seen.add(commit)
        found.append(commit)
        stack.extend(known[commit].parents)
    return sorted(found, key=lambda commit: (known[commit].committed_at, commit))


async def _read_commit(client: Client, repository: Repository, commit: CommitId, *, size: int) -> Commit:
    repository_path = client.repository_path(repository)
    files: list[FileChange] = []
    first: Any = None
    async for page in client.pages(op.COMMIT, late=True, repository=repository_path, commit=commit, size=size):
        first = first or page
        files += commits_of.files(page)
    if commits_of.commit(first).id != commit:
        raise BadAnswer("a different commit from the requested one")
    return commits_of.with_files(commits_of.commit(first), commits_of.stats(first), files)


async def _read_compared(client: Client, repository: Repository, *, before: CommitId, after: str) -> list[Commit]:
    """The commits that `after` reaches and `before` does not. Raises `BadAnswer` if a page is missing."""
    commits: dict[CommitId, Commit] = {}
    total = 0
    repository_path = client.repository_path(repository)
    async for page in client.pages(op.COMPARE, late=True, repository=repository_path, before=before, after=after):
        total = commits_of.total_commits(page)
        if total > _MOST_LANDED:
            raise TooMuchHistory(f"{total} commits in one push")
        commits.update((found.id, found) for found in commits_of.compared_commits(page))
    _expect(len(commits), total, "commits of a comparison")
    return list(commits.values())


async def _read_all(client: Client, repository: Repository, after: CommitId) -> list[Commit]:
    commits: list[Commit] = []
    async for row in client.items(op.COMMITS, repository=client.repository_path(repository), commit=after):
        commits.append(commits_of.commit(row))
        if len(commits) > _MOST_LANDED:
            raise TooMuchHistory(f"more than {_MOST_LANDED} commits on a new branch")
    return commits


async def _gather(client: Client, operation: op.Operation, reader: Callable[[Any], T], **variables: Any) -> list[T]:
    rows: AsyncIterator[dict[str, Any]] = client.items(operation, **variables)
    return [reader(row) async for row in rows]


def _expect(found: int, reported: int, what: str) -> None:
    """A missing `Link` header must never result in a smaller number."""
    if found < reported:
        raise BadAnswer(f"{found} of {reported} {what}")

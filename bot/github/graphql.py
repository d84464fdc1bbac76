"""How are pull requests, and the accounts behind commits' addresses, read in pages of a hundred?

GraphQL returns what would take a hundred REST calls, but no patches: those come from a clone. The query includes a pull
request's own commits because the rebase button leaves no other trace; at most a hundred commits and labels are read.
https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct, field

from bot.github.client import BadAnswer, Client, QueryFailed
from bot.github.payloads import nodes
from bot.github.payloads.nodes import Glance, PullPage
from bot.github.payloads.non_code_activity import Release
from bot.github.payloads.own_commits import Parts, ResolvedAccount, parts
from bot.model.commit import Repository
from bot.model.ids import CommitId

PAGE = 100
SMALLEST_PAGE = 10
MOST_ADDRESSES = 60
"""requested with one page; a larger query becomes too slow for GitHub's ten seconds"""
MOST_GLANCES = 50
_GONE = frozenset({"NOT_FOUND"})
_FORBIDDEN = frozenset({"FORBIDDEN"})
_BEARABLE = (_GONE, _FORBIDDEN, _GONE | _FORBIDDEN)
"""errors beside an answer that lacks only what they name"""
_TOO_SLOW = ("", "SERVICE_UNAVAILABLE", "RESOURCE_LIMITS_EXCEEDED")
_MOST_READINGS, BEFORE_NEXT_READING = 4, 2.0
_SPARED = 5
"""one fifth of the points is reserved for what is more urgent than history"""

_ACTOR = """__typename login
... on User { databaseId }
... on Bot { databaseId }
... on Organization { databaseId }
... on Mannequin { databaseId }"""
_OWN_COMMITS = """commits(first: 100) { totalCount nodes { commit {
oid message additions deletions parents(first: 1) { totalCount }
author { name email user { databaseId login } }
} } }"""
_COLLABORATORS = "collaborators(first: 100) { totalCount edges { permission node { databaseId } } }"
PARTS_QUERY = (
    "query($owner: String!, $name: String!, $number: Int!) {\nrateLimit { cost limit remaining resetAt }\n"
    "repository(owner: $owner, name: $name) {\ndatabaseId\n"
    + _COLLABORATORS
    + "\npullRequest(number: $number) {\n"
    + _OWN_COMMITS
    + "\n}\n}\n}"
)
"""whose commits a pull request has: one request, for a squash of several people"""
_LIMIT = "rateLimit { cost limit remaining resetAt }"
_PULLS = (
    """pullRequests(first: $size, after: $after, states: [CLOSED, MERGED], \
orderBy: {field: CREATED_AT, direction: ASC}) {
totalCount
pageInfo { hasNextPage endCursor }
nodes {
number title body createdAt mergedAt closedAt baseRefName headRefName headRefOid
mergeCommit { oid }
authorAssociation
author { """
    + _ACTOR
    + """ }
mergedBy { """
    + _ACTOR
    + """ }
reviews(first: 50) { totalCount nodes { fullDatabaseId state submittedAt author { """
    + _ACTOR
    + """ } } }
labels(first: 100) { totalCount nodes { name } }
"""
    + _OWN_COMMITS
    + """
}
}"""
)
_RELEASES = """releases(first: 100, orderBy: {field: CREATED_AT, direction: DESC}) {
totalCount nodes { databaseId tagName isDraft isPrerelease publishedAt author { databaseId login } }
}"""
_GLANCE = """databaseId nameWithOwner isPrivate visibility
defaultBranchRef { name target { oid } }
pullRequests(first: 1, states: [CLOSED, MERGED], orderBy: {field: UPDATED_AT, direction: DESC}) {
totalCount nodes { updatedAt }
}"""


class Points(Struct, frozen=True):
    """What a query cost, and what is left of the hour's points; None if the host does not count points."""

    cost: int = 1
    limit: int | None = None
    remaining: int | None = None
    reset_at: datetime | None = None

    @property
    def scarce(self) -> bool:
        """Whether few points are left, so that history must wait until the hour ends."""
        return self.limit is not None and self.remaining is not None and self.remaining * _SPARED < self.limit


class PullRequestPage(Struct, frozen=True):
    """One answer: pull requests, the accounts of the commits requested with them, and its cost."""

    pulls: PullPage
    accounts: Mapping[CommitId, tuple[ResolvedAccount | None, ResolvedAccount | None]]
    """the accounts of a commit's author and committer; None if GitHub knows no user"""
    points: Points
    requests: int = 1
    size: int = PAGE
    """pull requests per page, smaller if GitHub was too slow for more"""
    releases: tuple[Release, ...] = ()
    """the newest, requested with the first page"""


def pulls_query(commits: int, *, pulls: bool = True, releases: bool = False) -> str:
    """A query for a page of pull requests, unless `pulls` is False, and the accounts of that many commits.

    `releases` adds the newest hundred releases.
    """
    variables = ["$owner: String!", "$name: String!"]
    variables += ["$size: Int!", "$after: String"] if pulls else []
    variables += [f"$c{number}: GitObjectID!" for number in range(commits)]
    who = "{ ... on Commit { oid author { user { databaseId login } } committer { user { databaseId login } } } }"
    asked = [f"c{number}: object(oid: $c{number}) {who}" for number in range(commits)]
    inside = "\n".join([*([_COLLABORATORS, _PULLS] if pulls else []), *([_RELEASES] if releases else []), *asked])
    inner = f"repository(owner: $owner, name: $name) {{\ndatabaseId\n{inside}\n}}"
    return f"query({', '.join(variables)}) {{\n{_LIMIT}\n{inner}\n}}"


def glance_query(repositories: int) -> str:
    """A query for the name, visibility, head and newest closed pull request of that many repositories."""
    variables = ", ".join(f"$o{n}: String!, $n{n}: String!" for n in range(repositories))
    inner = "\n".join(f"r{n}: repository(owner: $o{n}, name: $n{n}) {{ {_GLANCE} }}" for n in range(repositories))
    return f"query({variables}) {{\n{_LIMIT}\n{inner}\n}}"


async def read_page(
    client: Client, repository: Repository, *, after: str | None, size: int = PAGE, commits: Sequence[CommitId] = ()
) -> PullRequestPage:
    """The page of closed pull requests after a cursor, oldest first, with the accounts of these commits.

    The first page includes the newest releases. If GitHub is too slow for a page, its size is halved, down to ten.
    Raises the client's exceptions, and `BadAnswer` if another repository now has the name.
    """
    requests = 0
    while True:
        given = {"size": size, "after": after} | _numbered(commits)
        try:
            requests += 1
            query = pulls_query(len(commits), releases=after is None)
            found = await _inside(client, query, repository, given)
            break
        except Exception as error:
            if size <= SMALLEST_PAGE or not _is_too_slow(error):
                raise
            size, commits = max(size // 2, SMALLEST_PAGE), ()
    return _page(found, repository, commits, size=size, requests=requests)


async def read_accounts(client: Client, repository: Repository, commits: Sequence[CommitId]) -> PullRequestPage:
    """The accounts of these commits only."""
    query = pulls_query(len(commits), pulls=False)
    found = await _inside(client, query, repository, _numbered(commits))
    return _page(found, repository, commits, size=PAGE, requests=1)


async def _inside(client: Client, query: str, repository: Repository, given: Mapping[str, Any]) -> dict[str, Any]:
    """The answer about one repository. GitHub reports what is missing as an error next to the rest: it is left out.

    So are collaborators, for whoever may not list them.
    """
    try:
        return await client.query(query, **_owner_and_name(repository), **given)
    except QueryFailed as failed:
        data = failed.data
        if not isinstance(data, dict) or not data.get("repository") or failed.kinds not in _BEARABLE:
            raise
        inside = data["repository"]
        if failed.kinds != _GONE and (inside.get("collaborators") or not inside.get("pullRequests")):
            raise
        return data


async def read_parts(client: Client, repository: Repository, number: int) -> Parts:
    """A pull request's own commits by author, and which of their authors are collaborators.

    Who may not list collaborators learns of none. An answer that does not agree with its own counts is asked for again;
    what it lacks then is unknown. Raises the client's exceptions, and `BadAnswer` as `read_page` does.
    """
    for _ in range(_MOST_READINGS):
        read = await _read_parts(client, repository, number)
        if read.complete:
            break
        await client.sleep(BEFORE_NEXT_READING)
    return read


async def _read_parts(client: Client, repository: Repository, number: int) -> Parts:
    try:
        found = await client.query(PARTS_QUERY, **_owner_and_name(repository), number=number)
    except QueryFailed as failed:
        if failed.kinds != _FORBIDDEN or not isinstance(failed.data, dict) or not failed.data.get("repository"):
            raise
        found = failed.data
    read = parts(found, repository.id)
    if read is None:
        raise BadAnswer("another repository has taken this name")
    return read


class Glances(Struct, frozen=True):
    """A short summary of each repository, in the requested order; None if it is inaccessible."""

    found: tuple[Glance | None, ...]
    points: Points = field(default_factory=Points)


async def read_glances(client: Client, repositories: Sequence[Repository]) -> Glances:
    """A short summary of each of at most fifty repositories, in one request."""
    given = {}
    for number, one in enumerate(repositories):
        given[f"o{number}"], _, given[f"n{number}"] = one.full_name.partition("/")
    try:
        found = await client.query(glance_query(len(repositories)), **given)
    except QueryFailed as failed:
        # A repository that is deleted or inaccessible is an error next to the others' answers.
        if not isinstance(failed.data, dict) or not failed.kinds <= {*_GONE, "FORBIDDEN"}:
            raise
        found = failed.data
    seen = [nodes.glance(found.get(f"r{number}")) for number in range(len(repositories))]
    same = [one if one and one.id == asked.id else None for one, asked in zip(seen, repositories, strict=True)]
    return Glances(tuple(same), _points(found))


def _page(
    found: dict[str, Any], repository: Repository, commits: Sequence[CommitId], *, size: int, requests: int
) -> PullRequestPage:
    inside = nodes.repository(found)
    if inside.database_id != repository.id:
        raise BadAnswer("another repository has taken this name")
    accounts = {commit: nodes.accounts(found["repository"], f"c{number}") for number, commit in enumerate(commits)}
    releases = nodes.releases(inside)
    return PullRequestPage(nodes.pull_page(inside), accounts, _points(found), requests, size, releases)


def _points(found: Mapping[str, Any]) -> Points:
    limit = nodes.limit(found)
    return Points() if limit is None else Points(limit.cost, limit.limit, limit.remaining, limit.reset_at)


def _owner_and_name(repository: Repository) -> dict[str, str]:
    owner, _, name = repository.full_name.partition("/")
    return {"owner": owner, "name": name}


def _numbered(commits: Sequence[CommitId]) -> dict[str, str]:
    return {f"c{number}": commit for number, commit in enumerate(commits)}


def _is_too_slow(error: Exception) -> bool:
    """GitHub aborts a query after ten seconds: 502, 504, or an error without a reason that concerns us."""
    if isinstance(error, QueryFailed):
        return not error.kinds.isdisjoint(_TOO_SLOW)
    return type(error).__name__ in ("GitHubBroken", "BadAnswer", "TimeoutError")

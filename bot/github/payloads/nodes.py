"""What does a GraphQL answer contain? Its nodes as the model's types, with names as in the REST API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, cast

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from bot.github.payloads.answers import BELONGS, Label
from bot.github.payloads.non_code_activity import Release, ReleaseState
from bot.github.payloads.own_commits import (
    Collaborators,
    CommitNode,
    CommitOfPull,
    ResolvedAccount,
    shares_in,
    stated_author,
    writing_authors,
)
from bot.github.payloads.reading import (
    FullCommit,
    Hosted,
    Identity,
    NodePage,
    Number,
    PayloadError,
    Person,
    moment,
    read,
)
from bot.github.payloads.signals import Merge, PullRequestSignals
from bot.model.commit import Commit, PullRequest, Review, Signature
from bot.model.ids import CommitId, RepositoryId

_HIDDEN = "PRIVATE", "INTERNAL"


class PullPage(Struct, frozen=True):
    """Pull requests, their total number, and the cursor after this page (None on the last)."""

    pulls: tuple[PullRequest, ...]
    total: int
    cursor: str | None
    sizes: Mapping[int, int] = field(default_factory=dict)
    """number of each pull request's own commits, by its number"""
    seen: tuple[PullRequestSignals, ...] = ()
    """their merges and reviews, in the form of deliveries"""


class Limit(Struct, frozen=True, rename="camel"):
    cost: Number = 0
    limit: Number = 0
    remaining: Number = 0
    reset_at: Annotated[datetime, Meta(tz=True)] | None = None


class _Actor(Struct, frozen=True, rename="camel"):
    login: str
    kind: str | None = field(name="__typename", default=None)
    database_id: Person | None = None


class _Oid(Struct, frozen=True):
    oid: FullCommit


class _Review(Struct, frozen=True, rename="camel"):
    state: str
    full_database_id: str
    author: _Actor | None = None
    submitted_at: str | None = None


class _Pull(Struct, frozen=True, rename="camel"):
    number: Identity
    title: str
    base_ref_name: str
    head_ref_name: str
    head_ref_oid: FullCommit
    commits: NodePage[CommitOfPull]
    body: str | None = None
    created_at: str | None = None
    merged_at: str | None = None
    closed_at: str | None = None
    merge_commit: _Oid | None = None
    author: _Actor | None = None
    merged_by: _Actor | None = None
    reviews: NodePage[_Review] | None = None
    labels: NodePage[Label] | None = None
    author_association: str | None = None


class _ReleaseNode(Struct, frozen=True, rename="camel"):
    database_id: Identity
    tag_name: str
    is_draft: bool = False
    is_prerelease: bool = False
    published_at: str | None = None
    author: _Actor | None = None


class Inside(Struct, frozen=True, rename="camel"):
    """The repository in an answer."""

    database_id: Hosted
    pull_requests: NodePage[_Pull] | None = None
    releases: NodePage[_ReleaseNode] | None = None
    collaborators: Collaborators | None = None


class _User(Struct, frozen=True):
    user: ResolvedAccount | None = None


class _People(Struct, frozen=True):
    """Empty for anything that is not a commit."""

    author: _User | None = None
    committer: _User | None = None


class _Data(Struct, frozen=True, rename="camel"):
    rate_limit: Limit | None = None


class _Answer(Struct, frozen=True):
    repository: Inside


class Glance(Struct, frozen=True):
    """A repository's current state: names, visibility, head of the default branch, last update of a pull request."""

    id: RepositoryId
    full_name: str
    private: bool
    default_branch: str | None
    head: CommitId | None
    pulls: int
    updated_at: datetime | None


class _Branch(Struct, frozen=True):
    name: str
    target: _Oid | None = None


class _UpdatedNode(Struct, frozen=True, rename="camel"):
    updated_at: str | None = None


class _Glance(Struct, frozen=True, rename="camel"):
    database_id: Hosted
    name_with_owner: str
    pull_requests: NodePage[_UpdatedNode]
    is_private: bool = False
    visibility: str | None = None
    default_branch_ref: _Branch | None = None


def limit(answer: object) -> Limit | None:
    """What the query cost; None on a host without limits."""
    return read(answer, _Data).rate_limit


def repository(answer: object) -> Inside:
    return read(answer, _Answer).repository


def pull_page(inside: Inside) -> PullPage:
    """The pull requests in a repository's answer; empty if none were requested."""
    found = inside.pull_requests
    if found is None:
        return PullPage((), 0, None)
    return PullPage(
        pulls=tuple(_with_writers(_pull(row), inside.collaborators) for row in found.present),
        total=found.total_count or 0,
        cursor=found.cursor,
        sizes={row.number: row.commits.total_count or 0 for row in found.present},
        seen=tuple(one for row in found.present for one in _seen(row)),
    )


def _with_writers(pull: PullRequest, collaborators: Collaborators | None) -> PullRequest:
    found = writing_authors(pull.shares, collaborators)
    return replace(pull, collaborators=found) if found else pull


def releases(inside: Inside) -> tuple[Release, ...]:
    """The published releases in a repository's answer whose author is a person."""
    rows = inside.releases.present if inside.releases else ()
    return tuple(one for row in rows if (one := _release(row)) is not None)


def _release(row: _ReleaseNode) -> Release | None:
    author, at = row.author, moment(row.published_at)
    if author is None or at is None or row.is_draft:
        return None
    if author.database_id is None:
        raise PayloadError("the author of a release has no id")
    by = Signature(author.login, "", author.database_id, author.login)
    state: ReleaseState = "prerelease" if row.is_prerelease else "release"
    return Release(row.database_id, row.tag_name, state, by, at)


def _seen(row: _Pull) -> Iterator[PullRequestSignals]:
    author, merged_at, by = _author(row.author), moment(row.merged_at), _author(row.merged_by)
    mine = None if author is None else author.user_id
    if merged_at is not None and by is not None:
        merge = Merge(row.head_ref_oid, merged_at, None if mine is None else by.user_id == mine, by)
        yield PullRequestSignals(row.number, mine, merge=merge)
    for one in row.reviews.present if row.reviews else ():
        who, at = _author(one.author), moment(one.submitted_at)
        if who is not None and at is not None:
            state = cast("Any", one.state.lower())
            yield PullRequestSignals(row.number, mine, review=(int(one.full_database_id), Review(who, state, at)))


def accounts(inside: Mapping[str, object], name: str) -> tuple[ResolvedAccount | None, ResolvedAccount | None]:
    """The accounts of a commit's author and committer in an answer."""
    found = read(inside.get(name) or {}, _People)
    return found.author.user if found.author else None, found.committer.user if found.committer else None


def glance(answer: object) -> Glance | None:
    if answer is None:
        return None
    found = read(answer, _Glance)
    branch = found.default_branch_ref
    newest = next(iter(found.pull_requests.present), None)
    return Glance(
        id=found.database_id,
        full_name=found.name_with_owner,
        private=found.is_private or found.visibility in _HIDDEN,
        default_branch=branch.name if branch else None,
        head=branch.target.oid if branch and branch.target else None,
        pulls=found.pull_requests.total_count or 0,
        updated_at=moment(newest.updated_at) if newest else None,
    )


def _author(row: _Actor | None) -> Signature | None:
    """The author as REST names them: there a bot's login ends in `[bot]`, and its name is its login."""
    if row is None or row.database_id is None:
        return None
    login, bot = row.login, row.kind == "Bot"
    if bot and not login.endswith("[bot]"):
        login += "[bot]"
    return Signature(name=login, email="", user_id=row.database_id, login=login, bot=bot)


def _pull(row: _Pull) -> PullRequest:
    merged_at, shares = moment(row.merged_at), shares_in(row.commits)
    return PullRequest(
        number=row.number,
        title=row.title,
        body=row.body or "",
        author=_author(row.author),
        base_ref=row.base_ref_name,
        head_ref=row.head_ref_name,
        head_id=row.head_ref_oid,
        merge_commit=row.merge_commit.oid if row.merge_commit and merged_at else None,
        merged_at=merged_at,
        closed_at=moment(row.closed_at),
        labels=tuple(label.name for label in row.labels.present) if row.labels else (),
        commits=tuple(_commit(node.commit) for node in row.commits.present),
        opened_at=moment(row.created_at),
        author_writes=row.author_association in BELONGS,
        shares=shares if len(shares) > 1 else (),
    )


def _commit(row: CommitNode) -> Commit:
    """One of a pull request's own commits: its author and message, which a rebase preserves."""
    who = replace(stated_author(row.author), user_id=None, login=None)
    never = datetime.fromtimestamp(0, UTC)
    return Commit(row.oid, (), who, who, never, never, row.message)

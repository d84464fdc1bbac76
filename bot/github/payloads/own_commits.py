"""What does a GraphQL answer contain about a pull request's own commits: whose are they, and how large?"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from bot.github.payloads.commits import Stated
from bot.github.payloads.reading import FullCommit, Hosted, NodePage, Number, Person, read
from bot.landing.identity.evidence import shares_of
from bot.model.commit import Share, Signature
from bot.model.ids import RepositoryId, UserId


class ResolvedAccount(Struct, frozen=True):
    """An account as GitHub resolved it."""

    user_id: Person = field(name="databaseId")
    login: str
    bot: bool = False


class _Count(Struct, frozen=True, rename="camel"):
    total_count: Number = 0


class CommitAuthor(Stated, frozen=True):
    """A commit's own author, with the account that GitHub resolves the address to."""

    user: ResolvedAccount | None = None


class CommitNode(Struct, frozen=True):
    oid: FullCommit
    message: str
    author: CommitAuthor | None = None
    additions: Number = 0
    deletions: Number = 0
    parents: _Count | None = None


class CommitOfPull(Struct, frozen=True):
    commit: CommitNode


class Parts(Struct, frozen=True):
    """A pull request's own commits by author; `collaborators` are those of the authors who may write."""

    shares: tuple[Share, ...] = ()
    collaborators: tuple[UserId, ...] = ()
    complete: bool = True
    """whether its lists are as long as GitHub says, or as an answer can be"""


class _PullCommits(Struct, frozen=True):
    """A pull request of which only the own commits were requested."""

    commits: NodePage[CommitOfPull]


class _Account(Struct, frozen=True, rename="camel"):
    database_id: Person


class _CollaboratorEdge(Struct, frozen=True):
    permission: str
    node: _Account


class Collaborators(Struct, frozen=True, rename="camel"):
    """Of a repository, at most a hundred; without edges for whoever may not list them."""

    edges: tuple[_CollaboratorEdge | None, ...] | None = None
    total_count: Number = 0

    @property
    def writers(self) -> frozenset[int]:
        """The accounts that may write."""
        rows = self.edges or ()
        return frozenset(one.node.database_id for one in rows if one is not None and one.permission in _MAY_WRITE)


class _PartsRepository(Struct, frozen=True, rename="camel"):
    database_id: Hosted
    pull_request: _PullCommits | None = None
    collaborators: Collaborators | None = None


class _PartsAnswer(Struct, frozen=True):
    repository: _PartsRepository


_MOST_SHOWN = 100
_MAY_WRITE = frozenset({"ADMIN", "MAINTAIN", "WRITE"})


def parts(answer: object, repository: RepositoryId | None) -> Parts | None:
    """Whose commits a pull request has, nobody's if it does not exist; None if another repository has the name."""
    inside = read(answer, _PartsAnswer).repository
    if inside.database_id != repository:
        return None
    if inside.pull_request is None:
        return Parts()
    commits, listed = inside.pull_request.commits, inside.collaborators
    shares = shares_in(commits)
    complete = _is_complete(len({one.commit.oid for one in commits.present}), commits.total_count or 0)
    complete = complete and (listed is None or _is_complete(len(listed.edges or ()), listed.total_count))
    return Parts(shares, writing_authors(shares, listed), complete)


def _is_complete(found: int, total: int) -> bool:
    return found >= min(total, _MOST_SHOWN)


def writing_authors(shares: Iterable[Share], collaborators: Collaborators | None) -> tuple[UserId, ...]:
    """Which authors of these commits may write to the repository."""
    may_write = collaborators.writers if collaborators else frozenset()
    return tuple(sorted({one.author.user_id for one in shares if one.author.user_id in may_write} - {None}))


def shares_in(commits: NodePage[CommitOfPull]) -> tuple[Share, ...]:
    """The commits by author; none if GitHub shows only some of them. A merge of the base is nobody's work."""
    rows = list({one.commit.oid: one.commit for one in commits.present}.values())
    if (commits.total_count or 0) > len(rows):
        return ()
    return shares_of(_share(row) for row in rows if row.parents is None or row.parents.total_count < 2)


def _share(row: CommitNode) -> Share:
    return Share(stated_author(row.author), 1, row.additions + row.deletions, row.message.partition("\n")[0])


def stated_author(author: CommitAuthor | None) -> Signature:
    if author is None:
        return Signature("", "")
    user = author.user
    plain = Signature(author.name or "", author.email or "")
    return plain if user is None else replace(plain, user_id=user.user_id, login=user.login)

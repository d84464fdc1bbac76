"""What does GitHub answer about a repository's discussions, and what is sent to it?"""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct, field

from bot.github.payloads.answers import CommentAnswer, IssueAnswer
from bot.github.payloads.reading import Hosted, Identity, NodePage, PayloadError, Person, moment, read
from bot.model.commit import Signature
from bot.model.ids import RepositoryId

T = TypeVar("T")
_PREFERRED = ("announcements", "general")


class Category(Struct, frozen=True):
    """A category of discussions. `answerable` ones are for questions."""

    id: str
    slug: str = ""
    answerable: bool = field(name="isAnswerable", default=False)


class DiscussionPost(Struct, frozen=True):
    """A discussion or a comment in one: its node id, its text, and whether the viewer wrote it."""

    id: str
    body: str = ""
    ours: bool = field(name="viewerDidAuthor", default=False)


class DiscussionPage(Struct, frozen=True):
    """Some of the posts, and the cursor after them (None on the last page)."""

    written: tuple[DiscussionPost, ...]
    cursor: str | None
    total: int = 0
    """of all pages; nodes that are null count, but those were deleted while the list was read"""


class Board(Struct, frozen=True):
    """A repository with its discussion categories."""

    id: str
    switched_on: bool
    categories: tuple[Category, ...]

    @property
    def fitting(self) -> list[Category]:
        """Announcements, general discussion, then every other category that is for neither questions nor polls."""
        fit = [one for one in self.categories if not one.answerable and one.slug != "polls"]
        return sorted(fit, key=lambda one: _PREFERRED.index(one.slug) if one.slug in _PREFERRED else len(_PREFERRED))


class _DiscussionsSetting(Struct, frozen=True):
    has_discussions: bool | None = None


class _Board(Struct, frozen=True, rename="camel"):
    id: str
    discussion_categories: NodePage[Category]
    has_discussions_enabled: bool = False


class _Discussions(Struct, frozen=True):
    discussions: NodePage[DiscussionPost]


class _Comments(Struct, frozen=True):
    comments: NodePage[DiscussionPost] | None = None


class _Inside(Struct, Generic[T], frozen=True):
    repository: T


class _Node(Struct, frozen=True):
    node: _Comments | None = None


class _Made(Struct, frozen=True):
    id: str


class _Author(Struct, frozen=True, rename="camel"):
    typename: str = field(name="__typename", default="")
    login: str = ""
    database_id: Person | None = None


class _Home(Struct, frozen=True, rename="camel"):
    database_id: Hosted


class _Above(Struct, frozen=True, rename="camel"):
    id: str
    number: Identity
    repository: _Home
    body: str = ""
    viewer_did_author: bool = False


class _Heard(Struct, frozen=True, rename="camel"):
    id: str
    database_id: Identity
    discussion: _Above
    body: str = ""
    created_at: str | None = None
    viewer_did_author: bool = False
    author: _Author | None = None
    reply_to: _Made | None = None


class _HeardNode(Struct, frozen=True):
    node: _Heard | None = None


class _Replies(Struct, frozen=True):
    replies: NodePage[DiscussionPost] | None = None


class _RepliesNode(Struct, frozen=True):
    node: _Replies | None = None


class _Locked(Struct, frozen=True):
    locked: bool = False


class _LockedNode(Struct, frozen=True):
    node: _Locked | None = None


class DiscussionThread(Struct, frozen=True):
    """A comment of a discussion by node ids: itself, its discussion, and the comment that starts its thread."""

    comment: str
    discussion: str
    first: str


class HeardComment(Struct, frozen=True):
    """A person's comment, the discussion it stands in, and where an answer belongs."""

    comment: CommentAnswer
    above: IssueAnswer
    thread: DiscussionThread
    repository: RepositoryId


def has_discussions(repository: object) -> bool:
    """Whether a repository from the REST API has discussions enabled."""
    return bool(read(repository, _DiscussionsSetting).has_discussions)


def board(answer: object) -> Board:
    found = read(answer, _Inside[_Board]).repository
    return Board(found.id, found.has_discussions_enabled, found.discussion_categories.present)


def discussions(answer: object) -> DiscussionPage:
    return _page(read(answer, _Inside[_Discussions]).repository.discussions)


def comments(answer: object) -> DiscussionPage | None:
    """A page of comments; None if the discussion was deleted."""
    found = read(answer, _Node).node
    return None if found is None or found.comments is None else _page(found.comments)


def replies(answer: object) -> DiscussionPage | None:
    """A page of a thread; None if its first comment was deleted."""
    found = read(answer, _RepliesNode).node
    return None if found is None or found.replies is None else _page(found.replies)


def is_locked(answer: object) -> bool:
    """Whether a discussion is locked."""
    found = read(answer, _LockedNode).node
    return found is not None and found.locked


def heard_comment(answer: object, app: int) -> HeardComment | None:
    """A comment; None if it was deleted. `app` is ours: what the viewer wrote is by it."""
    found = read(answer, _HeardNode).node
    if found is None:
        return None
    who, above = found.author, found.discussion
    author = None
    if who is not None and who.database_id is not None:
        author = Signature(who.login, "", who.database_id, who.login, who.typename != "User")
    ours = app if found.viewer_did_author else None
    comment = CommentAnswer(found.database_id, author, found.body, ours, above.number, moment(found.created_at))
    return HeardComment(
        comment,
        IssueAnswer(above.number, above.body, app=app if above.viewer_did_author else None),
        DiscussionThread(found.id, above.id, found.reply_to.id if found.reply_to else found.id),
        above.repository.database_id,
    )


def mutated_node_id(answer: object, mutation: str, what: str) -> str:
    """The node id of what a mutation created or changed."""
    found = read(answer, dict[str, dict[str, _Made]]).get(mutation, {}).get(what)
    if found is None:
        raise PayloadError(f"{mutation} made nothing")
    return found.id


def _page(found: NodePage[DiscussionPost]) -> DiscussionPage:
    return DiscussionPage(found.present, found.cursor, found.total_count or 0)

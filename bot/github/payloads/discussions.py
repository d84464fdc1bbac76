"""What does GitHub answer about a repository's discussions, and what is sent to it?"""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct, field

from bot.github.payloads.reading import NodePage, PayloadError, read

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
    def category(self) -> Category | None:
        """Announcements, else general discussion, else the first category that is for neither questions nor polls."""
        for slug in _PREFERRED:
            if found := next((one for one in self.categories if one.slug == slug), None):
                return found
        return next((one for one in self.categories if not one.answerable and one.slug != "polls"), None)


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


def mutated_node_id(answer: object, mutation: str, what: str) -> str:
    """The node id of what a mutation created or changed."""
    found = read(answer, dict[str, dict[str, _Made]]).get(mutation, {}).get(what)
    if found is None:
        raise PayloadError(f"{mutation} made nothing")
    return found.id


def _page(found: NodePage[DiscussionPost]) -> DiscussionPage:
    return DiscussionPage(found.present, found.cursor, found.total_count or 0)

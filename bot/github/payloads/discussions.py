"""What does GitHub say of a repository's discussions, and what is it told?"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from bot.github.payloads.fields import Fields

_PREFERRED = ("announcements", "general")


class Category(Struct, frozen=True):
    """Where a discussion may stand. `answerable` ones are for questions."""

    id: str
    slug: str
    answerable: bool


class Written(Struct, frozen=True):
    """A discussion or a comment in one: its node id, its text, and whether whoever asks wrote it."""

    id: str
    body: str
    ours: bool


class Page(Struct, frozen=True):
    """Some of what was written, and the mark behind it (None on the last page)."""

    written: tuple[Written, ...]
    cursor: str | None


class Board(Struct, frozen=True):
    """A repository as its discussions see it."""

    id: str
    switched_on: bool
    categories: tuple[Category, ...]

    @property
    def category(self) -> Category | None:
        """Announcements, else general talk, else the first that is neither for questions nor for polls."""
        for slug in _PREFERRED:
            if found := next((one for one in self.categories if one.slug == slug), None):
                return found
        return next((one for one in self.categories if not one.answerable and one.slug != "polls"), None)


def switched_on(repository: Any) -> bool:
    """Whether a REST repository has discussions."""
    return Fields(repository, "repository").flag("has_discussions")


def board(answer: Any) -> Board:
    fields = Fields(answer, "data").object("repository")
    rows = fields.object("discussionCategories").objects("nodes")
    categories = tuple(Category(row.text("id"), row.text_or("slug"), row.flag("isAnswerable")) for row in rows)
    return Board(fields.text("id"), fields.flag("hasDiscussionsEnabled"), categories)


def discussions(answer: Any) -> Page:
    return _page(Fields(answer, "data").object("repository").object("discussions"))


def comments(answer: Any) -> Page | None:
    """None where the discussion is gone."""
    found = Fields(answer, "data").maybe("node")
    return None if found is None else _page(found.object("comments"))


def made(answer: Any, mutation: str, what: str) -> str:
    """The node id of what a mutation made or changed."""
    return Fields(answer, "data").object(mutation).object(what).text("id")


def _page(fields: Fields) -> Page:
    rows = fields.objects("nodes")
    written = tuple(Written(row.text("id"), row.text_or("body"), row.flag("viewerDidAuthor")) for row in rows)
    after = fields.object("pageInfo")
    return Page(written, after.text("endCursor") if after.flag("hasNextPage") else None)

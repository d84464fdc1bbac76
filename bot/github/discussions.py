"""How is the monthly digest posted to a discussion exactly once?

No REST call creates a discussion, so this uses GraphQL. As with issues, a hidden marker on the first line identifies
each of our texts; of duplicates that a crash left behind, all but the oldest are deleted.
https://docs.github.com/en/graphql/guides/using-the-graphql-api-for-discussions
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

from bot.github import operations as op
from bot.github.client import BadAnswer, Client, QueryFailed
from bot.github.operations import required_permissions
from bot.github.payloads import discussions as payloads
from bot.github.payloads.discussions import Board, DiscussionPage, DiscussionPost, DiscussionThread, HeardComment
from bot.github.payloads.requests import LONGEST_COMMENT, cut
from bot.github.posts import marker
from bot.model.commit import Repository

_PAGE = "pageInfo { hasNextPage endCursor }"
_BOARD = """query($owner: String!, $name: String!) {
repository(owner: $owner, name: $name) {
id hasDiscussionsEnabled
discussionCategories(first: 25) { nodes { id slug isAnswerable } }
} }"""
_DISCUSSIONS = (
    """query($owner: String!, $name: String!, $after: String) {
repository(owner: $owner, name: $name) {
discussions(first: 100, after: $after, orderBy: {field: CREATED_AT, direction: ASC}) { """
    + _PAGE
    + """ totalCount nodes { id body viewerDidAuthor } }
} }"""
)
_COMMENTS = (
    """query($discussion: ID!, $after: String) {
node(id: $discussion) { ... on Discussion {
comments(first: 100, after: $after) { """
    + _PAGE
    + """ totalCount nodes { id body viewerDidAuthor } }
} } }"""
)
_CREATE = """mutation($repository: ID!, $category: ID!, $title: String!, $body: String!) {
createDiscussion(input: {repositoryId: $repository, categoryId: $category, title: $title, body: $body}) {
discussion { id }
} }"""
_ADD = """mutation($discussion: ID!, $body: String!) {
addDiscussionComment(input: {discussionId: $discussion, body: $body}) { comment { id } }
}"""
_UPDATE = """mutation($comment: ID!, $body: String!) {
updateDiscussionComment(input: {commentId: $comment, body: $body}) { comment { id } }
}"""
_DELETE = """mutation($comment: ID!) {
deleteDiscussionComment(input: {id: $comment}) { comment { id } }
}"""
_HEARD = """query($comment: ID!) {
node(id: $comment) { ... on DiscussionComment {
id databaseId body createdAt viewerDidAuthor replyTo { id }
author { __typename login ... on User { databaseId } ... on Bot { databaseId } }
discussion { id number body viewerDidAuthor repository { databaseId } }
} } }"""
_REPLIES = (
    """query($comment: ID!, $after: String) {
node(id: $comment) { ... on DiscussionComment {
replies(first: 100, after: $after) { """
    + _PAGE
    + """ totalCount nodes { id body viewerDidAuthor } }
} } }"""
)
_REPLY = """mutation($discussion: ID!, $comment: ID!, $body: String!) {
addDiscussionComment(input: {discussionId: $discussion, replyToId: $comment, body: $body}) { comment { id } }
}"""
_REACT = """mutation($comment: ID!, $content: ReactionContent!) {
addReaction(input: {subjectId: $comment, content: $content}) { reaction { id } }
}"""
_LOCKED = "query($discussion: ID!) { node(id: $discussion) { ... on Discussion { locked } } }"
_CONTENTS = {"+1": "THUMBS_UP", "confused": "CONFUSED", "rocket": "ROCKET"}
"""our reactions: REST's names and GraphQL's"""
PERMISSIONS = required_permissions(op.REPOSITORY, op.DISCUSSIONS)
"""the permissions of a token for all of these operations"""
READ_PERMISSIONS = required_permissions(op.REPOSITORY, op.READ_DISCUSSIONS)
"""those of a token for reading a comment"""
QUERIES = (_BOARD, _DISCUSSIONS, _COMMENTS, _CREATE, _ADD, _UPDATE, _DELETE, _HEARD, _REPLIES, _REPLY, _REACT, _LOCKED)
"""all queries of this module, so that a test can check them against GitHub's schema"""


class NoDiscussionsError(Exception):
    """No discussion takes the post: they are switched off, there is no category for one, or it is locked or gone."""


async def has_discussions(client: Client, repository: Repository) -> bool:
    """Whether discussions are switched on."""
    return payloads.has_discussions(await client.read(op.REPOSITORY, repository=client.repository_path(repository)))


async def post_comment(
    client: Client,
    repository: Repository,
    *,
    key: str,
    text: str,
    known: str | None,
    opening: tuple[str, str, str],
    replacing: bool = False,
) -> str | None:
    """The node id of the comment that now shows `text` (Markdown). `known` is an earlier comment's id, tried first.

    With `replacing`, earlier comments are deleted instead of edited, and an empty text is not posted.

    `opening` is key, title and text of the one discussion for all comments. Raises NoDiscussionsError.
    """
    body = cut(f"{marker(key)}\n{text}", LONGEST_COMMENT)
    if not replacing and known is not None and await _lives(client.mutate(_UPDATE, comment=known, body=body)):
        return known
    discussion = await _discussion(client, repository, opening)
    own = [one async for one in _of_key(_comments(client, discussion), key)]
    if replacing:
        own = await _without_old(client, own, known=known, body=body if text else "")
        if not text:
            return None
    add = partial(client.mutate, _ADD, discussion=discussion, body=body)
    return await _keep_one(client, own, body, lambda: _unless_locked(client, discussion, add))


async def post_reply(
    client: Client, thread: DiscussionThread, *, key: str, text: str, known: str | None, replacing: bool = False
) -> str | None:
    """The node id of our reply in the thread that now shows `text`; otherwise as `post_comment`."""
    body = cut(f"{marker(key)}\n{text}", LONGEST_COMMENT)
    own = [one async for one in _of_key(_replies(client, thread.first), key)]
    if replacing:
        own = await _without_old(client, own, known=known, body=body if text else "")
        if not text:
            return None
    add = partial(client.mutate, _REPLY, discussion=thread.discussion, comment=thread.first, body=body)
    return await _keep_one(client, own, body, lambda: _unless_locked(client, thread.discussion, add))


async def _keep_one(
    client: Client, own: list[DiscussionPost], body: str, add: Callable[[], Awaitable[dict[str, Any]]]
) -> str:
    """Edit the oldest of our comments and delete its duplicates; add one if there is none."""
    if not own:
        return payloads.mutated_node_id(await add(), "addDiscussionComment", "comment")
    for duplicate in own[1:]:
        await client.mutate(_DELETE, comment=duplicate.id)
    if own[0].body != body:
        await client.mutate(_UPDATE, comment=own[0].id, body=body)
    return own[0].id


async def react(client: Client, thread: DiscussionThread, content: str) -> str:
    """The node id of our reaction to a comment; GitHub keeps one of each content, however often it is created."""
    add = partial(client.mutate, _REACT, comment=thread.comment, content=_CONTENTS[content])
    return payloads.mutated_node_id(await _unless_locked(client, thread.discussion, add), "addReaction", "reaction")


async def _unless_locked(
    client: Client, discussion: str, write: Callable[[], Awaitable[dict[str, Any]]]
) -> dict[str, Any]:
    """Raises NoDiscussionsError for a discussion that is locked, and for what is gone."""
    try:
        return await write()
    except QueryFailed as failed:
        if failed.kinds == {"NOT_FOUND"}:
            raise NoDiscussionsError("the comment is gone") from failed
        if failed.kinds == {"FORBIDDEN"} and payloads.is_locked(await client.query(_LOCKED, discussion=discussion)):
            raise NoDiscussionsError("the discussion is locked") from failed
        raise


async def read_comment(client: Client, node: str, *, app: int) -> HeardComment | None:
    """The current state of a comment; None if it was deleted."""
    try:
        return payloads.heard_comment(await client.query(_HEARD, comment=node), app)
    except QueryFailed as failed:
        if failed.kinds == {"NOT_FOUND"}:
            return None
        raise


async def _without_old(
    client: Client, own: list[DiscussionPost], *, known: str | None, body: str
) -> list[DiscussionPost]:
    """Delete our comments with all their revisions, but for the new one that a crash left behind; return that one."""
    kept = [one for one in own if body and one.body == body and known not in (None, one.id)][:1]
    for gone in {*(one.id for one in own), *([known] if known else [])} - {one.id for one in kept}:
        await _lives(client.mutate(_DELETE, comment=gone))
    return kept


async def _discussion(client: Client, repository: Repository, opening: tuple[str, str, str]) -> str:
    """The node id of our discussion with this key: the oldest existing one, or a new one."""
    key, title, text = opening
    async for found in _of_key(_discussions(client, repository), key):
        return found.id
    board = await _board(client, repository)
    given = {"repository": board.id, "title": title, "body": f"{marker(key)}\n{text}"}
    for category in board.fitting if board.switched_on else ():
        try:
            made = await client.mutate(_CREATE, category=category.id, **given)
        except QueryFailed as failed:
            # Announcements may be for maintainers alone.
            if failed.kinds != {"FORBIDDEN"} or category is board.fitting[-1]:
                raise
        else:
            return payloads.mutated_node_id(made, "createDiscussion", "discussion")
    raise NoDiscussionsError(f"{repository.full_name} takes no discussions")


async def _board(client: Client, repository: Repository) -> Board:
    return payloads.board(await client.query(_BOARD, **_named(repository)))


def _named(repository: Repository) -> dict[str, Any]:
    owner, _, name = repository.full_name.partition("/")
    return {"owner": owner, "name": name}


async def _of_key(rows: AsyncIterator[DiscussionPost], key: str) -> AsyncIterator[DiscussionPost]:
    """Our own texts with this key; a marker that somebody else copied does not count."""
    first = marker(key)
    async for row in rows:
        if row.ours and row.body.split("\n", 1)[0].strip() == first:
            yield row


def _discussions(client: Client, repository: Repository) -> AsyncIterator[DiscussionPost]:
    async def page(after: str | None) -> DiscussionPage | None:
        return payloads.discussions(await client.query(_DISCUSSIONS, after=after, **_named(repository)))

    return _all(page)


def _comments(client: Client, discussion: str) -> AsyncIterator[DiscussionPost]:
    async def page(after: str | None) -> DiscussionPage | None:
        return payloads.comments(await client.query(_COMMENTS, discussion=discussion, after=after))

    return _all(page)


def _replies(client: Client, comment: str) -> AsyncIterator[DiscussionPost]:
    async def page(after: str | None) -> DiscussionPage | None:
        return payloads.replies(await client.query(_REPLIES, comment=comment, after=after))

    return _all(page)


async def _all(page: Callable[[str | None], Awaitable[DiscussionPage | None]]) -> AsyncIterator[DiscussionPost]:
    """The rows of all pages, oldest first. Raises `BadAnswer` if there are fewer than GitHub says."""
    after: str | None = None
    seen: set[str] = set()
    while (found := await page(after)) is not None:
        for one in found.written:
            if one.id not in seen:
                seen.add(one.id)
                yield one
        if found.cursor is None:
            if len(seen) < found.total:
                raise BadAnswer(f"{len(seen)} of {found.total} discussions or comments")
            return
        after = found.cursor


async def _lives(edit: Awaitable[object]) -> bool:
    """Await an edit; False if its target no longer exists."""
    try:
        await edit
    except QueryFailed as failed:
        if failed.kinds == {"NOT_FOUND"}:
            return False
        raise
    return True

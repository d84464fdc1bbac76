"""How is a text posted to GitHub exactly once?

Each post has a key: the external id of a check run, or a hidden marker on the first line of a comment. Our own posts
are found by it and edited; duplicates that a crash left behind are removed. GitHub has no idempotency key of its own.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

from gidgethub import BadRequest
from msgspec import Struct

from bot.github import operations as op
from bot.github.client import BadAnswer, Client, is_missing
from bot.github.payloads import answers, requests
from bot.github.payloads.issues import issue_page
from bot.github.payloads.requests import Button, CheckRun
from bot.model.commit import Repository

__all__ = ["Button", "CheckRun", "Ourselves", "Post", "Publisher", "marker"]

_MOST_ISSUES = 3000
"""the newest issues of a repository that are searched for one of ours"""
NEWEST_ISSUES = """query($owner: String!, $name: String!, $after: String) {
repository(owner: $owner, name: $name) { databaseId
issues(first: 100, after: $after, orderBy: {field: CREATED_AT, direction: DESC}) {
pageInfo { hasNextPage endCursor } totalCount nodes { number body viewerDidAuthor }
} } }"""
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9:._/-]{0,199}")


class Post(Struct, frozen=True):
    """A comment on an issue or pull request: `key` is our name for it, `body` is Markdown."""

    number: int
    key: str
    body: str


def marker(key: str) -> str:
    """The hidden first line of our comments. Raises ValueError for a key that could end the HTML comment."""
    if not _KEY.fullmatch(key) or "--" in key:
        raise ValueError("a key is 1-200 letters, digits and : . _ / -, without --")
    return f"<!-- almanac:{key} -->"


@dataclass(slots=True)
class Ourselves:
    """The App as its posts show it: `id`, and the login of its comments (`<slug>[bot]`), empty until it is known."""

    id: int
    login: str

    def wrote(self, comment: answers.CommentAnswer) -> bool:
        """True if the comment is ours; a marker proves nothing by itself, since anybody can copy it."""
        if comment.app is not None:
            return comment.app == self.id
        return comment.author is not None and comment.author.bot and comment.author.login == self.login


class Publisher:
    """Posts for one App. It never edits what another app or a person wrote, whatever marker that has."""

    def __init__(self, client: Client, ourselves: Ourselves) -> None:
        self._client = client
        self._ourselves = ourselves

    async def check_run(
        self, repository: Repository, run: CheckRun, *, known: int | None = None, first: bool = False
    ) -> int:
        """The id of the check run that now shows `run`.

        `known` is an earlier check run's id, tried first; with `first` none can exist yet, so none is searched for.
        """
        repository_path = self._client.repository_path(repository)
        if known is not None and await _lives(
            self._edit_check_run(repository_path, known, requests.edit_check_run(run))
        ):
            return known
        own = [] if first else await self._own_check_runs(repository_path, run)
        if not own:
            made = await self._client.write(
                op.CREATE_CHECK_RUN, requests.create_check_run(run), repository=repository_path
            )
            return answers.identity(made)
        for duplicate in own[:-1]:
            await self._edit_check_run(repository_path, duplicate, requests.supersede_check_run())
        await self._edit_check_run(repository_path, own[-1], requests.edit_check_run(run))
        return own[-1]

    async def switch_off_suites(self, repository: Repository) -> None:
        """Ask GitHub to open no more check suites by itself. Raises gidgethub's exceptions; it may refuse."""
        body = requests.no_automatic_suites(self._ourselves.id)
        await self._client.write(op.SET_SUITE_PREFERENCES, body, repository=self._client.repository_path(repository))

    async def comment(
        self, repository: Repository, post: Post, *, known: int | None = None, first: bool = False
    ) -> int:
        """The id of the comment that now shows `post`; `known` and `first` as for check runs."""
        repository_path = self._client.repository_path(repository)
        text = requests.cut(f"{marker(post.key)}\n{post.body}", requests.LONGEST_COMMENT)
        if known is not None and await _lives(self._edit_comment(repository_path, known, text)):
            return known
        own = [] if first else await self._own_comments(repository_path, post)
        if not own:
            body = requests.comment(text)
            made = await self._client.write(op.CREATE_COMMENT, body, repository=repository_path, number=post.number)
            return answers.identity(made)
        for duplicate in own[1:]:
            await self._client.write(op.DELETE_COMMENT, repository=repository_path, comment=duplicate.id)
        if own[0].body != text:
            await self._edit_comment(repository_path, own[0].id, text)
        return own[0].id

    async def replace_comment(self, repository: Repository, post: Post, *, known: int | None = None) -> int | None:
        """Delete our comments with this key, as anybody can read every revision of an edited one; write `post` again.

        Returns the new comment's id; None for an empty text, which is not posted. After a crash the new comment is
        found by its text and kept: it is not `known`, the one that was to go.
        """
        repository_path = self._client.repository_path(repository)
        text = requests.cut(f"{marker(post.key)}\n{post.body}", requests.LONGEST_COMMENT)
        own = await self._own_comments(repository_path, post)
        kept = [one.id for one in own if post.body and one.body == text and known not in (None, one.id)][:1]
        for gone in {*(one.id for one in own), *([known] if known else [])} - {*kept}:
            delete = self._client.write(op.DELETE_COMMENT, repository=repository_path, comment=gone)
            await _lives(delete)
        if kept or not post.body:
            return kept[0] if kept else None
        body = requests.comment(text)
        made = await self._client.write(op.CREATE_COMMENT, body, repository=repository_path, number=post.number)
        return answers.identity(made)

    async def reaction(self, repository: Repository, comment: int, content: str) -> int:
        """The id of our reaction to a comment; GitHub keeps one of each content, however often it is created."""
        repository_path = self._client.repository_path(repository)
        made = await self._client.write(
            op.CREATE_REACTION, {"content": content}, repository=repository_path, comment=comment
        )
        return answers.identity(made)

    async def issue(self, repository: Repository, title: str, *, key: str, body: str) -> int:
        """The number of our issue with this key: the existing one, or a new one.

        A list by creator may leave out what an App opened, and does not say how long it is, so the newest issues of
        anybody are searched as well. Raises `BadAnswer` if those are fewer than GitHub says.
        https://github.com/renovatebot/renovate/discussions/44730
        """
        repository_path, first = self._client.repository_path(repository), marker(key)
        known = await self._listed_issue(repository_path, first) or await self._newest_issue(repository, first)
        if known is not None:
            return known
        made = await self._client.write(
            op.CREATE_ISSUE, requests.issue(title, f"{first}\n{body}"), repository=repository_path
        )
        return answers.issue(made).number

    async def _listed_issue(self, repository_path: str, first_line: str) -> int | None:
        rows = self._client.items(op.ISSUES, repository=repository_path, creator=self._ourselves.login)
        own = [answers.issue(row) async for row in rows]
        return min((one.number for one in own if _first_line(one.body) == first_line), default=None)

    async def _newest_issue(self, repository: Repository, first_line: str) -> int | None:
        owner, _, name = repository.full_name.partition("/")
        seen: set[int] = set()
        after: str | None = None
        while len(seen) < _MOST_ISSUES:
            page = issue_page(await self._client.query(NEWEST_ISSUES, owner=owner, name=name, after=after))
            if page.repository != repository.id:
                raise BadAnswer(f"another repository is called {repository.full_name}")
            for found in page.issues:
                if found.ours and _first_line(found.body) == first_line:
                    return found.number
                seen.add(found.number)
            if page.cursor is None:
                if len(seen) < page.total:
                    raise BadAnswer(f"{len(seen)} of {page.total} issues")
                break
            after = page.cursor
        return None

    async def _edit_check_run(self, repository_path: str, check_run: int, body: dict[str, Any]) -> None:
        await self._client.write(op.EDIT_CHECK_RUN, body, repository=repository_path, check_run=check_run)

    async def _edit_comment(self, repository_path: str, comment: int, text: str) -> None:
        await self._client.write(op.EDIT_COMMENT, requests.comment(text), repository=repository_path, comment=comment)

    async def _own_check_runs(self, repository_path: str, run: CheckRun) -> list[int]:
        """Ids, oldest first: of several with one name, GitHub shows the newest."""
        rows = self._client.items(
            op.CHECK_RUNS, repository=repository_path, commit=run.head, filter="all", check_name=run.name
        )
        found = [answers.check_run(row) async for row in rows]
        return sorted(check.id for check in found if check.app == self._ourselves.id and check.external_id == run.key)

    async def _own_comments(self, repository_path: str, post: Post) -> list[answers.CommentAnswer]:
        """Oldest first: the one that people have already seen is kept.

        Raises `BadAnswer` if the list is shorter than the issue says: a missing comment would be posted a second time.
        """
        issue = await self._client.read(op.ISSUE, repository=repository_path, number=post.number)
        rows = self._client.items(op.COMMENTS, repository=repository_path, number=post.number)
        expected, found = answers.issue(issue).comments, [answers.comment(row) async for row in rows]
        if len(found) < expected:
            raise BadAnswer(f"{len(found)} of {expected} comments")
        own = (comment for comment in found if self._ourselves.wrote(comment))
        first = marker(post.key)
        return sorted((one for one in own if _first_line(one.body) == first), key=lambda one: one.id)


def _first_line(body: str) -> str:
    return body.split("\n", 1)[0].strip()


async def _lives(edit: Awaitable[object]) -> bool:
    """Await an edit; False if its target no longer exists."""
    try:
        await edit
    except BadRequest as error:
        if is_missing(error):
            return False
        raise
    return True

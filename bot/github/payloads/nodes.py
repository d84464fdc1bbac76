"""What does a GraphQL answer say? Its nodes as the model's types, spelt as REST spells the same things."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from msgspec import Struct, field

from bot.github.payloads.beside_code import Release, ReleaseState
from bot.github.payloads.fields import Fields
from bot.github.payloads.seen import Merge, Seen
from bot.model import Commit, CommitId, PullRequest, RepositoryId, Review, Signature, UserId

_HIDDEN = "PRIVATE", "INTERNAL"


class Account(Struct, frozen=True):
    """Who GitHub says somebody is."""

    user_id: UserId
    login: str
    bot: bool = False


class PullPage(Struct, frozen=True):
    """Pull requests, how many there are in all, and the mark behind this page (None on the last)."""

    pulls: tuple[PullRequest, ...]
    total: int
    cursor: str | None
    sizes: Mapping[int, int] = field(default_factory=dict)
    """how many commits each pull request has of its own, by number"""
    seen: tuple[Seen, ...] = ()
    """its merge and its reviews, as deliveries would have shown them"""


class Limit(Struct, frozen=True):
    cost: int
    limit: int
    remaining: int
    reset_at: datetime | None


class Inside(Struct, frozen=True):
    """The repository of an answer."""

    id: RepositoryId
    fields: Fields


class Glance(Struct, frozen=True):
    """A repository as it is now: its names, who sees it, where its default branch stands, when a pull request moved."""

    id: RepositoryId
    full_name: str
    private: bool
    default_branch: str | None
    head: CommitId | None
    pulls: int
    updated_at: datetime | None


def limit(answer: Any) -> Limit | None:
    """What the query cost; None on a host without limits."""
    found = Fields(answer, "data").maybe("rateLimit")
    if found is None:
        return None
    return Limit(found.count("cost"), found.count("limit"), found.count("remaining"), found.time_or_none("resetAt"))


def repository(answer: Any) -> Inside:
    found = Fields(answer, "data").object("repository")
    return Inside(RepositoryId(found.identity("databaseId")), found)


def pull_page(inside: Fields) -> PullPage:
    """The pull requests of a repository's answer; none where none were asked for."""
    found = inside.maybe("pullRequests")
    if found is None:
        return PullPage((), 0, None)
    rows = list(found.nodes())
    page = found.object("pageInfo")
    cursor = page.text_or("endCursor") or None
    pulls = tuple(_pull(row) for row in rows)
    sizes = {pull.number: row.object("commits").count("totalCount") for pull, row in zip(pulls, rows, strict=True)}
    seen = tuple(one for row in rows for one in _seen(row))
    return PullPage(pulls, found.count("totalCount"), cursor if page.flag("hasNextPage") else None, sizes, seen)


def releases(inside: Fields) -> tuple[Release, ...]:
    """The published releases of a repository's answer whose author is a person."""
    found = inside.maybe("releases")
    read = [_release(row) for row in found.nodes()] if found else []
    return tuple(one for one in read if one is not None)


def _release(row: Fields) -> Release | None:
    author, at = row.maybe("author"), row.time_or_none("publishedAt")
    if author is None or at is None or row.flag("isDraft"):
        return None
    by = Signature(author.text("login"), "", UserId(author.identity("databaseId")), author.text("login"))
    state: ReleaseState = "prerelease" if row.flag("isPrerelease") else "release"
    return Release(row.identity("databaseId"), row.text("tagName"), state, by, at)


def _seen(row: Fields) -> Iterator[Seen]:
    number, author, merged_at = row.identity("number"), _author(row.maybe("author")), row.time_or_none("mergedAt")
    mine = None if author is None else author.user_id
    by = _author(row.maybe("mergedBy"))
    if merged_at is not None and by is not None:
        merge = Merge(CommitId(row.commit("headRefOid")), merged_at, None if mine is None else by.user_id == mine, by)
        yield Seen(number, mine, merge=merge)
    given = row.maybe("reviews")
    for one in given.nodes() if given else ():
        who, at = _author(one.maybe("author")), one.time_or_none("submittedAt")
        if who is not None and at is not None:
            state = cast("Any", one.text("state").lower())
            yield Seen(number, mine, review=(int(one.text("fullDatabaseId")), Review(who, state, at)))


def accounts(inside: Fields, name: str) -> tuple[Account | None, Account | None]:
    """The accounts of a commit's author and committer."""
    found = inside.maybe(name)
    if found is None:
        return None, None
    return _user(found.maybe("author")), _user(found.maybe("committer"))


def glance(answer: Any) -> Glance | None:
    if answer is None:
        return None
    found = Fields(answer, "repository")
    branch = found.maybe("defaultBranchRef")
    target = branch.maybe("target") if branch else None
    pulls = found.object("pullRequests")
    newest = next(iter(pulls.nodes()), None)
    return Glance(
        id=RepositoryId(found.identity("databaseId")),
        full_name=found.text("nameWithOwner"),
        private=found.flag("isPrivate") or found.text_or("visibility") in _HIDDEN,
        default_branch=branch.text("name") if branch else None,
        head=CommitId(target.commit("oid")) if target else None,
        pulls=pulls.count("totalCount"),
        updated_at=newest.time_or_none("updatedAt") if newest else None,
    )


def _user(actor: Fields | None) -> Account | None:
    user = actor.maybe("user") if actor else None
    return None if user is None else Account(UserId(user.identity("databaseId")), user.text("login"))


def _author(row: Fields | None) -> Signature | None:
    """Who opened it, as REST names them: a bot's login ends in `[bot]` there, and its name is its login."""
    if row is None or "databaseId" not in row:
        return None
    login, bot = row.text("login"), row.text_or("__typename") == "Bot"
    if bot and not login.endswith("[bot]"):
        login += "[bot]"
    return Signature(name=login, email="", user_id=UserId(row.identity("databaseId")), login=login, bot=bot)


def _pull(row: Fields) -> PullRequest:
    merged_at, merge = row.time_or_none("mergedAt"), row.maybe("mergeCommit")
    labels = row.maybe("labels")
    commits = row.maybe("commits")
    return PullRequest(
        number=row.identity("number"),
        title=row.text("title"),
        body=row.text_or("body"),
        author=_author(row.maybe("author")),
        base_ref=row.text("baseRefName"),
        head_ref=row.text("headRefName"),
        head_id=CommitId(row.commit("headRefOid")),
        merge_commit=CommitId(merge.commit("oid")) if merge and merged_at else None,
        merged_at=merged_at,
        closed_at=row.time_or_none("closedAt"),
        labels=tuple(label.text("name") for label in labels.nodes()) if labels else (),
        commits=tuple(_commit(node.object("commit")) for node in commits.nodes()) if commits else (),
        opened_at=row.time_or_none("createdAt"),
    )


def _commit(row: Fields) -> Commit:
    """One of a pull request's own commits: who wrote it and what it says, which is what a rebase keeps."""
    author = row.maybe("author")
    who = Signature(author.text_or("name"), author.text_or("email")) if author else Signature("", "")
    moment = datetime.fromtimestamp(0, UTC)
    return Commit(CommitId(row.commit("oid")), (), who, who, moment, moment, row.text("message"))

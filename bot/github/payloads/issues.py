"""Which issues does GitHub list, and how many are there?"""

from __future__ import annotations

from msgspec import Struct, field

from bot.github.payloads.reading import Hosted, Identity, NodePage, read


class ListedIssue(Struct, frozen=True):
    """An issue: its number in the repository, its text, and whether the viewer opened it."""

    number: Identity
    body: str = ""
    ours: bool = field(name="viewerDidAuthor", default=False)


class _Repository(Struct, frozen=True, rename="camel"):
    database_id: Hosted
    issues: NodePage[ListedIssue]


class _IssuesAnswer(Struct, frozen=True):
    repository: _Repository


class IssuePage(Struct, frozen=True):
    """Some of a repository's issues, how many it has in all, and the cursor after these (None on the last page)."""

    repository: int
    issues: tuple[ListedIssue, ...]
    total: int
    cursor: str | None


def issue_page(answer: object) -> IssuePage:
    found = read(answer, _IssuesAnswer).repository
    listed = found.issues
    return IssuePage(found.database_id, listed.present, listed.total_count or 0, listed.cursor)

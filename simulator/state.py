"""What does the simulated GitHub store? Plain mutable records with sequential ids, so that runs repeat exactly."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from simulator.differences import Differences
from simulator.git import GitRepository, GitSignature
from simulator.web_host import noreply_domain

Json = dict[str, Any]
Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class SimAccount:
    id: int
    login: str
    type: Literal["User", "Organization", "Bot"] = "User"
    name: str | None = None
    email: str | None = None
    """address in commits; None: the noreply address"""

    @property
    def signature(self) -> GitSignature:
        noreply = f"{self.id}+{self.login}@{noreply_domain()}"
        return GitSignature(self.name or self.login, self.email or noreply)


@dataclass(slots=True)
class SimLabel:
    id: int
    name: str
    color: str = "ededed"
    description: str = ""


@dataclass(slots=True)
class Reaction:
    id: int
    user: SimAccount
    content: str
    created_at: datetime


@dataclass(slots=True)
class Comment:
    id: int
    issue: Issue
    user: SimAccount
    body: str
    created_at: datetime
    updated_at: datetime
    app: SimApp | None = None
    reactions: list[Reaction] = field(default_factory=list)
    revisions: list[str] = field(default_factory=list)
    """earlier texts: whoever may read the comment may read them, until it is deleted"""


@dataclass(slots=True)
class SimReview:
    id: int
    user: SimAccount
    state: Literal["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED"]
    body: str
    submitted_at: datetime
    commit: str


@dataclass(slots=True)
class ReviewComment:
    id: int
    review: SimReview
    path: str
    line: int
    body: str


@dataclass(slots=True)
class Issue:
    """An issue, or the issue side of a pull request (they share numbers)."""

    id: int
    number: int
    title: str
    body: str
    user: SimAccount | None
    created_at: datetime
    updated_at: datetime
    app: SimApp | None = None
    closed_at: datetime | None = None
    revisions: list[str] = field(default_factory=list)
    """earlier texts; an issue cannot be deleted by an App"""
    labels: list[SimLabel] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    pull: SimPullRequest | None = None

    @property
    def state(self) -> str:
        return "closed" if self.closed_at else "open"


@dataclass(slots=True)
class SimPullRequest:
    issue: Issue
    base_ref: str
    head_ref: str
    head_repository: SimRepository | None
    head: str
    base: str
    merged_at: datetime | None = None
    merged_by: SimAccount | None = None
    merge_commit: str | None = None
    """as GitHub reports it: set by a merge button, left empty by a merge bot"""
    landed: str | None = None
    """the commit that really reached the branch"""
    reviews: list[SimReview] = field(default_factory=list)
    review_comments: list[ReviewComment] = field(default_factory=list)

    @property
    def number(self) -> int:
        return self.issue.number


@dataclass(slots=True)
class DiscussionComment:
    number: int
    """its `databaseId`"""
    user: SimAccount
    body: str
    created_at: datetime
    app: SimApp | None = None
    reply_to: str | None = None
    """the node id of the comment it answers; a reply has no replies"""
    reactions: list[str] = field(default_factory=list)
    """as GraphQL names them"""
    revisions: list[str] = field(default_factory=list)
    """earlier texts, as of `Comment`"""

    @property
    def id(self) -> str:
        return f"DC_{self.number}"


@dataclass(slots=True)
class Discussion:
    """A discussion that an App started in a category, over GraphQL: all ids are node ids."""

    id: str
    app: SimApp
    category: str
    title: str
    body: str
    number: int = 0
    """in the repository, counted with its issues"""
    locked: bool = False
    comments: list[DiscussionComment] = field(default_factory=list)


@dataclass(slots=True)
class SimCheckRun:
    id: int
    app: SimApp
    fields: Json
    """name, head_sha, status, conclusion, started_at, completed_at, details_url, external_id, output"""


@dataclass(slots=True)
class SimRelease:
    id: int
    tag: str
    author: SimAccount
    published_at: datetime
    prerelease: bool = False


@dataclass(slots=True)
class SimRepository:
    id: int
    name: str
    owner: SimAccount
    git: GitRepository
    differences: Differences
    created_at: datetime
    private: bool = False
    internal: bool = False
    """open to a whole enterprise; such a repository is `private` too"""
    fork_of: SimRepository | None = None
    description: str | None = None
    language: str | None = None
    topics: list[str] = field(default_factory=list)
    issues: dict[int, Issue] = field(default_factory=dict)
    labels: dict[str, SimLabel] = field(default_factory=dict)
    checks: dict[int, SimCheckRun] = field(default_factory=dict)
    permissions: dict[str, str] = field(default_factory=dict)
    """login -> admin, maintain, write, triage, read"""
    discussions: list[Discussion] = field(default_factory=list)
    has_discussions: bool = False
    announces_for_maintainers: bool = False
    """whether an App is refused a discussion in the category for announcements"""
    releases: list[SimRelease] = field(default_factory=list)
    suites: dict[tuple[int, str], int] = field(default_factory=dict)
    """check suites that GitHub opened by itself: (App, commit) -> the suite's id"""
    no_suites_for: set[int] = field(default_factory=set)
    """the Apps for which none is opened any more"""

    @property
    def full_name(self) -> str:
        return f"{self.owner.login}/{self.name}"

    @property
    def next_number(self) -> int:
        """Of the next issue, pull request or discussion."""
        return max([*self.issues, *(one.number for one in self.discussions)], default=0) + 1

    @property
    def pulls(self) -> list[SimPullRequest]:
        return [issue.pull for issue in self.issues.values() if issue.pull]


@dataclass(slots=True)
class SimApp:
    id: int
    slug: str
    owner: SimAccount
    account: SimAccount
    """the bot account that the App acts as"""
    public_key: str
    private_key: str
    webhook_secret: str
    webhook_url: str | None = None
    other_keys: list[str] = field(default_factory=list)
    """public halves of further private keys: GitHub allows several"""
    permissions: dict[str, str] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)
    client_secret: str = "the-simulated-client-secret"  # noqa: S105  # opens nothing but this simulator
    callbacks: list[str] = field(default_factory=list)
    """allowed redirect addresses; empty: any on this machine"""

    @property
    def client_id(self) -> str:
        return f"Iv23.{self.id}"


class Code(Struct, frozen=True):
    """A one-time code in a browser redirect: for a newly registered App, or for a person who signs in to one."""

    app: SimApp
    expires_at: datetime
    person: SimAccount | None = None
    challenge: str = ""
    """PKCE, S256"""


@dataclass(slots=True)
class SimInstallation:
    id: int
    app: SimApp
    account: SimAccount
    created_at: datetime
    selection: set[int] | None = None
    """repository ids; None: all of the account's"""
    suspended_at: datetime | None = None


class SimToken(Struct, frozen=True):
    value: str
    installation: SimInstallation
    expires_at: datetime
    permissions: Json
    repositories: frozenset[int] | None
    """None: all that the installation can access"""
    minted_at: datetime


@dataclass(slots=True)
class State:
    """All records, by id. `folder` holds the repositories on disk."""

    folder: Path
    clock: Clock = utc_now
    accounts: dict[str, SimAccount] = field(default_factory=dict)
    repositories: dict[int, SimRepository] = field(default_factory=dict)
    old_names: dict[str, int] = field(default_factory=dict)
    apps: dict[int, SimApp] = field(default_factory=dict)
    installations: dict[int, SimInstallation] = field(default_factory=dict)
    tokens: dict[str, SimToken] = field(default_factory=dict)
    codes: dict[str, Code] = field(default_factory=dict)
    people: dict[str, SimAccount] = field(default_factory=dict)
    """user access token -> its owner"""
    hook_content_type: str = "json"
    """of the Apps' webhooks; `form` sends each payload as a field of a form"""
    serves_ids: bool = True
    """whether `/repositories/ID` is answered: GitHub documents it nowhere"""
    opens_suites: bool = False
    """whether each push opens a check suite for every App that may write checks, as on github.com"""
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(1001))

    def new_id(self) -> int:
        return next(self._ids)

    def repository(self, full_name: str) -> SimRepository | None:
        """The repository with this current name, in any case."""
        wanted = full_name.lower()
        return next((found for found in self.repositories.values() if found.full_name.lower() == wanted), None)

    def visible_to(self, installation: SimInstallation) -> list[SimRepository]:
        """The repositories that an installation can access, ordered by id."""
        mine = [found for found in self.repositories.values() if found.owner is installation.account]
        chosen = installation.selection
        return sorted((found for found in mine if chosen is None or found.id in chosen), key=lambda found: found.id)

    def installations_of(self, repository: SimRepository) -> list[SimInstallation]:
        return [entry for entry in self.installations.values() if repository in self.visible_to(entry)]

    def account_of(self, email: str) -> SimAccount | None:
        """The account that GitHub resolves a commit's address to; a noreply address by the id in it."""
        number, plus, _ = email.partition("+")
        if plus and number.isdecimal() and email.endswith(f"@{noreply_domain()}"):
            return next((found for found in self.accounts.values() if found.id == int(number)), None)
        return next((found for found in self.accounts.values() if found.signature.email == email), None)

"""Landings and facts for tests, with messages in the formats that tools write."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha1

from landing_clones import as_fact

from bot.landing.conventions.recognition import Recognised, recognise
from bot.landing.message.parts import DEFAULT, LandingSettings
from bot.model.commit import Commit, FileChange, Landing, PullRequest, Repository, Signature
from bot.model.fact import Fact
from bot.model.ids import CommitId

ADA = Signature("Ada Brook", "ada@example.org")
BEN = Signature("Ben Castle", "4711+bencastle@users.noreply.github.com")
WEB_FLOW = Signature("GitHub", "noreply@github.com")
MERGE_BOT = Signature("PyTorch MergeBot", "pytorchmergebot@users.noreply.github.com")
EXPORT_BOT = Signature("Facebook GitHub Bot", "facebook-github-bot@users.noreply.github.com")
NAME = "acme/rocket"


def sha(text: str) -> CommitId:
    return CommitId(sha1(text.encode(), usedforsecurity=False).hexdigest())


def a_commit(
    message: str, *, name: str = "", at: int = 1000, author: Signature = ADA, committer: Signature | None = None
) -> Commit:
    when = datetime.fromtimestamp(at, UTC)
    return Commit(sha(name or message), (sha("parent"),), author, committer or author, when, when, message)


def a_landing(
    commit: Commit, *, repository: str = NAME, merge_commit: Commit | None = None, pull: PullRequest | None = None
) -> Landing:
    merge_commit = merge_commit or commit
    return Landing(Repository(repository), commit, merge_commit, merge_commit.committed_at, pull)


def a_merge(message: str, *, at: int = 1000, author: Signature = ADA, committer: Signature = WEB_FLOW) -> Commit:
    when = datetime.fromtimestamp(at, UTC)
    return Commit(sha("merge " + message), (sha("a"), sha("b")), author, committer, when, when, message)


def a_pull(number: int, title: str, body: str = "") -> PullRequest:
    return PullRequest(number, title, body, ADA, "main", "topic", sha("head"))


def a_file(path: str, added: list[str], removed: tuple[str, ...] = ()) -> FileChange:
    lines = ["-" + line for line in removed] + ["+" + line for line in added]
    head = f"@@ -1,{len(removed)} +1,{len(added)} @@"
    return FileChange(path, "modified", len(added), len(removed), "\n".join([head, *lines]))


def recognised(
    message: str,
    *,
    author: Signature = ADA,
    committer: Signature | None = None,
    merge_commit: Commit | None = None,
    settings: LandingSettings = DEFAULT,
) -> Recognised:
    return recognise(
        a_landing(a_commit(message, author=author, committer=committer), merge_commit=merge_commit), settings
    )


def a_fact(message: str, *, at: int, name: str = "", repository: str = NAME, committer: Signature = WEB_FLOW) -> Fact:
    """A fact of ten authored lines, landed at that second and written then."""
    return written(message, at, at, name=name, repository=repository, committer=committer)


def written(
    message: str,
    at: int,
    authored: int,
    *,
    name: str = "",
    repository: str = NAME,
    author: Signature = ADA,
    committer: Signature = WEB_FLOW,
    merge_commit: Commit | None = None,
) -> Fact:
    when, then = datetime.fromtimestamp(at, UTC), datetime.fromtimestamp(authored, UTC)
    file = FileChange("src/a.py", "modified", 10, 0, None)
    commit = Commit(sha(name or f"{message} {at}"), (sha("p"),), author, committer, then, when, message, (file,))
    return as_fact(
        Landing(Repository(repository), commit, merge_commit or commit, (merge_commit or commit).committed_at)
    )

"""Files and facts for tests of skills."""

from __future__ import annotations

from datetime import UTC, datetime

from bot.landing.lines.split import ReadFile, read_files
from bot.metrics.skills import skills_of
from bot.model.commit import FileChange, Signature
from bot.model.fact import Fact
from bot.model.ids import ChangeId, CommitId

SOMEONE = Signature("Ada Example", "ada@example.org")


def a_change(path: str, added: str = "", removed: str = "", status: str = "modified") -> FileChange:
    """A file with these lines added and removed."""
    got, lost = (text.splitlines() for text in (added, removed))
    signs = [*("-" + line for line in lost), *("+" + line for line in got)]
    patch = "\n".join([f"@@ -{9 if lost else 0},{len(lost)} +9,{len(got)} @@", *signs, ""])
    return FileChange(path, status, len(got), len(lost), patch if signs else None)  # type: ignore[arg-type] # a literal


def read(*changes: FileChange) -> tuple[ReadFile, ...]:
    return read_files(changes)


def skills_shown(path: str, added: str, removed: str = "") -> dict[str, int]:
    """The skills of a commit that changes one file."""
    return skills_of(read(a_change(path, added, removed)))


def a_fact(
    skills: dict[str, int],
    *,
    month: str = "2025-06",
    sha: str = "a" * 40,
    repository: str = "acme/engine",
    lines: int = 0,
) -> tuple[ChangeId, Fact]:
    at = int(datetime(int(month[:4]), int(month[5:]), 15, tzinfo=UTC).timestamp())
    fact = Fact(
        repository=repository,
        commit=CommitId(sha),
        landed_at=at,
        authored_at=at,
        author=SOMEONE,
        committer=SOMEONE,
        title="Change it",
        how="push",
        merge_commit=CommitId(sha),
        skills=skills,
        languages={"Python": lines} if lines else {},
    )
    return ChangeId(f"{repository}@{sha}"), fact

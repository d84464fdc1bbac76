"""What did a push bring to the default branch, read with the fewest requests that prove it?

A row of commits is followed from the newest back to the old tip: each answer holds a commit with its files and names
its parent, so the walk is its own proof. Any other push is compared, and each landed commit is read, unless the
comparison shows exactly the files of one commit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from bot.github import operations as op
from bot.github.client import Client
from bot.github.payloads import commits as commits_of
from bot.github.payloads.commits import Comparison
from bot.github.reads import LandedCommit, landed_commits, read_beyond, read_commit, read_landed
from bot.model.commit import Commit, FileChange, Repository
from bot.model.ids import CommitId

LONGEST_WALK = 250
"""commits; beyond this, a comparison adds little to the cost and first shows whether there are too many"""
_MOST_FILES = 300
"""files that a comparison shows at most"""
_MOST_LINES = 10_000
"""lines of patches up to which a comparison is trusted: beyond about 20,000, rows with zeros have been reported"""


class KnownCommits(Protocol):
    """What need not be requested from GitHub."""

    async def commit(self, name: CommitId) -> Commit | None:
        """A commit with its files as read before; a merge commit has none."""
        ...

    async def recorded_commits(self, names: Sequence[CommitId]) -> set[CommitId]:
        """The commits whose files nobody needs, because they are measured already."""
        ...


class Push(Struct, frozen=True):
    """A branch that moved. `commits` is the number that the delivery listed (0: unknown), only a hint."""

    before: CommitId | None
    after: CommitId
    commits: int = 0
    merged: bool = False
    """the newest commit looks like a merge commit"""


class Pushed(Struct, frozen=True):
    """What a push brought, oldest first. New commits have their files; merge commits have none."""

    landed: tuple[LandedCommit, ...]
    paths: frozenset[str] = frozenset()
    """what changed since the merge base, as far as GitHub showed it"""
    complete: bool = True
    """whether `paths` is complete"""
    behind: int = 0
    """commits that the branch contained before and no longer does"""


@dataclass(slots=True)
class _CommitReader:
    """Reads each commit once."""

    client: Client
    repository: Repository
    known: KnownCommits
    read: dict[CommitId, Commit] = field(default_factory=dict)

    async def commit(self, name: CommitId) -> Commit:
        if name not in self.read:
            self.read[name] = await self.known.commit(name) or await read_commit(self.client, self.repository, name)
        return self.read[name]


async def read_push(client: Client, repository: Repository, push: Push, *, known: KnownCommits) -> Pushed:
    """Everything the push brought. Raises `TooMuchHistory` above 5,000 commits, and the client's exceptions."""
    reader = _CommitReader(client, repository, known)
    if push.before is None:
        return await _filled(reader, await read_landed(client, repository, before=None, after=push.after))
    if 0 < push.commits <= LONGEST_WALK and not (push.merged and push.commits > 1):
        line = await _walk(reader, push, push.before)
        if line is not None:
            return _pushed(tuple(LandedCommit(commit, commit) for commit in line))
    return await _compared(reader, push, push.before)


async def read_files_of(
    client: Client, repository: Repository, landed: Sequence[LandedCommit], *, known: KnownCommits
) -> Pushed:
    """The same commits, with files unless they are recorded already."""
    return await _filled(_CommitReader(client, repository, known), tuple(landed))


async def read_lost(client: Client, repository: Repository, *, before: str, after: CommitId) -> list[CommitId]:
    """The commits that `before` (a commit or a branch) reaches and `after` does not, as after a forced push."""
    return await read_beyond(client, repository, before=after, after=before)


async def _walk(reader: _CommitReader, push: Push, before: CommitId) -> list[Commit] | None:
    """The row of commits from `before` to `after`; None if they are not in a row, or more than the delivery listed."""
    line: list[Commit] = []
    name = push.after
    for _ in range(push.commits):
        commit = await reader.commit(name)
        if len(commit.parents) != 1:
            return None
        line.insert(0, commit)
        name = commit.parents[0]
        if name == before:
            return line
    return None


async def _compared(reader: _CommitReader, push: Push, before: CommitId) -> Pushed:
    """Read the push by comparison: its first page shows up to 250 commits; a longer list is paged from the start."""
    client, repository = reader.client, reader.repository
    where = {"repository": client.repository_path(repository), "before": before, "after": push.after}
    comparison = commits_of.comparison(await client.read_late(op.COMPARISON, **where))
    if len(comparison.commits) < comparison.total:
        landed = await read_landed(client, repository, before=before, after=push.after)
    else:
        landed = landed_commits(list(comparison.commits), push.after)
    lone = _lone(comparison, landed, push.after)
    if lone is not None:
        reader.read.setdefault(lone.id, lone)
    found = await _filled(reader, landed)
    paths = found.paths | _paths(comparison.files)
    return replace(
        found, paths=paths, complete=found.complete and len(comparison.files) < _MOST_FILES, behind=comparison.behind
    )


def _lone(comparison: Comparison, landed: tuple[LandedCommit, ...], after: CommitId) -> Commit | None:
    """The landed commit whose own files the comparison shows, because both start and end with the same trees."""
    is_complete = len(comparison.files) < _MOST_FILES and _lines(comparison.files) <= _MOST_LINES
    if not is_complete or len(landed) != 1 or len(landed[0].commit.parents) != 1:
        return None
    commit = landed[0].commit
    start, end = comparison.trees.get(commit.parents[0]), comparison.trees.get(commit.id)
    same = None not in (start, end) and (start, end) == (
        comparison.trees.get(comparison.base),
        comparison.trees.get(after),
    )
    return replace(commit, files=comparison.files) if same else None


def _lines(files: tuple[FileChange, ...]) -> int:
    return sum(file.patch.count("\n") for file in files if file.patch)


async def _filled(reader: _CommitReader, landed: tuple[LandedCommit, ...]) -> Pushed:
    recorded = await reader.known.recorded_commits([one.commit.id for one in landed])
    with_files: dict[CommitId, Commit] = {}
    for one in landed:
        if one.commit.id not in recorded:
            with_files[one.commit.id] = await reader.commit(one.commit.id)
    return _pushed(
        tuple(
            replace(
                one, commit=_with_files(one.commit, with_files), merge_commit=_with_files(one.merge_commit, with_files)
            )
            for one in landed
        )
    )


def _with_files(commit: Commit, with_files: Mapping[CommitId, Commit]) -> Commit:
    return with_files.get(commit.id, commit)


def _pushed(landed: tuple[LandedCommit, ...]) -> Pushed:
    paths = frozenset[str]().union(*(_paths(one.commit.files) for one in landed))
    return Pushed(landed, paths, complete=not any(one.commit.partial for one in landed))


def _paths(files: tuple[FileChange, ...]) -> frozenset[str]:
    return frozenset(path for file in files for path in (file.path, file.previous_path) if path)

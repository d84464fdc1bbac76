"""What did GitHub answer about landed commits? They never change, so a second delivery of a landing needs no request.

Answers are kept for the days in which deliveries of one landing arrive, labels are added and reviews are corrected.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Column, Connection, ForeignKey, Index, LargeBinary, Table, delete, select, update

from bot.model.commit import Commit, FileChange, Signature
from bot.model.ids import CommitId, RepositoryId, UserId
from bot.store.columns import METADATA, CleanText, Instant, WholeNumber
from bot.store.dialect import among
from bot.store.inserts import upsert
from bot.store.installations import REPOSITORY

READING = Table(
    "reading",
    METADATA,
    Column("repository_id", WholeNumber, ForeignKey(REPOSITORY.c.id), primary_key=True, autoincrement=False),
    Column("commit_id", CleanText, primary_key=True),
    Column("tip", CleanText, nullable=False),
    Column("read_at", Instant, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Index(None, "read_at"),
    Index(None, "repository_id", "tip"),
)
KEPT = timedelta(days=7)
LARGEST = 512 * 1024
"""bytes, compressed; a larger commit is read again when needed"""


def keep(
    connection: Connection, repository: RepositoryId, commits: Iterable[Commit], *, tip: CommitId, now: datetime
) -> None:
    """Store complete commits (with their files; a merge commit has none) that arrived with `tip`; delete old ones."""
    rows: list[Mapping[str, Any]] = []
    for commit in commits:
        body = _packed(commit)
        if len(body) <= LARGEST:
            keys = {"repository_id": repository, "commit_id": commit.id, "tip": tip}
            rows.append(keys | {"read_at": now, "body": body})
    upsert(connection, READING, rows)
    connection.execute(delete(READING).where(READING.c.read_at < now - KEPT))


def correct(connection: Connection, repository: RepositoryId, commit: Commit) -> None:
    """Replace a stored commit by a more complete answer."""
    mine = (READING.c.repository_id == repository) & (READING.c.commit_id == commit.id)
    connection.execute(update(READING).where(mine).values(body=_packed(commit)))


def known_commits(
    connection: Connection, repository: RepositoryId, commits: Sequence[CommitId]
) -> dict[CommitId, Commit]:
    """The stored commits, by id."""
    found: dict[CommitId, Commit] = {}
    for these in among(READING.c.commit_id, commits):
        same = (READING.c.repository_id == repository) & these
        for row in connection.execute(select(READING.c.commit_id, READING.c.body).where(same)):
            found[CommitId(row.commit_id)] = _unpacked(row.body)
    return found


def commits_of_push(connection: Connection, repository: RepositoryId, tip: CommitId) -> list[CommitId]:
    """The commits of one push whose newest was `tip`; empty if they are not stored."""
    of_push = (READING.c.repository_id == repository) & (READING.c.commit_id == tip)
    known_tip = connection.execute(select(READING.c.tip).where(of_push)).scalar_one_or_none()
    if known_tip != tip:
        return []
    same = (READING.c.repository_id == repository) & (READING.c.tip == tip)
    rows = connection.execute(select(READING.c.commit_id).where(same).order_by(READING.c.commit_id))
    return [CommitId(row.commit_id) for row in rows]


def forget_all(connection: Connection) -> None:
    """Delete everything: any of it may name an erased person, and GitHub can be asked again."""
    connection.execute(delete(READING))


def _packed(commit: Commit) -> bytes:
    people = [[sig.name, sig.email, sig.user_id, sig.login, sig.bot] for sig in (commit.author, commit.committer)]
    times = [commit.authored_at.isoformat(), commit.committed_at.isoformat()]
    files = [[getattr(file, name) for name in FileChange.__struct_fields__] for file in commit.files]
    row = [commit.id, commit.parents, people, times, commit.message, files, commit.partial, commit.signer]
    return zlib.compress(json.dumps(row, separators=(",", ":")).encode(), 1)


def _unpacked(body: bytes) -> Commit:
    name, parents, people, times, message, files, partial, *signer = json.loads(zlib.decompress(body))
    author, committer = (_signature(*row) for row in people)
    authored_at, committed_at = (datetime.fromisoformat(time).astimezone(UTC) for time in times)
    return Commit(
        id=CommitId(name),
        parents=tuple(CommitId(parent) for parent in parents),
        author=author,
        committer=committer,
        authored_at=authored_at,
        committed_at=committed_at,
        message=message,
        files=tuple(FileChange(*row) for row in files),
        partial=partial,
        signer=UserId(signer[0]) if signer and signer[0] is not None else None,
    )


def _signature(name: str, email: str, user_id: int | None, login: str | None, bot: object) -> Signature:
    return Signature(name, email, None if user_id is None else UserId(user_id), login, bool(bot))

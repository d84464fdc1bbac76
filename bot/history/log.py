"""How does `git log` become commits and landings, one at a time?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import IO

from bot.history.clone import Clone
from bot.history.git import git, git_stream
from bot.history.walk import CommitArrival
from bot.landing.conventions.batches import divide_by_branch, is_batch, is_rolled_up
from bot.landing.conventions.merge_commits import batch_numbers, rolled_up_number
from bot.landing.identity.credit import noreply
from bot.landing.identity.servers import without_accounts
from bot.landing.lines.diff import read_diff
from bot.model.commit import GITHUB, Commit, Landing, Signature
from bot.model.ids import CommitId

_FIELDS = "%H%x00%P%x00%aN%x00%aE%x00%ae%x00%ai%x00%at%x00%cN%x00%cE%x00%ce%x00%ct%x00%B%x00"
FORMAT = "--format=%x01" + _FIELDS
_HEAD = re.compile(rb"(?:[^\0]*\0){12}")
"""the fields of `_FIELDS`"""
_PATCHES = ("-p", "-M", "-U1", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv", "--use-mailmap")
_CHUNK = 1 << 20
_END = b"\x01end\0"
"""a record start that is no commit id"""


def blocks(stream: IO[bytes]) -> Iterator[bytes]:
    """A stream in blocks of any size."""
    while block := stream.read(_CHUNK):
        yield block


class Records:
    """The records of commits in a stream, read in portions."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        self._parts = iter(parts)
        self._buffer = bytearray()

    def of(self, ids: Sequence[str], end: bytes) -> Iterator[bytes]:
        """The records of these commits, which come in this order, followed by `end`; fewer if the stream omits one.

        A record begins with its own id. Each byte is searched once, however long one record is.
        """
        buffer, begun = self._buffer, False
        for following in [*(b"\x01%b\0" % one.encode() for one in ids), end]:
            searched = int(begun)
            while (found := buffer.find(following, searched)) < 0:
                if buffer.find(end, searched) >= 0 or not (block := next(self._parts, b"")):
                    return
                searched = max(len(buffer) - len(end) - len(following), 0)
                buffer += block
            # the line break before a record does not belong to the previous one
            with memoryview(buffer) as view:
                record = bytes(view[1 : found - buffer.endswith(b"\n", 0, found)])
            del buffer[:found]
            if begun:
                yield record
            begun = True
        del buffer[: len(end)]


def _moment(seconds: str, written: str = "") -> datetime:
    """The time in its own offset; a year git cannot write, or a broken offset, is read as UTC."""
    value = int(seconds) if seconds else 0
    return datetime.fromtimestamp(min(max(value, 0), 253_402_128_000), _zone(written[-5:]))


@lru_cache(maxsize=256)
def _zone(written: str) -> timezone:
    if len(written) >= 5 and written[-4:].isdigit():
        minutes = int(written[-4:-2]) * 60 + int(written[-2:])
        if minutes < 24 * 60:
            return timezone(timedelta(minutes=-minutes if written[-5] == "-" else minutes))
    return UTC


@lru_cache(maxsize=4096)
def _signature(name: str, email: str, raw_email: str, host: str) -> Signature:
    """A signature after `.mailmap`, with the account that its noreply address proved before the mailmap was applied."""
    account = noreply(raw_email, host) or noreply(email, host)
    user_id, login = account if account else (None, None)
    return Signature(name=name, email=email, user_id=user_id, login=login, host=host)


def read_record(record: bytes, *, files: bool = True, host: str = GITHUB) -> Commit:
    """One record of the log as a commit. Its files are parsed in place, as a patch may be large."""
    head = _HEAD.match(record)
    if head is None:
        raise ValueError("no record of a commit")
    fields = head[0].decode("utf-8", "replace").split("\0")
    (sha, parents, name, email, raw, written, authored, c_name, c_email, c_raw, committed, message, _) = fields
    return Commit(
        id=CommitId(sha),
        parents=tuple(CommitId(parent) for parent in parents.split()),
        author=_signature(name, email, raw, host),
        committer=_signature(c_name, c_email, c_raw, host),
        authored_at=_moment(authored, written),
        committed_at=_moment(committed),
        message=message.removesuffix("\n"),
        files=read_diff(record, head.end()) if files else (),
    )


def commits(
    folder: Path, ids: Sequence[str], *, patches: bool = True, mailmap: str = "", host: str = GITHUB
) -> Iterator[Commit]:
    """These commits, with files and patches, in the order given. Raises GitError if one cannot be read.

    `mailmap` is as in `Clone`; without it, git chooses its own for that folder.
    """
    patch_options = _PATCHES if patches else ("--use-mailmap",)
    arguments = ("log", "--no-walk=unsorted", "--stdin", FORMAT, *patch_options)
    with git_stream(folder, *arguments, lines=list(ids), mailmap=mailmap) as stream:
        parts = chain(blocks(stream), [_END])
        yield from map(partial(read_record, files=patches, host=host), Records(parts).of(ids, _END))


ReadCommits = Callable[[Sequence[CommitId]], Iterable[Commit]]
"""reads the commits with these ids, in the order given"""


def landings(
    clone: Clone, batch: Sequence[CommitArrival], *, patches: bool = True, read: ReadCommits | None = None
) -> Iterator[Landing]:
    """The landings of these arrivals, with patches unless `patches` is false; `read` replaces the default reader.

    `read` is called immediately, even if the first landing is needed later.
    """
    read = read or partial(commits, clone.git_dir, patches=patches, mailmap=clone.mailmap, host=clone.repository.host)
    merge_commits = list(dict.fromkeys(arrival.merge_commit for arrival in batch if arrival.merge_commit))
    return _read_landings(
        clone, batch, len(merge_commits), iter(read([*merge_commits, *(arrival.commit for arrival in batch)]))
    )


def _read_landings(
    clone: Clone, batch: Sequence[CommitArrival], merge_commits: int, found: Iterator[Commit]
) -> Iterator[Landing]:
    """The landings of these arrivals; `found` contains this many merge commits first, then one
    commit for each arrival.
    """
    by_id = {merge_commit.id: merge_commit for merge_commit in islice(found, merge_commits)}
    branches = {
        merge_commit.id: _pull_requests_by_commit(clone.git_dir, merge_commit) for merge_commit in by_id.values()
    }
    for arrival, commit in zip(batch, found, strict=True):
        landing = Landing(
            repository=clone.repository,
            commit=commit,
            merge_commit=by_id[arrival.merge_commit] if arrival.merge_commit else commit,
            landed_at=datetime.fromtimestamp(arrival.landed_at, UTC),
            brought_by=branches[arrival.merge_commit].get(commit.id, arrival.brought_by)
            if arrival.merge_commit
            else arrival.brought_by,
            clamped=arrival.clamped,
        )
        yield without_accounts(landing) if clone.other_accounts else landing


def _pull_requests_by_commit(folder: Path, merge_commit: Commit) -> Mapping[str, int]:
    """The pull request by commit id; empty for a merge of a single one. Runs git once if there are several."""
    batch = is_batch(merge_commit)
    if not batch and not is_rolled_up(merge_commit):
        return {}
    parents, rolled = _commits_inside(folder, merge_commit)
    numbers = batch_numbers(merge_commit.message.split("\n", 1)[0])
    return divide_by_branch(parents, list(zip(merge_commit.parents[1:], numbers, strict=True)) if batch else rolled)


def _commits_inside(folder: Path, merge_commit: Commit) -> tuple[dict[str, list[str]], list[tuple[str, int]]]:
    """The parents of each commit that the merge brought, and (tip, number) of each merge within it."""
    range_ = ("log", "--topo-order", "--format=%H%x00%P%x00%s", merge_commit.id, f"^{merge_commit.parents[0]}", "--")
    parents: dict[str, list[str]] = {}
    rolled: list[tuple[str, int]] = []
    for line in git(folder, *range_).split("\n"):
        sha, _, rest = line.partition("\0")
        ancestors, _, subject = rest.partition("\0")
        parents[sha] = ancestors.split()
        number = rolled_up_number(subject)
        if number is not None and len(parents[sha]) == 2:
            rolled.append((parents[sha][1], number))
    return parents, rolled

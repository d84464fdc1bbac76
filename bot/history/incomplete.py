"""How are commits read whose files a partial, shallow or damaged clone does not contain? As far as they are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from bot.history.clone import Clone
from bot.history.git import GitError, git_stream
from bot.history.log import FORMAT, commits, read_record
from bot.history.patches import MOST_IDS, PATCH_OPTIONS, PatchReader
from bot.model.commit import Commit, FileChange
from bot.model.ids import CommitId, FileStatus

_STATUS: Mapping[str, FileStatus] = {"A": "added", "D": "removed", "R": "renamed", "C": "copied"}
_NO_BLOB = ("000000", "160000")
"""modes of a side without a file, and of a submodule"""
_MOST_PATHS = 200
"""paths on one command line"""


class _ChangedFile(NamedTuple):
    """A changed file as the trees show it."""

    modes: tuple[str, str]
    blobs: tuple[str, str]
    status: str
    path: str
    previous_path: str | None

    def blobs_to_read(self) -> Iterator[str]:
        """The blobs without which its lines are unknown; none if only its name or mode changed."""
        if self.blobs[0] != self.blobs[1]:
            yield from (blob for mode, blob in zip(self.modes, self.blobs, strict=True) if mode not in _NO_BLOB)

    def without_lines(self) -> FileChange:
        mode = self.modes[self.status == "D"]
        return FileChange(
            path=self.path,
            status="removed" if self.status == "D" else _STATUS.get(self.status[0], "modified"),
            additions=0,
            deletions=0,
            previous_path=self.previous_path,
            submodule=mode == "160000",
            symlink=mode == "120000",
        )


class AnyPatchReader:
    """Reads commits of one clone with the patches that can be read. Must be closed.

    A whole clone is read by a `PatchReader`; from its first missing object on, and in a partial or shallow clone from
    the start, the objects are looked for before patches are asked for.
    """

    def __init__(self, clone: Clone) -> None:
        self._clone = clone
        self._reader: PatchReader | None = None
        self._complete = not (clone.partial or clone.cut)

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def read(self, ids: Sequence[CommitId]) -> Iterator[Commit]:
        """As `PatchReader.read`; `not_measured` of a commit says how many of its files were not there."""
        if not self._complete:
            return self._read_what_is_there(ids)
        try:
            return self._read_complete(ids, self._patches().read(ids))
        except GitError:
            return self._read_what_is_there(ids)

    def _patches(self) -> PatchReader:
        if self._reader is None:
            self._reader = PatchReader(self._clone.git_dir, self._clone.mailmap, self._clone.repository.host)
        return self._reader

    def _read_complete(self, ids: Sequence[CommitId], found: Iterator[Commit]) -> Iterator[Commit]:
        done = 0
        try:
            for commit in found:
                yield commit
                done += 1
        except GitError:
            self._complete = False
            self.close()
            yield from self._read_what_is_there(ids[done:])

    # --- what is there ---

    def _read_what_is_there(self, ids: Sequence[CommitId]) -> Iterator[Commit]:
        self._complete = False
        for start in range(0, len(ids), MOST_IDS):
            yield from self._read_part(ids[start : start + MOST_IDS])

    def _read_part(self, ids: Sequence[CommitId]) -> Iterator[Commit]:
        changed = self._changed_files([one for one in ids if one not in self._clone.cut])
        blobs = {blob for files in changed.values() for file in files for blob in file.blobs_to_read()}
        absent = self._absent(sorted(blobs))
        readable = [one for one in ids if one in changed and _is_readable(changed[one], absent)]
        patched, known = self._patched(readable, changed), frozenset(readable)
        messages = iter(self._messages([one for one in ids if one not in known]))
        for one in ids:
            if one in known:
                yield next(patched)
            elif one in changed:
                yield self._partly(next(messages), changed[one], absent)
            else:
                yield replace(next(messages), partial=True, not_measured=1)
        next(patched, None)  # reads the mark at the end of git's answer

    def _messages(self, ids: Sequence[CommitId]) -> Iterator[Commit]:
        if not ids:
            return iter(())
        clone = self._clone
        return commits(clone.git_dir, ids, patches=False, mailmap=clone.mailmap, host=clone.repository.host)

    def _patched(self, ids: Sequence[CommitId], changed: Mapping[CommitId, Sequence[_ChangedFile]]) -> Iterator[Commit]:
        """These commits with patches; one that git cannot show after all keeps the names of its files only."""
        done = 0
        while done < len(ids):
            try:
                for commit in self._patches().read(ids[done:]):
                    yield commit
                    done += 1
            except GitError:
                self.close()
                for commit in self._messages(ids[done : done + 1]):
                    yield _without_lines(commit, changed[commit.id])
                done += 1

    def _partly(self, commit: Commit, files: Sequence[_ChangedFile], absent: frozenset[str]) -> Commit:
        there, unread = _divide(files, absent)
        rest = _without_lines(commit, unread)
        found: list[FileChange] = []
        for start in range(0, len(there), _MOST_PATHS):
            part = there[start : start + _MOST_PATHS]
            try:
                found += self._patch_of(commit.id, part).files
            except GitError:
                failed = _without_lines(commit, part)
                found += failed.files
                rest = replace(rest, not_measured=rest.not_measured + failed.not_measured)
        return replace(rest, files=tuple(sorted((*found, *rest.files), key=lambda file: file.path)))

    def _patch_of(self, commit: CommitId, files: Sequence[_ChangedFile]) -> Commit:
        paths = [f":(literal){path}" for file in files for path in (file.path, file.previous_path) if path]
        arguments = ("diff-tree", "--root", "-r", "--always", FORMAT, *PATCH_OPTIONS, commit, "--", *paths)
        with git_stream(self._clone.git_dir, *arguments, mailmap=self._clone.mailmap) as stream:
            return read_record(stream.read()[1:], host=self._clone.repository.host)

    # --- which objects are there ---

    def _absent(self, names: Sequence[str]) -> frozenset[str]:
        """Those of these names to which the clone has no object."""
        if not names:
            return frozenset()
        with git_stream(self._clone.git_dir, "cat-file", "--batch-check", lines=names) as stream:
            answers = stream.read().decode().split("\n")
        return frozenset(name for name, answer in zip(names, answers, strict=False) if answer == f"{name} missing")

    def _changed_files(self, ids: Sequence[CommitId]) -> dict[CommitId, list[_ChangedFile]]:
        """The changed files of each of these commits whose trees are there."""
        absent = self._absent([f"{one}^{{tree}}" for one in ids])
        left = [one for one in ids if f"{one}^{{tree}}" not in absent]
        found: dict[CommitId, list[_ChangedFile]] = {}
        while left:
            answered = self._raw_differences(left)
            found |= answered
            left = left[len(answered) + 1 :]  # git ends at a commit whose trees it cannot read
        return found

    def _raw_differences(self, ids: Sequence[CommitId]) -> dict[CommitId, list[_ChangedFile]]:
        options = ("--root", "-r", "-M100%", "--raw", "-z", "--no-abbrev", "--always")
        output = b""
        try:
            with git_stream(self._clone.git_dir, "diff-tree", "--stdin", *options, lines=ids) as stream:
                output = stream.read()
        except GitError:
            pass  # what it printed before is right
        return _read_raw(output.decode("utf-8", "surrogateescape").split("\0"))


def _read_raw(parts: Sequence[str]) -> dict[CommitId, list[_ChangedFile]]:
    """The output of `git diff-tree --raw -z`, divided at its zero bytes."""
    found: dict[CommitId, list[_ChangedFile]] = {}
    files: list[_ChangedFile] = []
    rest = iter(parts)
    for part in rest:
        if part.startswith(":"):
            old_mode, new_mode, old, new, status = part[1:].split(" ")
            previous = next(rest) if status[0] in "RC" else None
            path = next(rest)
            files.append(_ChangedFile((old_mode, new_mode), (old, new), status, path, previous))
        elif part.strip():
            files = found.setdefault(CommitId(part.strip()), [])
    return found


def _divide(files: Sequence[_ChangedFile], absent: frozenset[str]) -> tuple[list[_ChangedFile], list[_ChangedFile]]:
    """The files that can be read and those that cannot.

    Where a removed file is missing, each added one may be that file under a new name, and the other way around.
    """
    missing = {file.status for file in files if absent.intersection(file.blobs_to_read())}
    doubtful = {other for one, other in (("D", "A"), ("A", "D")) if one in missing}
    there: list[_ChangedFile] = []
    unread: list[_ChangedFile] = []
    for file in files:
        unreadable = file.status in doubtful or absent.intersection(file.blobs_to_read())
        (unread if unreadable else there).append(file)
    return there, unread


def _is_readable(files: Sequence[_ChangedFile], absent: frozenset[str]) -> bool:
    return not any(absent.intersection(file.blobs_to_read()) for file in files)


def _without_lines(commit: Commit, files: Sequence[_ChangedFile]) -> Commit:
    """The commit with the names of these files and none of their lines."""
    unread = sum(any(file.blobs_to_read()) for file in files)
    return replace(commit, files=tuple(file.without_lines() for file in files), partial=unread > 0, not_measured=unread)

"""Which process may write to a SQLite file, and is the file still the one that was opened?

Two locks keep a second process out: one on the lock file beside the database, which names its holder, and on Linux one
on the database file itself, which no other name of the file and no removal of the lock file gets around. SQLite's own
locks are of another kind there, but closing any descriptor of the file drops them: the file is looked at by `stat`
alone, and the locked descriptor is closed after SQLite's.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
from pathlib import Path

_HELD: set[tuple[int, int]] = set()
"""device and inode of each database that this process has locked"""


class StoreInUseError(Exception):
    """Another process writes to this SQLite file."""


class ProcessLock:
    """The locks on the database at `path` until they are released or the process ends, for whatever reason."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptors: list[int] = []
        self._identity: tuple[int, int] | None = None
        self.log_was_left = False
        """whether SQLite's log was not empty: the last process did not close the database"""

    def take(self) -> None:
        """Acquire both locks, creating the file if necessary; raises StoreInUseError if another process holds one."""
        try:
            self._take_lock_file()
            if not self._path.exists():
                self._path.touch(0o600)  # readable only by its owner, as SQLite's own files beside it
            self._take_file()
            self.log_was_left = self.sizes().get("log", 0) > 0
        except BaseException:
            self.release()
            raise

    def _take_lock_file(self) -> None:
        path = self._path.with_name(self._path.name + ".lock")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._descriptors.append(descriptor)
        if not _is_locked_for_us(descriptor):
            raise self._in_use(f"process {_read_holder(descriptor)[0] or 'unknown'}")
        os.ftruncate(descriptor, 0)

    def _take_file(self) -> None:
        """Lock the file itself. In this process it is opened once: closing it again would drop SQLite's locks."""
        identity = _identity(self._path)
        if identity in _HELD:
            raise self._in_use("this process")
        if sys.platform == "linux":
            descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            self._descriptors.append(descriptor)
            if not _is_locked_for_us(descriptor):
                raise self._in_use("another process, under another name or without its lock file")
        if identity is not None:
            _HELD.add(identity)
        self._identity = identity
        device, inode = identity or (0, 0)
        os.pwrite(self._descriptors[0], f"{os.getpid()} {device} {inode}".encode(), 0)

    def _in_use(self, holder: str) -> StoreInUseError:
        return StoreInUseError(f"{self._path} is in use by {holder}: stop it first, or use PostgreSQL to run several")

    def problem(self) -> str | None:
        """What happened to the file since it was opened, and what to do; None if nothing did."""
        return _problem_text(self._path, self._identity, "the bot")

    def sizes(self) -> dict[str, int]:
        """Bytes of the `database` and of its `log`, if they are there."""
        found: dict[str, int] = {}
        for name, path in (("database", self._path), ("log", self._path.with_name(self._path.name + "-wal"))):
            with contextlib.suppress(OSError):
                found[name] = os.stat(path).st_size
        return found

    def release(self) -> None:
        for descriptor in reversed(self._descriptors):
            os.close(descriptor)
        self._descriptors.clear()
        if self._identity is not None:
            _HELD.discard(self._identity)
            self._identity = None


def problem_of_running(path: Path) -> str | None:
    """What happened to the file that a running process opened at this path; None if nothing did or nothing runs."""
    try:
        descriptor = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if _is_locked_for_us(descriptor):
            return None
        holder, opened = _read_holder(descriptor)
    finally:
        os.close(descriptor)
    return _problem_text(path, opened, f"process {holder}") if opened else None


def _problem_text(path: Path, opened: tuple[int, int] | None, holder: str) -> str | None:
    found = _identity(path)
    if found == opened:
        return None
    happened = "was deleted" if found is None else "was replaced by another file"
    return (
        f"the database {path} {happened} while {holder} runs: "
        "stop the bot, put the file or a back-up in its place, and start again"
    )


def _read_holder(descriptor: int) -> tuple[str, tuple[int, int] | None]:
    """The process in a lock file, and device and inode of the file that it opened."""
    process, *numbers = os.pread(descriptor, 100, 0).decode("ascii", "replace").split() or [""]
    is_whole = len(numbers) == 2 and all(number.isdecimal() for number in numbers)
    return process, (int(numbers[0]), int(numbers[1])) if is_whole else None


def _is_locked_for_us(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of the file; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino

"""Where are caches stored on this machine, when are they deleted, and what happens if one cannot be used?"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bot.configuration.errors import UnusableInputError

MAX_IDLE_DAYS = 30
"""days after its last use when a cache is deleted"""
MAX_TOTAL_BYTES = 2 << 30
"""bytes that all caches together may take: above this the least recently used are deleted"""
_SIDECAR_ENDINGS = ("", "-wal", "-shm")
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def cache_file(identity: Sequence[str]) -> Path | None:
    """A file for this identity under the user's cache folder ($XDG_CACHE_HOME); None if that is not writable.

    Each call counts as a use, and deletes caches that have been unused for long.
    """
    try:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "almanac"
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # the folder cannot be created, or the home folder is unknown
        return None
    file = root / (hashlib.sha256("\0".join(identity).encode("utf-8", "surrogateescape")).hexdigest()[:32] + ".sqlite")
    if not os.access(root, os.W_OK | os.X_OK):
        return None
    if file.exists():
        if not os.access(file, os.R_OK | os.W_OK):  # another user's
            return None
        os.utime(file)
    prune(root, file, time.time())
    return file


def prune(root: Path, keep: Path, now: float) -> None:
    """Delete the caches in `root`, except `keep`, that are unused for too long or exceed the total size."""
    found = []
    for file in root.glob("*.sqlite"):
        try:
            found.append((file.stat().st_mtime, file.stat().st_size, file))
        except FileNotFoundError:
            continue
    left = MAX_TOTAL_BYTES
    for used, size, file in sorted(found, reverse=True):
        left -= size
        if file != keep and (left < 0 or used < now - MAX_IDLE_DAYS * 86_400):
            forget(file)


def forget(file: Path) -> None:
    """Delete a cache and the files SQLite stores next to it."""
    for ending in _SIDECAR_ENDINGS:
        file.with_name(file.name + ending).unlink(missing_ok=True)


def is_damaged(error: sqlite3.DatabaseError) -> bool:
    return _code(error) in _DAMAGED


def _code(error: sqlite3.DatabaseError) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


@contextmanager
def report_cache_errors(file: Path) -> Iterator[None]:
    """Raises UnusableInputError if SQLite finds the file damaged, which is then deleted, or has no room to write it."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if is_damaged(error):
            forget(file)
            raise UnusableInputError(
                f"the cache in {file} was damaged and has been deleted; run the command again"
            ) from None
        if _code(error) in _NO_ROOM:
            raise UnusableInputError(f"cannot write {file}: {error}; make room there") from None
        raise

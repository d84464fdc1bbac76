"""Which process may write to a SQLite file? The one that holds the lock file beside it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


class StoreInUseError(Exception):
    """Another process writes to this SQLite file."""


class ProcessLock:
    """A lock on `path` until it is released or the process ends, for whatever reason."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def take(self) -> None:
        """Acquire the lock; raises StoreInUseError if another process holds it."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            raise StoreInUseError(
                f"{self._path.with_suffix('')} is in use by process {holder or 'unknown'}: "
                "stop it first, or use PostgreSQL to run several"
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

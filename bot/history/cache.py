"""Where on this machine are caches kept, and which of them are old enough to go?"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

KEPT_DAYS = 30
"""days after its last use when a cache goes"""
KEPT_BYTES = 2 << 30
"""bytes that all caches together may take: beyond, the longest unused go first"""
_BESIDE = ("-wal", "-shm")


def cache_file(identity: Sequence[str]) -> Path | None:
    """A file for this identity under the user's cache folder ($XDG_CACHE_HOME), None where none can be written.

    Asking for it counts as using it, and forgets caches that nobody has used for long.
    """
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "almanac"
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    if not os.access(root, os.W_OK):
        return None
    file = root / (hashlib.sha256("\0".join(identity).encode("utf-8", "surrogateescape")).hexdigest()[:32] + ".sqlite")
    if file.exists():
        os.utime(file)
    prune(root, file, time.time())
    return file


def prune(root: Path, keep: Path, now: float) -> None:
    """Delete the caches in `root`, except `keep`, that are unused for long or too much together."""
    found = []
    for file in root.glob("*.sqlite"):
        try:
            found.append((file.stat().st_mtime, file.stat().st_size, file))
        except FileNotFoundError:
            continue
    left = KEPT_BYTES
    for used, size, file in sorted(found, reverse=True):
        left -= size
        if file != keep and (left < 0 or used < now - KEPT_DAYS * 86_400):
            for one in (file, *(file.with_name(file.name + ending) for ending in _BESIDE)):
                one.unlink(missing_ok=True)

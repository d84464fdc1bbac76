"""Which mailmaps apply to a clone besides its own `.mailmap`: git's settings, and a file that the user names?"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from bot.configuration.errors import UnusableInputError
from bot.history.clone import Clone
from bot.history.git import blobs_named, git, git_outputs
from bot.landing.identity.mailmap import NO_MAILMAP, Mailmap, read_mailmaps

LARGEST = 10 << 20
"""bytes of one mailmap that are read"""
_SETTING = ("config", "--null", "--get-all")


def mailmap_of(clones: Iterable[Clone], file: Path | None = None) -> Mailmap:
    """The mailmaps that git itself would read for these clones, in its order, and then the user's own file.

    Raises UnusableInputError if that file cannot be read.
    """
    texts = [text for clone in clones for text in _by_settings(clone)]
    if file is not None:
        text = _read(file)
        if text is None:
            raise UnusableInputError(f"--mailmap {file}: cannot be read; name a file in the format of .mailmap")
        texts.append(text)
    return read_mailmaps(texts) if texts else NO_MAILMAP


def _by_settings(clone: Clone) -> list[str]:
    """The texts that `mailmap.blob` and `mailmap.file` name; the file wins, so it comes last."""
    blob, file = git_outputs(clone.folder, (*_SETTING, "mailmap.blob"), (*_SETTING, "--type=path", "mailmap.file"))
    found = []
    if (name := _last(blob.text.split("\0"))) and "\n" not in name:
        blob_id = git(clone.folder, "rev-parse", "--verify", "--quiet", name, check=False).strip()
        found += [text for _, text in blobs_named(clone.folder, [blob_id]).values()] if blob_id else []
    if path := _last(file.text.split("\0")):
        text = _read(clone.folder / path)
        found += [] if text is None else [text]
    return found


def _last(values: Sequence[str]) -> str:
    """The last value that is not empty: the program's own calls reset these settings."""
    return next((value for value in reversed(values) if value), "")


def _read(path: Path) -> str | None:
    """The text of an ordinary file of bearable size; None for a device, a pipe or anything that cannot be read."""
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
            return None
        return path.read_bytes().decode("utf-8", "replace")
    except (OSError, ValueError):
        return None

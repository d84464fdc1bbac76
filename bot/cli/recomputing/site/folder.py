"""Which files of a folder are ours, which of them changed, and what was left of people who are no longer shown?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct

from bot.configuration.errors import UnusableInputError

MANIFEST = ".almanac-site.json"
_FORMAT = 1


class SiteCount(Struct, frozen=True):
    """What a build did."""

    written: int
    unchanged: int
    deleted: int


class SiteFolder:
    """The folder of a site. Nothing is written before `save`, and a file that is not ours is never touched.

    Raises UnusableInputError if the folder cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        if folder.exists() and not folder.is_dir():
            raise UnusableInputError(f"--output {folder} is not a folder; name another")
        if (folder / "HEAD").is_file() and (folder / "objects").is_dir():
            raise UnusableInputError(f"--output {folder} is where git keeps its own files; name another folder")
        stored = self._stored()
        self._known: Mapping[str, str] = stored.get("files", {})
        self.remembered: Mapping[str, Any] = stored.get("remembered", {})
        """what the build before wanted to be remembered"""
        self._texts: dict[str, str] = {}
        self._kept: set[str] = set()

    def _stored(self) -> dict[str, Any]:
        try:
            stored = json.loads((self._folder / MANIFEST).read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            stored = None
        if not isinstance(stored, dict) or not all(map(_is_inside, stored.get("files", ()))):
            raise UnusableInputError(f"{self._folder / MANIFEST} is damaged; delete {self._folder} and build it again")
        return stored if stored.get("format") == _FORMAT else {"files": stored.get("files", {})}

    def add(self, path: str, text: str) -> None:
        self._texts[path] = text

    def keep(self, paths: Iterable[str]) -> bool:
        """Leave these files as the build before wrote them; False if one of them is no longer there."""
        wanted = list(paths)
        if not all(path in self._known and (self._folder / path).is_file() for path in wanted):
            return False
        self._kept.update(wanted)
        return True

    def save(self, remembered: Mapping[str, Any]) -> SiteCount:
        """Write what changed, delete what is no longer part of the site, and remember both."""
        foreign = [path for path in self._texts if path not in self._known and (self._folder / path).exists()]
        if foreign:
            raise UnusableInputError(
                f"{self._folder / foreign[0]} was not written by almanac site; name another folder, or move the file"
            )
        contents = {path: text.encode("utf-8", "replace") for path, text in self._texts.items()}
        digests = {path: blake2b(content, digest_size=16).hexdigest() for path, content in contents.items()}
        written = 0
        try:
            for path, content in contents.items():
                if self._known.get(path) != digests[path] or not (self._folder / path).is_file():
                    self._write(path, content)
                    written += 1
            files = {path: self._known[path] for path in sorted(self._kept)} | digests
            deleted = self._delete(set(self._known) - files.keys())
            state = {"format": _FORMAT, "files": dict(sorted(files.items())), "remembered": remembered}
            self._write(MANIFEST, (json.dumps(state, indent=0) + "\n").encode())
        except OSError as error:
            raise UnusableInputError(f"cannot write {error.filename or self._folder}: {error.strerror}") from None
        return SiteCount(written, len(files) - written, deleted)

    def _write(self, path: str, content: bytes) -> None:
        file = self._folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    def _delete(self, paths: Iterable[str]) -> int:
        count = 0
        for path in sorted(paths, reverse=True):
            file = self._folder / path
            if file.is_file():
                file.unlink()
                count += 1
            for parent in file.parents:
                if parent == self._folder or not parent.is_dir() or any(parent.iterdir()):
                    break
                parent.rmdir()
        return count


def _is_inside(path: object) -> bool:
    """Whether a path of the manifest stays within the folder."""
    if not isinstance(path, str) or not path or "\\" in path or ":" in path:
        return False
    pure = PurePosixPath(path)
    return not pure.is_absolute() and ".." not in pure.parts

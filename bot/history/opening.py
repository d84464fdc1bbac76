"""Which clones are at these paths? Git finds out while the caller loads the code that uses them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Thread

from msgspec.structs import replace

from bot.history.clone import RULING, Clone, open_clone
from bot.history.git import GitError
from bot.history.mailmaps import mailmap_of
from bot.landing.identity.mailmap import NO_MAILMAP
from bot.model.commit import GITHUB


def open_clones(paths: Sequence[str | Path]) -> tuple[Clone, ...]:
    """The clones, sorted by name, so that the order in which they were given makes no difference.

    Raises GitError for a path without a clone, and for a shallow clone.
    """
    clones = sorted((open_clone(path) for path in paths), key=lambda clone: (clone.repository.full_name, clone.head))
    for clone in clones:
        if clone.shallow:
            raise GitError(
                f"{clone.folder}: a shallow clone has only the end of its history; run: git fetch --unshallow"
            )
    unique = {clone.git_dir: clone for clone in clones}
    names: dict[str, int] = {}
    for clone in unique.values():
        names[clone.repository.full_name] = names.get(clone.repository.full_name, 0) + 1
    return tuple(_with_distinct_name(clone, names) for clone in _with_one_server(unique.values()))


def _with_one_server(clones: Collection[Clone]) -> Iterator[Clone]:
    """The clones, of which only those of one server prove accounts: two servers give one user id to two people."""
    hosts = {clone.repository.host for clone in clones}
    ours = GITHUB if GITHUB in hosts else min(hosts, default=GITHUB)
    for clone in clones:
        yield clone if clone.repository.host == ours else replace(clone, other_accounts=True)


def _with_distinct_name(clone: Clone, names: Mapping[str, int]) -> Clone:
    """Two clones with the same name are distinguished by their parent folders."""
    name = clone.repository.full_name
    if names[name] == 1:
        return clone
    folder = clone.folder.resolve()
    return replace(clone, repository=replace(clone.repository, full_name=f"{folder.parent.name}/{folder.name}"))


def _named(clones: tuple[Clone, ...], name: str | None) -> tuple[Clone, ...]:
    """A single clone without an origin under this name; all others as they are."""
    if name is None or len(clones) != 1 or "/" in clones[0].repository.full_name:
        return clones
    (clone,) = clones
    return (replace(clone, repository=replace(clone.repository, full_name=name)),)


class PendingClones:
    """`open_clones` in the background: a thread waits for git, and reads the files in `RULING` and the
    mailmaps ahead of use."""

    def __init__(self, paths: Sequence[str | Path], mailmap: Path | None = None, *, name: str | None = None) -> None:
        self._paths = paths
        self._mailmap_file = mailmap
        self.mailmap = NO_MAILMAP
        """known once the clones are"""
        self._name = name
        """`owner/name` of a single clone that has no origin"""
        self._found: tuple[Clone, ...] = ()
        self._failed: BaseException | None = None
        self._thread = Thread(target=self._open)
        self._thread.start()

    def _open(self) -> None:
        try:
            self._found = _named(open_clones(self._paths), self._name)
            for clone in self._found:
                clone.files(*RULING)
            self.mailmap = mailmap_of(self._found, self._mailmap_file)
        except BaseException as error:  # raised again in the caller
            self._failed = error

    def clones(self) -> tuple[Clone, ...]:
        """The result of `open_clones`, or its exception."""
        self._thread.join()
        if self._failed is not None:
            raise self._failed
        return self._found

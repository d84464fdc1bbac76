"""Which clones are meant by these paths? Gits tell it while the caller loads what is to be done with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread

from bot.history.clone import RULING, Clone, open_clone
from bot.history.git import GitError


def open_clones(paths: Sequence[str | Path]) -> tuple[Clone, ...]:
    """The clones, in the order of their names: the order they were given in makes no difference.

    Raises GitError for what is no clone, and for a clone whose history is cut.
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
    return tuple(_distinct(clone, names) for clone in unique.values())


def _distinct(clone: Clone, names: Mapping[str, int]) -> Clone:
    """Two folders of one name are told apart by the folder above them."""
    name = clone.repository.full_name
    if names[name] == 1:
        return clone
    folder = clone.folder.resolve()
    return replace(clone, repository=replace(clone.repository, full_name=f"{folder.parent.name}/{folder.name}"))


class Opening:
    """`open_clones`, begun: a thread of its own waits for the gits, and asks early for the files that rule."""

    def __init__(self, paths: Sequence[str | Path]) -> None:
        self._paths = paths
        self._found: tuple[Clone, ...] = ()
        self._failed: BaseException | None = None
        self._thread = Thread(target=self._open)
        self._thread.start()

    def _open(self) -> None:
        try:
            self._found = open_clones(self._paths)
            for clone in self._found:
                clone.files(*RULING)
        except BaseException as error:  # the caller gets it
            self._failed = error

    def clones(self) -> tuple[Clone, ...]:
        """What `open_clones` gives, or raises."""
        self._thread.join()
        if self._failed is not None:
            raise self._failed
        return self._found

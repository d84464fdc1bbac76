"""Which clones are at these paths? Git finds out while the caller loads the code that uses them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Thread

from msgspec.structs import replace

from bot.history.clone import RULING, Clone, open_clone
from bot.history.git import GitError, git
from bot.history.mailmaps import mailmap_of
from bot.landing.identity.mailmap import NO_MAILMAP
from bot.model.commit import GITHUB


def open_clones(paths: Sequence[str | Path], head: str | None = None) -> tuple[Clone, ...]:
    """The clones, sorted by name, so that the order in which they were given makes no difference.

    `head` is the branch, tag or commit to read in place of the default branch. Raises GitError for a path without a
    clone, and for a clone without that head.
    """
    opened = (open_clone(path, head) for path in paths)
    clones = sorted(opened, key=lambda clone: (clone.repository.full_name, clone.head))
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


def commits_beyond(clone: Clone) -> tuple[str, int]:
    """The local branch that is checked out, and how many of its commits the branch of the origin does not have."""
    if not clone.branch.startswith("refs/remotes/") or clone.checked_out in ("", clone.head):
        return "", 0
    local = git(clone.folder, "symbolic-ref", "--quiet", "--short", "HEAD", check=False).strip()
    listed = git(clone.git_dir, "rev-list", "--count", clone.checked_out, f"^{clone.head}", check=False).strip()
    return (local, int(listed or 0)) if local == clone.repository.default_branch else ("", 0)


def _with_distinct_name(clone: Clone, names: Mapping[str, int]) -> Clone:
    """Two clones with the same name are distinguished by their parent folders."""
    name = clone.repository.full_name
    if names[name] == 1:
        return clone
    folder = clone.folder.resolve()
    return replace(clone, repository=replace(clone.repository, full_name=f"{folder.parent.name}/{folder.name}"))


def _named(clones: tuple[Clone, ...], name: str | None, default: str | None) -> tuple[Clone, ...]:
    """A single clone under this name, or under the default one if it has no origin. Raises GitError for several."""
    if name is not None and len(clones) != 1:
        raise GitError("--name needs one clone: several cannot have the same name")
    if len(clones) != 1 or (name is None and (default is None or "/" in clones[0].repository.full_name)):
        return clones
    (clone,) = clones
    return (replace(clone, repository=replace(clone.repository, full_name=name or default or "")),)


class PendingClones:
    """`open_clones` in the background: a thread waits for git, and reads the files in `RULING` and the
    mailmaps ahead of use."""

    def __init__(
        self,
        paths: Sequence[str | Path],
        mailmap: Path | None = None,
        *,
        naming: tuple[str | None, str | None] = (None, None),
        head: str | None = None,
    ) -> None:
        self._paths = paths
        self._mailmap_file = mailmap
        self.mailmap = NO_MAILMAP
        """known once the clones are"""
        self._naming = naming
        """`owner/name` of a single clone: whatever its origin is, and if it has none"""
        self._head = head
        self._found: tuple[Clone, ...] = ()
        self._failed: BaseException | None = None
        self._thread = Thread(target=self._open)
        self._thread.start()

    def _open(self) -> None:
        try:
            self._found = _named(open_clones(self._paths, self._head), *self._naming)
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

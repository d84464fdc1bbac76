"""What did a commit, pull request or range change? git's own diff, file by file, as GitHub shows it."""

from __future__ import annotations

from msgspec import Struct

from simulator.git import GitRepository, run_git

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
PATCH_LIMIT = 500_000
"""bytes; GitHub omits the patch of a larger file
https://docs.github.com/en/repositories/creating-and-managing-repositories/repository-limits
"""
STATUS = {"A": "added", "M": "modified", "D": "removed", "R": "renamed", "C": "copied", "T": "changed"}


class FileDifference(Struct, frozen=True):
    path: str
    previous_path: str | None
    status: str
    additions: int
    deletions: int
    blob: str
    patch: str | None


class Differences:
    """The diffs of one repository; git computes each once, since commits never change."""

    def __init__(self, git: GitRepository) -> None:
        self._git = git
        self._known: dict[tuple[str, str], tuple[FileDifference, ...]] = {}

    def between(self, base: str | None, head: str) -> tuple[FileDifference, ...]:
        """Files changed from `base` (None: the empty tree) to `head`, in git's order."""
        key = (base or EMPTY_TREE, head)
        if key not in self._known:
            raw = run_git(
                self._git.path, "diff-tree", "-r", "-M", "-z", "--no-abbrev", "--raw", "--numstat", "-p", *key
            )
            self._known[key] = read_difference(raw)
        return self._known[key]

    def of_commit(self, id_: str) -> tuple[FileDifference, ...]:
        """Files changed against the first parent, as GitHub shows a commit."""
        return self.between(next(iter(self._git.commits[id_].parents), None), id_)


def read_difference(raw: bytes) -> tuple[FileDifference, ...]:
    """Parse the output of `git diff-tree --raw --numstat -p -z`: NUL-terminated records, then the patch text."""
    records, _, patch_text = raw.partition(b"\0\0")
    if not patch_text.startswith(b"diff --git "):  # renames put an empty field between two NULs
        cut = raw.find(b"\0\0diff --git ")
        records, patch_text = (raw, b"") if cut < 0 else (raw[:cut], raw[cut + 2 :])
    fields = [part.decode(errors="replace") for part in records.split(b"\0")]
    patches = _patches(patch_text.decode(errors="replace"))
    names: list[tuple[str, str, str | None, str]] = []
    position = 0
    while position < len(fields) and fields[position].startswith(":"):
        _, _, before, after, letter = fields[position].split()
        blob = before if letter == "D" else after  # GitHub names the blob that was removed
        renamed = letter[0] in "RC"
        names.append(
            (
                letter[0],
                fields[position + 2 if renamed else position + 1],
                fields[position + 1] if renamed else None,
                blob,
            )
        )
        position += 3 if renamed else 2
    counts: list[tuple[int, int]] = []
    while position < len(fields) and "\t" in fields[position]:
        added, deleted, path = fields[position].split("\t", 2)
        counts.append((_count(added), _count(deleted)))
        position += 1 if path else 3
    return tuple(
        FileDifference(path, previous, STATUS[letter], *count, blob, patch)
        for (letter, path, previous, blob), count, patch in zip(names, counts, patches, strict=True)
    )


def _count(figure: str) -> int:
    return 0 if figure == "-" else int(figure)


def _patches(text: str) -> list[str | None]:
    """The hunks of each file, in order; None if git shows none (binary, pure rename) or the text is too large."""
    patches: list[str | None] = []
    for part in ("\n" + text).split("\ndiff --git ")[1:]:
        start = part.find("\n@@ ")
        hunks = part[start + 1 :].removesuffix("\n") if start >= 0 else ""
        patches.append(hunks if hunks and len(hunks) <= PATCH_LIMIT else None)
    return patches

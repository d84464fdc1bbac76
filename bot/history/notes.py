"""What do the line notes of a clone (git-ai, under refs/notes/ai) say about its commits?

An ordinary clone does not fetch them: `git fetch origin refs/notes/ai:refs/notes/ai` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from bot.history.git import git, git_stream
from bot.metrics.ai_notes import LONGEST_NOTE

MOST_NOTES = 500
"""notes requested at once: their ids have to fit into a pipe that is not read yet"""


class Notes:
    """The notes of one clone, as of commit `tip` of the notes; if it is empty, git is not run."""

    def __init__(self, folder: Path, tip: str) -> None:
        self._folder = folder
        self._blobs = _blobs_by_commit(folder, tip) if tip else {}

    def of(self, commits: Sequence[str]) -> Mapping[str, str]:
        """The notes of those of these commits that have one that this clone contains."""
        noted = [commit for commit in commits if commit in self._blobs]
        found: dict[str, str] = {}
        for start in range(0, len(noted), MOST_NOTES):
            group = noted[start : start + MOST_NOTES]
            with git_stream(
                self._folder, "cat-file", "--batch", lines=[self._blobs[commit] for commit in group]
            ) as stream:
                notes = [(commit, _note(stream)) for commit in group]
            found |= {commit: text for commit, text in notes if text is not None}
        return found


def _blobs_by_commit(folder: Path, tip: str) -> dict[str, str]:
    """The blob of each commit's note. Git spreads notes over folders; their path without slashes is the commit."""
    found = {}
    for line in git(folder, "ls-tree", "-r", "-z", tip, check=False).split("\0"):
        entry, tab, path = line.partition("\t")
        if tab and entry.split(" ")[1] == "blob":
            found[path.replace("/", "")] = entry.split(" ")[2]
    return found


def _note(stream: IO[bytes]) -> str | None:
    """One answer of `cat-file --batch`: a line that ends in the size, the bytes, a line break; None if missing."""
    head = stream.readline().split()
    if len(head) != 3:
        return None
    left = int(head[2])
    text = stream.read(min(left, LONGEST_NOTE))
    left -= len(text)
    while left > 0:
        left -= len(stream.read(min(left, 1 << 20))) or left
    stream.read(1)
    return text.decode("utf-8", "replace")

"""Whose lines do later fixes, refactorings and speed-ups of a clone change?

The method is that of Sliwerski, Zimmermann and Zeller. The first-parent line of a history is replayed patch by patch,
tracking for each line of each source file the commit that wrote it: one pass of `git log`, without `git blame`.
Whitespace, comments and blank lines are ignored.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bot.metrics.hotspots import is_source

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_COMMENT = re.compile(r"\s*(?:#(?![\[!i])|//|/\*|\*[\s/]|--|\"\"\"|''')")
_LONGEST_FILE = 30_000
_NO_SOURCE = (
    "lock", "sum", "json", "md", "rst", "txt", "snap", "svg", "gif", "png", "jpg", "ico", "ipynb", "yaml", "yml",
    "toml", "csv", "min.js", "map", "po", "golden", "woff2",
)  # fmt: skip
"""file endings that are never source, so git need not show them"""


@dataclass(slots=True)
class Touched:
    """One first-parent commit, and how many lines of which earlier commits it changes or removes."""

    commit: str
    at: int
    subject: str
    lines: dict[str, int] = field(default_factory=dict)


def _patches(clone: Path) -> Iterator[str]:
    command = ["git", "-C", str(clone), "-c", "core.quotePath=false", "log", "--first-parent", "-m", "--reverse", "-p"]
    options = ["-U0", "-w", "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--format=%x01%H %ct %s", "HEAD"]
    with subprocess.Popen(
        [*command, *options, "--", ".", *(f":(exclude,glob)**/*.{ending}" for ending in _NO_SOURCE)],
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        yield from process.stdout


class _Replay:
    """The state of the replay: who wrote each line of each file, and the current position."""

    def __init__(self, source: Callable[[str], bool]) -> None:
        self._source = source
        self._owners: dict[str, list[str]] = {}
        self._lines: list[str] | None = None
        self._old = ""
        self._shift = self._left_old = self._left_new = 0
        self._gone: list[str] = []
        self.now = Touched("", 0, "")

    def read(self, row: str) -> Touched | None:
        """Process one row; return the finished commit if the row starts the next one."""
        if self._left_old or self._left_new:
            self._read_change(row)
        elif row.startswith("\x01"):
            done, self._lines = self.now, None
            commit, at, subject = row[1:].rstrip("\n").split(" ", 2)
            self.now = Touched(commit, int(at), subject)
            return done if done.commit else None
        elif row.startswith("@@ "):
            self._hunk(row)
        else:
            self._header(row)
        return None

    def _read_change(self, row: str) -> None:
        if row.startswith("-"):
            self._left_old -= 1
            owner = self._gone[-self._left_old - 1] if self._lines is not None else ""
            text = row[1:].strip()
            if owner and text and not _COMMENT.match(text):
                self.now.lines[owner] = self.now.lines.get(owner, 0) + 1
        elif row.startswith("+"):
            self._left_new -= 1

    def _header(self, row: str) -> None:
        if row.startswith("diff --git "):
            self._lines, self._shift = None, 0
        elif row.startswith("rename from "):
            self._old = row[12:].rstrip("\n")
        elif row.startswith("rename to ") and self._old in self._owners:
            self._owners[row[10:].rstrip("\n")] = self._owners.pop(self._old)
        elif row.startswith("--- "):
            self._old = row[4:].rstrip("\n\t").removeprefix("a/")
        elif row.startswith("+++ "):
            new = row[4:].rstrip("\n\t").removeprefix("b/")
            path = self._old if new == "/dev/null" else new
            self._lines = self._owners.setdefault(path, []) if self._source(path) else None
            if self._lines is not None and len(self._lines) > _LONGEST_FILE:
                self._lines = None

    def _hunk(self, row: str) -> None:
        match = _HUNK.match(row)
        if match is None:
            return
        self._left_old, self._left_new = int(match[2] or 1), int(match[4] or 1)
        if self._lines is None:
            return
        first = int(match[1]) + self._shift - (1 if self._left_old else 0)
        end = first + self._left_old
        self._lines += [""] * (end - len(self._lines))
        self._gone = self._lines[first:end]
        self._lines[first:end] = [self.now.commit] * self._left_new
        self._shift += self._left_new - self._left_old


def replay(clone: Path, source: Callable[[str], bool] = is_source) -> Iterator[Touched]:
    """The first-parent commits, oldest first, each with the lines of earlier commits that it touches."""
    state = _Replay(source)
    for row in _patches(clone):
        done = state.read(row)
        if done is not None:
            yield done
    if state.now.commit:
        yield state.now

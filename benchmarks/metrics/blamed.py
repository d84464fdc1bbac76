"""Whose lines do later fixes, refactorings and speed-ups of a clone change? (labels after Sliwerski, Zimmermann, Zeller)

The first-parent line of a history is replayed patch by patch, each line of each source file keeping the commit that
wrote it: one pass of `git log`, no call of `git blame`. Whitespace is ignored; comments and blank lines are no evidence.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bot.landing import linguist
from bot.landing.lines import NO_RULES
from bot.landing.places import own_part

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_COMMENT = re.compile(r"\s*(?:#(?![\[!i])|//|/\*|\*[\s/]|--|\"\"\"|''')")
_LONGEST_FILE = 30_000
_NO_SOURCE = "lock sum json md rst txt snap svg gif png jpg ico ipynb yaml yml toml csv min.js map po golden woff2".split()
"""endings that git need not even show: none of them is source"""


@dataclass(slots=True)
class Touched:
    """One commit of the first-parent line, and how many lines of which earlier commits it changes or removes."""

    commit: str
    at: int
    subject: str
    lines: dict[str, int] = field(default_factory=dict)


def is_source(path: str) -> bool:
    return own_part(path, linguist.language(path), NO_RULES) == "authored"


def _patches(clone: Path) -> Iterator[str]:
    command = ["git", "-C", str(clone), "-c", "core.quotePath=false", "log", "--first-parent", "-m", "--reverse", "-p"]
    options = ["-U0", "-w", "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--format=%x01%H %ct %s", "HEAD"]
    with subprocess.Popen([*command, *options, "--", ".", *(f":(exclude,glob)**/*.{ending}" for ending in _NO_SOURCE)], stdout=subprocess.PIPE, text=True, errors="replace") as process:
        assert process.stdout is not None
        yield from process.stdout


def replay(clone: Path, source: Callable[[str], bool] = is_source) -> Iterator[Touched]:
    """The commits of the first-parent line, oldest first, each with the lines of earlier commits that it touches."""
    owners: dict[str, list[str]] = {}
    now: Touched | None = None
    old = new = ""
    shift = left_old = left_new = 0
    lines: list[str] | None = None
    gone: list[tuple[int, str]] = []
    for row in _patches(clone):
        if left_old or left_new:
            if row.startswith("-"):
                left_old -= 1
                if lines is not None and now is not None and gone[-left_old - 1 :]:
                    owner = gone[len(gone) - left_old - 1][1]
                    text = row[1:].rstrip()
                    if owner and text and not _COMMENT.match(text):
                        now.lines[owner] = now.lines.get(owner, 0) + 1
            elif row.startswith("+"):
                left_new -= 1
            continue
        if row.startswith("\x01"):
            if now is not None:
                yield now
            commit, at, subject = row[1:].rstrip("\n").split(" ", 2)
            now = Touched(commit, int(at), subject)
            lines = None
        elif row.startswith("diff --git "):
            lines, old, new, shift = None, "", "", 0
        elif row.startswith("rename from "):
            old = row[12:].rstrip("\n")
        elif row.startswith("rename to "):
            new = row[10:].rstrip("\n")
            if old in owners:
                owners[new] = owners.pop(old)
        elif row.startswith("--- "):
            old = row[4:].rstrip("\n").rstrip("\t").removeprefix("a/")
        elif row.startswith("+++ "):
            new = row[4:].rstrip("\n").rstrip("\t").removeprefix("b/")
            path = old if new == "/dev/null" else new
            lines = owners.setdefault(path, []) if source(path) else None
            if lines is not None and len(lines) > _LONGEST_FILE:
                lines = None
        elif row.startswith("@@ ") and now is not None:
            match = _HUNK.match(row)
            if match is None:
                continue
            first, left_old = int(match[1]), int(match[2] or 1)
            left_new = int(match[4] or 1)
            if lines is None:
                gone = []
                continue
            at_line = first + shift - (1 if left_old else 0)
            if len(lines) < at_line + left_old:
                lines += [""] * (at_line + left_old - len(lines))
            gone = [(index, lines[index]) for index in range(at_line, at_line + left_old)]
            lines[at_line : at_line + left_old] = [now.commit] * left_new
            shift += left_new - left_old
    if now is not None:
        yield now

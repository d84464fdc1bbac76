"""Which commits did their authors label by a changelog fragment or section, or by the title of the merge?

Projects without conventional prefixes use other labels: a file with a release note that the commit adds
(`123.bugfix.rst`, `fix_a_crash.md`, `kind: bug-fix`), the section or tag of a line that it adds to the changelog (`###
Fixed`, `* [BUGFIX]`), or the title of its merge (`bug #123 …`). The label itself is hidden from the training.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from benchmarks.metrics.labelled_commits import MOST_COMMITS, Labelled, git
from bot.landing.lines.diff import read_diff
from bot.landing.lines.split import ReadFile, read_files
from bot.metrics.kind_notes import OTHER, NoteKind, is_note, kinds_noted
from bot.model.commit import FileChange
from bot.model.ids import Kind

_FOLDERS = (
    "changelog", "changelog.d", "news", "newsfragments", "topfiles", "changelogs/fragments", "releasenotes/notes",
    "changelog/fragments", "docs/build/unreleased", ".changelog", ".chloggen",
)  # fmt: skip
"""folders of release notes, as in `bot.metrics.kind_notes`"""
_MERGE = re.compile(r"(bug|security|feature|minor) #\d+")
_MERGED: dict[str, NoteKind] = {"bug": "bug_fix", "security": "bug_fix", "feature": "feature", "minor": OTHER}
_BOT = re.compile(r"\[bot\]|dependabot|renovate|pre-commit-ci|patchback|meeseeks|weblate|Proposal Bot", re.IGNORECASE)
_BATCH = 100
_DRAWN = 4 * MOST_COMMITS
_LONGEST_DIFF = 60_000
_MOST_FILES = 300
_FEWEST_MERGES = 50
"""merge titles with a kind from which on a project is considered to use them"""


class _Commit(Struct, frozen=True):
    id: str
    author: str
    message: str
    files: tuple[FileChange, ...]


def of_clone(path: Path, most: int = MOST_COMMITS) -> list[Labelled]:
    """At most `most` labelled commits of a clone; no kind except feature, fix and docs makes up more than a third."""
    merged = _merge_labels(path)
    found: list[Labelled] = []
    kinds: Counter[Kind] = Counter()
    for commit in _commits(path, sorted(merged) if merged else _candidates(path)):
        row = _label_commit(commit, merged.get(commit.id))
        if row is None or (row.kind not in ("feature", "bug_fix", "docs") and kinds[row.kind] >= most // 3):
            continue
        kinds[row.kind] += 1
        found.append(row)
        if len(found) == most:
            break
    return found


def _candidates(path: Path) -> list[str]:
    pathspecs = [f":(glob)**/{folder}/*" for folder in _FOLDERS]
    return git(
        path, "log", "--no-merges", "--format=%H", "-n", "20000", "--", *pathspecs, ":(glob)**/CHANGELOG.md"
    ).split()


def _merge_labels(path: Path) -> dict[str, NoteKind]:
    """The kind that a merge title gives the single commit that the merge brought."""
    found = {}
    for line in git(path, "log", "--merges", "--first-parent", "--format=%P%x00%s", "-n", "20000").split("\n"):
        parents, _, title = line.partition("\0")
        match, sides = _MERGE.match(title), parents.split()
        if match and len(sides) == 2:
            own = git(path, "rev-list", "--no-merges", f"{sides[0]}..{sides[1]}").split()
            if len(own) == 1:
                found[own[0]] = _MERGED[match[1]]
    return found if len(found) >= _FEWEST_MERGES else {}


def _commits(path: Path, chosen: list[str]) -> Iterator[_Commit]:
    random.Random(7).shuffle(chosen)
    form = "--format=%x01%x01%H%x02%an%x02%B%x02"
    for at in range(0, min(len(chosen), _DRAWN), _BATCH):
        args = ("log", "--no-walk=unsorted", "--stdin", "-p", "-M", "-U40", "--root", "--no-ext-diff", form)
        for part in git(path, *args, stdin="\n".join(chosen[at : at + _BATCH])).split("\1\1")[1:]:
            name, author, message, diff = (*part.split("\2", 3), "", "", "")[:4]
            yield _Commit(name, author, message, read_diff(diff.lstrip("\n")[: 4 * _LONGEST_DIFF].encode()))


def _label_commit(commit: _Commit, merged: NoteKind) -> Labelled | None:
    title, _, body = commit.message.strip().partition("\n")
    if _BOT.search(commit.author) or len(commit.files) > _MOST_FILES or title.startswith("Merge "):
        return None
    hidden = [file for file in commit.files if is_note(file.path)]
    visible = read_files([file for file in commit.files if file not in hidden])
    noted = {merged} if merged else {kind for file in hidden for kind in kinds_noted(file)}
    if len(noted) != 1 or not visible:
        return None
    kind = noted.pop()
    return Labelled(_object(visible) if kind == OTHER else kind, "", title, body[:4000], visible) if kind else None


def _object(files: Iterable[ReadFile]) -> Kind:
    """The kind of other work, by the parts that it touches."""
    parts = {file.part for file in files}
    if parts == {"tests"}:
        return "test"
    if parts == {"docs"}:
        return "docs"
    return "refactor" if "authored" in parts else "chore"

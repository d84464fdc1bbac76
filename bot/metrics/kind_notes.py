"""Which kind does a change's release note state?

Projects without prefixes often state the kind of each change anyway: by the name or first word of a separate note
(towncrier's `123.bugfix.rst`, `fix_a_crash.md`, `bugfixes:`, `kind: bug-fix`), or by the section or tag of the line it
adds to the changelog (`### Fixed`, `* [BUGFIX]`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, Literal

from bot.landing.lines.split import ReadFile
from bot.metrics.kind_rules import StatedKind
from bot.model.commit import FileChange
from bot.model.ids import Kind

OTHER: Final = "other"
"""the note calls it none of the kinds below: internal work"""
NoteKind = Kind | Literal["other"] | None
"""None for a note with another meaning, such as a removal"""
_WORDS: dict[Kind | Literal["other"], str] = {
    "feature": "feature features improvement improvements enhancement enhancements added new usecase minor_changes "
    "major_changes new-feature new_component",
    "bug_fix": "bugfix bugfixes bugs bug fix fixed fixes bug-fix bug_fix security security_fixes",
    "docs": "doc docs docfix documentation",
    "perf": "perf performance",
    OTHER: "misc trivial contrib packaging minor internal",
}
_KINDS = {word: kind for kind, words in _WORDS.items() for word in words.split()}
_FOLDERS = (
    r"changelogs?(?:\.d|/fragments)?|news(?:fragments)?|topfiles|releasenotes/notes|docs/build/unreleased"
    r"|\.changelog|\.chloggen"
)
_NOTE = re.compile(rf"(?:^|/)(?:{_FOLDERS})/[^/]+$", re.IGNORECASE)
_CHANGELOG = re.compile(r"(?:^|/)CHANGE(?:LOG|S)\.(?:md|rst|txt)$", re.IGNORECASE)
_KIND_IN_NAME = re.compile(
    r"(?:(?P<start>fix|new|change)_\w{1,200}\.md|[^/.]{0,80}\.(?P<end>[a-z]{2,20})(?:\.\d{1,3})?(?:\.(?:rst|md|txt))?)$"
)
_KIND_LINE = re.compile(r"(?:kind: |change_type: |```release-note:|:tags: )?([a-z_-]{3,20})(?::\s{0,4}$|,|\s{0,4}$)")
_HEADING = re.compile(r"#{1,4} {1,3}([^\s:]{1,20})|([A-Z][a-z]{2,20})(?: [a-z]{1,20}){0,2}:$")
"""`### Bug fixes` and `Bug fixes:`, by their first word"""
_ENTRY = re.compile(r"[*-] {1,3}(?:\[?(?P<tag>[A-Z]{3,14})\b)?")
_VERSION = re.compile(r"\+#{1,4} .{0,40}\d\.\d|\+\d+\.\d")
"""the heading of a release, whose notes belong to many changes"""
_MOST_LINES = 200


def noted_kind(files: Sequence[ReadFile]) -> StatedKind | None:
    """The kind on which all release notes of a change to source agree, with the file that states it."""
    notes = [file.change for file in files if is_note(file.change.path)]
    if not notes or not any(file.part == "authored" for file in files):
        return None
    kinds = {kind for note in notes for kind in kinds_noted(note)}
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind is None or kind == OTHER:
        return None
    return kind, f"release note {notes[0].path.rpartition('/')[2][:60]}"


@lru_cache(maxsize=2048)
def is_note(path: str) -> bool:
    """Whether a file is a release note of one change, or the changelog itself."""
    return _NOTE.search(path) is not None or _CHANGELOG.search(path) is not None


def kinds_noted(note: FileChange) -> Iterable[NoteKind]:
    """The kinds that one file of release notes states for this change."""
    if _CHANGELOG.search(note.path):
        return _sections(note.patch or "")
    if note.status != "added":
        return ()
    named = _KIND_IN_NAME.match(note.path.rpartition("/")[2])
    word = (named["end"] or named["start"]) if named else ""
    if word in _KINDS:
        return (_KINDS[word],)
    matches = [_KIND_LINE.match(line[1:].strip()) for line in _added(note)]
    return {_KINDS[one[1]] for one in matches if one and one[1] in _KINDS} or (None,)


def _added(note: FileChange) -> list[str]:
    return [line for line in (note.patch or "").split("\n", _MOST_LINES)[:_MOST_LINES] if line.startswith("+")]


def _sections(patch: str) -> set[NoteKind]:
    """The kinds of the tags, else of the headings, of the entries added to a changelog."""
    heading = ""
    found: set[NoteKind] = set()
    for line in patch.split("\n", _MOST_LINES)[:_MOST_LINES]:
        if _VERSION.match(line):
            return {None}
        head = _HEADING.match(line, 1)
        if head or line.startswith("@@"):
            heading = (head[1] or head[2]).lower() if head and line[0] != "-" else ""
        entry = _ENTRY.match(line, 1) if line.startswith("+") else None
        if entry:
            found.add(_KINDS.get((entry["tag"] or "").lower()) or _KINDS.get(heading))
    return found

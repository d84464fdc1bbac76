"""Which part of the split each changed line of a commit is in.

Order of authority: the repository's own globs, its .gitattributes, a mark in the file's header, path rules, shape.
`docs/lines.md` describes the parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bot.landing import content, generated_marks, linguist
from bot.landing.moves import Sides, count_moves, whitespace_only, without
from bot.landing.notebook import cell_lines, is_notebook
from bot.landing.patch import PatchLines, read_patches
from bot.landing.places import NO_RULES, Place, Rules, own_part, place
from bot.model import FileChange, Lines

__all__ = ["ReadFile", "Rules", "languages", "read_files", "split"]

NOT_OURS = frozenset({"generated", "vendored", "lockfiles"})
"""parts that nobody of the project wrote; within them neither moves nor blanks are told apart"""

_WIDE_LINE = 500
_WIDE_SHARE = 0.8
_MINIFIED_WIDTH = 110
_MINIFIABLE = (".js", ".css", ".mjs", ".cjs")
_NUMBERS_FROM = 100
_NUMBER_SHARE = 0.8
_NUMBER_CHARACTERS = str.maketrans("", "", "0123456789abcdefABCDEFxXuUlL.,+-{}[]() \t\r;:")
_HEAD_LINES = 200


class ReadFile(NamedTuple):
    """One file of a commit with its part and language.

    Its changed lines count in `part`, except `moved`, `whitespace` and `generated` (outputs in a notebook) of them.
    `added` and `removed` are the lines of the patch, of a notebook those of its cells; empty where no patch is shown
    and where the path alone says that nobody of the project wrote them.
    """

    change: FileChange
    part: str
    language: str | None
    added: Sequence[str]
    removed: Sequence[str]
    moved: int = 0
    whitespace: int = 0
    generated: int = 0


def read_files(
    files: Sequence[FileChange], rules: Rules = NO_RULES, patches: Sequence[PatchLines | None] | None = None
) -> tuple[ReadFile, ...]:
    """The files of one commit, read. Moves are looked for over all of them.

    `patches` are their lines, where somebody has read them already.
    """
    patches = read_patches(files) if patches is None else patches
    read = [_read(change, lines, rules) for change, lines in zip(files, patches, strict=True)]
    moved = count_moves([sides for _, sides in read if sides is not None])
    if not moved:
        return tuple([one for one, _ in read])
    counts = iter(moved)
    return tuple([one if sides is None else _with_moves(one, next(counts)) for one, sides in read])


def _with_moves(read: ReadFile, moved: int) -> ReadFile:
    return read._replace(moved=moved) if moved else read


def _read(change: FileChange, lines: PatchLines | None, rules: Rules) -> tuple[ReadFile, Sides | None]:
    """One file, and where moves may be looked for: in what is the project's own, and did not only change in blanks."""
    if change.submodule or change.symlink:
        return ReadFile(change, "vendored" if change.submodule else "config", None, (), ()), None
    found = place(change.path, rules)
    if lines is None:
        return ReadFile(change, found.part or found.own, found.language, (), ()), None
    if found.part in ("lockfiles", "generated") or (found.ruled and found.part in NOT_OURS):
        return ReadFile(change, found.part, found.language, (), ()), None
    language = found.language if found.settled else _language(change.path, lines, found)
    part = _part(change, lines, found, rules, language)
    if part in NOT_OURS:
        return ReadFile(change, part, language, lines.added, lines.removed), None
    if is_notebook(change.path):
        return _notebook(change, lines, part, language), None
    return _own_text(change, lines, part, language)


def _own_text(change: FileChange, lines: PatchLines, part: str, language: str | None) -> tuple[ReadFile, Sides]:
    added, removed = lines.added, lines.removed
    blanks = whitespace_only(lines) if added and removed else None
    if blanks is None:
        return ReadFile(change, part, language, added, removed), lines.bare
    old, new = blanks
    read = ReadFile(change, part, language, added, removed, 0, len(old) + len(new))
    return read, (without(added, new), without(removed, old))


def _notebook(change: FileChange, lines: PatchLines, part: str, language: str | None) -> ReadFile:
    added, removed = cell_lines(lines.added), cell_lines(lines.removed)
    outputs = len(lines.added) + len(lines.removed) - len(added) - len(removed)
    return ReadFile(change, part, language, added, removed, generated=outputs)


def _language(path: str, lines: PatchLines, found: Place) -> str | None:
    """By the lines of the patch where the name allows several; its first lines only where the patch begins there."""
    shown = (lines.added or lines.removed)[:_HEAD_LINES]
    if not lines.at_top:
        head = ["", *content.cut(shown)]
    else:
        head = content.cut(shown if _is_whole(lines) else lines.head + shown) or [""]
    return linguist.language_by_head(path, head) or found.language


def _is_whole(lines: PatchLines) -> bool:
    """Whether the patch adds or removes a whole file, so that its lines are all there is."""
    if lines.added and lines.removed:
        return False
    hunks = lines.hunks
    return "\n " not in hunks and "\n\n" not in hunks and not hunks.endswith("\n")


def _part(change: FileChange, lines: PatchLines, found: Place, rules: Rules, language: str | None) -> str:
    if found.ruled and found.part:
        return found.part
    if not found.hand_written:
        if lines.at_top and generated_marks.by_header(change.path, lines.head):
            return "generated"
        if found.part is None and _has_generated_shape(change, lines, language):
            return "generated"
    same = found.part or language == found.language
    return found.own if same else own_part(change.path, language, rules)


def _has_generated_shape(change: FileChange, lines: PatchLines, language: str | None) -> bool:
    """Minified text, or a table of numbers: nearly all characters in very long lines, or nearly all lines numbers."""
    changed = lines.added or lines.removed
    count = len(changed)
    # the hunks hold the changed lines and more: where they are narrow, those are
    wide = (
        bool(count) and len(lines.hunks) > _MINIFIED_WIDTH * count and sum(map(len, changed)) > _MINIFIED_WIDTH * count
    )
    if not wide and count < _NUMBERS_FROM:
        return False
    if linguist.language_type(language) == "prose" or is_notebook(change.path):
        return False
    if wide and (_is_minified(change) or _is_wide(changed)):
        return True
    return count >= _NUMBERS_FROM and _is_table(changed)


def _is_minified(change: FileChange) -> bool:
    return change.status == "added" and change.path.endswith(_MINIFIABLE)


def _is_wide(changed: Sequence[str]) -> bool:
    sizes = list(map(len, changed))
    return sum([size for size in sizes if size > _WIDE_LINE]) > _WIDE_SHARE * sum(sizes)


def _is_table(changed: Sequence[str]) -> bool:
    """Whether more than four lines in five hold numbers and nothing else (a sample of a hundred decides)."""
    sample = changed[:: len(changed) // _NUMBERS_FROM]
    others = 0
    for line in sample:
        others += not _is_numbers(line)
        if len(sample) - others <= _NUMBER_SHARE * len(sample):
            return False
    return True


def _is_numbers(line: str) -> bool:
    return not line[:400].translate(_NUMBER_CHARACTERS) and any(map(str.isdigit, line[:80]))


def split(read: Sequence[ReadFile]) -> Lines:
    """The changed lines of a commit by part; they sum to its additions + deletions whatever the patches hold."""
    parts: dict[str, int] = {}
    for one in read:
        change = one.change
        left = max(0, change.additions) + max(0, change.deletions)
        if one.generated or one.whitespace or one.moved:
            for part, count in (("generated", one.generated), ("whitespace", one.whitespace), ("moved", one.moved)):
                taken = min(count, left)
                parts[part] = parts.get(part, 0) + taken
                left -= taken
        parts[one.part] = parts.get(one.part, 0) + left
    return Lines(**parts)


def languages(read: Sequence[ReadFile]) -> dict[str, int]:
    """Authored and test lines by language, most first, then by name; lines in no known language are left out."""
    found: dict[str, int] = {}
    for one in read:
        if one.language is None or one.part not in ("authored", "tests"):
            continue
        total = one.change.additions + one.change.deletions
        lines = total - one.moved - one.whitespace - one.generated
        if lines > 0:
            found[one.language] = found.get(one.language, 0) + lines
    return dict(sorted(found.items(), key=lambda row: (-row[1], row[0]))) if len(found) > 1 else found

"""Which part of the split does each changed line of a commit belong to?

In order of precedence: the repository's own globs, its .gitattributes, a mark in the file's header, path rules, shape.
`docs/lines.md` describes the parts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from bot.landing.lines import content, generated_marks, linguist
from bot.landing.lines.moves import Sides, count_moves, whitespace_only, without_lines
from bot.landing.lines.patch import PatchLines, read_patches
from bot.landing.lines.path_parts import is_source_of_language
from bot.landing.lines.paths import NO_RULES, PathClassification, Rules, classify_path, own_part
from bot.model.commit import FileChange
from bot.model.fact import Lines

__all__ = ["ReadFile", "Rules", "languages", "read_all", "read_files", "split"]

NOT_OURS = frozenset({"generated", "vendored", "lockfiles"})
"""parts that nobody in the project wrote; they are not searched for moves or whitespace changes"""

_WIDE_LINE = 500
_WIDE_SHARE = 0.8
_MINIFIED_WIDTH = 110
_MINIFIABLE = (".js", ".css", ".mjs", ".cjs")
_NUMBERS_FROM = 100
_NUMBER_SHARE = 0.8
_NUMBER_CHARACTERS = str.maketrans("", "", "0123456789abcdefABCDEFxXuUlL.,+-{}[]() \t\r;:")
_HEAD_LINES = 200
_CELL_TEXT = re.compile(r' {4}("(?:[^"\\]|\\.)*+"),?\Z')
"""a line of a cell: a notebook is JSON with an indent of one, and only the text of cells is indented by four blanks"""


class ReadFile(NamedTuple):
    """One file of a commit with its part and language.

    Its changed lines count in `part`, except those counted in `moved`, `whitespace` and `generated` (outputs of a
    notebook). `added` and `removed` are the lines of the patch, or of the cells of a notebook; empty if there is no
    patch or the path alone shows that nobody in the project wrote them.
    """

    change: FileChange
    part: str
    language: str | None
    added: Sequence[str]
    removed: Sequence[str]
    moved: int = 0
    whitespace: int = 0
    generated: int = 0


def read_files(files: Sequence[FileChange], rules: Rules = NO_RULES) -> tuple[ReadFile, ...]:
    """The files of one commit, read. Moves are detected across all of them."""
    return read_all((files,), (read_patches(files),), rules)[0]


def read_all(
    group: Sequence[Sequence[FileChange]], patches: Sequence[Sequence[PatchLines | None]], rules: Rules = NO_RULES
) -> list[tuple[ReadFile, ...]]:
    """The files of several commits, processed together step by step; `patches` are their lines."""
    files = list(zip(chain.from_iterable(group), chain.from_iterable(patches), strict=True))
    read = [_read(change, lines, rules) for change, lines in files]
    seen = iter([_with_blanks(one, lines) for one, (_, lines) in zip(read, files, strict=True)])
    return [_with_moves([next(seen) for _ in commit]) for commit in group]


def _with_moves(seen: Sequence[tuple[ReadFile, Sides | None]]) -> tuple[ReadFile, ...]:
    """The files of one commit, with the number of moved lines in each."""
    moved = count_moves([sides for _, sides in seen if sides is not None])
    if not moved:
        return tuple([read for read, _ in seen])
    counts = iter(moved)
    return tuple([read if sides is None else read._replace(moved=next(counts)) for read, sides in seen])


def _read(change: FileChange, lines: PatchLines | None, rules: Rules) -> ReadFile:
    """One file, before moves and whitespace changes are detected."""
    if change.submodule or change.symlink:
        return ReadFile(change, "vendored" if change.submodule else "config", None, (), ())
    found = classify_path(change.path, rules)
    if lines is None:
        return ReadFile(change, found.part or found.own, found.language, (), ())
    if found.part in ("lockfiles", "generated") or (found.ruled and found.part in NOT_OURS):
        return ReadFile(change, found.part, found.language, (), ())
    language = found.language if found.is_certain else _language(change.path, lines, found)
    part = _part(change, lines, found, rules, language)
    if part not in NOT_OURS and _is_notebook(change.path):
        return _notebook(change, lines, part, language)
    return ReadFile(change, part, language, lines.added, lines.removed)


def _with_blanks(read: ReadFile, lines: PatchLines | None) -> tuple[ReadFile, Sides | None]:
    """The file with its whitespace-only changes, and its other lines, in which moves may be found.

    Text that is not the project's own is not examined.
    """
    if lines is None or read.part in NOT_OURS or read.change.symlink or _is_notebook(read.change.path):
        return read, None
    blanks = whitespace_only(lines) if lines.added and lines.removed else None
    if blanks is None:
        return read, lines.bare
    old, new = blanks
    return read._replace(whitespace=len(old) + len(new)), (
        without_lines(lines.added, new),
        without_lines(lines.removed, old),
    )


def _notebook(change: FileChange, lines: PatchLines, part: str, language: str | None) -> ReadFile:
    added, removed = _cell_lines(lines.added), _cell_lines(lines.removed)
    outputs = len(lines.added) + len(lines.removed) - len(added) - len(removed)
    return ReadFile(change, part, language, added, removed, generated=outputs)


def _is_notebook(path: str) -> bool:
    return path.endswith(".ipynb")


def _cell_lines(lines: Iterable[str]) -> list[str]:
    """The lines of cells among the raw lines of a notebook, decoded as they appear in the cell.

    The text of cells is authored; outputs, counters and metadata are generated.
    """
    return [_decode(found[1]).removesuffix("\n") for line in lines if (found := _CELL_TEXT.match(line))]


def _decode(literal: str) -> str:
    try:
        return str(json.loads(literal))
    except ValueError:
        return literal[1:-1]


def _language(path: str, lines: PatchLines, found: PathClassification) -> str | None:
    """By the lines of the patch if the name allows several; by its first lines only if the patch begins at the top."""
    changed = (lines.added or lines.removed)[:_HEAD_LINES]
    if not lines.at_top:
        head = ["", *content.cut(changed)]
    else:
        head = content.cut(changed if _is_whole(lines) else lines.head + changed) or [""]
    return linguist.language_by_head(path, head) or found.language


def _is_whole(lines: PatchLines) -> bool:
    """Whether the patch adds or removes a whole file, so that its lines are the complete text."""
    if lines.added and lines.removed:
        return False
    hunks = lines.hunks
    return "\n " not in hunks and "\n\n" not in hunks and not hunks.endswith("\n")


def _part(change: FileChange, lines: PatchLines, found: PathClassification, rules: Rules, language: str | None) -> str:
    if found.ruled and found.part:
        return found.part
    if not found.hand_written:
        if lines.at_top and generated_marks.has_generated_header(change.path, lines.head):
            return "generated"
        if found.part is None and _has_generated_shape(change, lines, language):
            return "generated"
    same = found.part or language == found.language
    return found.own if same else own_part(change.path, language, rules)


def _has_generated_shape(change: FileChange, lines: PatchLines, language: str | None) -> bool:
    """Minified text, or a table of numbers: nearly all characters in very long lines, or nearly all lines numeric."""
    changed = lines.added or lines.removed
    count = len(changed)
    # the hunks contain the changed lines and more: if the hunks are narrow, so are the lines
    wide = (
        bool(count) and len(lines.patch) > _MINIFIED_WIDTH * count and sum(map(len, changed)) > _MINIFIED_WIDTH * count
    )
    if not wide and count < _NUMBERS_FROM:
        return False
    if linguist.language_type(language) == "prose" or _is_notebook(change.path):
        return False
    if wide and ((change.status == "added" and change.path.endswith(_MINIFIABLE)) or _is_wide(changed)):
        return True
    return count >= _NUMBERS_FROM and _is_table(changed)


def _is_wide(changed: Sequence[str]) -> bool:
    sizes = list(map(len, changed))
    return sum([size for size in sizes if size > _WIDE_LINE]) > _WIDE_SHARE * sum(sizes)


def _is_table(changed: Sequence[str]) -> bool:
    """Whether more than four in five lines contain only numbers, in a sample of about a hundred."""
    sample = changed[:: len(changed) // _NUMBERS_FROM]
    others = 0
    for line in sample:
        others += not (not line[:400].translate(_NUMBER_CHARACTERS) and any(map(str.isdigit, line[:80])))
        if len(sample) - others <= _NUMBER_SHARE * len(sample):
            return False
    return True


def split(read: Sequence[ReadFile]) -> Lines:
    """The changed lines of a commit by part; they always sum to its additions + deletions, whatever
    is in the patches.
    """
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
    """Hand-written lines by language as github.com counts them, most first, then by name.

    Programming and markup languages, each under the name of its group; without data, prose and documentation, and
    without what Linguist's path rules call vendored, fixtures or snapshots.
    """
    found: dict[str, int] = {}
    for one in read:
        if one.language is None or one.part not in _COUNTED_PARTS:
            continue
        language = linguist.counted_language(_language_beside(one, read))
        total = one.change.additions + one.change.deletions
        lines = total - one.moved - one.whitespace - one.generated
        if lines > 0 and language and is_source_of_language(one.change.path):
            found[language] = found.get(language, 0) + lines
    return dict(sorted(found.items(), key=lambda row: (-row[1], row[0]))) if len(found) > 1 else found


_COUNTED_PARTS = frozenset({"authored", "tests", "config"})
_BESIDE = {"C": (".h", ("C++", "Objective-C++", "Objective-C")), "C++": (".inc", ("PHP", "Assembly"))}
"""what an ending that several languages share is taken for, and what it is beside files of only these"""


def _language_beside(one: ReadFile, read: Sequence[ReadFile]) -> str:
    """The language of a file; where its name allows several, that of the files that the same commit changes."""
    language = one.language or ""
    ending, others = _BESIDE.get(language, ("", ()))
    if ending and one.change.path.endswith(ending):
        beside = {other.language for other in read if not other.change.path.endswith(ending)}
        if language not in beside:
            language = next((name for name in others if name in beside), language)
    return language

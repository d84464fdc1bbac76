"""Which source lines does one commit add to and remove from each file, as hashes small enough to be stored?

A line is known by four bytes: the CRC of its text without blanks, with one sort of quotation mark and without a comma
or semicolon at its end, so that changed indentation and most formatting leave it the same line. Comments, docstrings,
constants and lines with fewer than four letters or digits are not kept.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate, compress, pairwise
from typing import NamedTuple
from zlib import crc32

from bot.landing.lines.split import ReadFile

LEAST_CHARACTERS = 4
"""letters or digits of a line that is kept"""
MOST_LINES = 20_000
"""lines of one commit that are kept: more are an import of somebody's history, or generated"""

_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") | set(range(128, 256))
_NO_LETTERS = bytes(set(range(256)) - _LETTERS - {10})
_BLANKS = b" \t\r\f\v"
_ONE_QUOTE = bytes.maketrans(b"'`", b'""')
_LAYOUT = b"\n \t\r\"'`,;()\\"
"""what a formatter adds and removes when it wraps a line"""
_LITERAL = rb'(?:[-+]?[\d][\w.]*|[rbfuL]{0,2}"[^"\n]*"|(?i:true|false|null|none|nil|undefined))'
_CONSTANT = re.compile(
    rb'(?:#define[^(\n]*|(?:[\w.$#"\[\]<>*&?|-]+(?::[\w.\[\]<>?|&]+)?(?::=|=>|=|:))?' + _LITERAL + rb"(?:[,\])}]+|"
    rb"," + _LITERAL + rb")*)\Z"
)
"""a line that only names a value"""
_CONSTANT_ENDS = frozenset(b'0123456789"eElLfFxX])}abcdABCDsuU')
_HEADER = 7
"""numbers before the hashes of a file: its name and former name in two each, then how many are added, removed and
paired"""
_DELETED = 1 << 31


class FileHashes(NamedTuple):
    """The source lines of one file that one commit added and removed; those it left the same are in neither."""

    file: int
    former: int
    """the file's name before this commit; 0 if it is not renamed"""
    deleted: bool
    added: Sequence[int]
    removed: Sequence[int]
    pairs: Sequence[int] = ()
    """lines before and after, in turn, of a file that was only formatted"""


@lru_cache(maxsize=4096)
def file_key(path: str) -> int:
    """The file's name as a number of 63 bits."""
    return int.from_bytes(blake2b(path.encode("utf-8", "surrogateescape"), digest_size=8).digest(), "big") >> 1


def hash_lines(read: Sequence[ReadFile]) -> bytes:
    """The hashes of one commit's source files, packed; empty if it touches none."""
    files = []
    room = MOST_LINES
    for file in read:
        if file.part == "authored":
            found = _file_hashes(file)
            room -= len(found.added) + len(found.removed)
            if room < 0:
                break
            if found.added or found.removed or found.pairs or found.former or found.deleted:
                files.append(found)
    return pack(files) if files else b""


def _file_hashes(file: ReadFile) -> FileHashes:
    change = file.change
    former = file_key(change.previous_path) if change.status == "renamed" and change.previous_path else 0
    added, removed = _codes(file.added, file.language), _codes(file.removed, file.language)
    pairs: Sequence[int] = ()
    if added and removed:
        if _without_layout(added) == _without_layout(removed):
            pairs = _pairs(removed, added)
            added, removed = [], []
        else:
            added, removed = _differing(added, removed)
    hashes = list(map(crc32, added)), list(map(crc32, removed))
    return FileHashes(file_key(change.path), former, change.status == "removed", *hashes, pairs)


def _codes(lines: Sequence[str], language: str | None) -> list[bytes]:
    """The lines that are kept, as they are hashed."""
    if not lines:
        return []
    code = "\n".join(code_lines(lines, language)).encode("utf-8", "surrogatepass")
    text = code.translate(_ONE_QUOTE, _BLANKS).replace(b",\n", b"\n").replace(b";\n", b"\n").rstrip(b",;")
    found = text.split(b"\n")
    letters = [len(line) >= LEAST_CHARACTERS for line in text.translate(None, _NO_LETTERS).split(b"\n")]
    return [line for line in compress(found, letters) if line[-1] not in _CONSTANT_ENDS or not _CONSTANT.match(line)]


def line_hash(line: str) -> int | None:
    """The hash of one line by itself; None for a line that is not kept."""
    found = _codes([line], None)
    return crc32(found[0]) if found else None


def _without_layout(lines: Sequence[bytes]) -> bytes:
    return b"".join(lines).translate(None, _LAYOUT)


def _pairs(before: Sequence[bytes], after: Sequence[bytes]) -> list[int]:
    """Each line before with the line after that holds its beginning; a line after takes the place of one only."""
    starts = list(accumulate((len(line.translate(None, _LAYOUT)) for line in before), initial=0))[:-1]
    ends = list(accumulate(len(line.translate(None, _LAYOUT)) for line in after))
    found: list[int] = []
    at, used = 0, -1
    for line, start in zip(before, starts, strict=True):
        while at < len(ends) - 1 and ends[at] <= start:
            at += 1
        if at != used:
            if line != after[at]:
                found += (crc32(line), crc32(after[at]))
            used = at
    return found


def _differing(added: list[bytes], removed: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Both without the lines that they share, as often as they do."""
    if not set(added).intersection(removed):
        return added, removed
    more, fewer = Counter(added), Counter(removed)
    return list((more - fewer).elements()), list((fewer - more).elements())


# --- stored form -----------------------------------------------------------------------------------------------------


def pack(files: Sequence[FileHashes]) -> bytes:
    """Little-endian numbers of 32 bits."""
    numbers = array("I")
    for file in files:
        counts = (len(file.added) | (_DELETED if file.deleted else 0), len(file.removed), len(file.pairs))
        numbers.extend((*divmod(file.file, 1 << 32), *divmod(file.former, 1 << 32), *counts))
        for hashes in (file.added, file.removed, file.pairs):
            numbers.extend(hashes)
    return _in_order(numbers).tobytes()


def unpack(stored: bytes) -> Iterator[FileHashes]:
    """What `pack` wrote."""
    numbers = array("I")
    numbers.frombytes(stored)
    found = _in_order(numbers)
    at = 0
    while at < len(found):
        high, low, was_high, was_low, added, removed, paired = found[at : at + _HEADER]
        at += _HEADER
        ends = list(accumulate((added & ~_DELETED, removed, paired), initial=at))
        parts = [found[start:end] for start, end in pairwise(ends)]
        yield FileHashes(high << 32 | low, was_high << 32 | was_low, bool(added & _DELETED), *parts)
        at = ends[-1]


def _in_order(numbers: array[int]) -> array[int]:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


# --- lines of code ---------------------------------------------------------------------------------------------------

LONGEST_READ = 400
"""characters of a line that are read: a hostile line costs no more than an ordinary one"""

_COMMENTS = ("#", "//", "/*", "*/", "* ", "--", "<!--", ";;", "%%", "'''", '"""')
_COMMENT_STARTS = frozenset("".join(mark[0] for mark in _COMMENTS))
_NOT_COMMENTS = ("#include", "#define", "#if", "#el", "#endif", "#[", "#![", "#pragma", "#import", "--option", "#{")


def code_lines(lines: Sequence[str], language: str | None) -> list[str]:
    """The lines that are neither blank nor comment, with their indentation, cut to a bounded length."""
    if language == "Python":
        lines = _without_docstrings(lines)
    return _bounded(
        [
            line
            for line in lines
            if (text := line.lstrip())
            and (text[0] not in _COMMENT_STARTS or not text.startswith(_COMMENTS) or text.startswith(_NOT_COMMENTS))
        ]
    )


def _bounded(lines: list[str]) -> list[str]:
    wide = max(map(len, lines), default=0) > LONGEST_READ
    return [line[:LONGEST_READ] for line in lines] if wide else lines


def _without_docstrings(lines: Sequence[str]) -> Sequence[str]:
    """Without the lines of strings that begin a line, as a docstring does; what a patch shows half is half known."""
    text = "\n".join(lines)
    if '"""' not in text and "'''" not in text:
        return lines
    kept: list[str] = []
    within, behind = "", 0
    for at in [at for at, line in enumerate(lines) if '"""' in line or "'''" in line]:
        line, before, behind = lines[at], behind, at + 1
        if within:
            within = "" if within in line else within
            continue
        kept += lines[before:at]
        start = line.lstrip().lstrip("rRbBuUfF")[:3]
        if start not in ('"""', "'''"):
            kept.append(line)
        elif line.count(start) < 2:
            within = start
    return kept if within else kept + list(lines[behind:])

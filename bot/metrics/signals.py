"""What the patch of one landed commit shows of its size, shape and habits, in whole numbers.

Only files that the project's people wrote as source count (part `authored`). Blank lines, comments, docstrings and
moved lines never count. A signal that is 0 is left out. `docs/models/quality.md` describes each.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from bot.landing.lines.split import ReadFile
from bot.metrics.loops import loop_signals

WIDE = 120
"""characters from which a line is long"""
LONGEST_READ = 400
"""characters of a line that are looked at: hostile text costs no more than text"""
_DEEP = ("    " * 5, "\t" * 5)
_NARROW_DEEP = ("  " * 5, "\t" * 5)
"""five levels of indentation: from there a line is deep"""
REPEATED_WIDTH = 25
"""characters from which a line that occurs twice is a repetition"""
BIG_FILE = 600
"""lines from which a new file is big"""

_COMMENTS = ("#", "//", "/*", "*/", "* ", "--", "<!--", ";;", "%%", "'''", '"""')
_COMMENT_STARTS = frozenset("".join(mark[0] for mark in _COMMENTS))
_NOT_COMMENTS = ("#include", "#define", "#if", "#el", "#endif", "#[", "#![", "#pragma", "#import", "--option", "#{")
_NARROW = frozenset(
    {
        "JavaScript", "TypeScript", "TSX", "Vue", "Svelte", "Astro", "Ruby", "Dart", "Scala", "Elixir", "Haskell",
        "OCaml", "Lua", "R", "Nix", "HTML", "CSS", "SCSS", "Clojure", "Common Lisp", "Emacs Lisp", "Crystal",
    }
)  # fmt: skip
_IMPORT = re.compile(
    r"\n((?:import |from |use |using |#include|require[ (]|extern crate |@import |open )[^\n]*)",
)
"""in lines without their indentation"""
_REQUIRES = " = require("

# Everything but letters, digits and underscores becomes a space, so that words are counted by plain search; a table of
# bytes is far quicker than one of characters.
_SPACED = bytes(
    code if chr(code).isascii() and (chr(code).isalnum() or chr(code) == "_") else 32 for code in range(256)
)
_BRANCHES = tuple(b"if elif elsif elseif unless case when match switch catch except rescue guard and or".split())
_LOOPS = tuple(b"for while foreach forEach until loop".split())
_FUNCTIONS = tuple(b"def func fn function fun proc sub defp defun defn".split())
_COUNTED = frozenset((*_BRANCHES, *_LOOPS, *_FUNCTIONS, b"each", b"async"))
_OPERATORS = (("&", "&&"), ("|", "||"), ("?", " ? "))
"""each behind its rarest character: to look for one character is far quicker, and mostly enough"""
_FILE_END = "."
"""stands between the lines of two files: at the left margin, and no code"""

_SUPPRESSIONS = re.compile(
    r"noqa|type: ?ignore|pylint: ?disable|pragma: no cover|nosec|eslint-disable|@ts-(?:ignore|expect-error|nocheck)"
    r"|istanbul ignore|nolint|NOLINT|@SuppressWarnings|@Suppress\(|#!?\[allow\(|rubocop:disable"
    r"|phpcs:(?:ignore|disable)|@phpstan-ignore|pyright: ?ignore|swiftlint:disable|ReSharper disable"
    r"|#pragma warning disable|noinspection"
)
_SUPPRESSION_HINTS = (
    ("q", "noqa"), ("@", "@ts-"), ("@", "@Suppress"), ("L", "NOLINT"), ("[", "[allow("), (":", "pragma: no"),
    ("c", "nosec"), ("l", "nolint"), ("i", "noinspection"), ("g", "gnore"), ("b", "isable"),
)  # fmt: skip
"""what is in every one of them, each behind its rarest character"""
_TODO = (("D", "TODO"), ("X", "FIXME"), ("X", "XXX"), ("K", "HACK"))
_PRIVATE = re.compile(
    r"^(?:from [A-Za-z]\w{0,60}(?:\.\w{1,60}){0,6}\._[a-z]\w{0,60} import|from [A-Za-z][\w.]{0,120} import _[a-z]"
    r"|import [A-Za-z]\w{0,60}(?:\.\w{1,60}){0,6}\._[a-z])"
)
_FROM_TESTS = re.compile(
    r"^(?:from|import) tests?\b|^import .{0,80}from ['\"][./]{0,20}(?:tests?|__tests__)/|^use crate::tests?\b"
)


class _Tally(dict[str, int]):
    def more(self, name: str, count: int) -> None:
        if count > 0:
            self[name] = self.get(name, 0) + count


def signals(read: Sequence[ReadFile]) -> dict[str, int]:
    """The signals of one commit by name, sorted."""
    return signals_all((read,))[0]


def signals_all(group: Sequence[Sequence[ReadFile]]) -> list[dict[str, int]]:
    """The same of each of several commits, which are asked one thing after the other together."""
    sources = [[file for file in read if file.part == "authored"] for read in group]
    tallies = [_Tally() for _ in group]
    asked = [(source, tally) for source, tally in zip(sources, tallies, strict=True) if source]
    for source, tally in asked:
        _spread(source, tally)
    for source, tally in asked:
        _removed(source, tally)
    codes = [_added(source, tally) for source, tally in asked]
    shown = [(code, *one) for code, one in zip(codes, asked, strict=True) if code and one[1].get("added")]
    for code, _, tally in shown:
        _shape(code, tally)
    for _, source, tally in shown:
        _suppressions(source, tally)
    return [dict(sorted(tally.items())) for tally in tallies]


def _spread(files: Sequence[ReadFile], tally: _Tally) -> None:
    """How the commit is spread over files and modules; entropy in thousandths of a bit."""
    tally.more("files", len(files))
    tally.more("new_files", len([file for file in files if file.change.status == "added"]))
    tally.more("modules", len({module_of(file.change.path) for file in files}))
    if len(files) > 1:
        sizes = [file.change.additions + file.change.deletions for file in files]
        tally.more("entropy", round(1000 * entropy(sizes)))


@lru_cache(maxsize=2048)
def module_of(path: str) -> str:
    """The module a file belongs to: its folder, two levels deep, `src` and the like apart."""
    folders = [part for part in path.split("/")[:-1] if part not in ("src", "lib", "main", "packages")]
    return "/".join(folders[:2])


def entropy(sizes: Iterable[int]) -> float:
    """Shannon's, in bits, of how lines are spread over files."""
    sizes = [size for size in sizes if size > 0]
    whole = sum(sizes)
    return -sum(size / whole * math.log2(size / whole) for size in sizes) if len(sizes) > 1 else 0.0


def _kept(file: ReadFile, count: int) -> int:
    """Of `count` added lines those that are new; a file knows how many lines moved in and out together."""
    changed = len(file.added) + len(file.removed)
    apart = file.moved + file.whitespace
    return max(0, count - round(apart * len(file.added) / changed)) if apart and changed else count


def _removed(source: Sequence[ReadFile], tally: _Tally) -> None:
    gone: list[str] = []
    for file in source:
        if file.removed:
            gone += code_lines(file.removed, file.language)
    if gone:
        text = "\n".join(gone)
        tally.more("removed", len(gone))
        tally.more("branches_removed", _branches(text, _words(text)))


def _added(source: Sequence[ReadFile], tally: _Tally) -> list[str]:
    """Counts the added lines; those that are code."""
    code: list[str] = []
    for file in source:
        new = file.change.status == "added"
        if file.added:
            lines = code_lines(file.added, file.language)
            tally.more("added", _kept(file, len(lines)))
            tally.more("deep", _deep(lines, narrow=file.language in _NARROW))
            tally.more("big_files", new and len(file.added) > BIG_FILE)
            code += lines
            code.append(_FILE_END)
        elif not file.removed and file.change.patch is None and not file.change.binary:
            tally.more("added", file.change.additions)
            tally.more("removed", file.change.deletions)
    return code


def _deep(lines: Sequence[str], *, narrow: bool) -> int:
    """How many lines are deep; counted in one text, where none can be met twice."""
    text = "\n" + "\n".join(lines)
    return sum([text.count("\n" + indent) for indent in (_NARROW_DEEP if narrow else _DEEP)])


def _shape(code: Sequence[str], tally: _Tally) -> None:
    text = "\n".join(code)
    words = _words(text)
    tally.more("branches", _branches(text, words))
    loops = _sum(words, _LOOPS)
    tally.more("loops", loops)
    tally.more("functions", _sum(words, _FUNCTIONS))
    tally.more("wide", len([size for size in map(len, code) if size > WIDE]))
    stripped = list(map(str.strip, code))
    long = [line for line in stripped if len(line) > REPEATED_WIDTH]
    tally.more("repeated", len(long) - len(set(long)))
    imports = _IMPORT.findall("\n" + "\n".join(stripped))
    tally.more("imports", len(imports) + text.count(_REQUIRES))
    if imports:
        tally.more("private_imports", len([line for line in imports if _PRIVATE.match(line)]))
        tally.more("test_imports", len([line for line in imports if _FROM_TESTS.match(line)]))
    if loops or b"each" in words or b"async" in words:
        for name, count in loop_signals(code).items():
            tally.more(name, count)


def _suppressions(source: Sequence[ReadFile], tally: _Tally) -> None:
    """Told apart in comments, which are no code."""
    lines: list[str] = []
    for file in source:
        lines += file.added
    lines = _bounded(lines)
    text = "\n".join(lines)
    hints = [hint for rarest, hint in _SUPPRESSION_HINTS if rarest in text and hint in text]
    if hints:
        shown = [line for line in lines if any(hint in line for hint in hints)]
        tally.more("suppressions", len([line for line in shown if _SUPPRESSIONS.search(line)]))
    tally.more("todo", _count(text, _TODO))


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


def _words(text: str) -> dict[bytes, int]:
    """How often each of the words that are counted stands in a text."""
    found: dict[bytes, int] = {}
    for word in filter(_COUNTED.__contains__, text.encode("ascii", "replace").translate(_SPACED).split()):
        found[word] = found.get(word, 0) + 1
    return found


def _sum(words: Mapping[bytes, int], asked: Iterable[bytes]) -> int:
    return sum([words[word] for word in asked if word in words])


def _branches(text: str, words: Mapping[bytes, int]) -> int:
    return _sum(words, _BRANCHES) + _count(text, _OPERATORS)


def _count(text: str, marks: Iterable[tuple[str, str]]) -> int:
    return sum([text.count(mark) for rarest, mark in marks if rarest in text])

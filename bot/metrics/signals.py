"""What the patch of one landed commit shows of its size, shape and habits, in whole numbers.

Only files that the project's people wrote as source count (part `authored`); tests give `test_lines` and `assertions`.
Blank lines, comments, docstrings and moved lines never count. A signal that is 0 is left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from bot.landing.lines import ReadFile
from bot.metrics.loops import loop_signals

WIDE = 120
"""characters from which a line is long"""
LONGEST_READ = 400
"""characters of a line that are looked at: hostile text costs no more than text"""
DEEP_LEVELS = 5
"""levels of indentation from which a line is deep"""
REPEATED_WIDTH = 25
"""characters from which a line that occurs twice is a repetition"""
BIG_FILE = 600
"""lines from which a new file is big"""

_COMMENTS = ("#", "//", "/*", "*/", "* ", "--", "<!--", ";;", "%%", "'''", '"""')
_NOT_COMMENTS = ("#include", "#define", "#if", "#el", "#endif", "#[", "#![", "#pragma", "#import", "--option", "#{")
_NARROW = frozenset(
    {
        "JavaScript", "TypeScript", "TSX", "Vue", "Svelte", "Astro", "Ruby", "Dart", "Scala", "Elixir", "Haskell",
        "OCaml", "Lua", "R", "Nix", "HTML", "CSS", "SCSS", "Clojure", "Common Lisp", "Emacs Lisp", "Crystal",
    }
)  # fmt: skip
_IMPORTS = (
    "import ",
    "from ",
    "use ",
    "using ",
    "#include",
    "require ",
    "require(",
    "extern crate ",
    "@import ",
    "open ",
)
_REQUIRES = " = require("

# Everything but letters, digits and underscores becomes a space, so that words are counted by plain search.
_SPACED = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")}
_BRANCHES = (
    " if ", " elif ", " elsif ", " elseif ", " unless ", " case ", " when ", " match ", " switch ", " catch ",
    " except ", " rescue ", " guard ", " and ", " or ",
)  # fmt: skip
_LOOPS = (" for ", " while ", " foreach ", " forEach ", " until ", " loop ")
_FUNCTIONS = (" def ", " func ", " fn ", " function ", " fun ", " proc ", " sub ", " defp ", " defun ", " defn ")
_OPERATORS = ("&&", "||", " ? ")

_SUPPRESSIONS = re.compile(
    r"noqa|type: ?ignore|pylint: ?disable|pragma: no cover|nosec|eslint-disable|@ts-(?:ignore|expect-error|nocheck)"
    r"|istanbul ignore|nolint|NOLINT|@SuppressWarnings|@Suppress\(|#!?\[allow\(|rubocop:disable|phpcs:(?:ignore|disable)"
    r"|@phpstan-ignore|pyright: ?ignore|swiftlint:disable|ReSharper disable|#pragma warning disable|noinspection"
)
_SUPPRESSION_HINTS = (
    "ignore", "isable", "noqa", "pragma", "nosec", "olint", "OLINT", "Suppress", "llow(", "@ts-", "noinspection",
)  # fmt: skip
_TODO = ("TODO", "FIXME", "XXX", "HACK")
_ASSERTIONS = ("assert", "expect(", "should", "require.", "t.Error", "t.Fatal", "EXPECT_", "CHECK(", "verify(")
_PRIVATE = re.compile(
    r"^(?:from [\w.]{0,80}\._[a-z]\w* import|from [A-Za-z]\w{0,60}[\w.]{0,80} import _[a-z]|import [A-Za-z][\w.]{0,80}\._[a-z])"
)
_FROM_TESTS = re.compile(
    r"^(?:from|import) tests?\b|^import .{0,80}from ['\"][./]{0,20}(?:tests?|__tests__)/|^use crate::tests?\b"
)


class _Tally(dict[str, int]):
    def more(self, name: str, count: int) -> None:
        if count > 0:
            self[name] = self.get(name, 0) + count


def signals(read: Sequence[ReadFile]) -> dict[str, int]:
    """The signals of one commit by name, sorted; ratios are per mille. See docs/models/quality.md for each."""
    tally = _Tally()
    source = [file for file in read if file.part == "authored"]
    for file in read:
        if file.part == "authored":
            _source(file, tally)
        elif file.part == "tests" and file.added:
            _tests(file, tally)
    if source:
        _spread(source, tally)
    return dict(sorted(tally.items()))


def _spread(files: Sequence[ReadFile], tally: _Tally) -> None:
    """How the commit is spread over files and modules; entropy in thousandths of a bit."""
    tally.more("files", len(files))
    tally.more("new_files", sum(file.change.status == "added" for file in files))
    tally.more("modules", len({module_of(file.change.path) for file in files}))
    sizes = [file.change.additions + file.change.deletions for file in files]
    tally.more("entropy", round(1000 * entropy(sizes)))


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


def _source(file: ReadFile, tally: _Tally) -> None:
    if not file.added and not file.removed:
        if not file.change.binary and file.change.patch is None:
            tally.more("added", file.change.additions)
            tally.more("removed", file.change.deletions)
        return
    if file.removed:
        gone = code_lines(file.removed, file.language)
        tally.more("removed", len(gone))
        tally.more("branches_removed", _branches(_spaced(gone)))
    if file.added:
        _added(file, tally)


def _added(file: ReadFile, tally: _Tally) -> None:
    code = code_lines(file.added, file.language)
    kept = _kept(file, len(code))
    if not kept:
        return
    stripped = [line.strip() for line in code]
    words = _spaced(code)
    tally.more("added", kept)
    tally.more("new", kept if file.change.status == "added" else 0)
    tally.more("branches", _branches(words) + sum(map(words.count, ())))
    loops = sum(map(words.count, _LOOPS))
    tally.more("loops", loops)
    tally.more("functions", sum(map(words.count, _FUNCTIONS)))
    deep = ("  " * DEEP_LEVELS if file.language in _NARROW else "    " * DEEP_LEVELS, "\t" * DEEP_LEVELS)
    tally.more("deep", sum([line.startswith(deep) for line in code]))
    tally.more("wide", sum([len(line) > WIDE for line in code]))
    wide = [line for line in stripped if len(line) > REPEATED_WIDTH]
    tally.more("repeated", len(wide) - len(set(wide)))
    tally.more("big_files", file.change.status == "added" and len(file.added) > BIG_FILE)
    _habits(file.added, stripped, tally)
    if loops or " async " in words:
        for name, count in loop_signals(code).items():
            tally.more(name, count)


def _habits(lines: Sequence[str], stripped: Sequence[str], tally: _Tally) -> None:
    text = "\n".join(lines)
    if any(hint in text for hint in _SUPPRESSION_HINTS):
        tally.more("suppressions", len(_SUPPRESSIONS.findall(text)))
    tally.more("todo", sum(map(text.count, _TODO)))
    imports = [line for line in stripped if line.startswith(_IMPORTS)]
    tally.more("imports", len(imports) + text.count(_REQUIRES))
    if imports:
        tally.more("private_imports", sum(_PRIVATE.match(line) is not None for line in imports))
        tally.more("test_imports", sum(_FROM_TESTS.match(line) is not None for line in imports))


def _tests(file: ReadFile, tally: _Tally) -> None:
    code = code_lines(file.added, file.language)
    tally.more("test_lines", _kept(file, len(code)))
    text = "\n".join(code)
    tally.more("assertions", sum(map(text.count, _ASSERTIONS)))


def code_lines(lines: Sequence[str], language: str | None) -> list[str]:
    """The lines that are neither blank nor comment, with their indentation, cut to a bounded length."""
    if language == "Python":
        lines = _without_docstrings(lines)
    kept = []
    for line in lines:
        text = line.lstrip()
        if text and (not text.startswith(_COMMENTS) or text.startswith(_NOT_COMMENTS)):
            kept.append(line if len(line) <= LONGEST_READ else line[:LONGEST_READ])
    return kept


def _without_docstrings(lines: Sequence[str]) -> Sequence[str]:
    """Without the lines of strings that begin a line, as a docstring does; what a patch shows half is half known."""
    text = "\n".join(lines)
    if '"""' not in text and "'''" not in text:
        return lines
    kept, within = [], ""
    for line in lines:
        if within:
            if within in line:
                within = ""
            continue
        start = line.lstrip().lstrip("rRbBuUfF")[:3]
        if start in ('"""', "'''"):
            if line.count(start) < 2:
                within = start
            continue
        kept.append(line)
    return kept


def _spaced(code: Sequence[str]) -> str:
    """The words of the code between single characters that are no word, for search by ` word `."""
    text = "\n".join(code)
    if not text.isascii():
        text = text.encode("ascii", "replace").decode("ascii")
    marks = sum(map(text.count, _OPERATORS))
    return " " + text.translate(_SPACED) + " if " * 0 + (" \x01" * marks) + " "


def _branches(words: str) -> int:
    return sum(map(words.count, _BRANCHES)) + words.count("\x01")

"""Which features of a title, a body, paths and a patch distinguish the kinds of changes?

Every feature is a short text that is present or not, in one of four groups: `words` of the title, `body`, `paths` and
`patch`. Weights are learnt for these texts (benchmarks/metrics/train_change_kind.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain

from bot.landing.lines.split import ReadFile

_LONGEST_TITLE = 300
_MOST_WORDS = 24
NO_WORD = "(none)"
_BODY = 1500
"""characters read of a body"""
_MOST_FILES = 60
"""files whose names are read; all are counted"""
_MOST_TEXT = 12_000
"""characters read of added, and of removed, code"""

_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[._'/-][A-Za-z0-9]+)*|\d+(?:\.\d+)+|#\d+|[`\"?!&>]|\(\)")
_PLAIN = str.maketrans("", "", "'")


def words(title: str) -> list[str]:
    """Features of a title: its words, pairs of adjacent words with a space between, and the first word once more."""
    found: dict[str, None] = {}
    before = ""
    for word in map(_shape, _TOKEN.findall(title, 0, _LONGEST_TITLE)[:_MOST_WORDS]):
        found[word] = None
        found[f"{before} {word}" if before else f"f:{word}"] = None
        before = word
    return list(found) or [NO_WORD]


@lru_cache(maxsize=2048)
def _shape(token: str) -> str:
    """A word in lower case; versions, issue numbers, identifiers and file names are replaced by their type."""
    first = token[0]
    if first == "#":
        return "#n"
    if first.isdecimal():
        return "1.2"
    lower = token.lower().translate(_PLAIN)
    if "/" in lower:
        return "a/b"
    head, dot, end = lower.rpartition(".")
    if dot:
        return "." + end if head and len(end) <= 5 else "a.b"
    if lower[:1] == "v" and lower[1:].isdecimal():
        return "1.2"
    if token[1:].lower() != token[1:] and token.upper() != token:
        return "aB"
    return lower


_BODY_WORD = re.compile(r"[a-z][a-z-]{2,18}|#\d+", re.IGNORECASE)
_LOWER_WORD = re.compile(r"[a-z][a-z-]{2,18}|#\d+")
"""the same for lower-case ASCII text, for which only one case of each letter must be checked"""
_MOST_BODY_WORDS = 120
_LISTED = re.compile(
    r"\n[*-] {1,3}(feat|fix|docs|test|chore|refactor|style|perf|ci|build)(?:\([^()\n]{0,60}\))?!?:", re.IGNORECASE
)
# Searching for each by its own first letters is much faster than trying all of them at every word.
_CLOSES = tuple(
    (stem, re.compile(rf"{stem}(?<!\w{stem}){ending}\b:? {{0,2}}(?:[\w./:-]{{0,100}}#\d|https?://)"))
    for stem, ending in (("fix", "(?:e[sd])?"), ("close", "[sd]?"), ("resolve", "[sd]?"))
)


def body_words(body: str) -> list[str]:
    """Features of a body: its words before any trailer, the issues it closes, the prefixes in a list of commits."""
    text = body[:_BODY].strip()
    if not text:
        return []
    lower = text.lower()
    found: dict[str, None] = {}
    if ("#" in lower or "://" in lower) and (stem := _closing(lower)):
        found[f"o:{stem[:3]} #"] = None
    if text[:2] in ("* ", "- ") or "\n* " in text or "\n- " in text:
        found.update(dict.fromkeys(["l:" + kind.lower() for kind in _LISTED.findall("\n" + text)]))
    plain = text.isascii()
    if plain:
        text = lower
    if "-by:" in lower or "://" in lower:
        text = "\n".join([line for line in text.split("\n") if "-by:" not in line[:24].lower() and "://" not in line])
    tokens = _LOWER_WORD.findall(text) if plain else map(str.lower, _BODY_WORD.findall(text))
    words_left = list(dict.fromkeys(tokens))[: _MOST_BODY_WORDS - len(found)]
    return [*found, *["o:" + word for word in words_left]]


def _closing(lower: str) -> str | None:
    """The first word of a lower-case text that closes an issue, without its ending."""
    found = [(match.start(), stem) for stem, word in _CLOSES if stem in lower and (match := word.search(lower))]
    return min(found)[1] if found else None


_CI = re.compile(
    r"/(?:\.github/(?:workflows|actions)|\.circleci|\.gitlab|\.buildkite|\.azure-pipelines|\.semaphore|\.ci|ci|\.woodpecker)/"
    r"|/(?:\.travis\.yml|\.gitlab-ci\.yml|appveyor\.yml|\.appveyor\.yml|azure-pipelines[\w-]*\.ya?ml|Jenkinsfile[\w.]*"
    r"|\.drone\.yml|codecov\.yml|\.codecov\.yml|\.cirrus\.yml|bors\.toml|\.mergify\.yml)$"
)
_BUILD = re.compile(
    r"/(?:package\.json|Cargo\.toml|pyproject\.toml|setup\.(?:py|cfg)|go\.(?:mod|sum|work)|pom\.xml|build\.gradle(?:\.kts)?"
    r"|settings\.gradle(?:\.kts)?|gradle\.properties|libs\.versions\.toml|Makefile|GNUmakefile|CMakeLists\.txt|meson\.build"
    r"|[\w.-]*Dockerfile[\w.-]*|docker-compose[\w.-]*\.ya?ml|composer\.json|Gemfile|mix\.exs|pubspec\.yaml|flake\.nix"
    r"|BUILD(?:\.bazel)?|WORKSPACE|MODULE\.bazel|requirements[\w./-]*\.(?:txt|in)|[\w-]+\.(?:csproj|props|gemspec|cmake|nix)"
    r"|pnpm-workspace\.yaml|rust-toolchain(?:\.toml)?|(?:rollup|webpack|vite|tsup|build)\.config\.\w+|\.goreleaser\.ya?ml)$"
    r"|/requirements/"
)
_CHANGELOG = re.compile(
    r"/(?:change(?:log|s)|history|news|releases?)(?:\.\w+)?$|/(?:\.changeset|newsfragments|changelog\.d)/", re.I
)
_META = re.compile(r"/(?:LICENSE|NOTICE|CODEOWNERS|AUTHORS|CONTRIBUTORS|\.all-contributorsrc)[\w.-]*$|/\.github/[^/]*$")
_EXAMPLE = re.compile(r"/(?:examples?|samples?|demos?|playgrounds?|templates?)/", re.I)
_BENCH = re.compile(r"/(?:bench(?:es|marks?)?|perf)[/._-]", re.I)
_NAME_WORD = re.compile(r"[a-z]{3,16}")


@lru_cache(maxsize=2048)
def file_category(path: str, part: str) -> str:
    """The category of a file, finer than its part: ci, build, log, meta, example, bench, or the part itself."""
    slashed = "/" + path
    if _CI.search(slashed):
        return "ci"
    if part == "lockfiles":
        return "lock"
    if _BUILD.search(slashed):
        return "build"
    if part != "tests":
        if _CHANGELOG.search(slashed):
            return "log"
        if _META.search(slashed):
            return "meta"
        if _BENCH.search(slashed):
            return "bench"
        if _EXAMPLE.search(slashed):
            return "example"
    return part


@lru_cache(maxsize=2048)
def _names(path: str) -> tuple[str, ...]:
    """Features of one path: its suffix, its name, the words of its folders."""
    folder, _, name = path.lower().rpartition("/")
    stem, _, end = name.rpartition(".")
    found = ["e:" + (end if stem else name)[:12], "n:" + name[:32]]
    found += ["t:" + word for word in _NAME_WORD.findall(folder)[:8]]
    found += ["s:" + word for word in _NAME_WORD.findall(stem)[:5]]
    return tuple(found)


@lru_cache(maxsize=2048)
def _file_features(path: str, part: str, status: str) -> tuple[str, tuple[str, ...]]:
    """The category of one file, and its features: its category with its status, and its names."""
    category = file_category(path, part)
    return category, (f"{status[0:3]}:{category}", *_names(path))


def paths(files: Sequence[ReadFile]) -> list[str]:
    """Features of the files: categories, statuses, number and names."""
    if not files:
        return []
    found: list[str] = []
    categories: list[str] = []
    statuses: set[str] = set()
    for number, file in enumerate(files):
        status = file.change.status
        category, features = _file_features(file.change.path, file.part, status)
        categories.append(category)
        statuses.add(status)
        found += features if number < _MOST_FILES else features[:1]
    one = len(statuses) == 1
    found += _common_features(
        frozenset(categories), categories.count("authored"), len(categories), statuses.pop() if one else ""
    )
    return list(dict.fromkeys(found))


@lru_cache(maxsize=2048)
def _common_features(categories: frozenset[str], source: int, files: int, status: str) -> tuple[str, ...]:
    """Features of all files together: categories, how many are source, how many there are, their common status."""
    found = ["m:" + "+".join(sorted(categories)), f"c:{_bucket(files)}"]
    if len(categories) == 1:
        found.append(f"only:{next(iter(categories))} {_bucket(files)}")
    if status:
        found.append(f"all:{status}")
    if source:
        found.append(f"src:{_bucket(source)}")
        found.append("src" + ("+t" if "tests" in categories else "") + ("+d" if "docs" in categories else ""))
    return tuple(found)


def _bucket(count: int) -> int:
    """0, 1, 2, 3-4, 5-8, ... as 0, 1, 2, 3, 4, ..., at most 9."""
    return min(9, (count - 1).bit_length() + 1) if count > 0 else 0


# A line end in front, instead of `^`: the search then jumps from line to line instead of trying each character. A check
# of the first letter rules most lines out before any word is tried.
_DEFINES = re.compile(
    r"\n[ \t]{0,8}+(?=[acdefimopst])"
    r"(?:(?:export|public|pub(?:\(crate\))?|async|static|default|protected|abstract|final|override|inline) ){0,4}"
    r"(?:def|class|func|fn|function|interface|struct|enum|trait|type|impl|module|fun"
    r"|const [a-zA-Z_]{1,60} = (?:async )?\()\b",
)
_EXPOSES = re.compile(
    r"\n[ \t]{0,8}+(?:(?=[@efp])(?:export |pub |public |@click\.option|func [A-Z]|func \([^)\n]{1,60}\) [A-Z])"
    r"|\w{0,30}+\.add_argument\(|\w{12,42}+(?<=add_argument)\()",
)
_CODE_WORD = re.compile(r"[a-z]{3,14}|[!=]==?|\?\?|\?\.|&&|\|\|", re.I)
_OPERATOR = re.compile(r"[!=?&|](?:(?<=[!=])==?|(?<=\?)[?.]|(?<=&)&|(?<=\|)\|)")
_OPERATORS = frozenset(("==", "!=", "??", "?.", "&&", "||"))
_SHORT_WORD = 2
"""letters of words without meaning"""
_LONG_WORD = 14
_ONLY_LETTERS = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalpha() else 32 for code in range(256))
"""ASCII letters in lower case, spaces for everything else"""
_COMMENT = re.compile(r"\n[ \t]{0,60}+(?=[/#*<\-\";])(?://|#(?!\w)|/?\*|<!--|--|\"\"\"|;;)")
_IMPORT = re.compile(r"\n[ \t]{0,8}+(?=[#cfiru])(?:import|from|use|#include|require|const \w{1,40} = require)\b")
_SHAPES = (("def", _DEFINES), ("exp", _EXPOSES), ("com", _COMMENT), ("imp", _IMPORT))


def patch(files: Sequence[ReadFile]) -> list[str]:
    """Features of what the lines do: how much is new or changed, what is defined, exposed, commented and imported,
    and the words of the code."""
    return patches((files,))[0]


def patches(group: Sequence[Sequence[ReadFile]]) -> list[list[str]]:
    """The same for each of several changes."""
    sized = [_sizes(files) for files in group]
    code = [[file for file in files if file.part == "authored"] for files in group]
    gained = [_join_lines([file.added for file in files]) for files in code]
    lost = [_join_lines([file.removed for file in files]) for files in code]
    shaped = [_shape_features(name, pattern, zip(gained, lost, strict=True)) for name, pattern in _SHAPES]
    tokens = [_code_words(new, old) for new, old in zip(gained, lost, strict=True)]
    features = zip(sized, *shaped, tokens, strict=True)
    return [list(chain.from_iterable(found)) if found[0] else [] for found in features]


def _shape_features(name: str, pattern: re.Pattern[str], sides: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Features of how often a pattern occurs in the text that a change adds and removes."""
    counts = [(len(pattern.findall(new)) if new else 0, len(pattern.findall(old)) if old else 0) for new, old in sides]
    return [_count_features(name, new, old) for new, old in counts]


@lru_cache(maxsize=2048)
def _size_features(category: str, added: int, removed: int) -> tuple[str, ...]:
    return f"+{category}:{_bucket(added)}", f"-{category}:{_bucket(removed)}", f"={category}:{_balance(added, removed)}"


@lru_cache(maxsize=2048)
def _count_features(name: str, new: int, old: int) -> tuple[str, ...]:
    return f"+{name}:{_bucket(new)}", f"={name}:{_balance(new, old)}"


def _sizes(files: Sequence[ReadFile]) -> list[str]:
    """How many lines are in which category; nothing if no lines are shown."""
    if not any(file.added or file.removed for file in files):
        return []
    sizes: dict[str, tuple[int, int]] = {}
    for file in files:
        category = file_category(file.change.path, file.part)
        added, removed = sizes.get(category, (0, 0))
        sizes[category] = (added + len(file.added), removed + len(file.removed))
    return [
        feature for category, (added, removed) in sizes.items() for feature in _size_features(category, added, removed)
    ]


def _balance(new: int, old: int) -> str:
    if not old:
        return "new" if new else "none"
    if not new:
        return "gone"
    return "more" if new > 2 * old else "less" if old > 2 * new else "even"


def _join_lines(sides: Iterable[Sequence[str]]) -> str:
    """The lines as one text, each after a line end, up to the limit."""
    kept: list[str] = []
    left = _MOST_TEXT
    for lines in sides:
        size = sum(map(len, lines)) + len(lines) if len(lines) <= left else left + 1
        if size > left:
            kept += _lines_within(lines, left)
            break
        kept += lines
        left -= size
    return "\n" + "\n".join(kept) if kept else ""


def _lines_within(lines: Sequence[str], left: int) -> Sequence[str]:
    """As many of the lines as fit into this many characters."""
    for at, line in enumerate(lines):
        left -= len(line) + 1
        if left < 0:
            return lines[:at]
    return lines


def _code_words(gained: str, lost: str) -> list[str]:
    new, old = _code_tokens(gained), _code_tokens(lost)
    return ["+w:" + word for word in _pick_words(new - old, 200)] + [
        "-w:" + word for word in _pick_words(old - new, 100)
    ]


def _pick_words(found: set[str], most: int) -> Iterable[str]:
    long_enough = [word for word in found if len(word) > _SHORT_WORD or word in _OPERATORS]
    return sorted(long_enough)[:most] if len(long_enough) > most else long_enough


def _code_tokens(text: str) -> set[str]:
    """The words and operators of code in lower case, short words included. ASCII is split by its letters, which is
    faster."""
    if not text.isascii():
        return set(_CODE_WORD.findall(text.lower()))
    found = set(text.encode().translate(_ONLY_LETTERS).decode().split())
    for word in [word for word in found if len(word) > _LONG_WORD]:
        found.discard(word)
        found.update(_CODE_WORD.findall(word))
    found.update(_OPERATOR.findall(text))
    return found

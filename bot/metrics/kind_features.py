"""What do a title, a body, paths and a patch show that tells one kind of change from another?

Every feature is a short text that is there or not, in one of four groups: `words` of the title, `body`, `paths` and
`patch`. Weights are learnt for these texts (benchmarks/metrics/train_change_kind.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from bot.landing.lines import ReadFile

_LONGEST_TITLE = 300
_MOST_WORDS = 24
NO_WORD = "(none)"
_BODY = 1500
"""characters of a body that are read"""
_MOST_FILES = 60
"""files whose names are read; all are counted"""
_MOST_TEXT = 12_000
"""characters of added, and of removed, code that are read"""

_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[._'/-][A-Za-z0-9]+)*|\d+(?:\.\d+)+|#\d+|[`\"?!&>]|\(\)")
_PLAIN = str.maketrans("", "", "'")


def words(title: str) -> list[str]:
    """Features of a title: its words, pairs of neighbours with a blank between, and the first word once more."""
    found: dict[str, None] = {}
    before = ""
    for word in map(_shape, _TOKEN.findall(title, 0, _LONGEST_TITLE)[:_MOST_WORDS]):
        found[word] = None
        found[f"{before} {word}" if before else f"f:{word}"] = None
        before = word
    return list(found) or [NO_WORD]


@lru_cache(maxsize=32_768)
def _shape(token: str) -> str:
    """A word in lower case; versions, numbers of issues, identifiers and file names by what they are."""
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
"""the same for what is known to be ASCII in lower case, where a look at both cases of each letter is not needed"""
_MOST_BODY_WORDS = 120
_LISTED = re.compile(
    r"^[*-] {1,3}(?P<type>feat|fix|docs|test|chore|refactor|style|perf|ci|build)(?:\([^()\n]{0,60}\))?!?:", re.M | re.I
)
_CLOSES = re.compile(
    r"\b(fix(?:e[sd])?|close[sd]?|resolve[sd]?)\b:? {0,2}(?:[\w./:-]{0,100}#\d|https?://)", re.IGNORECASE
)


def body_words(body: str) -> list[str]:
    """Features of a body: its words before any trailer, the issues it closes, the prefixes of a list of commits."""
    text = body[:_BODY].strip()
    if not text:
        return []
    found: dict[str, None] = {}
    closes = _CLOSES.search(text) if "#" in text or "://" in text else None
    if closes:
        found[f"o:{closes[1][:3].lower()} #"] = None
    if text[:2] in ("* ", "- ") or "\n* " in text or "\n- " in text:
        for listed in _LISTED.finditer(text):
            found["l:" + listed["type"].lower()] = None
    lower = text.lower()
    if "-by:" in lower or "://" in lower:
        text = "\n".join([line for line in text.split("\n") if "-by:" not in line[:24].lower() and "://" not in line])
    plain = text.isascii()
    spelt = (_LOWER_WORD if plain else _BODY_WORD).findall(text.lower() if plain else text)
    found.update(dict.fromkeys(["o:" + word.lower() for word in spelt]))
    return list(found)[:_MOST_BODY_WORDS]


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


@lru_cache(maxsize=65_536)
def place_of(path: str, part: str) -> str:
    """Where a file stands, finer than its part: ci, build, log, meta, example, bench, or the part itself."""
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


@lru_cache(maxsize=65_536)
def _names(path: str) -> tuple[str, ...]:
    """Features of one path: its end, its name, the words of its folders."""
    folder, _, name = path.lower().rpartition("/")
    stem, _, end = name.rpartition(".")
    found = ["e:" + (end if stem else name)[:12], "n:" + name[:32]]
    found += ["t:" + word for word in _NAME_WORD.findall(folder)[:8]]
    found += ["s:" + word for word in _NAME_WORD.findall(stem)[:5]]
    return tuple(found)


def paths(files: Sequence[ReadFile]) -> list[str]:
    """Features of the files: where they stand, what became of them, how many, what their names say."""
    if not files:
        return []
    places: dict[str, int] = {}
    found: dict[str, None] = {}
    for number, file in enumerate(files):
        place = place_of(file.change.path, file.part)
        places[place] = places.get(place, 0) + 1
        found[f"{file.change.status[0:3]}:{place}"] = None
        if number < _MOST_FILES:
            for name in _names(file.change.path):
                found[name] = None
    found["m:" + "+".join(sorted(places))] = None
    found[f"c:{_bucket(len(files))}"] = None
    if len(places) == 1:
        found[f"only:{next(iter(places))} {_bucket(len(files))}"] = None
    statuses = {file.change.status for file in files}
    if len(statuses) == 1:
        found[f"all:{next(iter(statuses))}"] = None
    if "authored" in places:
        found[f"src:{_bucket(places['authored'])}"] = None
        found["src" + ("+t" if "tests" in places else "") + ("+d" if "docs" in places else "")] = None
    return list(found)


def _bucket(count: int) -> int:
    """0, 1, 2, 3-4, 5-8, ... as 0, 1, 2, 3, 4, ..., at most 9."""
    return min(9, (count - 1).bit_length() + 1) if count > 0 else 0


# A line end in front, rather than `^`: the search then leaps from line to line instead of trying each character.
_DEFINES = re.compile(
    r"\n[ \t]{0,8}(?:(?:export|public|pub(?:\(crate\))?|async|static|default|protected|abstract|final|override"
    r"|inline) ){0,4}"
    r"(?:def|class|func|fn|function|interface|struct|enum|trait|type|impl|module|fun"
    r"|const [a-zA-Z_]{1,60} = (?:async )?\()\b",
)
_EXPOSES = re.compile(
    r"\n[ \t]{0,8}(?:export |pub |public |@click\.option|\w{0,30}\.?add_argument\(|func [A-Z]"
    r"|func \([^)\n]{1,60}\) [A-Z])",
)
_CODE_WORD = re.compile(r"[a-z]{3,14}|[!=]==?|\?\?|\?\.|&&|\|\|", re.I)
_OPERATOR = re.compile(r"[!=]==?|\?\?|\?\.|&&|\|\|")
_OPERATORS = ("==", "!=", "??", "?.", "&&", "||")
_LONG_WORD = 14
_NO_LETTERS = {code: " " for code in range(128) if not chr(code).isalpha()}
_COMMENT = re.compile(r"\n[ \t]{0,60}(?://|#(?!\w)|/?\*|<!--|--|\"\"\"|;;)")
_IMPORT = re.compile(r"\n[ \t]{0,8}(?:import|from|use|#include|require|const \w{1,40} = require)\b")


def patch(files: Sequence[ReadFile]) -> list[str]:
    """Features of what the lines do: how much is new against changed, what is defined, guarded, tested or said."""
    if not any(file.added or file.removed for file in files):
        return []
    found: dict[str, None] = {}
    sizes = _sizes(files)
    for place in sorted(sizes):
        added, removed = sizes[place]
        found[f"+{place}:{_bucket(added)}"] = None
        found[f"-{place}:{_bucket(removed)}"] = None
        found[f"={place}:{_balance(added, removed)}"] = None
    code = [file for file in files if file.part == "authored"]
    gained = "\n" + _text([file.added for file in code])
    lost = "\n" + _text([file.removed for file in code])
    for name, pattern in (("def", _DEFINES), ("exp", _EXPOSES), ("com", _COMMENT), ("imp", _IMPORT)):
        new = len(pattern.findall(gained)) if len(gained) > 1 else 0
        old = len(pattern.findall(lost)) if len(lost) > 1 else 0
        found[f"+{name}:{_bucket(new)}"] = None
        found[f"={name}:{_balance(new, old)}"] = None
    _code_words(gained, lost, found)
    return list(found)


def _sizes(files: Sequence[ReadFile]) -> dict[str, tuple[int, int]]:
    sizes: dict[str, tuple[int, int]] = {}
    for file in files:
        place = place_of(file.change.path, file.part)
        added, removed = sizes.get(place, (0, 0))
        sizes[place] = (added + len(file.added), removed + len(file.removed))
    return sizes


def _balance(new: int, old: int) -> str:
    if not old:
        return "new" if new else "none"
    if not new:
        return "gone"
    return "more" if new > 2 * old else "less" if old > 2 * new else "even"


def _text(sides: Sequence[Sequence[str]]) -> str:
    """The lines as one text, as many of them as may be read."""
    kept: list[str] = []
    left = _MOST_TEXT
    for lines in sides:
        size = sum(map(len, lines)) + len(lines) if len(lines) <= left else left + 1
        if size <= left:
            kept += lines
            left -= size
            continue
        for line in lines:
            left -= len(line) + 1
            if left < 0:
                return "\n".join(kept)
            kept.append(line)
    return "\n".join(kept)


def _code_words(gained: str, lost: str, found: dict[str, None]) -> None:
    new, old = _spelt(gained.lower()), _spelt(lost.lower())
    for word in sorted(new - old)[:200]:
        found["+w:" + word] = None
    for word in sorted(old - new)[:100]:
        found["-w:" + word] = None


def _spelt(text: str) -> set[str]:
    """The words and operators of code in lower case. ASCII is split by its letters, which is faster than searching."""
    if not text.isascii():
        return set(_CODE_WORD.findall(text))
    found = {word for word in set(text.translate(_NO_LETTERS).split()) if len(word) > 2}
    long = [word for word in found if len(word) > _LONG_WORD]
    found.difference_update(long)
    for word in long:
        found.update(_CODE_WORD.findall(word))
    if any(map(text.__contains__, _OPERATORS)):
        found.update(_OPERATOR.findall(text))
    return found

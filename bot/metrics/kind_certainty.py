"""How likely is a change a feature, a bug fix or neither, calibrated on changes that people read?

The linear model (`kind_model`) learnt from work whose authors wrote a prefix. People who write none choose other words,
so its answer is weighed together with the grammar of the title, words for faults in the message and the kinds of files.
The weights are fitted to read changes without prefixes (benchmarks/metrics/kind_readings.csv) by
benchmarks/metrics/fit_kind_certainty.py: whole numbers, in thousandths of a logit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from math import exp, log, log1p
from operator import mul
from typing import Any, NamedTuple

from bot.configuration.package_files import read_bytes
from bot.landing.lines.split import ReadFile
from bot.metrics.kind_features import file_category
from bot.metrics.kind_title import VERBS, TitleSigns, count_faults
from bot.model.ids import Kind

CERTAIN = 0.65
"""probability from which a feature or fix that nobody stated is certain; of such at least 85 in 100 were right. In some
languages more is needed (`Calibration.certain`)."""
CERTAIN_OTHER = 0.70
"""the same for what is neither"""
VERY_LIKELY = 0.85
"""probability from which words such as `comment` in a title may speak of the product itself"""
UNIT = 1000.0
SIGNS = (
    "feature_odds", "fix_odds", *(f"verb_{verb}" for verb in VERBS), "faults", "soft_faults", "body_faults",
    "body_soft_faults", "offers", "adds_offer", "aside", "fixes_aside", "adds_aside", "fault_evidence",
    "offer_evidence", "no_source", "no_files", "added", "removed", "growth", "new_file", "with_docs", "with_tests",
)  # fmt: skip
"""what is weighed, in this order"""
_ASIDE_FOLDER = re.compile(
    r"(?:scripts?|build|releaser|packaging|rpm|debian|tools|maint|contrib|hack|ci|website|bench\w{0,8}|examples?|demos?|docs?|\.\w{1,20})/"
)
_TOOLING_FILE = re.compile(
    r"(?:^|/)(?:configure(?:\.ac|\.in)?|(?:GNU)?Makefile[\w.]*|SConstruct|wscript|[Gg]runt(?:file)?\.\w+|[Gg]ulpfile[\w.]*"
    r"|Jakefile[\w.]*|Cakefile|Rakefile)$|\.(?:am|m4|mk|gypi?|spec|cmake|pc\.in|[1-9])$"
)
"""builds, packaging and manual pages"""
LANGUAGE_GROUPS = {
    "C": ("C", "C++", "Objective-C", "Objective-C++", "Cuda"),
    "Go": ("Go",),
    "JavaScript": ("JavaScript", "TypeScript", "TSX", "CoffeeScript", "Vue", "Svelte", "Astro"),
    "Python": ("Python", "Cython"),
    "Rust": ("Rust",),
}
"""languages in which changes were read"""
_GROUP_OF = {name: group for group, names in LANGUAGE_GROUPS.items() for name in names}
_PUBLIC = re.compile(
    r"(?:^|/)include/(?!.*(?:private|internal))|(?:^|/)docs?/(?!internals?/)|\.[1-9](?:\.in)?$", re.IGNORECASE
)
"""public headers, documents and manual pages of a project in C"""
_NO_FEATURE = frozenset(("fix", "refactor", "remove", "document", "test", "update"))
_NO_FIX = frozenset(("remove", "document", "test", "update", "refactor", "add", "speed"))
_OTHER_WORK = frozenset(("remove", "document", "test", "refactor"))
_LEAST = 1e-3
_BODY_FAULTS, _NO_SOURCE = SIGNS.index("body_faults"), SIGNS.index("no_source")


class Odds(NamedTuple):
    """Probabilities that sum to one."""

    feature: float
    bug_fix: float
    other: float


class Calibration(NamedTuple):
    """The weights of `SIGNS`, and from which probability on a guess is certain."""

    feature: tuple[int, ...]
    bug_fix: tuple[int, ...]
    bias: tuple[int, int]
    certain: Mapping[str, Mapping[str, float]]
    """by language group and kind, where it is not `CERTAIN`"""


class Weighed(NamedTuple):
    """The calibrated probabilities, and which of the two purposes the evidence can make certain."""

    odds: Odds
    in_product: bool
    """False if files are known and none of them is source code of the product"""
    shows_fault: bool
    """whether a verb that mends or prevents, or a word for a fault, says that something was wrong"""
    aside: bool
    """whether the title speaks of tests, documents or tools, or its verb of removal, moves or tests"""
    group: str
    """of the language that most lines of the product are in"""
    internal: bool
    """whether the title names a C function that no public header or document of the change holds"""

    def is_certain(self, kind: Kind) -> bool:
        """Whether this kind is certain: it is likely enough, and the evidence is of the right sort."""
        return self.is_likely(kind) and not self.doubt(kind)

    def is_likely(self, kind: Kind) -> bool:
        """Whether so many guesses of this probability are right that this one counts."""
        if kind not in ("feature", "bug_fix"):
            return self.probability(kind) >= CERTAIN_OTHER
        needed = load().certain.get(self.group, {}).get(kind, CERTAIN)
        return self.probability(kind) >= (VERY_LIKELY if self.aside else needed)

    def doubt(self, kind: Kind) -> str:
        """Why the evidence cannot make this kind certain, however likely it is; empty if it can."""
        if kind not in ("feature", "bug_fix"):
            return ""
        if not self.in_product:
            return "no source code of the product changed"
        if kind == "feature":
            return "the function it names is in no public header or document" if self.internal else ""
        return "" if self.shows_fault else "nothing says what was wrong"

    def probability(self, kind: Kind) -> float:
        """That the change is of this kind; for a kind that is neither feature nor fix, that it is neither."""
        return self.odds.feature if kind == "feature" else self.odds.bug_fix if kind == "bug_fix" else self.odds.other


def weigh(title: TitleSigns, body: str, files: Sequence[ReadFile], model: Odds) -> Weighed:
    """The calibrated probabilities; `model` are those of the linear model."""
    found = signs(title, body, files, model)
    weights = load()
    feature = exp((weights.bias[0] + sum(map(mul, weights.feature, found))) / UNIT)
    fix = exp((weights.bias[1] + sum(map(mul, weights.bug_fix, found))) / UNIT)
    total = feature + fix + 1.0
    mends = title.verb in ("fix", "prevent") or title.faults + title.soft_faults > 0
    shows_fault = mends or found[_BODY_FAULTS] > 0
    group = language_group(files)
    return Weighed(
        Odds(feature / total, fix / total, 1.0 / total),
        not found[_NO_SOURCE],
        shows_fault,
        title.aside or title.verb in _OTHER_WORK,
        group,
        group == "C" and title.calls and not any(_PUBLIC.search(file.change.path) for file in files),
    )


def language_group(files: Sequence[ReadFile]) -> str:
    """The group of the language that most changed lines of the product are in; empty if there is none."""
    lines: dict[str, int] = {}
    for file in files:
        if is_product(file) and file.language in _GROUP_OF:
            group = _GROUP_OF[file.language]
            lines[group] = lines.get(group, 0) + len(file.added) + len(file.removed)
    return max(sorted(lines), key=lines.__getitem__, default="")


def signs(title: TitleSigns, body: str, files: Sequence[ReadFile], model: Odds) -> tuple[float, ...]:
    """The value of each of `SIGNS`."""
    other = _log(model.other)
    body_faults, body_soft = count_faults(body) if body else (0, 0)
    offered = title.verb in ("add", "allow")
    mended = title.verb in ("fix", "prevent") or title.faults > 0
    return (
        _log(model.feature) - other,
        _log(model.bug_fix) - other,
        *[float(title.verb == verb) for verb in VERBS],
        float(min(2, title.faults)),
        float(min(1, title.soft_faults)),
        float(min(2, body_faults)),
        float(min(2, body_soft)),
        float(title.offers),
        float(title.offers and offered),
        float(title.aside),
        float(title.aside and title.verb == "fix"),
        float(title.aside and offered),
        float(mended and not title.aside and title.verb not in _NO_FIX),
        float((offered or title.offers) and not title.aside and title.verb not in _NO_FEATURE),
        *_file_signs(files),
    )


def _log(probability: float) -> float:
    return log(min(1 - _LEAST, max(_LEAST, probability)))


def _file_signs(files: Sequence[ReadFile]) -> tuple[float, ...]:
    if not files:
        return 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    source = [file for file in files if is_product(file)]
    added = sum([len(file.added) for file in source])
    removed = sum([len(file.removed) for file in source])
    new = any(file.change.status == "added" for file in source)
    growth = (added - removed) / (added + removed + 3)
    parts = {file.part for file in files}
    with_docs, with_tests = float("docs" in parts), float("tests" in parts)
    return float(not source), 0.0, log1p(added) / 3, log1p(removed) / 3, growth, float(new), with_docs, with_tests


def is_product(file: ReadFile) -> bool:
    """Whether a file is source code of the product: in a known language, and not of tests, builds, scripts, examples or
    benchmarks."""
    if file.language is None or file.part != "authored" or file_category(file.change.path, file.part) != "authored":
        return False
    return _ASIDE_FOLDER.match(file.change.path) is None and _TOOLING_FILE.search(file.change.path) is None


def as_calibration(record: Mapping[str, Any]) -> Calibration:
    """The weights in a record such as `kind_certainty.json`, by outcome and sign, and the probabilities needed."""
    feature, fix = record["feature"], record["bug_fix"]
    return Calibration(
        tuple(feature[name] for name in SIGNS),
        tuple(fix[name] for name in SIGNS),
        (feature["bias"], fix["bias"]),
        record.get("certain", {}),
    )


@cache
def load() -> Calibration:
    """The calibration in the package, read once."""
    return as_calibration(json.loads(read_bytes("bot.metrics", "kind_certainty.json")))

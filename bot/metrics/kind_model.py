"""Which kind do the words, paths and lines of a change make likely, by a linear model that was learnt elsewhere?

The model is `kind_model.json.gz`: for each feature of `bot.metrics.kind_features` one whole number a kind, in
thousandths. Scores are sums of them, so they are the same on every machine. docs/models/change_kind.md says what it was
learnt from and how well it works; benchmarks/metrics/train_change_kind.py writes it.
"""

from __future__ import annotations

import gzip
import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from math import exp, sqrt
from operator import itemgetter, mul
from struct import Struct
from typing import Any, NamedTuple

from bot.model import Kind

GROUPS = ("words", "paths", "body", "patch")
UNIT = 1000.0
"""weights are whole numbers of this part of a logit"""
KINDS_LEARNT: tuple[Kind, ...] = (
    "feature",
    "bug_fix",
    "docs",
    "test",
    "refactor",
    "perf",
    "style",
    "build",
    "ci",
    "chore",
)
MOST_TOKENS = 5

# One number holds the ten weights of a feature, 64 bits each, so that one addition adds them all and one multiplication
# scales them. A weight below nought borrows from the lane above; what is added before the lanes are told apart gives
# that back, and taking it away again turns each lane's highest bit.
_BITS = 64
_RAISED = sum(1 << _BITS * lane + _BITS - 1 for lane in range(len(KINDS_LEARNT)))
_LANES = Struct(f"<{len(KINDS_LEARNT)}q")
_FINE = 1 << 36
"""parts of a unit in which scaled weights are summed, as whole numbers"""
_PART = 1.0 / UNIT / _FINE


Row = tuple[int, Sequence[int], str]
"""one feature: its weights as one number, the weights, its text"""
Known = list[tuple[float, str, list[Row]]]
"""by group of evidence: by how much its weights count, its name, the features that the model knows"""
_SUMMED = itemgetter(0)


class Guess(NamedTuple):
    """The most likely kind, its probability, and the features that speak most for it, strongest first."""

    kind: Kind
    probability: float
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Model:
    weights: Mapping[str, Mapping[str, Row]]
    """by group and feature"""
    bias: int
    """of each kind, as `lanes`"""
    shifts: Mapping[str, int]
    """what is added to the bias where a group of evidence is there: `paths`, `body`, `patch`; as `lanes`"""
    favour: tuple[float, ...]
    """by how much the odds of each kind but feature and bug fix count among these, for the sake of the rare ones"""

    def guess(self, found: Mapping[str, Sequence[str]]) -> Guess:
        """The guess for the features of each group; a group that is missing or empty is evidence not given."""
        plain, scaled = self.bias, 0
        known: Known = []
        for group, features in found.items():
            if not features:
                continue
            plain += self.shifts.get(group, 0)
            rows = list(filter(None, map(self.weights[group].get, features)))
            if rows:
                scale = 1.0 / sqrt(len(rows))
                known.append((scale, group, rows))
                scaled += sum(map(_SUMMED, rows)) * int(scale * _FINE)
        return self._decided(of_lanes(plain * _FINE + scaled), known)

    def _decided(self, logits: Sequence[int], known: Known) -> Guess:
        """Feature, bug fix or another by their summed probability first; then which of the others."""
        top = max(logits)
        odds = [exp((value - top) * _PART) for value in logits]
        total = sum(odds)
        feature, fix = odds[0], odds[1]
        others = total - feature - fix
        if feature >= fix and feature >= others:
            lane = 0
        elif fix >= others:
            lane = 1
        else:
            favoured = list(map(mul, odds[2:], self.favour))
            lane = favoured.index(max(favoured)) + 2
        return Guess(KINDS_LEARNT[lane], odds[lane] / total, _reasons(known, lane))


def lanes(values: Sequence[int]) -> int:
    """One number a kind as one number. Raises struct.error for a value that does not fit into 63 bits."""
    return (int.from_bytes(_LANES.pack(*values), "little") ^ _RAISED) - _RAISED


def of_lanes(number: int) -> tuple[int, ...]:
    """The numbers that `lanes` made one, or the sum or multiple of such."""
    return _LANES.unpack(((number + _RAISED) ^ _RAISED).to_bytes(_LANES.size, "little"))


def _reasons(known: Known, lane: int) -> tuple[str, ...]:
    """The features whose weight for this kind stands highest, each told once."""
    effects = [
        (weight * scale, group, feature)
        for scale, group, rows in known
        for _, weights, feature in rows
        if (weight := weights[lane]) > 0
    ]
    effects.sort(reverse=True)
    told: dict[str, None] = {}
    for _, group, feature in effects[: 2 * MOST_TOKENS]:
        told[told_feature(group, feature)] = None
        if len(told) == MOST_TOKENS:
            break
    return tuple(told)


def as_row(feature: str, weights: Sequence[int]) -> Row:
    """A feature as the model adds it."""
    return lanes(weights), array("i", weights), feature


def as_model(record: Mapping[str, Any]) -> Model:
    """The model that a record such as `kind_model.json.gz` holds."""
    weights = {group: {row[0]: as_row(row[0], row[1:]) for row in record["weights"].get(group, ())} for group in GROUPS}
    shifts = {group: lanes(row) for group, row in record["shifts"].items()}
    favour = tuple(exp(part / UNIT) for part in record["favour"])
    return Model(weights, lanes(record["bias"]), shifts, favour)


_TOLD = {
    "f": "“{} …”",
    "o": "body “{}”",
    "l": "a commit of its list is {}",
    "m": "files: {}",
    "e": "file type {}",
    "n": "file {}",
    "t": "folder {}",
    "s": "file name {}",
    "c": "number of files",
    "src": "number of source files",
    "only": "only {}",
    "all": "every file {}",
    "add": "new file: {}",
    "rem": "removed file: {}",
    "ren": "renamed file: {}",
    "mod": "changed file: {}",
    "+w": "new in code: {}",
    "-w": "gone from code: {}",
}
_LINES = {"def": "definitions", "exp": "public names", "com": "comments", "imp": "imports"}


@lru_cache(maxsize=16_384)
def told_feature(group: str, feature: str) -> str:
    """A feature as a person reads it."""
    mark, colon, value = feature.partition(":")
    if group == "words" and not colon:
        return f"“{feature}”"
    form = _TOLD.get(mark)
    if form is not None and colon:
        return form.format(value.rpartition(" ")[0] if mark == "only" else value)
    if mark[:1] in "+-=" and mark:
        side = {"+": "added", "-": "removed", "=": "balance of"}[mark[0]]
        return f"{side} {_LINES.get(mark[1:], mark[1:] + ' lines')}"
    return "which parts it touches"


@cache
def load() -> Model:
    """The model that the package holds, read once."""
    text = gzip.decompress((files("bot.metrics") / "kind_model.json.gz").read_bytes())
    return as_model(json.loads(text))

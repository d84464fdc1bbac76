"""Which kind is likely, given the words, paths and lines of a change, by a pretrained linear model?

The model is `kind_model.json.gz`: for each feature of `bot.metrics.kind_features` one whole number per kind, in
thousandths; by group a list of features, and all their weights, 16 bits each, in base64. Scores are sums of them, so
they are the same on every machine. docs/models/change_kind.md describes the training data and how well it works;
benchmarks/metrics/train_change_kind.py writes it.
"""

from __future__ import annotations

import json
import sys
from array import array
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from math import exp, sqrt
from operator import itemgetter, mul
from struct import Struct
from typing import Any, NamedTuple
from zlib import MAX_WBITS, decompress

import msgspec

from bot.configuration.package_files import read_bytes
from bot.model.ids import Kind

GROUPS = ("words", "paths", "body", "patch")
UNIT = 1000.0
"""weights are whole numbers in this fraction of a logit"""
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

# One number holds the ten weights of a feature in lanes of 64 bits, so that one addition adds all of them and one
# multiplication scales them. A negative weight borrows from the lane above; adding `_RAISED` before the lanes are split
# returns the borrow and flips each lane's highest bit, which the exclusive or flips back.
_BITS = 64
_RAISED = sum(1 << _BITS * lane + _BITS - 1 for lane in range(len(KINDS_LEARNT)))
_LANES = Struct(f"<{len(KINDS_LEARNT)}q")
_FINE = 1 << 36
"""fractions of a unit in which scaled weights are summed, as whole numbers"""
_PART = 1.0 / UNIT / _FINE


Row = tuple[int, Sequence[int], str]
"""one feature: its weights as one number, the weights, its text"""
Known = list[tuple[float, str, list[Row]]]
"""for each group of evidence: the factor of its weights, its name, the features that the model knows"""
_SUMMED = itemgetter(0)
_GZIP = 16
"""added to the window size: the data is in gzip format (zlib's manual, inflateInit2)"""


class Scores(NamedTuple):
    """The probability of each of `KINDS_LEARNT`, and the features that made them."""

    odds: tuple[float, ...]
    known: Known

    @property
    def purposes(self) -> tuple[float, float, float]:
        """The probabilities of a feature, of a bug fix and of anything else."""
        feature, fix = self.odds[:2]
        return feature, fix, sum(self.odds[2:])

    def reasons(self, kind: Kind) -> tuple[str, ...]:
        """The features with the highest weights for this kind, strongest first."""
        return _reasons(self.known, KINDS_LEARNT.index(kind))


class Learnt(dict[str, Row]):
    """The rows of one group, created on first use: of ten thousand, one run needs a few hundred."""

    def __init__(self, features: Sequence[str], weights: Sequence[int]) -> None:
        self.positions = dict(zip(features, range(0, len(weights), len(KINDS_LEARNT)), strict=True))
        """where the weights of each known feature begin"""
        self._weights = array("h", weights)

    def __missing__(self, feature: str) -> Row:
        at = self.positions[feature]
        weights = self._weights[at : at + len(KINDS_LEARNT)]
        row = self[feature] = lanes(weights), weights, feature
        return row


class Model(msgspec.Struct, frozen=True):
    learnt: Mapping[str, Learnt]
    """by group"""
    bias: int
    """for each kind, as `lanes`"""
    shifts: Mapping[str, int]
    """added to the bias if a group of evidence is present: `paths`, `body`, `patch`; as `lanes`"""
    favour: tuple[float, ...]
    """factors of the odds of each kind other than feature and bug fix among these, in favour of rare ones"""

    def score(self, found: Mapping[str, Sequence[str]]) -> Scores:
        """The scores for the features of each group; a missing or empty group is missing evidence."""
        plain, scaled = self.bias, 0
        known: Known = []
        for group, features in found.items():
            if not features:
                continue
            plain += self.shifts.get(group, 0)
            learnt = self.learnt[group]
            rows = list(map(learnt.__getitem__, filter(learnt.positions.__contains__, features)))
            if rows:
                scale = 1.0 / sqrt(len(rows))
                known.append((scale, group, rows))
                scaled += sum(map(_SUMMED, rows)) * int(scale * _FINE)
        logits = from_lanes(plain * _FINE + scaled)
        top = max(logits)
        odds = [exp((value - top) * _PART) for value in logits]
        total = sum(odds)
        return Scores(tuple([each / total for each in odds]), known)

    def choose(self, scores: Scores, purposes: tuple[float, float, float]) -> Kind:
        """The kind: feature, fix or the rest by the probabilities given; among the rest by the scores."""
        feature, fix, other = purposes
        if feature >= fix and feature >= other:
            return "feature"
        if fix >= other:
            return "bug_fix"
        favoured = list(map(mul, scores.odds[2:], self.favour))
        return KINDS_LEARNT[favoured.index(max(favoured)) + 2]


def lanes(values: Sequence[int]) -> int:
    """The numbers of all kinds as one number. Raises struct.error for a value that does not fit into 63 bits."""
    return (int.from_bytes(_LANES.pack(*values), "little") ^ _RAISED) - _RAISED


def from_lanes(number: int) -> tuple[int, ...]:
    """The numbers that `lanes` combined, or their sums or multiples."""
    return _LANES.unpack(((number + _RAISED) ^ _RAISED).to_bytes(_LANES.size, "little"))


def _reasons(known: Known, lane: int) -> tuple[str, ...]:
    """The features with the highest weights for this kind, each once."""
    effects = [
        (weight * scale, group, feature)
        for scale, group, rows in known
        for _, weights, feature in rows
        if (weight := weights[lane]) > 0
    ]
    effects.sort(reverse=True)
    reasons: dict[str, None] = {}
    for _, group, feature in effects[: 2 * MOST_TOKENS]:
        reasons[feature_text(group, feature)] = None
        if len(reasons) == MOST_TOKENS:
            break
    return tuple(reasons)


def pack_weights(weights: Sequence[int]) -> str:
    """Weights as a record stores them. Raises OverflowError for one beyond 16 bits."""
    return b64encode(_little_endian(array("h", weights))).decode()


def _little_endian(weights: array[int]) -> array[int]:
    """The same in little-endian order, or converted back."""
    if sys.byteorder == "big":
        weights.byteswap()
    return weights


def as_model(record: Mapping[str, Any]) -> Model:
    """The model in a record such as `kind_model.json.gz`."""
    features, weights = record["features"], record["weights"]
    learnt = {group: Learnt(features[group], _little_endian(array("h", b64decode(weights[group])))) for group in GROUPS}
    shifts = {group: lanes(row) for group, row in record["shifts"].items()}
    favour = tuple(exp(part / UNIT) for part in record["favour"])
    return Model(learnt, lanes(record["bias"]), shifts, favour)


_FEATURE_TEXTS = {
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


@lru_cache(maxsize=2048)
def feature_text(group: str, feature: str) -> str:
    """A feature in readable form."""
    mark, colon, value = feature.partition(":")
    if group == "words" and not colon:
        return f"“{feature}”"
    form = _FEATURE_TEXTS.get(mark)
    if form is not None and colon:
        return form.format(value.rpartition(" ")[0] if mark == "only" else value)
    if mark[:1] in "+-=" and mark:
        side = {"+": "added", "-": "removed", "=": "balance of"}[mark[0]]
        return f"{side} {_LINES.get(mark[1:], mark[1:] + ' lines')}"
    return "which parts it touches"


@cache
def load() -> Model:
    """The model in the package, read once."""
    return as_model(json.loads(decompress(read_bytes("bot.metrics", "kind_model.json.gz"), MAX_WBITS | _GZIP)))

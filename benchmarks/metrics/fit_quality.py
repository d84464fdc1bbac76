"""Which coefficients of the correctness score fit labelled histories, with cross-validation by history?

    python -m benchmarks.metrics.fit_quality --labels fix_inducing_train.csv.gz CLONE... [--replay CLONE...]

Clones of the first list are joined with the table of labels by commit; those of `--replay` are labelled by
benchmarks/metrics/blamed.py and get an intercept of their own, since their labels are defined differently. All
histories of a group have the same weight. Prints the block for bot/metrics/quality.toml.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.metrics.agreement import auc, calibration_error, lift
from benchmarks.metrics.scored_changes import ScoredChange, clones, facts_of, replay_rows, rows_of, stated_labels
from bot.metrics.scores import risks

NAMES = ("size", "fix_share", "repository_fixes", "lately", "fix", "feature", "waited")
STATED_WEIGHT = 3.0
"""of a history with published labels, relative to one with replayed labels, which only cover the first-parent line"""
_RIDGE = 1.0
_STEPS = 12


def solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """The solution of a small positive definite system, by elimination."""
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for column in range(size):
        for below in range(column + 1, size):
            factor = rows[below][column] / rows[column][column]
            rows[below] = [a - factor * b for a, b in zip(rows[below], rows[column], strict=True)]
    found = [0.0] * size
    for row in reversed(range(size)):
        known = sum(rows[row][column] * found[column] for column in range(row + 1, size))
        found[row] = (rows[row][size] - known) / rows[row][row]
    return found


def logistic(features: Sequence[Sequence[float]], truth: Sequence[bool], weights: Sequence[float]) -> list[float]:
    """Coefficients of a logistic regression by Newton's method; the last feature is the intercept, not regularised."""
    size = len(features[0])
    found = [0.0] * (size - 1) + [-3.0]
    for _ in range(_STEPS):
        ridge = [_RIDGE] * (size - 1) + [0.0]
        slope = [-r * b for r, b in zip(ridge, found, strict=True)]
        bend = [[ridge[i] if i == j else 0.0 for j in range(size)] for i in range(size)]
        for row, happened, weight in zip(features, truth, weights, strict=True):
            p = 1 / (1 + math.exp(-sum(a * b for a, b in zip(row, found, strict=True))))
            for i, x in enumerate(row):
                slope[i] += weight * (happened - p) * x
                scaled = weight * p * (1 - p) * x
                for j in range(i + 1):
                    bend[i][j] += scaled * row[j]
        for i in range(size):
            for j in range(i):
                bend[j][i] = bend[i][j]
        step = solve(bend, slope)
        found = [a + b for a, b in zip(found, step, strict=True)]
        if max(map(abs, step)) < 1e-4:
            break
    return found


def _features(row: ScoredChange, replayed: bool) -> list[float]:
    found = risks(row.work)
    return [*(found[name] for name in NAMES), float(replayed), 1.0]


def fit(rows: Sequence[ScoredChange], replayed: frozenset[str]) -> list[float]:
    """Coefficients in the order of NAMES, then that of replayed labels, then the intercept."""
    sizes = Counter(row.repository for row in rows)
    mean = len(rows) / len(sizes)
    return logistic(
        [_features(row, row.repository in replayed) for row in rows],
        [row.outcomes["fixed"] for row in rows],
        [mean / sizes[row.repository] * (1.0 if row.repository in replayed else STATED_WEIGHT) for row in rows],
    )


def chance(row: ScoredChange, found: Sequence[float]) -> float:
    return 1 / (1 + math.exp(-sum(a * b for a, b in zip(_features(row, False), found, strict=True))))


def report(name: str, truth: Sequence[bool], stated: Sequence[float]) -> None:
    base = sum(truth) / len(truth)
    print(
        f"{name:48} n {len(truth):5} base {base:.3f} stated {sum(stated) / len(stated):.3f} "
        f"AUC {auc(truth, stated):.3f} ECE {calibration_error(truth, stated):.3f} "
        f"worst tenth x{lift(truth, stated):.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", nargs="+")
    parser.add_argument("--labels", type=Path, required=True)
    parser.add_argument("--replay", nargs="*", default=[])
    parser.add_argument("--cache", type=Path, help="folder that keeps facts between runs")
    given = parser.parse_args()
    labels = stated_labels(given.labels)
    rows: dict[str, list[ScoredChange]] = {}
    for name, path in clones(given.clones).items():
        rows[name] = rows_of(name, facts_of(name, path, given.cache), labels.get(name, {}))
    replayed = clones(given.replay)
    for name, path in replayed.items():
        rows[name] = replay_rows(name, path, facts_of(name, path, given.cache))
    rows = {name: found for name, found in rows.items() if found}
    every = [row for found in rows.values() for row in found]
    pooled: list[tuple[bool, float]] = []
    print("each history by coefficients of the others")
    for name, found in rows.items():
        others = fit([row for row in every if row.repository != name], frozenset(replayed))
        stated = [chance(row, others) for row in found]
        truth = [row.outcomes["fixed"] for row in found]
        report(name, truth, stated)
        if name not in replayed:
            pooled += zip(truth, stated, strict=True)
    report("all of the table", [truth for truth, _ in pooled], [stated for _, stated in pooled])
    *coefficients, _, intercept = fit(every, frozenset(replayed))
    print(f"\n[correctness]\nintercept = {intercept:.3f}")
    for name, value in zip(NAMES, coefficients, strict=True):
        print(f"{name} = {value:.3f}")


if __name__ == "__main__":
    main()

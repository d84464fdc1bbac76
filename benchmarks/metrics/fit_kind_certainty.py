"""How are the weights of bot/metrics/kind_certainty.json fitted to changes that people read?

    python -m benchmarks.metrics.fit_kind_certainty --table change_kind_train.csv.gz CLONE...
        [--parts tune report] [--output bot/metrics/kind_certainty.json]

The clones are those of the projects in `kind_readings.csv`. Changes with hidden prefixes from `--table`, without lines,
have half the weight of the readings; they keep the weights right where prefixes are usual. Each project of the readings
has the same weight. Needs numpy and scikit-learn, which Almanac itself does not.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.metrics.kind_readings import Reading, read
from benchmarks.metrics.labelled_commits import of_table
from bot.metrics import kind_features, kind_model, kind_rules
from bot.metrics.change_kind import KindEvidence
from bot.metrics.kind_certainty import SIGNS, UNIT, Odds, signs
from bot.metrics.kind_notes import noted_kind
from bot.metrics.kind_title import read_title

INVERSE_PENALTY = 0.2
SHARE_OF_PREFIXED = 0.5
DOUBTFUL = 0.6
"""weight of a reading whose label another reader might not share"""
PER_PROJECT = 150
LABELS = ("feature", "bug_fix", "other")
Rows = list[tuple[tuple[float, ...], int, float]]


def rows_of_readings(readings: list[Reading]) -> Rows:
    """Signs, label and weight of each reading that the model is asked about; once more, lighter, without files."""
    asked = [
        one for one in readings if not read_title(one.evidence.title).upkeep and not noted_kind(one.evidence.files)
    ]
    totals: dict[str, float] = defaultdict(float)
    for one in asked:
        totals[one.repository] += one.weight
    found: Rows = []
    for one in asked:
        weight = 100 * one.weight / totals[one.repository] * (DOUBTFUL if one.doubtful else 1)
        label = LABELS.index(one.label)
        found.append((signs_of(one.evidence), label, weight))
        found.append((signs_of(one.evidence._replace(files=())), label, weight / 3))
    return found


def rows_of_table(path: Path, total: float) -> Rows:
    """The same of changes whose prefix is hidden."""
    found: Rows = []
    for rows in of_table(path).values():
        for row in random.Random(3).sample(rows, min(PER_PROJECT, len(rows))):
            files = tuple(file._replace(added=(), removed=()) for file in row.files)
            label = 0 if row.kind == "feature" else 1 if row.kind == "bug_fix" else 2
            found.append((signs_of(KindEvidence(row.title, row.body, files)), label, 1.0))
            found.append((signs_of(KindEvidence(row.title, row.body)), label, 0.5))
    every = sum(weight for _, _, weight in found)
    return [(values, label, weight / every * total) for values, label, weight in found]


def signs_of(evidence: KindEvidence) -> tuple[float, ...]:
    """The signs of one change, with the linear model's answer."""
    groups = (
        kind_features.words(kind_rules.strip_marks(evidence.title)),
        kind_features.paths(evidence.files),
        kind_features.body_words(evidence.body) if evidence.body else (),
        kind_features.patch(evidence.files),
    )
    scores = kind_model.load().score(dict(zip(kind_model.GROUPS, groups, strict=True)))
    return signs(read_title(evidence.title), evidence.body, evidence.files, Odds(*scores.purposes))


def fit(rows: Rows) -> dict[str, dict[str, int]]:
    """The weights of feature and bug fix against other, in thousandths."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    values, labels, weights = zip(*rows, strict=True)
    model: Any = LogisticRegression(C=INVERSE_PENALTY, max_iter=3000)
    model.fit(np.array(values), np.array(labels), sample_weight=np.array(weights))
    found = {}
    for at, name in enumerate(LABELS[:2]):
        logits = [*(model.coef_[at] - model.coef_[2]), model.intercept_[at] - model.intercept_[2]]
        found[name] = {key: round(UNIT * each) for key, each in zip((*SIGNS, "bias"), logits, strict=True)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path, nargs="+")
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--parts", nargs="+", default=["tune"])
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    rows = rows_of_readings([one for one in read(args.clones) if one.part in args.parts])
    total = sum(weight for _, _, weight in rows)
    found = fit(rows + rows_of_table(args.table, SHARE_OF_PREFIXED * total))
    text = json.dumps(found, indent=1) + "\n"
    print(text)
    if args.output:
        args.output.write_text(text, "utf-8")


if __name__ == "__main__":
    main()

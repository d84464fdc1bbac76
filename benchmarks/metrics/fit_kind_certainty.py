"""How are the weights of bot/metrics/kind_certainty.json fitted to changes that people read?

    python -m benchmarks.metrics.fit_kind_certainty --table change_kind_train.csv.gz CLONE...
        [--output bot/metrics/kind_certainty.json]

The clones are those of the projects in `kind_readings.csv`. Changes with hidden prefixes from `--table`, without lines,
have half the weight of the readings; they keep the weights right where prefixes are usual. Each project of the readings
has the same weight. Which probability makes a guess certain is measured by language group on projects left out of the
fit one after the other. Needs numpy and scikit-learn, which Almanac itself does not.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.metrics.kind_readings import Reading, precision, read
from benchmarks.metrics.labelled_commits import of_table
from bot.metrics import kind_certainty, kind_features, kind_model, kind_rules
from bot.metrics.change_kind import KindEvidence, Verdict, classify
from bot.metrics.kind_certainty import LANGUAGE_GROUPS, SIGNS, UNIT, Odds, as_calibration, signs
from bot.metrics.kind_notes import noted_kind
from bot.metrics.kind_title import read_title

INVERSE_PENALTY = 0.2
SHARE_OF_PREFIXED = 0.5
DOUBTFUL = 0.6
"""weight of a reading whose label another reader might not share"""
PER_PROJECT = 150
FITTED_ON = ("tune", "report", "check", "second")
STEPS = (0.65, 0.70, 0.75, 0.80, 0.85)
"""probabilities tried"""
WANTED = 0.90
"""share of certain ones that are right, with `SHRINK` more changes at the share of all languages"""
SHRINK = 20
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
    found = _hidden(path)
    every = sum(weight for _, _, weight in found)
    return [(values, label, weight / every * total) for values, label, weight in found]


@cache
def _hidden(path: Path) -> Rows:
    found: Rows = []
    for rows in of_table(path).values():
        for row in random.Random(3).sample(rows, min(PER_PROJECT, len(rows))):
            files = tuple(file._replace(added=(), removed=()) for file in row.files)
            label = 0 if row.kind == "feature" else 1 if row.kind == "bug_fix" else 2
            found.append((signs_of(KindEvidence(row.title, row.body, files)), label, 1.0))
            found.append((signs_of(KindEvidence(row.title, row.body)), label, 0.5))
    return found


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


def fit_readings(readings: list[Reading], table: Path) -> dict[str, dict[str, int]]:
    """The weights for these readings and the changes with hidden prefixes."""
    rows = rows_of_readings(readings)
    return fit(rows + rows_of_table(table, SHARE_OF_PREFIXED * sum(weight for _, _, weight in rows)))


def held_out(readings: list[Reading], table: Path) -> list[tuple[Reading, Verdict]]:
    """The verdict on each reading by weights that its project had no part in."""
    found = []
    for repository in sorted({one.repository for one in readings}):
        weights = fit_readings([one for one in readings if one.repository != repository], table)
        with patch.object(kind_certainty, "load", return_value=as_calibration(weights)):
            found += [(one, classify(one.evidence)) for one in readings if one.repository == repository]
    return found


def needed(judged: list[tuple[Reading, Verdict]]) -> dict[str, dict[str, float]]:
    """By language group and kind, the lowest probability that is right often enough, where it is not the first."""
    found: dict[str, dict[str, float]] = {}
    for kind in LABELS[:2]:
        rows = [(one, v) for one, v in judged if v.certain and v.kind == kind]
        for group in LANGUAGE_GROUPS:
            mine = [(one, v) for one, v in rows if one.language == group]
            step = next((least for least in STEPS if _share_right(mine, rows, least) >= WANTED), STEPS[-1])
            if step > STEPS[0]:
                found.setdefault(group, {})[kind] = step
    return found


def _share_right(mine: list[tuple[Reading, Verdict]], every: list[tuple[Reading, Verdict]], least: float) -> float:
    """How many of a language's certain changes are right, shrunk to the share of all languages."""
    right, count = _count_right(mine, least)
    all_right, all_count = _count_right(every, least)
    return (right + SHRINK * all_right / max(1, all_count)) / (count + SHRINK)


def _count_right(rows: list[tuple[Reading, Verdict]], least: float) -> tuple[int, int]:
    above = [one.label == verdict.kind for one, verdict in rows if verdict.probability >= least * UNIT]
    return sum(above), len(above)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path, nargs="+")
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    readings = [one for one in read(args.clones) if one.part in FITTED_ON]
    judged = held_out(readings, args.table)
    certain = needed(judged)
    for line in counted(judged, certain):
        print(line)
    found = {**fit_readings(readings, args.table), "certain": certain}
    text = json.dumps(found, indent=1) + "\n"
    print(text)
    if args.output:
        args.output.write_text(text, "utf-8")


def counted(judged: list[tuple[Reading, Verdict]], certain: dict[str, dict[str, float]]) -> Iterator[str]:
    """Precision by language on projects that the weights were not fitted to."""
    for group in (*LANGUAGE_GROUPS, "all"):
        yield f"left out {group:11}" + precision(
            [
                (one, v._replace(certain=v.certain and v.probability >= least * UNIT))
                for one, v in judged
                if group in (one.language, "all")
                for least in [certain.get(one.language, {}).get(v.kind, 0)]
            ]
        )


if __name__ == "__main__":
    main()

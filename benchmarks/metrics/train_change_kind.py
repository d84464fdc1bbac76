"""How are the weights of bot/metrics/kind_model.json.gz learned from commits that their authors labelled?

    python -m benchmarks.metrics.train_change_kind gather --table change_kind_train.csv.gz FEATURES CLONE...
    python -m benchmarks.metrics.train_change_kind fit FEATURES [--output bot/metrics/kind_model.json.gz]

`gather` writes the features of every commit, by project; labels come from prefixes if a project uses them, otherwise
from its release notes. `fit` holds out complete projects, prints how well the rest predicts them and, with `--output`,
trains on all projects and writes the model. `fit` needs numpy, scipy and scikit-learn, which Almanac itself does not.
Every project of 150 commits or more has the same weight.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.metrics import changelog_labels
from benchmarks.metrics.labelled_commits import RESERVED, Labelled, name_of, of_clone, of_table
from bot.metrics import kind_features, kind_rules
from bot.metrics.kind_model import GROUPS, KINDS_LEARNT, UNIT, as_model, pack_weights

MOST_FEATURES = {"words": 4500, "paths": 2500, "body": 1500, "patch": 2000}
FEWEST_PROJECTS, FEWEST_COMMITS = 5, 15
VIEWS = (("words",), ("words", "paths"), ("words", "paths", "body", "patch"), ("words", "body"))
VIEW_WEIGHTS = (0.6, 1.0, 1.0, 0.2)
INVERSE_PENALTY = 0.3
TEMPER = 0.35
"""how much of the logarithm of a kind's share is subtracted, for kinds that are neither feature nor bug fix"""
NOTED_INTERCEPT = 0.15
"""Hardly any other work has a release note, so commits labelled by one get an intercept of their own. The model uses
this part of it for feature and fix: all of it would find too many where prefixes are usual, none too few elsewhere.
"""
FEWEST_STATED = 400
"""commits with a prefix from which on only a project's prefixes are used"""
FULL_PROJECT = 150
"""commits from which on a project has full weight"""
FOLDS = 4
_HARDLY_SHRUNK = 2.0

Row = dict[str, Any]


def features(row: Labelled) -> Row:
    """The features of one commit by group, with its label and whether a release note or a prefix gave it."""
    return {
        "kind": row.kind,
        "noted": not row.prefix,
        "words": kind_features.words(kind_rules.strip_marks(row.title)),
        "paths": kind_features.paths(row.files),
        "body": kind_features.body_words(row.body),
        "patch": kind_features.patch(row.files),
    }


def _of_clone(path: Path) -> tuple[str, list[Row]]:
    rows = of_clone(path)
    if len(rows) < FEWEST_STATED:
        rows = max(rows, changelog_labels.of_clone(path), key=len)
    return name_of(path), [features(row) for row in rows]


def gather(output: Path, table: Path, clones: list[Path]) -> None:
    """Write one line of JSON per project; a project that is both a clone and in the table is read from the clone."""
    paths = [path for path in clones if name_of(path) not in RESERVED.split()]
    with ProcessPoolExecutor(2) as pool:
        found = dict(pool.map(_of_clone, paths))
    for repository, rows in of_table(table).items():
        if repository not in found:
            found[repository] = [features(row) for row in rows]
    with gzip.open(output, "wt", encoding="utf-8", compresslevel=3) as lines:
        for repository in sorted(found):
            if len(found[repository]) >= 50:
                lines.write(json.dumps([repository, found[repository]]) + "\n")
    print(len(found), "projects,", sum(map(len, found.values())), "commits")


def read(path: Path) -> dict[str, list[Row]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return dict(json.loads(line) for line in lines)


def vocabulary(projects: dict[str, list[Row]], group: str) -> list[str]:
    """The features found in enough commits of enough projects, most frequent first."""
    commits: Counter[str] = Counter()
    spread: Counter[str] = Counter()
    for rows in projects.values():
        own: Counter[str] = Counter(feature for row in rows for feature in row[group])
        commits.update(own)
        spread.update(own.keys())
    frequent = [one for one, n in commits.items() if n >= FEWEST_COMMITS and spread[one] >= FEWEST_PROJECTS]
    return sorted(frequent, key=lambda one: (-commits[one], one))[: MOST_FEATURES[group]]


def learn(projects: dict[str, list[Row]]) -> Row:
    """The model's record: integer weights by feature, bias and shifts."""
    import numpy as np
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    words = {group: vocabulary(projects, group) for group in GROUPS}
    start: dict[str, int] = {}
    column: dict[tuple[str, str], int] = {}
    for group in GROUPS:
        start[group] = len(column)
        column.update({(group, feature): len(column) + at for at, feature in enumerate(words[group])})
    shifted = [group for group in GROUPS if group != "words"]
    column.update({("given", group): len(column) + at for at, group in enumerate([*shifted, "noted"])})

    indices: list[int] = []
    values: list[float] = []
    ends, labels, weights = [0], [], []
    for rows in projects.values():
        for row in rows:
            for view, weight in zip(VIEWS, VIEW_WEIGHTS, strict=True):
                if any(not row[group] for group in view if group in ("paths",)) or (
                    view[-1] in ("patch", "body") and not row[view[-1]]
                ):
                    continue
                for group in view:
                    known = [column[key] for feature in row[group] if (key := (group, feature)) in column]
                    indices += known
                    values += [max(1, len(known)) ** -0.5] * len(known)
                    if row[group] and group != "words":
                        indices.append(column["given", group])
                        values.append(1.0)
                if row["noted"]:
                    indices.append(column["given", "noted"])
                    values.append(_HARDLY_SHRUNK)
                ends.append(len(indices))
                labels.append(KINDS_LEARNT.index(row["kind"]))
                weights.append(weight / max(len(rows), FULL_PROJECT))
    matrix = csr_matrix((values, indices, ends), shape=(len(labels), len(column)))
    given = np.array(weights) * len(labels) / sum(weights)
    fitted = LogisticRegression(C=INVERSE_PENALTY, max_iter=120, tol=1e-3).fit(matrix, labels, sample_weight=given)
    share = np.bincount(labels, weights=given, minlength=len(KINDS_LEARNT)) / given.sum()
    coefficients = np.rint(fitted.coef_.T * UNIT).astype(int)
    bias = fitted.intercept_ + NOTED_INTERCEPT * _HARDLY_SHRUNK * fitted.coef_.T[column["given", "noted"]]
    noted = _HARDLY_SHRUNK * fitted.coef_.T[column["given", "noted"]]
    bias = fitted.intercept_.copy()
    bias[:2] += NOTED_INTERCEPT * (noted[:2] - np.average(noted[2:], weights=share[2:]))
    favour = np.rint(-TEMPER * np.log(share[2:]) * UNIT).astype(int)
    return {
        "unit": UNIT,
        "kinds": list(KINDS_LEARNT),
        "bias": np.rint(bias * UNIT).astype(int).tolist(),
        "shifts": {group: coefficients[column["given", group]].tolist() for group in shifted},
        "favour": favour.tolist(),
        "features": {group: sorted(words[group]) for group in GROUPS},
        "weights": {
            group: pack_weights(
                [weight for one in sorted(words[group]) for weight in coefficients[column[group, one]].tolist()]
            )
            for group in GROUPS
        },
    }


def folds(projects: dict[str, list[Row]], count: int) -> list[list[str]]:
    """Split the projects by name, so that a run can be repeated."""
    names = sorted(projects, key=lambda name: name.lower()[::-1])
    return [names[at::count] for at in range(count)]


SCORED_VIEWS: dict[str, tuple[str, ...]] = {
    "message only": ("words",),
    "+ files": ("words", "paths"),
    "+ files + body": ("words", "paths", "body"),
    "+ files + diff": ("words", "paths", "patch"),
    "+ files + body + diff": ("words", "paths", "body", "patch"),
}


def measure_held_out(projects: dict[str, list[Row]], count: int) -> None:
    """Print the figures of every view over projects that the model of their fold was not trained on."""
    from benchmarks.metrics.change_kind import KindScore

    scores = {name: KindScore() for name in SCORED_VIEWS}
    for names in folds(projects, FOLDS)[:count]:
        model = as_model(learn({name: rows for name, rows in projects.items() if name not in names}))
        for name in names:
            for row in projects[name]:
                for label, view in SCORED_VIEWS.items():
                    if "patch" in view and not row["patch"]:
                        continue
                    found = model.score({group: row[group] for group in view})
                    kind = model.choose(found, found.purposes)
                    scores[label].add(name, row["kind"], (kind, found.odds[KINDS_LEARNT.index(kind)]))
    for label, score in scores.items():
        print(f"{label:24}{score.line()}")


def fit(path: Path, output: Path | None, count: int) -> None:
    projects = read(path)
    print(len(projects), "projects,", sum(map(len, projects.values())), "commits")
    measure_held_out(projects, count)
    if output:
        text = json.dumps(learn(projects), ensure_ascii=False, separators=(",", ":"))
        output.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
        print(output, output.stat().st_size, "bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tasks = parser.add_subparsers(dest="task", required=True)
    gathering = tasks.add_parser("gather")
    gathering.add_argument("features", type=Path)
    gathering.add_argument("--table", type=Path, required=True)
    gathering.add_argument("clones", type=Path, nargs="*")
    fitting = tasks.add_parser("fit")
    fitting.add_argument("features", type=Path)
    fitting.add_argument("--output", type=Path)
    fitting.add_argument("--folds", type=int, default=FOLDS, help=f"how many of the {FOLDS} folds are tried")
    args = parser.parse_args()
    if args.task == "gather":
        gather(args.features, args.table, args.clones)
    else:
        fit(args.features, args.output, args.folds)


if __name__ == "__main__":
    main()

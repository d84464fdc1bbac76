"""How often is a change's kind right on projects that the model was not trained on, and how fast is it?

    python -m benchmarks.metrics.change_kind [--table change_kind_train.csv.gz] CLONE...

The ground truth is the author's own prefix, hidden for the first figures and shown for the last. The clones should be
of projects that docs/models/change_kind.md does not name; the rows of `--table` were used for training.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.metrics.labelled_commits import Labelled, name_of, of_clone, of_table
from bot.landing.lines.split import ReadFile
from bot.metrics.change_kind import KindEvidence, classify
from bot.model.ids import Kind

_THREE = {"feature": "feature", "bug_fix": "bug_fix"}


@dataclass
class KindScore:
    """Ground truth against answers, over ten kinds and over three."""

    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    by_project: dict[str, Counter[bool]] = field(default_factory=dict)
    sure: Counter[bool] = field(default_factory=Counter)

    def add(self, project: str, truth: Kind, answer: tuple[Kind, float]) -> None:
        kind, probability = answer
        self.pairs[truth, kind] += 1
        same = _THREE.get(truth, "other") == _THREE.get(kind, "other")
        self.by_project.setdefault(project, Counter())[same] += 1
        if probability >= 0.5:
            self.sure[truth == kind] += 1

    def line(self) -> str:
        three: Counter[tuple[str, str]] = Counter()
        for (truth, answer), count in self.pairs.items():
            three[_THREE.get(truth, "other"), _THREE.get(answer, "other")] += count
        worst = min((each[True] / each.total() for each in self.by_project.values()), default=0.0)
        sure = self.sure.total()
        return (
            f"n {self.pairs.total():6}  3 kinds {_accuracy(three):.3f} / {_macro_f1(three):.3f}"
            f" (worst project {worst:.2f})"
            f"  10 kinds {_accuracy(self.pairs):.3f} / {_macro_f1(self.pairs):.3f}"
            f"  certain {sure / max(1, self.pairs.total()):.2f}, right {self.sure[True] / max(1, sure):.3f}"
        )

    def by_kind(self) -> str:
        return "  ".join(
            f"{kind} {value:.2f}" for kind, value in sorted(_f1(self.pairs).items(), key=lambda row: -row[1])
        )


def _accuracy(pairs: Counter[tuple[str, str]]) -> float:
    return sum(n for (truth, answer), n in pairs.items() if truth == answer) / max(1, pairs.total())


def _f1(pairs: Counter[tuple[str, str]]) -> dict[str, float]:
    found = {}
    for kind in sorted({truth for truth, _ in pairs}):
        right = pairs[kind, kind]
        predicted = sum(n for (_, answer), n in pairs.items() if answer == kind)
        meant = sum(n for (truth, _), n in pairs.items() if truth == kind)
        found[kind] = 2 * right / (predicted + meant)
    return found


def _macro_f1(pairs: Counter[tuple[str, str]]) -> float:
    scores = _f1(pairs)
    return sum(scores.values()) / max(1, len(scores))


def measure_accuracy(projects: dict[str, list[Labelled]]) -> None:
    """Print the figures with the prefix hidden, by the other known evidence, and with the prefix shown."""
    views: dict[str, Callable[[Labelled], KindEvidence]] = {
        "message only": lambda row: KindEvidence(row.title),
        "+ body": lambda row: KindEvidence(row.title, row.body),
        "+ files": lambda row: KindEvidence(row.title, files=_without_lines(row)),
        "+ files + diff": lambda row: KindEvidence(row.title, files=row.files),
        "+ files + body + diff": lambda row: KindEvidence(row.title, row.body, row.files),
        "prefix stated": lambda row: KindEvidence(row.prefix + row.title, row.body, row.files),
    }
    for name, view in views.items():
        score = KindScore()
        for project, rows in projects.items():
            for row in rows:
                verdict = classify(view(row))
                score.add(project, row.kind, (verdict.kind, float(verdict.certain)))
        print(f"{name:24}{score.line()}")
        if name == "+ files + body + diff":
            print(f"{'':24}F1: {score.by_kind()}")


def _without_lines(row: Labelled) -> tuple[ReadFile, ...]:
    return tuple(file._replace(added=(), removed=()) for file in row.files)


def speed(projects: dict[str, list[Labelled]]) -> None:
    """Print kinds per second of CPU time for titles with a hidden prefix, the best of five rounds."""
    titles = [KindEvidence(row.title) for rows in projects.values() for row in rows][:4000]
    best = float("inf")
    for _ in range(5):
        begun = time.process_time()
        for evidence in titles:
            classify(evidence)
        best = min(best, time.process_time() - begun)
    print(f"{len(titles) / best:,.0f} kinds a second (messages, one core)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path, nargs="*")
    parser.add_argument("--table", type=Path)
    args = parser.parse_args()
    projects = of_table(args.table) if args.table else {}
    projects |= {name_of(path): of_clone(path) for path in args.clones}
    if not projects:
        parser.error("name a table or clones")
    measure_accuracy(projects)
    speed(projects)


if __name__ == "__main__":
    main()

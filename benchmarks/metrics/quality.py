"""How well do the shipped quality scores, frozen at landing, predict what happened to the work?

    python -m benchmarks.metrics.quality CLONE... [--labels fix_inducing_train.csv.gz] [--cache FOLDER]

Correctness is evaluated by the table of labels for the clones in it, and for others by the replayed history
(benchmarks/metrics/blamed.py); Architecture and Performance always by the replay. The last year only serves as
follow-up. Also prints the distribution of the scores and the speed of reading signals.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, median, quantiles

from benchmarks.metrics.agreement import auc, auc_at_equal_size
from benchmarks.metrics.fit_quality import report
from benchmarks.metrics.scored_changes import ScoredChange, clones, facts_of, replay_rows, rows_of, stated_labels
from bot.history.log import landings
from bot.history.measuring import rules_of
from bot.history.opening import open_clones
from bot.history.walk import arrivals
from bot.landing.lines.split import ReadFile, read_files
from bot.metrics.scores import FORMULAS, architecture, correctness, performance
from bot.metrics.signals import signals

_FEWEST = 15
"""a history needs this many later refactorings or speed-ups to be meaningful"""
_SPEED_COMMITS = 1500


def _chance(row: ScoredChange) -> float:
    return 1 - correctness(row.work).score / 100


def judge_correctness(rows: dict[str, list[ScoredChange]]) -> None:
    print("Correctness: a fix within 30 days")
    for name, found in rows.items():
        report(name, [row.outcomes["fixed"] for row in found], [_chance(row) for row in found])
    every = [row for found in rows.values() for row in found]
    report("all", [row.outcomes["fixed"] for row in every], [_chance(row) for row in every])
    areas = [auc([row.outcomes["fixed"] for row in found], [_chance(row) for row in found]) for found in rows.values()]
    print(f"mean AUC {mean(areas):.3f} median {median(areas):.3f} least {min(areas):.3f}\n")


def judge(what: str, outcome: str, rows: dict[str, list[ScoredChange]], risk: Callable[[ScoredChange], float]) -> None:
    """Evaluate a score against an outcome, over all pairs and over pairs of equal size."""
    print(what)
    plain, equal = [], []
    for name, found in rows.items():
        truth = [row.outcomes[outcome] for row in found]
        if sum(truth) < _FEWEST:
            continue
        risks = [risk(row) for row in found]
        plain.append(auc(truth, risks))
        equal.append(auc_at_equal_size(truth, risks, [row.added for row in found]))
        print(f"{name:48} n {len(found):5} later {sum(truth):4} AUC {plain[-1]:.3f} at equal size {equal[-1]:.3f}")
    if plain:
        print(f"mean {mean(plain):.3f}, at equal size {mean(equal):.3f} over {len(plain)} histories\n")


def spread(rows: Sequence[ScoredChange]) -> None:
    print("spread of the scores of changes: 5 / 25 / 50 / 75 / 95 %")
    for name, formula in {"correctness": correctness, **FORMULAS}.items():
        cuts = quantiles([formula(row.work).score for row in rows], n=20)
        print(f"{name:16} " + " / ".join(f"{cuts[cut]:.1f}" for cut in (0, 4, 9, 14, 18)))


def _read(path: Path) -> list[tuple[ReadFile, ...]]:
    clone = open_clones([path])[0]
    rules = rules_of(clone)
    found = list(arrivals(clone))[:_SPEED_COMMITS]
    return [read_files(landing.commit.files, rules.files) for landing in landings(clone, found)]


def speed(path: Path) -> None:
    times, lines = [], 0
    for read in _read(path):
        start = time.perf_counter()
        signals(read)
        times.append(time.perf_counter() - start)
        lines += sum(len(file.added) + len(file.removed) for file in read)
    print(f"\nsignals: median {1e3 * median(times):.3f} ms a commit, {1e6 * sum(times) / lines:.2f} µs a changed line")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", nargs="+")
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--cache", type=Path, help="folder that keeps facts between runs")
    given = parser.parse_args()
    labels = stated_labels(given.labels) if given.labels else {}
    labelled: dict[str, list[ScoredChange]] = {}
    replayed: dict[str, list[ScoredChange]] = {}
    for name, path in clones(given.clones).items():
        facts = facts_of(name, path, given.cache)
        if name in labels:
            labelled[name] = rows_of(name, facts, labels[name])
        replayed[name] = replay_rows(name, path, facts)
    if labelled:
        judge_correctness(labelled)
    others = {name: found for name, found in replayed.items() if name not in labels and found}
    if others:
        judge_correctness(others)
    judge("Architecture: a later refactoring", "refactor", replayed, lambda row: -architecture(row.work).score)
    judge("Performance: a later speed-up", "perf", replayed, lambda row: -performance(row.work).score)
    spread([row for found in (labelled or replayed).values() for row in found])
    speed(next(iter(clones(given.clones).values())))


if __name__ == "__main__":
    main()

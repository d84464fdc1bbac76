"""How often is a kind right that Almanac calls certain, on changes without a prefix that people read with their diffs?

    python -m benchmarks.metrics.kind_readings CLONE...

`kind_readings.csv` has a hundred changes of each of ten projects that no model learnt from: repository, commit,
language, part, weight, label, doubt, reason. The changes were drawn at random from three strata
(guessed feature, guessed fix, the rest) of which many certain features and fixes were wanted; `weight` is how many
changes of the history each stands for. They were labelled from title, message and diff, without the classifier's
answer. The words and rules were chosen on `tune`; `report` was only counted. `check` holds 42 changes each of four
more projects, drawn by the new answers and read last. `second` and `last` are two halves of 314 changes of eight
projects in C and JavaScript, read later still: rules were mended on the first half, the other half was only counted.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchmarks.metrics.labelled_commits import git, name_of
from bot.landing.lines.diff import read_diff
from bot.landing.lines.split import read_files
from bot.metrics.change_kind import KindEvidence, Verdict, classify

TABLE = Path(__file__).with_name("kind_readings.csv")
_LONGEST_DIFF = 60_000
_BATCH = 100
PARTS = ("tune", "report", "check", "second", "last")
_CURVE = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01)


class Reading(NamedTuple):
    """One change that was read, and what is known of it."""

    repository: str
    language: str
    part: str
    weight: float
    label: str
    doubtful: bool
    evidence: KindEvidence


def read(clones: Iterable[Path]) -> list[Reading]:
    """The readings of these clones' projects."""
    with TABLE.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    found: list[Reading] = []
    for path in clones:
        mine = {row["commit"]: row for row in rows if row["repository"] == name_of(path)}
        for commit, evidence in _evidence(path, sorted(mine)):
            row = mine[commit]
            found.append(
                Reading(
                    *(row["repository"], row["language"], row["part"], float(row["weight"])),
                    *(row["label"], bool(row["doubt"]), evidence),
                )
            )
    return found


def _evidence(path: Path, commits: Sequence[str]) -> Iterator[tuple[str, KindEvidence]]:
    form = "--format=%x01%x01%H%x02%B%x02"
    args = ("log", "--no-walk=unsorted", "--stdin", "-p", "-M", "-U2", "--root", form)
    for at in range(0, len(commits), _BATCH):
        for part in git(path, *args, stdin="\n".join(commits[at : at + _BATCH])).split("\1\1")[1:]:
            commit, message, diff = (*part.split("\2", 2), "", "")[:3]
            title, _, body = message.strip().partition("\n")
            files = read_files(read_diff(diff.lstrip("\n")[:_LONGEST_DIFF].encode()))
            yield commit, KindEvidence(title, body, files)


def of_kind(verdict: Verdict) -> str:
    return verdict.kind if verdict.kind in ("feature", "bug_fix") else "other"


def report(readings: Sequence[Reading]) -> None:
    """Print precision of certain features and fixes, the share that is certain, and the reliability curve."""
    judged = [(one, classify(one.evidence)) for one in readings]
    for part in PARTS:
        for language in (*sorted({one.language for one in readings}), "all"):
            rows = [(one, v) for one, v in judged if one.part == part and language in (one.language, "all")]
            if rows:
                print(f"{part:7}{language:11}{precision(rows)}")
        print(f"{part:7}reliability {_curve([row for row in judged if row[0].part == part])}")


def precision(rows: Sequence[tuple[Reading, Verdict]]) -> str:
    """How often certain features and fixes are right, how many are found, and the share that is certain."""
    told = []
    for kind in ("feature", "bug_fix"):
        certain = [one for one, verdict in rows if verdict.certain and verdict.kind == kind]
        right = sum(one.label == kind for one in certain)
        every = sum(one.label == kind for one, _ in rows)
        told.append(
            f"{kind} {right:3}/{len(certain):3} = {right / max(1, len(certain)):.2f}, found {right / max(1, every):.2f}"
        )
    weight = sum(one.weight for one, _ in rows)
    share = sum(one.weight for one, verdict in rows if verdict.certain) / max(weight, 1e-9)
    right = sum(one.label == of_kind(verdict) for one, verdict in rows if verdict.certain)
    count = sum(verdict.certain for _, verdict in rows)
    return f"{' | '.join(told)} | certain {share:.2f} of all, {right / max(1, count):.2f} of them right"


def _curve(rows: Sequence[tuple[Reading, Verdict]]) -> str:
    told = []
    for low, high in pairwise(_CURVE):
        group = [(one, v) for one, v in rows if low <= v.probability / 1000 < high]
        right = sum(one.label == of_kind(v) for one, v in group)
        mean = sum(v.probability for _, v in group) / 1000 / max(1, len(group))
        told.append(f"{mean:.2f}: {right / max(1, len(group)):.2f} ({len(group)})")
    return "; ".join(told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path, nargs="+")
    report(read(parser.parse_args().clones))


if __name__ == "__main__":
    main()

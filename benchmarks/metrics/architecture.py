"""Does the share of harmful imports of a person's new ones say something that repeats?

    python -m benchmarks.metrics.architecture CLONE... [--verdicts 20]

Over people with 24 new imports between components, 8 in their odd and 8 in their even months (METRICS 5.3): the rank
correlation of both halves, how often the interval of the one holds the other, the rank correlation with the number of
imports, and for how many the interval is narrow enough. `--verdicts` lists harmful imports to read.
"""

from __future__ import annotations

import argparse
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from benchmarks.metrics.quality import UTC, rank_correlation
from bot.cli.recomputing.offline import record_of
from bot.metrics.architecture import LEAST_CHANGES, WIDEST, main_language
from bot.metrics.component_imports import component_imports
from bot.metrics.intervals import eighty_percent, resampled_shares
from bot.metrics.line_fates import OwnCommit, own_commits
from bot.model.ids import PersonKey

LEAST_BOTH, LEAST_HALF = 24, 8


class Half(Struct, frozen=True):
    """(new imports, harmful ones) of each item."""

    items: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, commits: Iterable[OwnCommit]) -> Half:
        found: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
        for commit in commits:
            for one in commit.imports or ():
                found[commit.item][0] += 1
                found[commit.item][1] += one.is_harmful
        return cls(sorted((risk, lost) for risk, lost in found.values()))

    @property
    def imports(self) -> int:
        return sum(risk for risk, _ in self.items)

    @property
    def share(self) -> float:
        return sum(lost for _, lost in self.items) / self.imports

    def interval(self) -> tuple[float, float]:
        return eighty_percent(resampled_shares(self.items))


class Person(Struct, frozen=True):
    language: str | None
    odd: Half
    even: Half
    both: Half
    changes: int


def people_of(commits: Sequence[OwnCommit], who: dict[PersonKey, PersonKey]) -> Iterator[Person]:
    """The people with enough new imports."""
    by_person: defaultdict[PersonKey, list[OwnCommit]] = defaultdict(list)
    for commit in commits:
        if commit.imports:
            by_person[who.get(commit.author, commit.author)].append(commit)
    for _, own in sorted(by_person.items()):
        odd, even = (Half.of(one for one in own if int(one.month[5:]) % 2 == part) for part in (1, 0))
        both = Half.of(own)
        if both.imports >= LEAST_BOTH and min(odd.imports, even.imports) >= LEAST_HALF:
            yield Person(main_language(own), odd, even, both, len({one.change for one in own}))


def report(found: Sequence[Person]) -> str:
    """One row: people, repetition, coverage, size, how many could be rated."""
    raw = rank_correlation([one.odd.share for one in found], [one.even.share for one in found])
    size = rank_correlation([one.both.share for one in found], [one.both.imports for one in found])
    held = sum(low <= one.even.share <= high for one in found for low, high in [one.odd.interval()])
    widths = [100 * (high - low) for low, high in (one.both.interval() for one in found)]
    ratable = sum(width <= WIDEST and one.changes >= LEAST_CHANGES for one, width in zip(found, widths, strict=True))
    numbers = [f"{value:.2f}" if value is not None else "n/a" for value in (raw, size)]
    return f"{len(found)} | {numbers[0]} | {held} of {len(found)} | {numbers[1]} | {ratable}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("clones", nargs="+")
    parser.add_argument("--verdicts", type=int, default=0)
    given = parser.parse_args()
    pooled: list[Person] = []
    print("clone | new imports, cycles, private | people | odd/even | held | with imports | could be rated")
    for clone in given.clones:
        with record_of([clone]) as record:
            name = Path(clone).resolve().parent.name if Path(clone).name == "repo" else Path(clone).name
            rows = component_imports(record.facts())
            who = {key: owner for owner, keys in record.people.keys().items() for key in keys}
            people = list(people_of(own_commits(record.all_changes(), record.line_record(), UTC), who))
        pooled += people
        counts = f"{len(rows)}, {sum(one.closes_cycle for one in rows)}, {sum(bool(one.private) for one in rows)}"
        print(f"{name} | {counts} | {report(people)}", flush=True)
        harmful = sorted(
            (one for one in rows if one.is_harmful), key=lambda one: hashlib.sha256(one.commit.encode()).digest()
        )
        for one in harmful[: given.verdicts]:
            mark = "cycle" if one.closes_cycle else one.private
            print(f"  {one.commit[:12]} {one.importer} -> {one.imported}: {mark}")
    print(f"all | | {report(pooled)}")
    for language in sorted({one.language or "" for one in pooled}):
        print(f"  {language} | | {report([one for one in pooled if one.language == language])}")


if __name__ == "__main__":
    main()

"""How well do the items of contributor-months agree with those of a human reader? Counts, and B-cubed F1.

`items/*.json` hold contributor-months of public projects, drawn at random among those of 4 to 25 changes, as commit,
pull request, group and kind. A reader grouped them by titles, messages and files, before any program did.

    python -m benchmarks.metrics.items CLONE... [--cache]
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.history.opening import open_clones
from bot.history.record import CloneRecord
from bot.metrics.items import group
from bot.model.change import Change

GOLD = Path(__file__).parent / "items"
TUNED_ON = ("datasette", "litestar", "ratatui")
"""thresholds and rules may be tuned on these; the others are for evaluation only"""


@dataclass
class Agreement:
    """The agreement over one set of contributor-months."""

    months: int = 0
    differences: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    precision: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)

    def exact(self, name: str, within: int = 0) -> float:
        return (
            sum(count for difference, count in self.differences[name].items() if abs(difference) <= within)
            / self.months
        )

    def bcubed(self) -> tuple[float, float, float]:
        one, other = (sum(values) / len(values) for values in (self.precision, self.recall))
        return one, other, 2 * one * other / (one + other)

    def add(self, found: dict[str, Any], gold: dict[str, Any], kinds: tuple[Counter[str], Counter[str]]) -> None:
        self.months += 1
        self.differences["items"][len(set(found.values())) - len(set(gold.values()))] += 1
        for kind in ("feature", "bug_fix"):
            self.differences[kind][kinds[0][kind] - kinds[1][kind]] += 1
        both = [
            max(kinds[0][kind] - kinds[1][kind], kinds[1][kind] - kinds[0][kind]) for kind in ("feature", "bug_fix")
        ]
        self.differences["both"][max(both)] += 1
        for name in gold:
            mine = {other for other in gold if found[other] == found[name]}
            theirs = {other for other in gold if gold[other] == gold[name]}
            self.precision.append(len(mine & theirs) / len(mine))
            self.recall.append(len(mine & theirs) / len(theirs))


def compare(changes: Sequence[Change], months: Sequence[dict[str, Any]], *, kinds: bool = True) -> Iterator[Any]:
    """(found group, gold group, (found kinds, gold kinds)) of each month. Reverts belong to no group and are omitted.

    If `kinds` is False, the reader's kind of each change replaces ours, so that only the grouping is evaluated.
    """
    from msgspec.structs import replace

    by_commit = {commit.fact.commit[:12]: change for change in changes for commit in change.commits}
    for month in months:
        rows = {by_commit[commit].id: (by_commit[commit], number, kind) for commit, _, number, kind in month["changes"]}
        rated = {name: row for name, row in rows.items() if row[0].kind != "revert"}
        chosen = [
            row[0] if kinds else replace(row[0], kind="chore" if row[2] == "other" else row[2]) for row in rows.values()
        ]
        found: dict[str, Any] = {}
        ours: Counter[str] = Counter()
        for number, item in enumerate(group(chosen)):
            found |= dict.fromkeys(item.changes, number)
            ours[item.kind] += item.state != "reverted" and any(name in rated for name in item.changes)
        unreverted = {row[1]: row[2] for row in rated.values() if row[0].state != "reverted"}
        yield (
            {name: found[name] for name in rated},
            {name: row[1] for name, row in rated.items()},
            (ours, Counter(unreverted.values())),
        )


def judge(clones: Sequence[str], *, kinds: bool = True) -> dict[str, Agreement]:
    """The agreement by project, by whether it was used for tuning, and overall."""
    judged: dict[str, Agreement] = defaultdict(Agreement)
    for path in clones:
        name = next(
            part
            for part in (Path(path).name, Path(path).parent.name.partition("+")[2])
            if (GOLD / f"{part}.json").is_file()
        )
        gold = json.loads((GOLD / f"{name}.json").read_text("utf-8"))
        record = CloneRecord(open_clones([path]))
        record.refresh()
        for row in compare(record.all_changes(), gold["months"], kinds=kinds):
            for key in (name, "tuned on" if name in TUNED_ON else "others", "all"):
                judged[key].add(*row)
        record.close()
    return judged


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", nargs="+")
    given = parser.parse_args()
    for kinds in (True, False):
        print("kinds of our own" if kinds else "kinds of the reader's", flush=True)
        for name, one in judge(given.clones, kinds=kinds).items():
            counts = "  ".join(
                f"{what} {one.exact(what):.2f}/{one.exact(what, 1):.2f}"
                for what in ("items", "feature", "bug_fix", "both")
            )
            precision, recall, both = one.bcubed()
            print(f"{name:12} {one.months:3} months  {counts}  B3 {precision:.3f} {recall:.3f} {both:.3f}")


if __name__ == "__main__":
    main()

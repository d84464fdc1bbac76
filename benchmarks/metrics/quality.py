"""Do the shares of lines say something that repeats, and do they name the lines that `git blame` names?

    python -m benchmarks.metrics.quality CLONE... [--blame 200] [--verdicts 20]

For each tile: the rank correlation of a person's odd and even months, how often the interval of the odd months holds
the even ones, and the rank correlation with lines, over people with 2,000 lines at risk, 500 a half (METRICS 5.3).
`--blame` compares the owners of the lines that so many commits removed with git's; `--verdicts` lists losses to read.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from zoneinfo import ZoneInfo

from msgspec import Struct

from bot.cli.recomputing.offline import record_of
from bot.history.patches import PatchReader
from bot.history.record import CloneRecord
from bot.landing.lines.split import read_files
from bot.metrics.line_fates import LineRecord, OwnCommit, own_commits
from bot.metrics.line_hashes import FileHashes, file_key, hash_lines, line_hash, unpack
from bot.metrics.quality import LEAST_LINES, TILES, WIDEST, Tile, TileCounts, interval_of, read_tile, share_kept
from bot.model.commit import Commit
from bot.model.ids import CommitId, PersonKey

UTC = ZoneInfo("UTC")
LEAST_BOTH = 2000
"""lines at risk of a person who is looked at"""
_HUNK = re.compile(r"@@ -(\d+)")


class Halves(Struct, frozen=True):
    """One person's odd and even months, and both together."""

    language: str | None
    odd: TileCounts
    even: TileCounts
    whole: TileCounts
    project: float

    def is_held(self, tile: Tile) -> bool:
        low, high = interval_of(tile, self.odd)
        return low <= share_kept(self.even) <= high


def halves_of(tile: Tile, commits: Sequence[OwnCommit], who: dict[PersonKey, PersonKey], now: int) -> Iterator[Halves]:
    """The people with enough lines, by what they own."""
    by_person: defaultdict[PersonKey, list[OwnCommit]] = defaultdict(list)
    for commit in commits:
        by_person[who.get(commit.author, commit.author)].append(commit)
    project = share_kept(read_tile(tile, commits, now))
    for _, own in sorted(by_person.items()):
        odd, even = (read_tile(tile, [one for one in own if int(one.month[5:]) % 2 == part], now) for part in (1, 0))
        whole = read_tile(tile, own, now)
        if whole.at_risk >= LEAST_BOTH and min(odd.at_risk, even.at_risk) >= LEAST_LINES:
            yield Halves(whole.language, odd, even, whole, project)


def ranks(values: Sequence[float]) -> list[float]:
    """The mean rank of each value among all."""
    places: defaultdict[float, list[int]] = defaultdict(list)
    for place, value in enumerate(sorted(values)):
        places[value].append(place)
    return [sum(places[value]) / len(places[value]) for value in values]


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's, None where it is not defined."""
    first, second = ranks(one), ranks(other)
    means = [sum(values) / max(1, len(values)) for values in (first, second)]
    both = sum((a - means[0]) * (b - means[1]) for a, b in zip(first, second, strict=True))
    spread = sum((a - means[0]) ** 2 for a in first) * sum((b - means[1]) ** 2 for b in second)
    return both / spread**0.5 if spread else None


def report(tile: Tile, found: Sequence[Halves]) -> str:
    """One row: people, repetition raw and around the project, coverage, size, and how many would be narrow enough."""

    def around(part: str) -> list[float]:
        return [share_kept(getattr(one, part)) - one.project for one in found]

    raw = rank_correlation([share_kept(one.odd) for one in found], [share_kept(one.even) for one in found])
    centred = rank_correlation(around("odd"), around("even"))
    size = rank_correlation(around("whole"), [one.whole.at_risk for one in found])
    held = sum(one.is_held(tile) for one in found)
    widths = [high - low for low, high in (interval_of(tile, one.whole) for one in found)]
    narrow = sum(width <= WIDEST for width in widths)
    return f"{len(found)} | {_two(raw)} | {_two(centred)} | {held} of {len(found)} | {_two(size)} | {narrow}"


def _two(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}"


# --- against git blame -----------------------------------------------------------------------------------------------


def sampled(commits: Iterable[CommitId], most: int) -> list[CommitId]:
    """The same commits each time, spread over the history."""
    return sorted(commits, key=lambda one: hashlib.sha256(one.encode()).digest())[:most]


def blame_agreement(record: CloneRecord, lines: LineRecord, most: int) -> tuple[int, int, int]:
    """(lines with an owner, those whose owner git names as well, those that the commit that git names only moved), of a
    sample of commits that removed lines."""
    (clone,) = record.clones
    ours: defaultdict[CommitId, Counter[str]] = defaultdict(Counter)
    for loss in lines.losses:
        ours[loss.by[1]][loss.owner[1]] += loss.replaced + loss.dropped
    total = same = moved = 0
    with closing(PatchReader(clone.git_dir, clone.mailmap)) as reader:
        for commit in list(reader.read(sampled(ours, most))):
            blamed = list(_blamed(clone.git_dir, commit))
            agreed = (ours[commit.id] & Counter(owner for owner, _ in blamed)).total()
            others = {CommitId(owner) for owner, _ in blamed} - set(ours[commit.id])
            within = {one.id: _moved_lines(one) for one in reader.read(sorted(others))}
            told = sum(line in within.get(CommitId(owner), ()) for owner, line in blamed)
            total += ours[commit.id].total()
            same += agreed
            moved += min(told, ours[commit.id].total() - agreed)
    return total, same, moved


def _moved_lines(commit: Commit) -> set[int]:
    """The lines that one commit removes from one place and adds in another, or only formats."""
    files = list(unpack(hash_lines(read_files(commit.files))))
    added, removed = ({line for one in files for line in getattr(one, side)} for side in ("added", "removed"))
    return added & removed | {line for one in files for line in one.pairs}


def _blamed(folder: Path, commit: Commit) -> Iterator[tuple[str, int]]:
    """The commit that git blames for each source line that this one removed, with the line's hash."""
    hashed = {one.file: one for one in unpack(hash_lines(read_files(commit.files)))}
    for change in commit.files:
        file = hashed.get(file_key(change.path))
        if file is None or not file.removed or not change.patch or not commit.parents:
            continue
        before = change.previous_path or change.path
        blame = ("blame", "--root", "-w", "-M", "-C", "-l", "-s")
        command = ["git", "-C", str(folder), *blame, f"{commit.id}^", "--", before]
        shown = subprocess.run(command, capture_output=True, check=False).stdout.decode("utf-8", "replace")
        owners = [line.split(" ", 1)[0] for line in shown.split("\n")]
        yield from ((owners[number - 1], line) for number, line in _removed_numbers(change.patch, file))


def _removed_numbers(patch: str, file: FileHashes) -> Iterator[tuple[int, int]]:
    """The number, in the old file, and the hash of each removed line that is kept."""
    left, number = Counter(file.removed), 0
    for line in patch.split("\n"):
        hunk = _HUNK.match(line)
        if hunk:
            number = int(hunk[1])
        elif line[:1] == "-":
            name = line_hash(line[1:])
            if name is not None and left[name]:
                left[name] -= 1
                yield number, name
            number += 1
        elif line[:1] == " ":
            number += 1


# --- to read ---------------------------------------------------------------------------------------------------------


def verdicts(commits: Sequence[OwnCommit], most: int) -> Iterator[str]:
    """A sample of losses to certain fixes and reverts: the change, the fix, lines and days."""
    rows = {
        f"{one.change} by {taken.change}: {taken.replaced + taken.dropped} lines, {taken.cause}, "
        f"{(taken.at - one.landed_at) // 86_400} days"
        for one in commits
        for taken in one.taken
        if taken.cause in ("fix", "revert") and not taken.follow_up and taken.at - one.landed_at <= 90 * 86_400
    }
    yield from sorted(rows, key=lambda row: hashlib.sha256(row.encode()).digest())[:most]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("clones", nargs="+")
    parser.add_argument("--blame", type=int, default=0)
    parser.add_argument("--verdicts", type=int, default=0)
    given = parser.parse_args()
    pooled: defaultdict[str, list[Halves]] = defaultdict(list)
    print("clone | tile | people | odd/even | around the project | held | with lines | narrow enough")
    for clone in given.clones:
        with record_of([clone]) as record:
            lines = record.line_record()
            commits = own_commits(record.all_changes(), lines, UTC)
            who = {key: owner for owner, keys in record.people.keys().items() for key in keys}
            now = max((one.landed_at for one in commits), default=0)
            name = Path(clone).resolve().parent.name if Path(clone).name == "repo" else Path(clone).name
            for tile in TILES:
                found = list(halves_of(tile, commits, who, now))
                pooled[tile.key] += found
                print(f"{name} | {tile.key} | {report(tile, found)}", flush=True)
            if given.blame:
                total, same, moved = blame_agreement(record, lines, given.blame)
                print(f"{name} | blame: {same} of {total} lines have the same owner, {moved} moved", flush=True)
            for row in verdicts(commits, given.verdicts):
                print("  " + row)
    for tile in TILES:
        print(f"all | {tile.key} | {report(tile, pooled[tile.key])}")
        for language in sorted({one.language or "" for one in pooled[tile.key]}):
            some = [one for one in pooled[tile.key] if one.language == language]
            print(f"  {language} | {tile.key} | {report(tile, some)}")


if __name__ == "__main__":
    main()

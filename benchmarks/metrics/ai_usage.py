"""How many attribution lines are found, how many other lines are mistaken for one, and when is each tool first seen?

    python -m benchmarks.metrics.ai_usage LINES.csv [--truth ai_line_truth.csv [--notes CLONE]] [--first-seen CLONE...]

`LINES.csv` has the columns tool, line, occurrences. The hard negatives are in tests/metrics/test_ai_usage.py; here
every line of the table that names no tool also counts as a negative.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bot.history.clone import open_clone
from bot.history.notes import Notes
from bot.metrics.ai_notes import ai_lines
from bot.metrics.ai_usage import marks
from bot.model.commit import Commit, Signature
from bot.model.ids import CommitId

_TOOLS = {
    "claude_code": ("Claude Code",),
    "copilot": ("Copilot", "Copilot review", "Copilot coding agent"),
    "copilot_agent": ("Copilot coding agent",),
    "copilot_autofix": ("Copilot Autofix", "Copilot review"),
    "gemini_review": ("Gemini Code Assist",),
    "gemini_cli": ("Gemini CLI",),
    "droid": ("Factory Droid",),
}
_PROSE_WORDS = 12
_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_SOMEBODY = Signature("Ada Example", "ada@example.org")


def of_message(message: str, author: Signature = _SOMEBODY, committer: Signature = _SOMEBODY) -> Commit:
    return Commit(CommitId("0" * 40), (), author, committer, _NOW, _NOW, message)


def lines(path: Path) -> None:
    """Print precision and recall over distinct lines, and each line that was missed or given the wrong tool."""
    right = wrong = missed = matched = 0
    with path.open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            line = row["line"].replace("<id>", "0123456789ab")
            found = marks(of_message(f"Add a cache\n\nIt is faster.\n\n{line}\n"), None)
            prose = len(line.split()) > _PROSE_WORDS and ":" not in line[:40]
            named = {mark.tool.lower().replace(" ", "_") for mark in found} | {mark.tool for mark in found}
            if prose:
                matched += bool(found)
            elif not found:
                missed += 1
                print("missed:", line)
            elif row["tool"] == "assisted_by" or named & {row["tool"], *_TOOLS.get(row["tool"], ())}:
                right += 1
            else:
                wrong += 1
                print("named otherwise:", row["tool"], sorted(named), line)
    print(
        f"precision {right / max(1, right + wrong + matched):.3f}  recall {right / max(1, right + wrong + missed):.3f}"
    )


def truth(path: Path) -> None:
    """Print how many of the lines attested by notes a trailer or a bot author discloses (always a lower bound)."""
    with path.open(encoding="utf-8", newline="") as rows:
        commits = list(csv.DictReader(rows))
    for row in commits:  # notes may attest lines that an earlier commit added
        row["ai_lines"] = str(min(int(row["ai_lines"]), int(row["added_lines"])))
    disclosed = [row for row in commits if row["has_ai_trailer_or_bot"] == "1"]
    attested = sum(int(row["ai_lines"]) for row in commits)
    added = sum(int(row["added_lines"]) for row in commits)
    print(f"share of added lines: attested {attested / added:.3f}", end="  ")
    print(f"in commits that disclose {sum(int(row['added_lines']) for row in disclosed) / added:.3f}", end="  ")
    print(f"attested lines disclosed {sum(int(row['ai_lines']) for row in disclosed) / attested:.3f}")


def notes(path: Path, clone: Path) -> None:
    """Print how well the lines that we read from a clone's notes agree with those that the table attests."""
    with path.open(encoding="utf-8", newline="") as rows:
        attested = {row["sha"]: int(row["ai_lines"]) for row in csv.DictReader(rows)}
    read = Notes(clone, open_clone(clone).notes).of(list(attested))
    found = {commit: sum(ai_lines(text).values()) for commit, text in read.items()}
    exact = sum(found.get(commit, 0) == lines for commit, lines in attested.items())
    some = [commit for commit, lines in attested.items() if lines]
    seen, wrong = (sum(found.get(one, 0) > 0 for one in group) for group in (some, attested.keys() - set(some)))
    print(f"line notes: exact {exact} of {len(attested)}  with AI lines {seen} of {len(some)}  wrongly {wrong}")


def commits_of(clone: Path) -> Iterator[tuple[str, Commit]]:
    """(month, commit) of every commit of a clone, without files."""
    form = "--format=%x02%ad%x03%an%x03%ae%x03%cn%x03%ce%x03%B"
    command = ("git", "-C", str(clone), "log", "--all", "--date=format:%Y-%m", form)
    text = subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "replace")
    for part in text.split("\2")[1:]:
        fields = part.split("\3", 5)
        if len(fields) == 6:
            month, name, email, committer, address, message = fields
            yield month, of_message(message, Signature(name, email), Signature(committer, address))


def first_seen(clones: list[Path]) -> None:
    """Print for each tool its first month and number of commits, and the time per commit."""
    months: dict[str, str] = {}
    counts: Counter[str] = Counter()
    total, spent = 0, 0.0
    for clone in clones:
        for month, commit in commits_of(clone):
            begun = time.perf_counter()
            found = marks(commit, None)
            spent += time.perf_counter() - begun
            total += 1
            for tool in {mark.tool for mark in found}:
                counts[tool] += 1
                months[tool] = min(month, months.get(tool, month))
    for tool, count in counts.most_common():
        print(f"{tool:24}{months[tool]}  {count}")
    print(f"{total} commits, {1e6 * spent / max(1, total):.1f} microseconds each")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", type=Path)
    parser.add_argument("--truth", type=Path)
    parser.add_argument("--notes", type=Path, metavar="CLONE", help="whose notes made the table of --truth")
    parser.add_argument("--first-seen", type=Path, nargs="+", default=[], metavar="CLONE")
    args = parser.parse_args()
    lines(args.lines)
    if args.truth:
        truth(args.truth)
    if args.truth and args.notes:
        notes(args.truth, args.notes)
    if args.first_seen:
        first_seen(args.first_seen)


if __name__ == "__main__":
    main()

"""What do examples in the documentation show? A small clone of a made-up project, with invented people."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ADA, BEN = ("Ada Brook", "ada@example.org"), ("Ben Castor", "ben@example.org")
PEOPLE = {".github/almanac-people.yml": "people:\n  - ada@example.org\n"}
BOTH = {".github/almanac-people.yml": "people:\n  - ada@example.org\n  - ben@example.org\n"}
PARTS = ("engine", "guidance", "telemetry", "launchpad", "fuel")
WORK = (
    ("feat({part}): show the state of every valve", "src/{part}/valves.py", 46),
    ("fix({part}): do not lose the last reading when the link drops", "src/{part}/link.py", 12),
    ("test({part}): replay a dropped link", "tests/test_{part}.py", 38),
    ("feat({part}): export a flight as CSV", "src/{part}/export.py", 61),
    ("docs({part}): explain the units of each reading", "docs/{part}.md", 24),
    ("fix({part}): stop the countdown when a sensor is silent", "src/{part}/countdown.py", 9),
    ("refactor({part}): split the parser from its tables", "src/{part}/parser.py", 70),
    ("perf({part}): read a day of readings in one pass", "src/{part}/readings.py", 33),
)
_START = 1_735_732_800
"""2025-01-01 12:00 UTC"""


def example_clone(folder: Path) -> Path:
    """Forty changes in eleven months by two people, both of whom agreed to have a page."""
    folder.mkdir(parents=True)
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "remote", "add", "origin", "https://github.com/acme/rocket.git")
    _commit(folder, 0, ADA, ("docs: say who has a page", PEOPLE))
    _commit(folder, 1, BEN, ("docs: add myself to the pages", BOTH))
    for number in range(40):
        title, path, lines = WORK[number % len(WORK)]
        part = PARTS[number // len(WORK)]
        text = "".join(f"step {number}.{line}: check and record the reading\n" for line in range(lines + number))
        change = (f"{title.format(part=part)} (#{number + 1})", {path.format(part=part): text})
        _commit(folder, 8 * number + 2, (ADA, BEN)[number % 3 == 2], change)
    return folder


def _commit(folder: Path, day: int, author: tuple[str, str], change: tuple[str, dict[str, str]]) -> None:
    message, files = change
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "-m", message, author=author, at=_START + 86_400 * day)


def _git(folder: Path, *words: str, author: tuple[str, str] = ADA, at: int = _START) -> None:
    """Run git with given names and dates only, so that every build has the same commits."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    for role in ("AUTHOR", "COMMITTER"):
        own |= {f"GIT_{role}_NAME": author[0], f"GIT_{role}_EMAIL": author[1], f"GIT_{role}_DATE": f"{at} +0000"}
    own |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *words], cwd=folder, env=own, check=True, capture_output=True)

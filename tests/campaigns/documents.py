"""Do the documents work for somebody who types them? `pip install` lines, commands and queries, with the built wheel.

    python -m tests.campaigns.documents

A clean environment gets pip and nothing else. For each document for newcomers, every block of commands and every SQL
query runs in a copy of the example project, in the order of the document. The wheel stands for the distribution's name;
everything else comes from the index that pip is set up with. Blocks that say where else they run are left out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from pathlib import Path

from scripts.check_package import build
from scripts.docs_site import documents
from scripts.example_clone import ADA, example_clone
from tests.docs.test_commands import STANDS_FOR, Block, blocks

DISTRIBUTION = re.compile(r"\bcontributor-almanac(\[\w+\])?")
INLINE_INSTALL = re.compile(r"`(pip install [^`]+)`")
MAY_FIND_FAULTS = ("almanac doctor",)
"""exits with 1 where no App is registered"""
QUERY = "import duckdb, sys; print(len(duckdb.sql(sys.stdin.read()).fetchall()))"


class FalseLineError(Exception):
    """A line of a document that does not do what it says."""


def shell(line: str, folder: Path, environment: dict[str, str], given: str | None = None) -> str:
    """The output of the line. Raises FalseLineError if it fails."""
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", line],
        cwd=folder,
        env=environment,
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in ((0, 1) if line.startswith(MAY_FIND_FAULTS) else (0,)):
        raise FalseLineError(f"{line}: exit {done.returncode}\n{done.stdout[-500:]}{done.stderr[-1500:]}")
    return done.stdout


def typed_lines(block: Block, wheel: Path) -> Iterator[str]:
    """What somebody types of a block; `make` is for those who have the repository."""
    for line in block.lines:
        for words, value in STANDS_FOR.items():
            line = line.replace(words, value)
        if not line.startswith("make "):
            yield DISTRIBUTION.sub(lambda found: f"'{wheel}{found[1] or ''}'", line.replace('"', ""), count=1)


def play(document: str, wheel: Path, folder: Path, environment: dict[str, str]) -> tuple[int, int]:
    """How many lines and queries ran."""
    clone = example_clone(folder / "rocket")
    (clone / ".github/almanac.yml").write_text("lines:\n  generated: [api/client/**]\n")
    shell(f"almanac profile . --author {ADA[1]} --output profile.json", clone, environment)
    lines = queries = 0
    for install in INLINE_INSTALL.findall(Path(document).read_text("utf-8")):
        if not DISTRIBUTION.search(install):
            shell(install, clone, environment)
    for block in blocks():
        if block.document != document or block.language not in ("sh", "sql") or block.mark.startswith("not run here"):
            continue
        if block.language == "sql":
            for query in filter(str.strip, block.body.split(";")):
                rows = int(shell(f"python -c '{QUERY}'", clone, environment, query))
                if not rows:
                    raise FalseLineError(f"no row for {query}")
                queries += 1
            continue
        for line in typed_lines(block, wheel):
            shell(line, clone, environment)
            lines += 1
    return lines, queries


def main() -> None:
    names = [path.as_posix() for path in documents() if path.parts[:2] == ("docs", "start")] + ["docs/site.md"]
    (wheel,) = [path for path in build() if path.suffix == ".whl"]
    with tempfile.TemporaryDirectory(prefix="almanac-documents-") as made:
        home = Path(made)
        venv.create(home / "venv", with_pip=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ALMANAC"))}
        environment |= {"PATH": f"{home / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}", "XDG_CACHE_HOME": str(home)}
        shell(f"pip install --quiet '{wheel}'", home, environment)
        for name in names:
            started = time.monotonic()
            folder = home / name.replace("/", "-")
            folder.mkdir()
            try:
                lines, queries = play(name, wheel, folder, environment)
            except FalseLineError as fault:
                sys.exit(f"{name}: {fault}")
            print(f"{name}: {lines} lines and {queries} queries, {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()

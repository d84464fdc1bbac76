"""How is the recorded terminal in docs/images updated? It runs two commands and writes what they print, and when.

`python -m scripts.refresh_recording` writes demo.cast (asciicast v2, for players) and demo.svg, which moves by itself
in a browser, and does not move for whoever asked for less motion.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from scripts.example_clone import ADA, example_clone

IMAGES = Path(__file__).parents[1] / "docs" / "images"
COLUMNS, ROWS = 92, 24
LINE, CHARACTER = 17, 7.8
"""pixels"""
READING = 1.5
"""seconds between the commands, and before the picture starts again"""
SLOWEST = 1.2
"""seconds between two lines; the run may have waited longer"""
_TOKEN = re.compile(r"(?<=/p/)[\w.-]{12,}")
_PORT = re.compile(r"(?<=127\.0\.0\.1:)\d+")


class Printed(NamedTuple):
    """A line, and the second at which it was printed."""

    at: float
    text: str


def recorded() -> list[Printed]:
    """What both commands print, on one clock."""
    program = Path(sys.executable).parent / "almanac"
    with tempfile.TemporaryDirectory(prefix="almanac-recording-") as made:
        clone = example_clone(Path(made) / "rocket")
        os.environ["PATH"] = f"{program.parent}:{os.environ['PATH']}"
        lines = _run("almanac demo --once", clone, 0.0)
        return [*lines, *_run(f"almanac profile . --author {ADA[1]} | head -n 42", clone, lines[-1].at + READING)]


def _run(command: str, folder: Path, start: float) -> list[Printed]:
    found = [Printed(start, f"$ {command}")]
    own = {name: value for name, value in os.environ.items() if not name.startswith("ALMANAC_")}
    began = time.monotonic()
    own |= {"XDG_CACHE_HOME": str(folder.parent / "cache")}
    with subprocess.Popen(
        ["sh", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=own
    ) as process:
        for line in process.stdout or ():
            at = min(start + time.monotonic() - began, found[-1].at + SLOWEST)
            found.append(Printed(max(at, found[-1].at + 0.04), _shortened(line.rstrip("\n"))))
    if process.returncode:
        sys.exit(f"{command}: exit {process.returncode}")
    return found


def _shortened(line: str) -> str:
    """A line that fits; ports and tokens, which differ in each run, are the same in each recording."""
    line = _PORT.sub("8080", _TOKEN.sub("…", line))
    return line if len(line) <= COLUMNS else line[: COLUMNS - 1] + "…"


def cast(lines: Sequence[Printed]) -> str:
    """The recording as asciicast v2, https://docs.asciinema.org/manual/asciicast/v2/"""
    head = {"version": 2, "width": COLUMNS, "height": ROWS, "title": "almanac demo, almanac profile"}
    events = ([line.at, "o", f"{line.text}\r\n"] for line in lines)
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in (head, *events))


def picture(lines: Sequence[Printed]) -> str:
    """The recording as an SVG: all lines on one long sheet, which moves up by a line whenever one is printed."""
    whole = lines[-1].at + 3 * READING
    width, height = round(COLUMNS * CHARACTER) + 24, ROWS * LINE + 24
    texts = "\n".join(
        f'<text y="{LINE * (number + 1)}"{_style(line)}>{escape(line.text)}</text>' for number, line in enumerate(lines)
    )
    frames = "".join(
        f"{100 * line.at / whole:.2f}%{{transform:translateY({LINE * (ROWS - number - 1)}px)}}"
        for number, line in enumerate(lines)
    )
    last = LINE * (ROWS - len(lines))
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">
<title>A terminal: almanac demo prints check runs, a digest and links; almanac profile prints a profile</title>
<style>
text{{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d7dce2;white-space:pre}}
.c{{fill:#7fd1b9;font-weight:bold}}
.s{{transform:translateY({last}px);animation:s {whole:.1f}s step-end infinite}}
@keyframes s{{0%{{transform:translateY({LINE * (ROWS - 1)}px)}}{frames}100%{{transform:translateY({last}px)}}}}
@media (prefers-reduced-motion:reduce){{.s{{animation:none}}}}
</style>
<rect width="100%" height="100%" rx="8" fill="#1b1f24"/>
<svg x="12" y="8" width="{width - 24}" height="{height - 16}"><g class="s">
{texts}
</g></svg>
</svg>
"""


def _style(line: Printed) -> str:
    return ' class="c"' if line.text.startswith("$ ") else ""


def main() -> None:
    lines = [Printed(round(line.at, 2), line.text) for line in recorded()]
    (IMAGES / "demo.cast").write_text(cast(lines), "utf-8")
    (IMAGES / "demo.svg").write_text(picture(lines), "utf-8")


if __name__ == "__main__":
    main()

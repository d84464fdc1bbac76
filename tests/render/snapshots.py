"""Does a text match its snapshot? With UPDATE_SNAPSHOTS=1 the tests rewrite the snapshots for review."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "snapshots"


def agreed(name: str, text: str) -> str:
    """The agreed text of that name; with UPDATE_SNAPSHOTS set, `text` becomes it."""
    path = FOLDER / name
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(text, "utf-8", newline="")
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()

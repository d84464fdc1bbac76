"""Which changed lines of a notebook did somebody write?

Notebooks are JSON with an indent of one: the text of a cell is indented by four blanks, its output by more. The text of
cells is authored; outputs, counters and metadata are generated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

_CELL_TEXT = re.compile(r' {4}("(?:[^"\\]|\\.)*+"),?\Z')


def is_notebook(path: str) -> bool:
    return path.endswith(".ipynb")


def cell_lines(lines: Iterable[str]) -> list[str]:
    """The lines of cells among the raw lines of a notebook, decoded as they appear in the cell."""
    out = []
    for line in lines:
        found = _CELL_TEXT.match(line)
        if found:
            out.append(_decode(found[1]).removesuffix("\n"))
    return out


def _decode(literal: str) -> str:
    try:
        return str(json.loads(literal))
    except ValueError:
        return literal[1:-1]

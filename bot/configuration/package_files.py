"""What does a file in the package contain?

`importlib.resources` gives the same answer, wherever a package is, but takes fifteen times as long to import.
"""

from __future__ import annotations

from pathlib import Path
from pkgutil import get_data
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def read_bytes(package: str, name: str) -> bytes:
    """The file `name`, with slashes between folders, in a package. Raises FileNotFoundError if there is none."""
    found = get_data(package, name)
    if found is None:
        raise FileNotFoundError(f"{package}: {name}")
    return found


def read_text(package: str, name: str) -> str:
    """The file as UTF-8 text."""
    return read_bytes(package, name).decode()


def shipped_file(name: str) -> Traversable:
    """A file that is outside the packages in a checkout and inside `bot/shipped/` in a wheel."""
    from importlib import resources

    installed = resources.files("bot").joinpath("shipped", Path(name).name)
    return installed if installed.is_file() else Path(__file__).parents[2] / name

"""What does a file that lies within the package hold?

`importlib.resources` answers the same, wherever a package lies, and takes fifteen times as long to be imported.
"""

from __future__ import annotations

from pathlib import Path
from pkgutil import get_data
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def read_bytes(package: str, name: str) -> bytes:
    """The file `name`, folders parted by slashes, within a package. Raises FileNotFoundError where there is none."""
    found = get_data(package, name)
    if found is None:
        raise FileNotFoundError(f"{package}: {name}")
    return found


def read_text(package: str, name: str) -> str:
    """The same, as UTF-8."""
    return read_bytes(package, name).decode()


def shipped(name: str) -> Traversable:
    """A file that stands outside the packages in a checkout and inside `bot/shipped/` in a wheel."""
    from importlib import resources

    installed = resources.files("bot").joinpath("shipped", Path(name).name)
    return installed if installed.is_file() else Path(__file__).parent.parent / name

"""What does the App ask of GitHub? `app.yml`, wherever this installation has it."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable


def shipped(name: str) -> Traversable:
    """A file that stands outside the packages in a checkout and inside `bot/shipped/` in a wheel."""
    installed = resources.files("bot").joinpath("shipped", Path(name).name)
    return installed if installed.is_file() else Path(__file__).parent.parent / name


@cache
def app_manifest() -> Mapping[str, Any]:
    """The manifest as it is written: name, permissions, events; its addresses are examples."""
    import yaml

    loaded: dict[str, Any] = yaml.safe_load(shipped("app.yml").read_text("utf-8"))
    return MappingProxyType(loaded)

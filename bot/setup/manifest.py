"""What does the App request from GitHub? Reads `app.yml` from the checkout or the wheel."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bot.configuration.package_files import shipped_file

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def app_manifest() -> Mapping[str, Any]:
    """The manifest as written: name, permissions, events; its addresses are examples."""
    import yaml

    loaded: dict[str, Any] = yaml.safe_load(shipped_file("app.yml").read_text("utf-8"))
    return MappingProxyType(loaded)

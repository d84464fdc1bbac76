"""Which settings does a platform need that keeps no disk? A registered App's, and both keys, as lines of a file."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from pathlib import Path

from bot.configuration.errors import UnusableInputError
from bot.configuration.keys import link_secrets, snapshot_key
from bot.configuration.settings import Settings
from bot.configuration.values import GitHubAddress


def write_settings(settings: Settings, file: Path) -> None:
    """Write `NAME=value` lines, readable only by their owner. Raises UnusableInputError if the file exists."""
    text = "".join(f"{name}={value}\n" for name, value in platform_settings(settings) if value)
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError:
        raise UnusableInputError(f"{file} exists already; move it away or name another file") from None
    except OSError as error:
        raise UnusableInputError(f"cannot write {file}: {error.strerror}") from None


def platform_settings(settings: Settings) -> Iterator[tuple[str, str]]:
    """Each setting and its value in one line; keys that do not exist yet are made in the data folder."""
    yield "ALMANAC_PUBLIC_URL", settings.public_url
    yield "ALMANAC_APP_ID", settings.app_id or ""
    yield "ALMANAC_PRIVATE_KEY", _one_line(settings.private_key or "")
    yield "ALMANAC_WEBHOOK_SECRET", ",".join(settings.webhook_secrets)
    yield "ALMANAC_CLIENT_ID", settings.client_id
    yield "ALMANAC_CLIENT_SECRET", settings.client_secret
    yield "ALMANAC_RELAY", settings.relay
    if settings.github != GitHubAddress():
        yield "ALMANAC_GITHUB_URL", settings.github.web
    yield "ALMANAC_LINKS_KEY", _digits(settings.links_keys or link_secrets(settings.data / "links.key"))
    yield "ALMANAC_SNAPSHOTS_KEY", _one_line(settings.snapshots_key or _snapshots_key(settings.data / "snapshots.key"))


def _snapshots_key(path: Path) -> str:
    snapshot_key(path)
    return path.read_text("utf-8")


def _digits(keys: tuple[bytes, ...]) -> str:
    return ",".join(key.hex() for key in keys)


def _one_line(pem: str) -> str:
    return base64.b64encode(pem.encode()).decode()

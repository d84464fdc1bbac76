"""What do the pages of the running bot work with, and where does it come from?"""

from __future__ import annotations

import secrets
from pathlib import Path

from sqlalchemy import Connection

from bot.config import Settings
from bot.errors import UnusableInputError
from bot.model import PersonKey
from bot.package_files import shipped
from bot.signatures import SigningKey, read_signing_key, signing_key, write_once
from bot.tasks.personal import ask_about_account, forget
from bot.tasks.workplace import Workplace
from bot.web.collaborators import Pages
from bot.web.sign_in import SignIn

_SECRET_BYTES = 32
_MENDED = "restore it from a back-up, or move it away to have a new one created"


def pages_of(settings: Settings, place: Workplace) -> Pages:
    """Keys are those of the settings; where these hold none, they are made in the data folder at the first start."""

    def erase(connection: Connection, key: PersonKey) -> None:
        forget(connection, place, key, place.clock())

    def retell(connection: Connection, key: PersonKey) -> None:
        ask_about_account(connection, place, "retell_person", key)

    return Pages(
        store=place.store,
        public_url=settings.public_url,
        zone=settings.timezone,
        clock=place.clock,
        definitions=_definitions(),
        sign_in=_sign_in(settings),
        erase=erase,
        retell=retell,
        secret=settings.links_key or link_secret(settings.data / "links.key"),
        signing=_signing(settings),
    )


def _definitions() -> Path | None:
    """What each metric means, explained on a page; None where this installation lacks it."""
    found = shipped("docs/metrics.md")
    return found if isinstance(found, Path) and found.is_file() else None


def _sign_in(settings: Settings) -> SignIn | None:
    """The App's OAuth client; without one the settings page is not served."""
    if not settings.client_id or not settings.client_secret:
        return None
    return SignIn(settings.client_id, settings.client_secret, web=settings.github.web, api=settings.github.api)


def _signing(settings: Settings) -> SigningKey:
    if settings.snapshots_key:
        return read_signing_key(settings.snapshots_key.encode())
    return snapshot_key(settings.data / "snapshots.key")


def snapshot_key(path: Path) -> SigningKey:
    """The key that signs snapshots, made at the first start. Raises UnusableInputError for a file that holds none."""
    try:
        return signing_key(path)
    except ValueError as error:
        raise UnusableInputError(f"{error}: {_MENDED}") from None


def link_secret(path: Path) -> bytes:
    """The 32 bytes that sign links, made at the first start; readable by the service alone.

    Raises UnusableInputError for a file that was cut: what little it holds could be guessed.
    """
    if not path.exists():
        write_once(path, secrets.token_bytes(_SECRET_BYTES))
    found = path.read_bytes()
    if len(found) < _SECRET_BYTES:
        raise UnusableInputError(f"{path} does not contain a key of {_SECRET_BYTES} bytes: {_MENDED}")
    return found

"""Which App does this instance run as? The secrets from its registration, in one file that only its owner can read."""

from __future__ import annotations

import json
import os
from pathlib import Path

from msgspec.structs import asdict, fields

from bot.configuration.errors import UnusableInputError
from bot.configuration.redaction import Redacted, Secret
from bot.configuration.signing import OPEN_TO_OTHERS, is_open_to_others, write_once

FILE = "app.json"
"""in the folder `ALMANAC_DATA`"""


class Credentials(Redacted, frozen=True):
    """GitHub's answer when the App was registered, and the server it was registered on."""

    app_id: str
    slug: str
    page: str
    """the App's public page"""
    github: str
    """base address of the GitHub server"""
    client_id: str = ""
    client_secret: Secret[str] = ""
    private_key: Secret[str] = ""
    webhook_secret: Secret[str] = ""
    relay: Secret[str] = ""
    """the channel its deliveries are sent to; empty if they are sent directly"""

    @property
    def install_link(self) -> str:
        """Where an account installs the App."""
        return f"{self.page}/installations/new"


def path_in(folder: Path) -> Path:
    return folder / FILE


def read(folder: Path) -> Credentials | None:
    """The credentials in this folder; None if there are none. Raises UnusableInputError for a broken file."""
    path = path_in(folder)
    try:
        found = json.loads(path.read_bytes())
        known = {one.name for one in fields(Credentials)}
        credentials = Credentials(**{name: str(value) for name, value in found.items() if name in known})
    except FileNotFoundError:
        return None
    except OSError as error:
        denied = isinstance(error, PermissionError)
        todo = "; make the bot's user the owner of the folder and its files" if denied else ""
        raise UnusableInputError(f"cannot read {path}: {error.strerror}{todo}") from None
    except (ValueError, TypeError, AttributeError):
        raise UnusableInputError(f"{path} is not a file written by the set-up: restore it from a back-up") from None
    if is_open_to_others(path):
        raise UnusableInputError(f"{path} {OPEN_TO_OTHERS}: chmod 600 {path}")
    return credentials


def save(folder: Path, credentials: Credentials) -> None:
    """Write them, readable only by their owner, and sync them to disk: GitHub returns them only once.

    Raises UnusableInputError if the folder already contains others, or is not writable.
    """
    path = path_in(folder)
    text = (json.dumps(asdict(credentials), indent=1) + "\n").encode()
    try:
        write_once(path, text)
        if path.read_bytes() != text:
            raise UnusableInputError(
                f"{path} already contains another App's secrets: move it away, then register again"
            )
        _sync(path)
        _sync(path.parent)
    except OSError as error:
        raise UnusableInputError(f"cannot write {path}: {error.strerror}") from None


def check_writable(folder: Path) -> None:
    """Raises UnusableInputError if `save` would fail: called before GitHub returns secrets it returns only once."""
    path = path_in(folder)
    if path.exists():
        raise UnusableInputError(f"{path} already contains an App's secrets: move it away, then register again")
    trial = path.with_name(f"{FILE}.trial")
    try:
        write_once(trial, b"\n")
        trial.unlink()
    except OSError as error:
        raise UnusableInputError(f"cannot write into {folder}: {error.strerror}") from None


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Is this machine ready: settings, key, files, database, disk, programs? No check here uses GitHub."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sqlalchemy import Connection, text

from bot.cli.doctor.findings import Finding, note, ok, unknown, wrong
from bot.configuration import credentials
from bot.configuration.errors import UnusableInputError
from bot.configuration.settings import NEEDED_TO_SERVE, Settings
from bot.configuration.signing import is_open_to_others
from bot.github.auth import AppKey, BadKeyError
from bot.github.limits import Clock
from bot.services.digests.scope import problems_with_home
from bot.store import configurations, installations
from bot.store.advice import database_advice, missing_driver, sqlite_warning
from bot.store.digests import touch_period
from bot.store.engine import (
    ReadTooLongError,
    Store,
    StoreBrokenError,
    StoreUnavailableError,
    page_reads,
)
from bot.store.lock import StoreInUseError, problem_of_running
from bot.store.migrate import FIRST, NO_UPGRADE, newest, revision, revision_of

_SLOWEST_SIGNATURE = 0.001
_INTEGRITY_SECONDS = 30
_LEAST_DISK = 1024**3
_LONGEST_PATH = 1024
_SECRET_FILES = (credentials.FILE, "links.key", "snapshots.key")


def check_settings(settings: Settings) -> Iterator[Finding]:
    """Whether everything that deliveries and pages need is set."""
    missing = settings.missing_to_serve
    if len(missing) == len(NEEDED_TO_SERVE):
        yield wrong("App", "none is set up: run `almanac serve` or `almanac setup` to register one")
    elif missing:
        yield wrong("App", "; ".join(missing))
    else:
        yield ok("App", f"number {settings.app_id} at {settings.github.web}")
    if settings.client_id and settings.client_secret:
        yield ok("sign-in", "the App's OAuth client is set")
    else:
        yield note("sign-in", "off: set ALMANAC_CLIENT_ID and ALMANAC_CLIENT_SECRET for the settings page")
    yield _address(settings)


def _address(settings: Settings) -> Finding:
    address = urlsplit(settings.public_url)
    if address.scheme == "https":
        return ok("address", settings.public_url)
    if (address.hostname or "").startswith("127.") or address.hostname in {"localhost", "::1"}:
        return note("address", f"{settings.public_url} works only on this machine; set ALMANAC_PUBLIC_URL for others")
    return wrong(
        "address", f"{settings.public_url} does not use HTTPS: browsers drop the sign-in; put a TLS proxy in front"
    )


def check_shared_keys(settings: Settings) -> Iterator[Finding]:
    """Whether all machines on one database open the same links and sign snapshots with one key. Skipped on SQLite."""
    given = {"ALMANAC_LINKS_KEY": settings.links_keys, "ALMANAC_SNAPSHOTS_KEY": settings.snapshots_key}
    absent = " and ".join(name for name, key in given.items() if not key)
    if settings.database_url.startswith("sqlite"):
        return
    if absent:
        yield note(
            "shared keys", f"if several machines use this database, set {absent} to the same value on all of them"
        )
    else:
        yield ok("shared keys", "links and snapshots are signed with the keys from the settings")


async def check_key(settings: Settings) -> Iterator[Finding]:
    """Whether the key is valid and signs fast enough for every delivery."""
    if not settings.private_key:
        return iter([unknown("key", "no key is set")])
    try:
        key = AppKey(settings.app_id or "0", settings.private_key, clock=Clock())
    except BadKeyError as error:
        return iter([wrong("key", f"{error}; make a new one on the App's settings page at GitHub")])
    seconds = min([await _seconds_to_sign(key) for _ in range(7)])
    summary = f"signs in {seconds * 1000:.1f} ms"
    fine = seconds <= _SLOWEST_SIGNATURE
    return iter(
        [ok("key", summary) if fine else note("key", f"{summary}, more than 1 ms: this machine is slow or busy")]
    )


async def _seconds_to_sign(key: AppKey) -> float:
    key.refuse("")
    started = time.perf_counter()
    await key.token()
    return time.perf_counter() - started


def check_files(settings: Settings) -> Iterator[Finding]:
    """Whether the data folder is writable, and only their owner can read the secrets."""
    folder = settings.data
    if folder.exists():
        yield _writable(folder)
    else:
        yield _missing_path("data", folder)
    secrets = (*(folder / name for name in _SECRET_FILES), Path(".env"), *_named_key_file())
    open_files = [path for path in secrets if _is_open(path)]
    if open_files:
        yield wrong("secrets", f"other users can read them: chmod 600 {' '.join(map(str, open_files))}")
    else:
        yield ok("secrets", "only the owner can read their files")
    yield from _broken_keys(settings)


def _broken_keys(settings: Settings) -> Iterator[Finding]:
    """Keys that a start would refuse; a missing key is created at the start."""
    from bot.configuration.keys import link_secrets, snapshot_key

    used = (("links.key", settings.links_keys, link_secrets), ("snapshots.key", settings.snapshots_key, snapshot_key))
    for name, given, read in used:
        path = settings.data / name
        if given or not path.exists():
            continue
        try:
            read(path)
        except UnusableInputError as error:
            yield wrong("secrets", str(error))
        except OSError as error:
            yield wrong("secrets", f"cannot read {path}: {error.strerror}; make the bot's user its owner")


def _missing_path(subject: str, path: Path) -> Finding:
    parent = _nearest_existing(path)
    if parent.is_dir() and os.access(parent, os.W_OK | os.X_OK):
        return note(subject, f"{path} does not exist yet; the first start creates it")
    return wrong(subject, f"{path} does not exist, and {parent} is not writable; make the bot's user its owner")


def _nearest_existing(path: Path) -> Path:
    """The path itself, or its nearest existing parent."""
    return next(one for one in (path.absolute(), *path.absolute().parents) if os.path.exists(one))


def _writable(folder: Path) -> Finding:
    trial = folder / ".doctor"
    try:
        trial.write_bytes(b"x")
    except OSError as error:
        todo = "; make the bot's user its owner" if isinstance(error, PermissionError) else ""
        return wrong("data", f"cannot write into {folder}: {error.strerror}{todo}")
    finally:
        with contextlib.suppress(OSError):
            trial.unlink()
    return ok("data", f"{folder} is writable")


def _named_key_file() -> Iterator[Path]:
    """The file that holds the App's key, if the setting names one."""
    text = os.environ.get("ALMANAC_PRIVATE_KEY", "").strip()
    if text and "-----BEGIN" not in text and len(text) < _LONGEST_PATH:
        yield Path(text)


def _is_open(path: Path) -> bool:
    return path.is_file() and is_open_to_others(path)


def check_disk(settings: Settings) -> Iterator[Finding]:
    """Whether there is enough free disk space."""
    folder = _nearest_existing(settings.data)
    free = shutil.disk_usage(folder).free
    summary = f"{free / 1024**3:.1f} GiB free at {folder}"
    yield ok("disk", summary) if free >= _LEAST_DISK else wrong("disk", f"{summary}: free at least 1 GiB")


def check_programs(settings: Settings) -> Iterator[Finding]:
    """Whether git is installed, and which SQLite this Python uses."""
    git = shutil.which("git")
    yield ok("git", git) if git else wrong("git", "not found: install it, because Almanac reads histories with it")
    warning = sqlite_warning() if settings.database_url.startswith("sqlite") else None
    yield note("SQLite", warning) if warning else ok("SQLite", sqlite3.sqlite_version)


async def check_database(settings: Settings) -> Iterator[Finding]:
    """Whether the database opens, has this version's tables, and is writable."""
    try:
        return iter(await asyncio.wait_for(_database(settings), 20 + _INTEGRITY_SECONDS))
    except StoreBrokenError as error:
        return iter([wrong("database", str(error))])
    except (StoreUnavailableError, OSError, TimeoutError) as error:
        reason = database_advice(str(error)) or " ".join(str(error).split())[:300] or type(error).__name__
        return iter([wrong("database", f"cannot be used: {reason}")])
    except ModuleNotFoundError as error:
        return iter([wrong("database", f"cannot be used: {missing_driver(error) or error}")])
    except Exception as error:  # drivers raise what they like for a file that is no database; none of it has secrets
        todo = database_advice(str(getattr(error, "orig", error))) or f"{type(error).__name__}; use another one"
        return iter([wrong("database", f"cannot be used: {todo}")])


async def _database(settings: Settings) -> list[Finding]:
    path = _sqlite_path(settings.database_url)
    if path is not None and (problem := problem_of_running(path)):
        return [wrong("database", problem)]
    if absent := _missing_file(settings.database_url):
        return [_missing_path("database", Path(absent))]
    try:
        async with await Store.open(settings.database_url) as store:
            found = _revision_finding(await _try_to_write(store), "opens and is writable")
            return [found, *await _integrity(store), *await _digests(store, found)]
    except StoreInUseError as error:
        async with await Store.open(settings.database_url, read_only=True) as store:
            found = _revision_finding(await revision(store), f"opens; {str(error).partition(':')[0]}")
            return [found, *await _integrity(store), *await _digests(store, found)]


async def _digests(store: Store, database: Finding) -> list[Finding]:
    """The repositories whose digest is not posted in the repository that their settings choose."""
    if database.state == "WRONG":
        return []
    return [note("digests", problem) for problem in await store.read(problems_with_homes)]


def problems_with_homes(connection: Connection) -> list[str]:
    chosen = configurations.repositories_stating(connection, "digest_repository")
    stored = installations.repositories(connection, chosen)
    return [
        f"{stored[one].repository.full_name}: {problem}"
        for one in chosen
        if one in stored and stored[one].removed_at is None
        for problem in problems_with_home(connection, one)
    ]


async def _integrity(store: Store) -> list[Finding]:
    """Whether SQLite finds its file undamaged."""
    if store.dialect != "sqlite":
        return []
    try:
        with page_reads(_INTEGRITY_SECONDS):
            problem = await asyncio.to_thread(store.check_integrity)
    except ReadTooLongError:
        return [note("integrity", f"not finished within {_INTEGRITY_SECONDS} seconds: run PRAGMA quick_check")]
    return [wrong("integrity", problem) if problem else ok("integrity", "SQLite finds no damage in the file")]


async def _try_to_write(store: Store) -> str | None:
    """The tables' revision, after a write that is rolled back: beginning a transaction would not prove write access."""

    def write_and_undo(connection: Connection) -> str | None:
        found = revision_of(connection)
        trial = connection.begin_nested()
        if found == newest():
            touch_period(connection, "doctor", "written", datetime.now(UTC))
        else:
            connection.execute(text("CREATE TABLE almanac_doctor (x INTEGER)"))
        trial.rollback()
        return found

    return await store.write(write_and_undo)


def _missing_file(url: str) -> str:
    """The SQLite file that does not exist yet; empty if it exists, or for another kind of database."""
    path = _sqlite_path(url)
    return "" if path is None or path.exists() else str(path)


def _sqlite_path(url: str) -> Path | None:
    return Path(unquote(url.partition("///")[2])) if url.startswith("sqlite") else None


def _revision_finding(found: str | None, summary: str) -> Finding:
    if found == newest():
        return ok("database", f"{summary}; its tables belong to this version")
    if found is None:
        return wrong("database", f"{summary}; it has no tables yet: run `almanac migrate`, or start the bot")
    if found < FIRST:
        return wrong("database", f"{summary}; {NO_UPGRADE}")
    if found < newest():
        return wrong("database", f"{summary}; its tables belong to an older version: run `almanac migrate`")
    return wrong(
        "database", f"{summary}; its tables belong to a newer version: install that version, or restore a back-up"
    )

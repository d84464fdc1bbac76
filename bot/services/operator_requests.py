"""What does an operator request from the process that owns the SQLite file, since no other process may write to it?

A command writes a request file into the data folder. The running process handles it within a second and replaces it
by a result file. Anybody who can write there can also read the keys, so there is no further authentication.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from sqlalchemy import Connection

from bot.configuration.errors import UnusableInputError
from bot.model.ids import RepositoryId
from bot.services.backfill.steps import open_backfills
from bot.services.context import Context
from bot.services.deliveries.catch_up import ask_to_catch_up
from bot.services.repositories.chosen import read_chosen
from bot.services.repositories.repository import save_repositories

log = logging.getLogger(__name__)

FOLDER = "requests"
_ASKED, _ANSWERED = ".asked", ".answered"
_LARGEST = 4096


class RequestResult(Struct, frozen=True):
    """The running process's answer to a request."""

    accepted: bool
    message: str


def leave_request(data: Path, request: str, target: str = "") -> Path:
    """Write a request; return the path of its future result."""
    folder = data / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    name = secrets.token_hex(8)
    hidden = folder / f".{name}"
    hidden.write_text(json.dumps({"request": request, "target": target}))
    hidden.rename(folder / f"{name}{_ASKED}")
    return folder / f"{name}{_ANSWERED}"


def read_result(file: Path) -> RequestResult | None:
    """The result, whose file is then deleted; None if there is none yet."""
    try:
        found = json.loads(file.read_text())
    except FileNotFoundError:
        return None
    file.unlink(missing_ok=True)
    return RequestResult(bool(found["accepted"]), str(found["message"]))


def withdraw_request(file: Path) -> None:
    """Withdraw a request that nobody handled."""
    file.with_suffix(_ASKED).unlink(missing_ok=True)
    file.unlink(missing_ok=True)


async def handle_requests(context: Context, data: Path, on_handled: Callable[[], None], *, every: float = 1.0) -> None:
    """Handle requests forever; call `on_handled` after each. `every` is in seconds."""
    _delete_old_results(data)
    while True:
        try:
            for file in _files_with(data, _ASKED):
                await _handle(context, file)
                on_handled()
        except Exception:
            log.exception("requests not read")
        await asyncio.sleep(every)


def _delete_old_results(data: Path) -> None:
    """Delete results that nobody waits for any more."""
    for old in _files_with(data, _ANSWERED):
        old.unlink(missing_ok=True)


async def _handle(context: Context, file: Path) -> None:
    """Handle one request and write its result. After a crash it may run again, which defers its jobs at most twice."""
    try:
        answer = RequestResult(accepted=True, message=await _perform(context, file))
    except UnusableInputError as error:
        answer = RequestResult(accepted=False, message=str(error))
    except Exception as error:
        log.exception("request failed")
        answer = RequestResult(accepted=False, message=f"{type(error).__name__}: see the log of the running process")
    _write_result(file, answer)


def _write_result(file: Path, answer: RequestResult) -> None:
    hidden = file.with_suffix(".answering")
    with contextlib.suppress(OSError):  # the request may have been withdrawn
        hidden.write_text(json.dumps({"accepted": answer.accepted, "message": answer.message}))
        os.replace(hidden, file.with_suffix(_ANSWERED))
        file.unlink(missing_ok=True)


def _read_request(file: Path) -> tuple[str, str]:
    """The request and its target. Raises UnusableInputError."""
    try:
        with file.open("rb") as stream:
            given = json.loads(stream.read(_LARGEST))
        return str(given["request"]), str(given["target"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnusableInputError(f"this is not a request: {error}") from None


def _files_with(data: Path, suffix: str) -> list[Path]:
    return sorted((data / FOLDER).glob(f"*{suffix}"))


async def _perform(context: Context, file: Path) -> str:
    request, target = _read_request(file)
    if request == "catch-up":
        await ask_to_catch_up(context, thorough=True)
        return "the catch-up has started and runs between deliveries"
    if request == "backfill":
        return await _backfill(context, target)
    raise UnusableInputError(f"the running process does not know {request}; it is another version")


async def _backfill(context: Context, target: str) -> str:
    if context.clones is None:
        raise UnusableInputError(
            "the running process does not read histories: restart it with ALMANAC_BACKFILL=on, or stop it first"
        )
    asked = context.clock()
    installation, chosen = await read_chosen(context, target)

    def save(connection: Connection) -> list[RepositoryId]:
        save_repositories(connection, context, installation, chosen, asked)
        ids = [RepositoryId(one.id or 0) for one in chosen]
        return open_backfills(connection, context, installation, ids, again=True)

    opened = await context.store.write(save)
    reading = len(chosen) - len(opened)
    words = f"{len(opened)} of {len(chosen)} repositories will be read between deliveries"
    return words + (f", {reading} were already being read" if reading else "")

"""What does an operator ask of the process that holds the SQLite file, which no other process may write meanwhile?

A command leaves its wish as a file in the data folder; the running process takes it up within a second, and its answer
takes the file's place. Whoever may write there may read the keys too, so nothing more is proved.
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

from bot.errors import UnusableInputError
from bot.model import RepositoryId
from bot.tasks.backfill import open_backfills
from bot.tasks.catch_up import ask_to_catch_up
from bot.tasks.chosen_repositories import read_chosen
from bot.tasks.known_repository import see_repositories
from bot.tasks.workplace import Workplace

log = logging.getLogger(__name__)

FOLDER = "wishes"
_ASKED, _ANSWERED = ".asked", ".answered"
_LARGEST = 4096


class Answer(Struct, frozen=True):
    """What the running process says to a wish."""

    granted: bool
    words: str


def leave(data: Path, wish: str, target: str = "") -> Path:
    """Leave a wish; the file at which its answer will be."""
    folder = data / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    name = secrets.token_hex(8)
    hidden = folder / f".{name}"
    hidden.write_text(json.dumps({"wish": wish, "target": target}))
    hidden.rename(folder / f"{name}{_ASKED}")
    return folder / f"{name}{_ANSWERED}"


def answer_at(file: Path) -> Answer | None:
    """The answer once it is there, taken away."""
    try:
        found = json.loads(file.read_text())
    except FileNotFoundError:
        return None
    file.unlink(missing_ok=True)
    return Answer(bool(found["granted"]), str(found["words"]))


def withdraw(file: Path) -> None:
    """Nobody has taken it up: take it back."""
    file.with_suffix(_ASKED).unlink(missing_ok=True)
    file.unlink(missing_ok=True)


async def take_wishes(place: Workplace, data: Path, taken: Callable[[], None], *, every: float = 1.0) -> None:
    """Look for wishes, for ever; `taken` is called after each, `every` is in seconds."""
    _forget_answers(data)
    while True:
        try:
            for file in _waiting(data, _ASKED):
                await _take(place, file)
                taken()
        except Exception:
            log.exception("could not look for requests; trying again")
        await asyncio.sleep(every)


def _forget_answers(data: Path) -> None:
    """Whoever asked did not wait for them."""
    for old in _waiting(data, _ANSWERED):
        old.unlink(missing_ok=True)


async def _take(place: Workplace, file: Path) -> None:
    """Grant or refuse one; a job once deferred is safe, so a wish that outlives a crash is asked for twice at most."""
    try:
        answer = Answer(granted=True, words=await _grant(place, file))
    except UnusableInputError as error:
        answer = Answer(granted=False, words=str(error))
    except Exception as error:
        log.exception("a request failed")
        answer = Answer(granted=False, words=f"{type(error).__name__}: see the log of the running process")
    _answer(file, answer)


def _answer(file: Path, answer: Answer) -> None:
    hidden = file.with_suffix(".answering")
    with contextlib.suppress(OSError):  # whoever asked may have taken it back meanwhile
        hidden.write_text(json.dumps({"granted": answer.granted, "words": answer.words}))
        os.replace(hidden, file.with_suffix(_ANSWERED))
        file.unlink(missing_ok=True)


def _read(file: Path) -> tuple[str, str]:
    """The wish and its target."""
    try:
        with file.open("rb") as stream:
            given = json.loads(stream.read(_LARGEST))
        return str(given["wish"]), str(given["target"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnusableInputError(f"this is not a request: {error}") from None


def _waiting(data: Path, suffix: str) -> list[Path]:
    return sorted((data / FOLDER).glob(f"*{suffix}"))


async def _grant(place: Workplace, file: Path) -> str:
    wish, target = _read(file)
    if wish == "catch-up":
        await ask_to_catch_up(place, thorough=True)
        return "the catch-up has started and runs between deliveries"
    if wish == "backfill":
        return await _backfill(place, target)
    raise UnusableInputError(f"the running process does not know {wish}; it is another version")


async def _backfill(place: Workplace, target: str) -> str:
    if place.clones is None:
        raise UnusableInputError(
            "the running process does not read histories: restart it with ALMANAC_BACKFILL=on, or stop it first"
        )
    asked = place.clock()
    installation, chosen = await read_chosen(place, target)

    def save(connection: Connection) -> list[RepositoryId]:
        see_repositories(connection, place, installation, chosen, asked)
        ids = [RepositoryId(one.id or 0) for one in chosen]
        return open_backfills(connection, place, installation, ids, again=True)

    opened = await place.store.write(save)
    reading = len(chosen) - len(opened)
    words = f"{len(opened)} of {len(chosen)} repositories will be read between deliveries"
    return words + (f", {reading} were already being read" if reading else "")

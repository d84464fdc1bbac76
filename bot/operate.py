"""What an operator runs: settings read, logs set up, signals heard, and the bot started."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DatabaseError

from bot import app
from bot.config import Settings, SettingsError, load_settings
from bot.errors import UnusableInputError
from bot.logs import configure_logs
from bot.store.engine import StoreUnavailableError
from bot.store.lock import StoreInUseError

log = logging.getLogger(__name__)


def _settings(*, serving: bool) -> Settings:
    """Raises UnusableInputError with every wrong setting, each on a line of its own."""
    try:
        settings = load_settings(serving=serving)
    except SettingsError as error:
        raise UnusableSettingsError(error.lines) from None
    configure_logs(settings.log_level)
    return settings


class UnusableSettingsError(UnusableInputError):
    """Everything that is wrong with the settings."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


def _run(make: Callable[[Settings, asyncio.Event], Awaitable[None]], settings: Settings) -> None:
    async def until_stopped() -> None:
        stopping = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stopping.set)
        await make(settings, stopping)

    with _told_to_the_operator(settings):
        asyncio.run(until_stopped())


@contextmanager
def _told_to_the_operator(settings: Settings) -> Iterator[None]:
    """What the settings name and this machine refuses, in one line each."""
    try:
        yield
    except (StoreInUseError, StoreUnavailableError) as error:
        raise UnusableInputError(f"the database cannot be used: {error}") from None
    except DatabaseError as error:
        if "not a database" not in str(error.orig):  # any other is a defect of ours, and keeps its traceback
            raise
        raise UnusableInputError(f"the database cannot be used: {error.orig}; name another file") from None
    except OSError as error:
        if error.filename:
            raise UnusableInputError(f"cannot use {error.filename}: {error.strerror}") from None
        raise UnusableInputError(
            f"cannot listen on {settings.host}:{settings.port}: {error.strerror or error}"
        ) from None


def serve() -> None:
    """Web, worker and month closer, until SIGTERM or SIGINT."""
    _run(app.serve, _settings(serving=True))


def work() -> None:
    """A worker alone, until SIGTERM or SIGINT."""
    _run(app.work, _settings(serving=True))


def migrate() -> None:
    """The tables, brought to the newest version."""
    settings = _settings(serving=False)
    with _told_to_the_operator(settings):
        asyncio.run(app.migrate_only(settings))


def digest(repository: str, month: str, *, dry_run: bool = False) -> str:
    """The digest of one month of a repository as Markdown; posted too, unless `dry_run`. Empty where nothing landed."""
    settings = _settings(serving=True)

    async def told() -> str:
        from bot.tasks.tell_month import tell_month

        async with app.build(settings) as bot:
            text = await tell_month(bot.place, repository, month, dry_run=dry_run)
            if not dry_run:
                await bot.queue.drain()
            return text

    with _told_to_the_operator(settings):
        return asyncio.run(told())

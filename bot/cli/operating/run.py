"""How is the bot started from a terminal: settings, logs and signals?"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import aiohttp
from gidgethub import GitHubException
from msgspec.structs import replace
from sqlalchemy import make_url
from sqlalchemy.exc import DatabaseError

from bot import app
from bot.configuration.addresses import relay_of
from bot.configuration.errors import NO_ROOM, UnusableInputError
from bot.configuration.logs import configure_logs, hide_secrets
from bot.configuration.redaction import secrets_in
from bot.configuration.settings import NEEDED_TO_SERVE, Settings, SettingsError, load_settings, with_credentials
from bot.github.auth import BadKeyError
from bot.services.context import ask_identity
from bot.store.advice import database_advice, missing_driver
from bot.store.engine import StoreBrokenError, StoreUnavailableError
from bot.store.lock import StoreInUseError

if TYPE_CHECKING:
    from bot.cli.doctor.findings import Finding
    from bot.setup.pages import NewApp

Answer = TypeVar("Answer")


def read_settings(*, serving: bool) -> Settings:
    """Read the settings and set up logs. Raises UnusableInputError with one line per wrong setting."""
    try:
        settings = load_settings(serving=serving)
    except SettingsError as error:
        raise UnusableSettingsError(error.lines) from None
    configure_logs(settings.log_level)
    hide_secrets(secrets_in(settings))
    return settings


def read_settings_of_a_record(*, serving: bool = False) -> Settings:
    """Read the settings for a command on an existing record.

    Raises UnusableInputError also if the SQLite file does not exist, which is then not created.
    """
    settings = read_settings(serving=serving)
    url = make_url(settings.database_url)
    if url.get_backend_name() == "sqlite" and not os.path.lexists(url.database or ""):
        raise UnusableInputError(
            f"no database at {url.database}: run this command where the bot runs, or set ALMANAC_DATA to its folder"
        )
    return settings


class UnusableSettingsError(UnusableInputError):
    """All errors in the settings."""

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

    with operator_errors(settings):
        asyncio.run(until_stopped())


@contextmanager
def operator_errors(settings: Settings) -> Iterator[None]:
    """Turn errors of this machine or the database into one line each."""
    try:
        yield
    except StoreBrokenError as error:
        raise UnusableInputError(str(error)) from None
    except (StoreInUseError, StoreUnavailableError) as error:
        raise UnusableInputError(f"the database cannot be used: {database_advice(str(error)) or error}") from None
    except BadKeyError as error:
        raise UnusableInputError(
            f"ALMANAC_PRIVATE_KEY: {error}; make a new one on the App's settings page at GitHub"
        ) from None
    except ModuleNotFoundError as error:
        missing = missing_driver(error)
        if missing is None:
            raise
        raise UnusableInputError(missing) from None
    except DatabaseError as error:
        reason = database_advice(str(error.orig))
        if reason is None:  # a defect of Almanac, which keeps its traceback
            raise
        raise UnusableInputError(f"the database cannot be used: {reason}") from None
    except (GitHubException, aiohttp.ClientError, TimeoutError) as error:
        reason = str(error) or type(error).__name__
        raise UnusableInputError(f"GitHub cannot be asked: {reason}; run almanac doctor for details") from None
    except BrokenPipeError:
        raise  # the reader of our output is gone
    except OSError as error:
        if error.errno in NO_ROOM and not error.filename:
            raise
        if error.filename:
            raise UnusableInputError(f"cannot use {error.filename}: {error.strerror}") from None
        raise UnusableInputError(
            f"cannot listen on {settings.host}:{settings.port}: {error.strerror or error}"
        ) from None


def serve(relay: str | None = None, *, working: bool = True) -> None:
    """Run web server, worker and month closer until SIGTERM or SIGINT; without an App, show the set-up page first.

    `relay` is a channel that overrides the setting. Without `working`, only deliveries and pages are served, next to a
    separate `work`.
    """
    settings = read_settings(serving=False)
    if relay is not None:
        settings = replace(settings, relay=_relay_channel(relay))
    if not working and settings.database_url.startswith("sqlite"):
        raise UnusableInputError("--no-work needs PostgreSQL: on SQLite, the one process must also run the jobs")
    _run(partial(serve_or_register, working=working), settings)


async def serve_or_register(settings: Settings, stopping: asyncio.Event, *, working: bool = True) -> None:
    """Run the bot; if no setting of an App exists, wait until somebody has registered one."""
    ready: Settings | None = settings
    if len(settings.missing_to_serve) == len(NEEDED_TO_SERVE):
        from bot.setup.registration import register_by_page

        ready = await register_by_page(settings, stopping)
    if ready is None:
        return
    if ready.missing_to_serve:
        raise UnusableSettingsError(ready.missing_to_serve)
    await app.serve(ready, stopping, working=working)


def setup(form: Path | None, new: NewApp, *, relay: str | None = None, settings_file: Path | None = None) -> None:
    """Register the App: with a browser on this machine, or by a page (`form`) for one elsewhere and a pasted code.

    With `settings_file`, also write the settings for a platform that keeps no disk; an App that is registered here
    already is not registered again.
    """
    settings = _registered(_unregistered_settings(relay, settings_file), form, new)
    if settings_file is not None and settings is not None:
        from bot.setup.settings_file import write_settings

        write_settings(settings, settings_file)


def _unregistered_settings(relay: str | None, settings_file: Path | None) -> Settings:
    """The settings of a machine that may register an App. Raises UnusableInputError."""
    settings = read_settings(serving=False)
    if relay is not None:
        settings = replace(settings, relay=_relay_channel(relay))
    if settings.app_id and settings_file is None:
        raise UnusableInputError(f"App {settings.app_id} is already set up here; check it with `almanac doctor`")
    if 0 < len(settings.missing_to_serve) < len(NEEDED_TO_SERVE):
        raise UnusableSettingsError(settings.missing_to_serve)  # existing settings would override GitHub's answer
    return settings


def _registered(settings: Settings, form: Path | None, new: NewApp) -> Settings | None:
    """The settings with the App's credentials; None if nobody registered it."""
    from bot.setup import registration

    if not settings.missing_to_serve:
        return settings
    if form is not None:
        made = registration.register_by_form(settings, form, new)
        registration.print_line(f"The App {made.slug} is registered. Install it on an account: {made.install_link}")
        return with_credentials(settings, made)
    if new.organisation or new.name:
        raise UnusableInputError("--organisation and --name need --form; without it, the page asks")
    found: list[Settings | None] = []

    async def register(settings: Settings, stopping: asyncio.Event) -> None:
        found.append(await registration.register_by_page(settings, stopping, starting=False))

    _run(register, settings)
    return found[0]


def examine(*, network: bool) -> list[Finding]:
    """Run all checks of this installation."""
    from bot.cli.doctor.examine import examine as examined

    return asyncio.run(examined(read_settings(serving=False), network=network))


def _relay_channel(address: str) -> str:
    try:
        return relay_of(address)
    except ValueError as error:
        raise UnusableInputError(f"--relay {error}") from None


def work() -> None:
    """Run only a worker, until SIGTERM or SIGINT."""
    _run(app.work, read_settings(serving=True))


def migrate() -> None:
    """Migrate the tables to the newest version."""
    settings = read_settings(serving=False)
    with operator_errors(settings):
        asyncio.run(app.migrate_only(settings))


REACHED_WITHIN = 45.0
"""seconds for GitHub's first answer to a command that needs it"""


def with_bot(settings: Settings, work: Callable[[app.Bot], Awaitable[Answer]], *, asking: bool = False) -> Answer:
    """Run `work` with the whole bot built, as a job would find it. Raises StoreInUseError if a bot is running.

    With `asking`, GitHub must answer first: otherwise jobs would wait for it without end.
    """

    async def run_with_bot() -> Answer:
        async with app.build(settings, asking=not asking) as bot:
            if asking:
                async with asyncio.timeout(REACHED_WITHIN):
                    await ask_identity(bot.context)
            return await work(bot)

    return asyncio.run(run_with_bot())


def digest(repository: str, month: str, *, dry_run: bool = False) -> str:
    """One month's digest of a repository as Markdown; also posted unless `dry_run`. Empty if nothing landed."""
    settings = read_settings(serving=True)

    async def publish(bot: app.Bot) -> str:
        from bot.services.digests.on_request import publish_month

        text = await publish_month(bot.context, repository, month, dry_run=dry_run)
        if not dry_run:
            await bot.queue.drain()
        return text

    with operator_errors(settings):
        return with_bot(settings, publish)

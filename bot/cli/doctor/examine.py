"""Which checks exist, in which order, and what is reported for one that could not run?"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial

from bot.cli.doctor import github, machine
from bot.cli.doctor.findings import Finding, unknown, wrong
from bot.configuration.settings import Settings
from bot.github.client import Client

AppCheck = Callable[[Client], Awaitable[Iterator[Finding]]]
_REMOTE = ("clock", "permissions", "events", "webhook", "deliveries")
_OFFLINE = "--no-network was given"


async def examine(settings: Settings, *, network: bool = True) -> list[Finding]:
    """Every check, in order; without `network`, those that ask GitHub are listed as not done."""
    found = [
        *machine.check_settings(settings),
        *await machine.check_key(settings),
        *machine.check_files(settings),
        *machine.check_shared_keys(settings),
        *await machine.check_database(settings),
        *machine.check_disk(settings),
        *machine.check_programs(settings),
    ]
    if not network:
        return [*found, *(unknown(subject, _OFFLINE) for subject in _REMOTE)]
    found += await _run_check("clock", lambda: github.check_clock(settings))
    if settings.missing_to_serve:
        found += [unknown(subject, "no App is set up") for subject in _REMOTE[1:]]
    else:
        found += await _check_app(settings)
    return found + await _run_check("relay", lambda: github.check_relay(settings))


async def _check_app(settings: Settings) -> list[Finding]:
    asked: tuple[tuple[str, AppCheck], ...] = (
        ("permissions and events", github.check_terms),
        ("webhook", lambda client: github.check_hook(client, settings)),
        ("deliveries", github.check_deliveries),
    )
    found: list[Finding] = []
    for subject, check in asked:
        found += await _run_check(subject, partial(_with_client, settings, check))
    return found


async def _with_client(settings: Settings, check: AppCheck) -> Iterator[Finding]:
    async with github.app_client(settings) as client:
        return await check(client)


async def _run_check(subject: str, check: Callable[[], Awaitable[Iterator[Finding]]]) -> list[Finding]:
    """The findings of a check; a network failure is a finding too."""
    try:
        return list(await check())
    except github.OUT_OF_REACH as error:
        reason = " ".join(str(error).split())[:200]
        return [
            wrong(subject, f"could not be checked ({type(error).__name__}: {reason}): {github.question_about(error)}")
        ]

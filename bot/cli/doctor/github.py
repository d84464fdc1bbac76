"""Is the App configured correctly at GitHub, and can GitHub reach us?"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import aiohttp
from gidgethub import BadRequest, GitHubException

from bot.cli.doctor.findings import Finding, note, ok, wrong
from bot.configuration import credentials
from bot.configuration.settings import Settings
from bot.github.auth import BadKeyError
from bot.github.client import Client
from bot.github.connection import Connection, Surroundings
from bot.github.limits import RequestPace
from bot.github.payloads.registration import HookDelivery, Terms
from bot.github.registration import read_attempts, read_clock, read_hook, read_terms
from bot.github.transport import Endpoint, open_session
from bot.setup.manifest import app_manifest
from bot.setup.registration import hook_of

OUT_OF_REACH = (GitHubException, aiohttp.ClientError, TimeoutError, OSError, BadKeyError, ValueError)
"""what requests to GitHub may raise"""
_UNKNOWN_TO_GITHUB = {401, 403, 404}
_MOST_SECONDS_OFF = 30.0
_LEVELS = {"": 0, "read": 1, "write": 2, "admin": 3}
_MEANINGS = {
    0: "no answer: is the bot running, and does its address lead to this machine?",
    403: "GitHub and this bot have different webhook secrets",
    404: "the address leads somewhere else",
    415: "the webhook's content type is not application/json, or something between compresses bodies",
    502: "the proxy found no bot behind it",
    503: "the database could not store it in time",
}


def question_about(error: Exception) -> str:
    """Where to look for the cause of a failed request."""
    if isinstance(error, BadKeyError):
        return "is the key valid?"
    if isinstance(error, aiohttp.ClientSSLError):
        return "does ALMANAC_CA_FILE hold the certificates of its server, or of the proxy?"
    if isinstance(error, (aiohttp.ClientProxyConnectionError, aiohttp.ClientHttpProxyError)):
        return "is ALMANAC_HTTPS_PROXY the proxy's address, with the user name and password that it needs?"
    if isinstance(error, BadRequest) and error.status_code in _UNKNOWN_TO_GITHUB:
        return "do the App's number and key belong to the same App on this GitHub?"
    return "can this machine reach it?"


async def check_clock(settings: Settings) -> Iterator[Finding]:
    """How far this machine's clock is off. GitHub accepts a signature dated a minute ago, but none from the future."""
    theirs = await read_clock(_endpoint(settings))
    if theirs is None:
        return iter([note("clock", "GitHub did not report its time")])
    off = (datetime.now(UTC) - theirs).total_seconds()
    text = f"{abs(off):.0f} s {'ahead of' if off > 0 else 'behind'} GitHub's"
    if abs(off) > _MOST_SECONDS_OFF:
        return iter([wrong("clock", f"{text}: synchronise it with NTP (timedatectl set-ntp true)")])
    return iter([ok("clock", text)])


def _endpoint(settings: Settings) -> Endpoint:
    return Endpoint(base_url=settings.github.api, seconds=10, route=settings.route)


@asynccontextmanager
async def app_client(settings: Settings) -> AsyncIterator[Client]:
    """A client for requests as the App, one attempt each with a short timeout."""
    surroundings = Surroundings(endpoint=_endpoint(settings), pace=RequestPace(attempts=1, patience=2.0))
    async with open_session() as session:
        key = settings.private_key or ""
        yield Connection(session, app_id=settings.app_id or "", private_key=key, surroundings=surroundings).app


async def check_terms(client: Client) -> Iterator[Finding]:
    """Whether the App has the permissions and events of `app.yml`."""
    return compare(await read_terms(client))


def compare(terms: Terms) -> Iterator[Finding]:
    """What is missing there, and what is granted but never used."""
    wanted, events = app_manifest()["default_permissions"], frozenset(app_manifest()["default_events"])
    short = [f"{name}: {level}" for name, level in wanted.items() if _level(terms, name) < _LEVELS[level]]
    more = sorted(set(terms.permissions) - set(wanted))
    where = "on the App's settings page, Permissions & events"
    if short:
        yield wrong("permissions", f"grant {', '.join(short)} {where}, then accept them at each installation")
    else:
        yield ok("permissions", "the bot has all it needs")
    if more:
        yield note("permissions", f"{', '.join(more)} are granted but never used: remove them {where}")
    absent = sorted(events - terms.events)
    yield wrong("events", f"subscribe to {', '.join(absent)} {where}") if absent else ok("events", "all are subscribed")


def _level(terms: Terms, name: str) -> int:
    return _LEVELS.get(terms.permissions.get(name, ""), 0)


async def check_hook(client: Client, settings: Settings) -> Iterator[Finding]:
    """Whether GitHub sends deliveries to our address."""
    expected = hook_of(settings)
    kept = credentials.path_in(settings.data)
    named = f"ALMANAC_RELAY, or `relay` in {kept}" if settings.relay else "ALMANAC_PUBLIC_URL"
    hook = await read_hook(client)
    address = hook.url
    if hook.content_type != "json":
        text = f"GitHub sends deliveries as {hook.content_type}, which the bot answers 415"
        return iter([wrong("webhook", f"{text}: set the content type to application/json in the App's settings")])
    if address.rstrip("/") == expected.rstrip("/"):
        return iter([ok("webhook", f"deliveries go to {address}")])
    text = f"GitHub sends deliveries to {address or 'no address'}, but this bot listens at {expected}"
    return iter([wrong("webhook", f"{text}: change one of them (the App's settings at GitHub, or here {named})")])


async def check_deliveries(client: Client) -> Iterator[Finding]:
    """Whether the last delivery arrived."""
    attempts = await read_attempts(client)
    return iter(
        [_last_delivery(attempts[0]) if attempts else note("deliveries", "none in three days: is the App installed?")]
    )


def _last_delivery(attempt: HookDelivery) -> Finding:
    text = f"the last one ({attempt.event}, {attempt.at:%Y-%m-%d %H:%M} UTC)"
    if attempt.was_accepted:
        return ok("deliveries", f"{text} was accepted")
    meaning = _MEANINGS.get(attempt.status, "the answer is in GitHub's list of deliveries")
    again = "after fixing that, redeliver it in the App's settings, Advanced"
    return wrong("deliveries", f"{text} was answered {attempt.status}: {meaning}; {again}")


async def check_relay(settings: Settings) -> Iterator[Finding]:
    """Whether the relay channel answers, if one is used."""
    if not settings.relay:
        return iter(())
    patience = aiohttp.ClientTimeout(total=10)
    async with (
        open_session() as session,
        # Like the relay itself, which follows no redirect either.
        session.get(
            settings.relay, headers={"Accept": "text/event-stream"}, timeout=patience, allow_redirects=False
        ) as answer,
    ):
        if answer.status == 200 and answer.content_type == "text/event-stream":
            return iter([ok("relay", "the channel answers")])
        text = f"the channel answers {answer.status}, {answer.content_type}, not an event stream"
        return iter([wrong("relay", f"{text}: get another at https://smee.io/new")])

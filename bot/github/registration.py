"""How is an App registered, and how is it configured at GitHub afterwards?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from email.utils import parsedate_to_datetime
from urllib.parse import quote

import aiohttp
from gidgethub import GitHubException

from bot.github import operations as op
from bot.github.client import Client
from bot.github.payloads import registration as payloads
from bot.github.payloads.reading import read
from bot.github.payloads.registration import Hook, HookDelivery, Registered, Terms
from bot.github.transport import Endpoint, Traffic, Transport, open_session

_CREATED = 201
_REFUSED = {404, 410, 422}
"""the code is no longer valid; after any other status it may be"""


class RegistrationError(Exception):
    """GitHub did not turn the code into an App. The text is one sentence for the person who registers it."""


async def convert(endpoint: Endpoint, code: str) -> Registered:
    """The App of a manifest's code. GitHub returns it once, within an hour; raises RegistrationError.

    https://docs.github.com/en/rest/apps/apps#create-a-github-app-from-a-manifest
    """
    path = op.CONVERT_MANIFEST.path.replace("{code}", quote(code, safe=""))
    try:
        status, _, body = await _exchange(endpoint, op.CONVERT_MANIFEST.method, path)
    except (GitHubException, aiohttp.ClientError, TimeoutError, OSError) as error:
        raise RegistrationError(
            f"the request to GitHub for the App failed ({type(error).__name__}); try again"
        ) from None
    if status in _REFUSED:
        raise RegistrationError(
            f"GitHub answered {status}: the code has been used already, or is more than an hour old"
        )
    if status != _CREATED:
        raise RegistrationError(f"GitHub answered {status}, and has not created the App yet; try again in a minute")
    try:
        return payloads.registered_app(json.loads(body))
    except ValueError as error:
        raise RegistrationError(f"GitHub's answer cannot be used ({type(error).__name__})") from None


async def read_clock(endpoint: Endpoint) -> datetime | None:
    """GitHub's time, to the second; None if the answer has no date. Raises the transport's exceptions."""
    _, headers, _ = await _exchange(endpoint, op.VERSIONS.method, op.VERSIONS.path)
    try:
        return parsedate_to_datetime(headers.get("date", ""))
    except (TypeError, ValueError):
        return None


async def _exchange(endpoint: Endpoint, method: str, path: str) -> tuple[int, dict[str, str], bytes]:
    """One request without credentials, through the transport that is restricted to the configured host."""
    headers = {
        "Accept": "application/vnd.github+json",
        "User-Agent": endpoint.requester,
        "X-GitHub-Api-Version": endpoint.api_version,
    }
    async with open_session() as session:
        transport = Transport(session, endpoint, Traffic())
        return await transport.send(method, f"{endpoint.base_url.rstrip('/')}/{path}", headers=headers, body=b"")


async def read_terms(app: Client) -> Terms:
    """The App's permissions and events."""
    return read(await app.read(op.APP), Terms)


async def read_hook(app: Client) -> Hook:
    """The App's webhook as GitHub has it."""
    return payloads.hook(await app.read(op.HOOK_CONFIG))


async def read_attempts(app: Client) -> Sequence[HookDelivery]:
    """The newest deliveries in GitHub's log."""
    async for page in app.pages(op.NEWEST_DELIVERIES):
        return read(page, tuple[HookDelivery, ...])
    return ()

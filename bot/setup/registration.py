"""How does a process without credentials get an App? Through a page or a pasted code, which GitHub converts."""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
import sys
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlencode

from aiohttp import web

from bot.configuration import credentials
from bot.configuration.credentials import Credentials
from bot.configuration.errors import UnusableInputError
from bot.configuration.listening import passed_socket
from bot.configuration.settings import Settings, with_credentials
from bot.configuration.values import GitHubAddress
from bot.github.payloads import registration as payloads
from bot.github.payloads.registration import Registered
from bot.github.registration import RegistrationError, convert
from bot.github.transport import Endpoint
from bot.render.html.setup import HandOver, hand_over_page
from bot.setup.manifest import app_manifest
from bot.setup.pages import NewApp, Registration, SetupPages, is_out_of_reach

Report = Callable[[str], None]
_CODE = re.compile(r"[A-Za-z0-9._-]{1,200}")


def print_line(text: str) -> None:
    """Print a line for whoever started the command."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def hook_of(settings: Settings) -> str:
    """The address to which GitHub should send deliveries."""
    return settings.relay or f"{settings.public_url}/webhook"


def unreachable_warning(settings: Settings) -> str:
    """What to do before GitHub can deliver anything here; empty if nothing prevents it."""
    hook = hook_of(settings)
    if not is_out_of_reach(hook, settings.github.web):
        return ""
    return (
        f"GitHub cannot reach {hook}. Stop, and start again with ALMANAC_PUBLIC_URL set to the address that people "
        "and GitHub use, or on a laptop with --relay and a channel from https://smee.io/new."
    )


def hand_over(settings: Settings, base: str) -> Callable[[GitHubAddress, NewApp, str], HandOver]:
    """The form that registers the App: its manifest with our addresses, for one GitHub, owner and state."""

    def form(github: GitHubAddress, new: NewApp, state: str) -> HandOver:
        manifest = payloads.manifest(
            app_manifest(),
            name=new.app_name,
            hook=hook_of(settings),
            public_url=settings.public_url,
            back=f"{base}/setup/done",
        )
        organisation = new.organisation
        path = f"/organizations/{organisation}/settings/apps/new" if organisation else "/settings/apps/new"
        return HandOver(f"{github.web}{path}?{urlencode({'state': state})}", organisation, manifest)

    return form


async def convert_code(settings: Settings, github: GitHubAddress, code: str) -> Registered:
    """The App that GitHub returns once for a code; requests it only if it can be stored.

    Raises RegistrationError, and UnusableInputError if it cannot be stored.
    """
    credentials.check_writable(settings.data)
    return await convert(Endpoint(base_url=github.api, route=settings.route), code)


def save_credentials(settings: Settings, registered: Registered, github: GitHubAddress) -> Credentials:
    """Write the credentials file in ALMANAC_DATA; never replace another App's. Raises UnusableInputError."""
    found = Credentials(
        app_id=str(registered.app_id),
        slug=registered.slug,
        page=registered.page,
        github=github.web,
        client_id=registered.client_id,
        client_secret=registered.client_secret,
        private_key=registered.private_key,
        webhook_secret=registered.webhook_secret,
        relay=settings.relay,
    )
    credentials.save(settings.data, found)
    return found


# --- with a browser --------------------------------------------------------------------------------------------------


async def register_by_page(
    settings: Settings, stopping: asyncio.Event, *, starting: bool = True, say: Report = print_line
) -> Settings | None:
    """The settings with the new App's credentials once somebody has registered it; None if stopped before.

    Raises UnusableInputError if the secrets could not be stored, before requesting any from GitHub.
    """
    credentials.check_writable(settings.data)
    made: list[Credentials] = []

    def keep(registered: Registered, github: GitHubAddress) -> str:
        made.append(save_credentials(settings, registered, github))
        return made[0].install_link

    token, base = secrets.token_urlsafe(32), settings.public_url
    pages = SetupPages(
        Registration(
            token=token,
            base=base,
            github=settings.github.web,
            hook=hook_of(settings),
            hand_over=hand_over(settings, base),
            convert=partial(convert_code, settings),
            keep=keep,
            warning=unreachable_warning(settings),
            starting=starting,
        )
    )
    async with _serve_pages(pages, settings):
        say("No App is registered yet. Open this address in a browser. It works once; do not share it:")
        say(f"  {base}/setup/{token}")
        if unreachable_warning(settings):
            say(unreachable_warning(settings))
        await _first_of(pages.done, stopping)
    if not made:
        return None
    say(f"The App {made[0].slug} is registered; its secrets are in {credentials.path_in(settings.data)}.")
    say(f"Install it on an account: {made[0].install_link}")
    return with_credentials(settings, made[0])


@contextlib.asynccontextmanager
async def _serve_pages(pages: SetupPages, settings: Settings) -> AsyncIterator[None]:
    runner = web.AppRunner(pages.web_app(), access_log=None)
    await runner.setup()
    try:
        passed = passed_socket()
        site = web.SockSite(runner, passed) if passed else web.TCPSite(runner, settings.host, settings.port)
        await site.start()
        yield
    finally:
        await runner.cleanup()


async def _first_of(*events: asyncio.Event) -> None:
    waiting = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()


# --- without a browser on this machine -------------------------------------------------------------------------------


def form_for_elsewhere(settings: Settings, new: NewApp, state: str) -> str:
    """A self-contained page: opened in any browser, it sends the manifest to GitHub."""
    return hand_over_page(hand_over(settings, settings.public_url)(settings.github, new, state))


def register_by_form(settings: Settings, form: Path, new: NewApp) -> Credentials:
    """The App, registered with a browser on another machine. Raises UnusableInputError."""
    if new.problem():
        raise UnusableInputError(new.problem())
    credentials.check_writable(settings.data)
    state = secrets.token_urlsafe(32)
    try:
        form.write_text(form_for_elsewhere(settings, new, state), "utf-8")
    except OSError as error:
        raise UnusableInputError(f"cannot write {form}: {error.strerror}") from None
    if unreachable_warning(settings):
        print_line(unreachable_warning(settings))
    print_line(f"Open {form} in any browser and register the App there.")
    print_line("At the end, the browser shows an address that it may not be able to open. Paste that address here:")
    return _read_pasted(settings, state)


def _read_pasted(settings: Settings, state: str) -> Credentials:
    """The App of the first pasted line with a valid code: a typing error must not cost a registered App."""
    wrong = UnusableInputError("nothing was pasted, so no App was asked for")
    for line in sys.stdin.buffer:
        try:
            code = code_in(line.decode("utf-8", "replace"), state)
            return asyncio.run(register_by_code(settings, code))
        except UnusableInputError as error:
            wrong = error
            print_line(f"Not yet: {error}. Paste it again, or press Control-C to stop:")
    raise wrong


def code_in(pasted: str, state: str) -> str:
    """The code in the pasted text: either the full address that the browser was redirected to, or just the code.

    Raises UnusableInputError for anything else, and for an address with a different state.
    """
    text = pasted.strip()
    if "?" in text:
        asked = parse_qs(text.partition("?")[2])
        if asked.get("state") != [state]:
            raise UnusableInputError("that address belongs to another page: use the page that was just written")
        text = (asked.get("code") or [""])[0]
    if not _CODE.fullmatch(text):
        raise UnusableInputError("this contains no code: paste the last address from the browser's address bar")
    return text


async def register_by_code(settings: Settings, code: str) -> Credentials:
    """Register the App of a pasted code and store its credentials. Raises UnusableInputError."""
    try:
        return save_credentials(settings, await convert_code(settings, settings.github, code), settings.github)
    except RegistrationError as error:
        raise UnusableInputError(str(error)) from None

"""How does somebody register the App in a browser? On three pages, for the holder of the one-time token.

https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web
from msgspec import Struct
from yarl import URL

from bot.configuration.errors import UnusableInputError
from bot.configuration.values import GitHubAddress, github_address_of
from bot.github.payloads.registration import Registered
from bot.github.registration import RegistrationError
from bot.render.html import setup as pages
from bot.render.html.setup import HandOver, SetupView
from bot.web.responses import SECURE, Manner, answer, problem
from bot.web.site import show_icon

log = logging.getLogger(__name__)

_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}")
_CODE = re.compile(r"[A-Za-z0-9._-]{1,200}")
LONGEST_NAME = 34
"""characters of an App's name, https://docs.github.com/en/apps/creating-github-apps/registering-a-github-app"""
_LARGEST_FORM = 4096
_MOST_STATES = 16
_OWN = Manner(forms=True)

Convert = Callable[[GitHubAddress, str], Awaitable[Registered]]
Keep = Callable[[Registered, GitHubAddress], str]


class NewApp(Struct, frozen=True):
    """The App to register: who will own it, and what it is called."""

    organisation: str = ""
    """empty: the personal account"""
    name: str = ""

    @property
    def app_name(self) -> str:
        """The given name, or one that is probably free: no two Apps of a GitHub have the same."""
        return self.name or f"Almanac {self.organisation}".strip()[:LONGEST_NAME].rstrip(" -")

    def problem(self) -> str:
        """What is wrong with the answers; empty if nothing is."""
        if self.organisation and not is_login(self.organisation):
            return f"{self.organisation} is not the name of an organisation"
        if self.name and not is_app_name(self.name):
            return f"the App's name needs letters or digits, and at most {LONGEST_NAME} characters"
        return ""


class Registration(Struct, frozen=True):
    """What the pages need: the token, the manifest's form, and what to do with GitHub's answer."""

    token: str
    base: str
    """the base address of the pages, without a trailing slash"""
    github: str
    """the GitHub address in the form at first"""
    hook: str
    hand_over: Callable[[GitHubAddress, NewApp, str], HandOver]
    """the form for this GitHub, App and state"""
    convert: Convert
    keep: Keep
    """stores GitHub's answer; returns the link to install the App"""
    warning: str = ""
    starting: bool = True
    """whether the bot starts afterwards in the same process"""


UNNAMED = NewApp()


class SetupPages:
    """The pages until one registration is complete; then `done` is set and no page is available any more."""

    def __init__(self, registration: Registration) -> None:
        self._given = registration
        self._states: OrderedDict[str, GitHubAddress] = OrderedDict()
        self._working = asyncio.Lock()
        self.done = asyncio.Event()

    def web_app(self) -> web.Application:
        """All routes while no App is registered."""
        app = web.Application(client_max_size=_LARGEST_FORM)
        app[SECURE] = self._given.base.startswith("https://")
        app.middlewares.append(_handle_errors)
        app.router.add_get("/healthz", self._show_health)
        app.router.add_get("/readyz", self._show_readiness)
        app.router.add_get("/favicon.ico", show_icon)
        app.router.add_get("/setup/done", self._return)
        app.router.add_get("/setup/{token}", self._show)
        app.router.add_post("/setup/{token}", self._hand_over)
        app.router.add_route("*", "/{anything:.*}", _not_found)
        return app

    async def _show_health(self, request: web.Request) -> web.Response:
        return answer(request, b"ok\n", "text/plain")

    async def _show_readiness(self, request: web.Request) -> web.Response:
        """200: a router that asks before it lets anybody in must let in whoever registers the App."""
        return answer(request, b"ready: no App is registered yet\n", "text/plain")

    def _admits(self, request: web.Request) -> bool:
        """Whether the address contains the token; compared in constant time."""
        given = request.match_info["token"].encode("utf-8", "replace")
        return hmac.compare_digest(given, self._given.token.encode()) and not self.done.is_set()

    async def _show(self, request: web.Request) -> web.Response:
        if not self._admits(request):
            return problem(request, 404)
        return self._first(request, self._given.github)

    def _first(self, request: web.Request, github: str, new: NewApp = UNNAMED, *, wrong: str = "") -> web.Response:
        view = SetupView(
            action=f"/setup/{self._given.token}",
            github=github,
            organisation=new.organisation,
            name=new.name,
            wrong=wrong,
            warning=self._given.warning,
            hook=self._given.hook,
        )
        return answer(request, pages.setup_page(view).encode(), "text/html", _OWN, status=400 if wrong else 200)

    async def _hand_over(self, request: web.Request) -> web.Response:
        if not self._admits(request):
            return problem(request, 404)
        try:
            form = await request.post()
        except (ValueError, LookupError):  # what aiohttp raises for an unreadable body, charset or boundary
            return problem(request, 400)
        github, organisation, name = (
            " ".join(str(form.get(field, "")).split())[:200] for field in ("github", "organisation", "name")
        )
        new = NewApp(organisation, name)
        try:
            address = github_address_of(github)
        except ValueError as error:
            return self._first(request, github, new, wrong=f"GitHub's address {error}.")
        if new.problem():
            return self._first(request, github, new, wrong=f"{new.problem()}.")
        handed = self._given.hand_over(address, new, self._begin(address))
        response = answer(request, pages.hand_over_page(handed).encode(), "text/html", _OWN)
        _allow_form(response, address.web, self._given.base)
        return response

    def _begin(self, address: GitHubAddress) -> str:
        """A new state, which GitHub returns. The last few stay valid, for a person who goes back and forth."""
        state = secrets.token_urlsafe(32)
        self._states[state] = address
        while len(self._states) > _MOST_STATES:
            self._states.popitem(last=False)
        return state

    async def _return(self, request: web.Request) -> web.Response:
        """Handle the return from GitHub; the state must be one of ours."""
        code = request.query.get("code", "")
        async with self._working:
            address = self._address_of(request.query.get("state", ""))
            if address is None or not _CODE.fullmatch(code) or self.done.is_set():
                return problem(request, 404)
            try:
                registered = await self._given.convert(address, code)
                install = self._given.keep(registered, address)
            except (RegistrationError, UnusableInputError) as error:
                log.error("App not registered", extra={"reason": str(error)})
                return answer(request, pages.unregistered_page(str(error)).encode(), "text/html", status=502)
            self.done.set()
        missing = () if registered.webhook_secret else (WITHOUT_WEBHOOKS,)
        text = pages.registered_page(
            slug=registered.slug, install=install, starting=self._given.starting, missing=missing
        )
        return answer(request, text.encode(), "text/html")

    def _address_of(self, given: str) -> GitHubAddress | None:
        found = None
        for state, address in self._states.items():
            if hmac.compare_digest(state.encode(), given.encode("utf-8", "replace")):
                found = address
        return found


WITHOUT_WEBHOOKS = (
    "GitHub created no webhook secret. Enter one of at least 32 characters in the App's settings there and in "
    "ALMANAC_WEBHOOK_SECRET here, and then restart."
)


def _allow_form(response: web.Response, *addresses: str) -> None:
    """Allow this page's form to be sent to these hosts too: to GitHub, which redirects back."""
    hosts = " ".join(str(URL(address).origin()) for address in addresses)
    policy = response.headers["Content-Security-Policy"]
    response.headers["Content-Security-Policy"] = policy.replace("form-action 'self'", f"form-action 'self' {hosts}")


def is_login(text: str) -> bool:
    """Whether this can be an account's login."""
    return _LOGIN.fullmatch(text) is not None


def is_app_name(text: str) -> bool:
    """Whether GitHub can make an App's address of this name."""
    return len(text) <= LONGEST_NAME and text.isprintable() and any(sign.isascii() and sign.isalnum() for sign in text)


def is_out_of_reach(hook: str, github: str) -> bool:
    """Whether GitHub, on another machine, would get an address that works only on this one."""
    return _is_local(hook) and not _is_local(github)


def _is_local(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    return host in {"localhost", "::1"} or host.startswith("127.")


@web.middleware
async def _handle_errors(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as error:
        return problem(request, error.status)
    except Exception:
        log.exception("page failed")
        return problem(request, 500)


async def _not_found(request: web.Request) -> web.Response:
    return problem(request, 404)

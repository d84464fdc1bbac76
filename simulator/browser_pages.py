"""What does GitHub show in a browser? App creation from a manifest, and sign-in as one of the simulated accounts."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from urllib.parse import urlencode, urlsplit

from aiohttp import web

from simulator.administration import Administration
from simulator.state import Code, Json, SimAccount, SimApp

_HOUR, _TEN_MINUTES = timedelta(hours=1), timedelta(minutes=10)
_REQUIRED = ("name", "url", "hook_attributes", "redirect_url")

Page = Callable[[Administration, web.Request], Awaitable[web.Response]]


def page_for(request: web.Request) -> Page | None:
    """The page that serves an address, or None if there is none here."""
    method, parts = request.method, request.path.strip("/").split("/")
    if method == "POST" and parts[-3:] == ["settings", "apps", "new"]:
        return create_app
    if parts[:2] != ["login", "oauth"] or len(parts) < 3:
        return None
    return {("GET", "authorize"): authorize, ("POST", "access_token"): give_token}.get((method, parts[2]))


# --- new Apps --------------------------------------------------------------------------------------------------------


async def create_app(github: Administration, request: web.Request) -> web.Response:
    """Create the App of a posted manifest at once and redirect with a code that is valid for an hour."""
    form = await request.post()
    try:
        manifest = json.loads(str(form.get("manifest", "")))
        wrong = _wrong_with(manifest)
    except ValueError:
        wrong = "the manifest is not JSON"
    if wrong:
        return _html(f"<p>Invalid GitHub App configuration: {html.escape(wrong)}</p>", status=422)
    if _slug(manifest) in {one.slug for one in github.state.apps.values()}:
        return _html("<p>Name is already taken</p>", status=422)
    parts = request.path.strip("/").split("/")
    owner = github.organisation(parts[1]) if parts[0] == "organizations" else _signed_in_person(github)
    app = _app_of(github, manifest, owner)
    code = _code(github, Code(app, github.state.clock() + _HOUR))
    return _redirect(manifest["redirect_url"], code=code, state=request.query.get("state", ""))


def _wrong_with(manifest: object) -> str:
    if not isinstance(manifest, dict):
        return "the manifest is no object"
    missing = [name for name in _REQUIRED if not manifest.get(name)]
    if missing:
        return f"{', '.join(missing)} must be given"
    addresses = [manifest["url"], manifest["redirect_url"], manifest["hook_attributes"].get("url", "")]
    bad = [address for address in addresses if urlsplit(str(address)).scheme not in {"http", "https"}]
    return f"{bad[0]} is no address" if bad else ""


def _slug(manifest: Json) -> str:
    """The App's name in addresses; no two Apps have the same."""
    return str(manifest["name"]).lower().replace(" ", "-")


def _app_of(github: Administration, manifest: Json, owner: SimAccount) -> SimApp:
    app = github.register_app(_slug(manifest), owner, webhook_url=manifest["hook_attributes"]["url"])
    app.permissions = dict(manifest.get("default_permissions", {}))
    app.events = list(manifest.get("default_events", []))
    app.callbacks = list(manifest.get("callback_urls", []))
    app.webhook_secret = hashlib.sha256(f"webhook secret of {app.id}".encode()).hexdigest()
    app.client_secret = hashlib.sha256(f"client secret of {app.id}".encode()).hexdigest()
    return app


def _signed_in_person(github: Administration) -> SimAccount:
    """The account signed in to this GitHub: the first person that exists."""
    people = _people(github)
    return people[0] if people else github.account("octo-example", name="Octo Example")


def _people(github: Administration) -> list[SimAccount]:
    return [one for one in github.state.accounts.values() if one.type == "User" and one.login != "web-flow"]


# --- signing in ------------------------------------------------------------------------------------------------------


async def authorize(github: Administration, request: web.Request) -> web.Response:
    """Offer all accounts by name: this GitHub has no passwords."""
    app, query = _client(github, request.query.get("client_id", "")), request.query
    back = query.get("redirect_uri", "")
    if app is None or not _may_return(app, back):
        return _html("<p>The redirect_uri is not associated with this application.</p>", status=400)
    person = github.state.accounts.get(query.get("as", ""))
    if person is None:
        return _html(_choice(github, request))
    expires = github.state.clock() + _TEN_MINUTES
    code = _code(github, Code(app, expires, person, query.get("code_challenge", "")))
    return _redirect(back, code=code, state=query.get("state", ""))


def _choice(github: Administration, request: web.Request) -> str:
    links = (
        f'<li><a href="?{html.escape(urlencode({**request.query, "as": one.login}))}">'
        f"{html.escape(one.name or one.login)}</a>"
        for one in _people(github)
    )
    return f"<h1>Sign in to the simulated GitHub as</h1><ul>{''.join(links)}</ul>"


def _may_return(app: SimApp, back: str) -> bool:
    if app.callbacks:
        return back in app.callbacks
    return urlsplit(back).hostname in {"127.0.0.1", "localhost"}


async def give_token(github: Administration, request: web.Request) -> web.Response:
    """A user access token for a code, if the PKCE verifier matches the challenge."""
    form = await request.post()
    given = {name: str(value) for name, value in form.items()}
    code = github.state.codes.pop(given.get("code", ""), None)
    if code is None or code.person is None or code.expires_at <= github.state.clock():
        return web.json_response({"error": "bad_verification_code"})
    if given.get("client_id") != code.app.client_id or given.get("client_secret") != code.app.client_secret:
        return web.json_response({"error": "incorrect_client_credentials"})
    if code.challenge and code.challenge != _challenge(given.get("code_verifier", "")):
        return web.json_response({"error": "bad_verification_code"})
    token = f"ghu_{github.state.new_id()}{'u' * 32}"
    github.state.people[token] = code.person
    return web.json_response({"access_token": token, "token_type": "bearer", "scope": ""})


def _challenge(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def _client(github: Administration, client_id: str) -> SimApp | None:
    return next((app for app in github.state.apps.values() if app.client_id == client_id), None)


# --- answers ---------------------------------------------------------------------------------------------------------


def _code(github: Administration, code: Code) -> str:
    name = hashlib.sha256(f"code {github.state.new_id()}".encode()).hexdigest()[:40]
    github.state.codes[name] = code
    return name


def _redirect(address: str, **more: str) -> web.Response:
    return web.Response(status=302, headers={"Location": f"{address}{'&' if '?' in address else '?'}{urlencode(more)}"})


def _html(body: str, *, status: int = 200) -> web.Response:
    text = f"<!doctype html><html lang=en><title>Simulated GitHub</title><body>{body}"
    return web.Response(text=text, status=status, content_type="text/html")

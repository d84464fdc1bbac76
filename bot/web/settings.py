"""What can a person see and decide about their own page, signed in with GitHub?"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import parse_qs

from aiohttp import web

from bot.model import InstallationId, PersonKey, RepositoryId
from bot.render.html import Page, render_page
from bot.render.settings import LinkRow, RepositoryRow, SettingsView, settings_page, sign_in_page
from bot.store import choices, links, sessions, snapshots, visibility
from bot.store.links import Link
from bot.store.sessions import Session
from bot.store.visibility import PersonState, RepositoryState, subject_of_person
from bot.web import profiles, subjects
from bot.web.access import OWNER
from bot.web.body import BodyError, read_body
from bot.web.collaborators import Desk, desk_of
from bot.web.responses import HTML, Manner, answer, problem
from bot.web.sign_in import Attempt, SignIn, SignInError

SESSION_COOKIE = "__Host-almanac-session"
ATTEMPT_COOKIE = "__Host-almanac-attempt"
_OWN = Manner(forms=True)
_LARGEST_FORM = 8192
_ATTEMPT_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Owner:
    """Whoever is signed in, and their person where the record knows one."""

    session: Session
    person: PersonState | None

    @property
    def key(self) -> PersonKey:
        return PersonKey(f"u:{self.session.user_id}")

    @property
    def subject(self) -> str:
        return subject_of_person(self.key)


Form = Mapping[str, str]
Action = Callable[[Desk, Owner, Form], Awaitable[None]]


def add_routes(app: web.Application) -> None:
    """The settings page and what it sends."""
    app.add_routes(
        [
            web.get("/settings", show_settings),
            web.get("/settings/sign-in", begin_sign_in),
            web.get("/settings/signed-in", end_sign_in),
            web.get("/settings/preview", show_preview),
            web.get("/settings/export", show_export),
            web.post("/settings/{action}", act),
        ]
    )


async def _owner(request: web.Request) -> Owner | None:
    cookie = request.cookies.get(SESSION_COOKIE)
    if not cookie:
        return None
    pages = desk_of(request).pages
    async with pages.store.read() as conn:
        session = await sessions.session(conn, cookie, pages.clock())
        if session is None:
            return None
        return Owner(session, await visibility.person_state(conn, PersonKey(f"u:{session.user_id}")))


# --- signing in ------------------------------------------------------------------------------------------------------


def _sign_in(request: web.Request) -> SignIn:
    found = desk_of(request).pages.sign_in
    if found is None:
        raise web.HTTPNotFound
    return found


def _back(desk: Desk) -> str:
    return f"{desk.pages.public_url}/settings/signed-in"


def _redirect(place: str) -> web.Response:
    return web.Response(
        status=303, headers={"Location": place, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    )


async def begin_sign_in(request: web.Request) -> web.Response:
    """To GitHub; the browser keeps state and verifier."""
    attempt = Attempt.begin()
    response = _redirect(_sign_in(request).address(attempt, _back(desk_of(request))))
    _keep(response, ATTEMPT_COOKIE, f"{attempt.state}.{attempt.verifier}", _ATTEMPT_SECONDS)
    return response


def _keep(response: web.Response, name: str, value: str, seconds: int) -> None:
    response.set_cookie(name, value, max_age=seconds, path="/", secure=True, httponly=True, samesite="Lax")


async def end_sign_in(request: web.Request) -> web.Response:
    """Back from GitHub: the state must be the one this browser was given."""
    desk = desk_of(request)
    state, _, verifier = request.cookies.get(ATTEMPT_COOKIE, "").partition(".")
    given, code = request.query.get("state", ""), request.query.get("code", "")
    if not state or not verifier or not code or not hmac.compare_digest(state.encode(), given.encode()):
        return problem(request, 403)
    try:
        account = await _sign_in(request).account(code, Attempt(state, verifier), _back(desk))
    except SignInError:
        return problem(request, 403)
    async with desk.pages.store.begin() as conn:
        cookie = await sessions.begin(conn, *account, desk.pages.clock())
    response = _redirect("/settings")
    response.del_cookie(ATTEMPT_COOKIE, path="/", secure=True, httponly=True, samesite="Lax")
    _keep(response, SESSION_COOKIE, cookie, int(sessions.LASTS.total_seconds()))
    return response


# --- seeing ----------------------------------------------------------------------------------------------------------


async def show_settings(request: web.Request) -> web.Response:
    """The settings, or the way to sign in."""
    owner = await _owner(request)
    if owner is None:
        return answer(request, sign_in_page().encode(), HTML.media, _OWN)
    text = settings_page(await _view(desk_of(request), owner))
    return answer(request, text.encode("utf-8", "replace"), HTML.media, _OWN)


async def _view(desk: Desk, owner: Owner) -> SettingsView:
    person = owner.person
    if person is None:
        return SettingsView(owner.session.login, owner.session.csrf)
    pages = desk.pages
    async with pages.store.read() as conn:
        found = await visibility.repositories_with(conn, person.keys)
        hidden = await visibility.hidden_repositories(conn, person.keys)
        minted = await links.links_of(conn, owner.subject)
        uses = await links.uses_of(conn, [link.nonce for link in minted])
        taken = await snapshots.snapshots_of(conn, person.keys)
    shown = [one for one in found if one.public and one.active]
    return SettingsView(
        login=owner.session.login,
        csrf=owner.session.csrf,
        known=True,
        public=person.public,
        naming=person.naming,
        opted_out=person.opted_out,
        address=_public_address(desk, person),
        repositories=tuple(RepositoryRow(one.id, one.full_name, one.id in hidden) for one in shown),
        organisations=_organisations(found),
        links=tuple(
            LinkRow(
                nonce=link.nonce,
                address=f"{pages.public_url}/p/{links.token_of(link, link.nonce, pages.secret)}",
                private=link.private,
                minted=link.minted_at.date().isoformat() if link.minted_at else "",
                good=link.good(pages.clock()),
                uses=tuple((use.day, use.form, use.times) for use in uses if use.nonce == link.nonce),
            )
            for link in minted
        ),
        snapshots=tuple((one.id, one.taken_at.date().isoformat()) for one in taken),
        signs=pages.signing is not None,
    )


def _public_address(desk: Desk, person: PersonState) -> str:
    if not person.public:
        return ""
    path = f"/anonymous/{person.alias}" if person.naming == "anonymous" else f"/@{person.login}"
    return desk.pages.public_url + path


def _organisations(found: list[RepositoryState]) -> tuple[tuple[int, str], ...]:
    """(installation, owner's name) wherever there is public work, for links."""
    named = {one.installation: one.full_name.partition("/")[0] for one in found if one.public and one.active}
    return tuple(sorted((int(number), name) for number, name in named.items() if number is not None))


async def show_preview(request: web.Request) -> web.Response:
    """The page as everybody would see it, whether or not it is public."""
    desk, owner = desk_of(request), await _owner(request)
    if owner is None or owner.person is None:
        return problem(request, 404)
    async with desk.pages.store.read() as conn:
        opened = await subjects.open_person(conn, owner.person, OWNER, base="")
    if opened is None:
        return problem(request, 404)
    reading = await profiles.read(desk, opened)
    body = await desk.reader.text(reading, "preview", lambda profile: render_page(profile, Page()))
    return answer(request, body, HTML.media)


async def show_export(request: web.Request) -> web.Response:
    """Everything the record holds about this person, as JSON."""
    desk, owner = desk_of(request), await _owner(request)
    if owner is None:
        return problem(request, 404)
    async with desk.pages.store.read() as conn:
        text = await choices.export(conn, owner.key)
    response = answer(request, text.encode("utf-8", "replace"), "application/json")
    response.headers["Content-Disposition"] = 'attachment; filename="almanac-export.json"'
    return response


# --- deciding --------------------------------------------------------------------------------------------------------


async def act(request: web.Request) -> web.Response:
    """One decision, from a form of ours: the session's token stands in it, and the browser says it comes from here."""
    desk, owner = desk_of(request), await _owner(request)
    if owner is None:
        return problem(request, 403)
    try:
        form = await _form(request)
    except BodyError as error:
        return problem(request, error.status if error.status == 413 else 400)
    if not _ours(request, desk) or not hmac.compare_digest(form.get("csrf", "").encode(), owner.session.csrf.encode()):
        return problem(request, 403)
    action = ACTIONS.get(request.match_info["action"])
    if action is None:
        return problem(request, 404)
    try:
        await action(desk, owner, form)
    except (KeyError, ValueError):
        return problem(request, 400)
    if request.match_info["action"] in ("sign-out", "erase"):
        async with desk.pages.store.begin() as conn:
            await sessions.end(conn, request.cookies[SESSION_COOKIE])
    return _redirect("/settings")


async def _form(request: web.Request) -> Form:
    if request.content_type != "application/x-www-form-urlencoded":
        raise BodyError(400)
    body = await read_body(request, seconds=5, largest=_LARGEST_FORM)
    try:
        fields = parse_qs(body.decode(), max_num_fields=20, strict_parsing=bool(body))
    except ValueError:
        raise BodyError(400) from None
    return {name: values[0] for name, values in fields.items()}


def _ours(request: web.Request, desk: Desk) -> bool:
    """Browsers name the origin of every POST; one that does not is no browser that would carry the cookie by itself."""
    origin = request.headers.get("Origin")
    return origin is None or origin == desk.pages.public_url


def _switched(form: Form) -> bool:
    return {"on": True, "off": False}[form["to"]]


async def _switch_public(desk: Desk, owner: Owner, form: Form) -> None:
    async with desk.pages.store.begin() as conn:
        await visibility.publish(conn, owner.subject, public=_switched(form), now=desk.pages.clock())


async def _switch_naming(desk: Desk, owner: Owner, form: Form) -> None:
    naming: visibility.Naming = {"on": "anonymous", "off": "named"}[form["to"]]  # type: ignore[assignment]
    async with desk.pages.store.begin() as conn:
        if owner.person is not None and not owner.person.alias:
            await visibility.publish(conn, owner.subject, public=False, now=desk.pages.clock())
        await visibility.set_naming(conn, owner.subject, naming)


async def _switch_repository(desk: Desk, owner: Owner, form: Form) -> None:
    repository = RepositoryId(int(form["repository"]))
    keys = owner.person.keys if owner.person else frozenset()
    async with desk.pages.store.begin() as conn:
        known = {one.id for one in await visibility.repositories_with(conn, keys)}
        if repository not in known:
            raise ValueError("not a repository of this person's work")
        await visibility.hide_repository(conn, owner.key, repository, hidden=_switched(form))


async def _switch_opt_out(desk: Desk, owner: Owner, form: Form) -> None:
    async with desk.pages.store.begin() as conn:
        await choices.opt_out(conn, owner.key, desk.pages.clock() if _switched(form) else None)


async def _mint(desk: Desk, owner: Owner, form: Form) -> None:
    installation = InstallationId(int(form["organisation"]))
    keys = owner.person.keys if owner.person else frozenset()
    async with desk.pages.store.begin() as conn:
        known = {one.installation for one in await visibility.repositories_with(conn, keys) if one.public}
        if installation not in known:
            raise ValueError("no public work of this person there")
        await links.mint(conn, Link(owner.subject, installation), secret=desk.pages.secret, now=desk.pages.clock())


async def _revoke(desk: Desk, owner: Owner, form: Form) -> None:
    async with desk.pages.store.begin() as conn:
        await links.revoke(conn, owner.subject, desk.pages.clock(), nonce=form["link"])


async def _take_snapshot(desk: Desk, owner: Owner, form: Form) -> None:
    if owner.person is None:
        return
    async with desk.pages.store.read() as conn:
        opened = await subjects.open_person(conn, owner.person, OWNER, base="")
    if opened is not None:
        await profiles.take_snapshot(desk, opened)


async def _erase(desk: Desk, owner: Owner, form: Form) -> None:
    """Everything goes in one transaction; the word typed is the login, so that no slip of the hand does it."""
    if form["login"].strip().lower() != owner.session.login.lower():
        raise ValueError("the login was not typed")
    async with desk.pages.store.begin() as conn:
        await choices.forget(conn, owner.key, desk.pages.clock())
        if desk.pages.erase is not None:
            await desk.pages.erase(conn, owner.key)
        await sessions.end_all(conn, owner.session.user_id)
    desk.reader.forget()


async def _sign_out(desk: Desk, owner: Owner, form: Form) -> None:
    """The session ends with the answer."""


ACTIONS: Mapping[str, Action] = MappingProxyType(
    {
        "public": _switch_public,
        "naming": _switch_naming,
        "repository": _switch_repository,
        "opt-out": _switch_opt_out,
        "mint": _mint,
        "revoke": _revoke,
        "snapshot": _take_snapshot,
        "erase": _erase,
        "sign-out": _sign_out,
    }
)

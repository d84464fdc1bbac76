"""Who is signed in, and how do they sign in?"""

from __future__ import annotations

import hmac

from aiohttp import web
from msgspec import Struct
from sqlalchemy import Connection

from bot.model.ids import PersonKey
from bot.store import erasure, people, sessions, visibility
from bot.store.sessions import Session
from bot.store.visibility import PersonState, subject_of_person
from bot.web.collaborators import PageContext, page_context
from bot.web.responses import problem
from bot.web.sign_in import SignIn, SignInAttempt, SignInError

SESSION_COOKIE = "__Host-almanac-session"
ATTEMPT_COOKIE = "__Host-almanac-attempt"
_ATTEMPT_SECONDS = 600


class Owner(Struct, frozen=True):
    """The signed-in account, with its person if the database knows one."""

    session: Session
    person: PersonState | None

    @property
    def key(self) -> PersonKey:
        return PersonKey(f"u:{self.session.user_id}")

    @property
    def subject(self) -> str:
        return subject_of_person(self.key)


async def owner_of(request: web.Request) -> Owner | None:
    """The account that this browser is signed in as; None if there is none."""
    cookie = request.cookies.get(SESSION_COOKIE)
    if not cookie:
        return None
    pages = page_context(request).pages

    def read(connection: Connection) -> Owner | None:
        session = sessions.session(connection, cookie, pages.clock())
        if session is None:
            return None
        return Owner(session, visibility.person_state(connection, PersonKey(f"u:{session.user_id}")))

    return await pages.store.read(read)


# --- signing in ------------------------------------------------------------------------------------------------------


def _sign_in(request: web.Request) -> SignIn:
    found = page_context(request).pages.sign_in
    if found is None:
        raise web.HTTPNotFound
    return found


def _callback_address(context: PageContext) -> str:
    return f"{context.pages.public_url}/settings/signed-in"


def see_other(location: str) -> web.Response:
    """Redirect to that page with a GET (303)."""
    return web.Response(
        status=303, headers={"Location": location, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    )


async def begin_sign_in(request: web.Request) -> web.Response:
    """Redirect to GitHub; the browser keeps state and verifier."""
    attempt = SignInAttempt.begin()
    response = see_other(_sign_in(request).address(attempt, _callback_address(page_context(request))))
    _set_cookie(response, ATTEMPT_COOKIE, f"{attempt.state}.{attempt.verifier}", _ATTEMPT_SECONDS)
    return response


def _set_cookie(response: web.Response, name: str, value: str, seconds: int) -> None:
    response.set_cookie(name, value, max_age=seconds, path="/", secure=True, httponly=True, samesite="Lax")


async def end_sign_in(request: web.Request) -> web.Response:
    """Return from GitHub: the state must be the one this browser was given."""
    context = page_context(request)
    state, _, verifier = request.cookies.get(ATTEMPT_COOKIE, "").partition(".")
    given, code = request.query.get("state", ""), request.query.get("code", "")
    if not state or not verifier or not code or not hmac.compare_digest(state.encode(), given.encode()):
        return problem(request, 403)
    try:
        account = await _sign_in(request).account(code, SignInAttempt(state, verifier), _callback_address(context))
    except SignInError:
        return problem(request, 403)
    now = context.pages.clock()

    def begin(connection: Connection) -> str:
        user_id, login = account
        if not erasure.erased_people(connection, [PersonKey(f"u:{user_id}")]):
            people.see_accounts(connection, [people.GitHubAccount(user_id, login, at=int(now.timestamp()))])
        return sessions.begin(connection, user_id, login, now)

    cookie = await context.pages.store.write(begin)
    response = see_other("/settings")
    response.del_cookie(ATTEMPT_COOKIE, path="/", secure=True, httponly=True, samesite="Lax")
    _set_cookie(response, SESSION_COOKIE, cookie, int(sessions.LASTS.total_seconds()))
    return response

"""What can a signed-in person decide? ACTIONS is the visible list; each is one form of the settings page."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from urllib.parse import parse_qs

from aiohttp import web
from sqlalchemy import Connection

from bot.model import InstallationId, RepositoryId
from bot.store import choices, links, sessions, visibility
from bot.store.links import Link
from bot.web import profiles, subjects
from bot.web.access import OWNER
from bot.web.body import BodyError, read_body
from bot.web.collaborators import Desk, desk_of
from bot.web.owner import SESSION_COOKIE, Owner, owner_of, see_other
from bot.web.responses import problem

_LARGEST_FORM = 8192
Form = Mapping[str, str]
Action = Callable[[Desk, Owner, Form], Awaitable[None]]


async def act(request: web.Request) -> web.Response:
    """One decision, from a form of ours: the session's token stands in it, and the browser says it comes from here."""
    desk, owner = desk_of(request), await owner_of(request)
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
        await desk.pages.store.write(sessions.end, request.cookies[SESSION_COOKIE])
    return see_other("/settings")


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
    await desk.pages.store.write(visibility.publish, owner.subject, public=_switched(form), now=desk.pages.clock())


async def _switch_naming(desk: Desk, owner: Owner, form: Form) -> None:
    naming: visibility.Naming = "anonymous" if _switched(form) else "named"

    def save(connection: Connection) -> None:
        if owner.person is not None and not owner.person.alias:
            visibility.publish(connection, owner.subject, public=False, now=desk.pages.clock())
        visibility.set_naming(connection, owner.subject, naming)
        _retell(connection, desk, owner)

    await desk.pages.store.write(save)


async def _switch_repository(desk: Desk, owner: Owner, form: Form) -> None:
    repository = RepositoryId(int(form["repository"]))
    keys = owner.person.keys if owner.person else frozenset()

    def save(connection: Connection) -> None:
        known = {one.id for one in visibility.repositories_with(connection, keys)}
        if repository not in known:
            raise ValueError("not a repository of this person's work")
        visibility.hide_repository(connection, owner.key, repository, hidden=_switched(form))

    await desk.pages.store.write(save)


async def _switch_opt_out(desk: Desk, owner: Owner, form: Form) -> None:
    def save(connection: Connection) -> None:
        choices.opt_out(connection, owner.key, desk.pages.clock() if _switched(form) else None)
        _retell(connection, desk, owner)

    await desk.pages.store.write(save)


def _retell(connection: Connection, desk: Desk, owner: Owner) -> None:
    """What stands at GitHub follows, as it does where the same is said in a comment."""
    if desk.pages.retell is not None:
        desk.pages.retell(connection, owner.key)


async def _mint(desk: Desk, owner: Owner, form: Form) -> None:
    installation = InstallationId(int(form["organisation"]))
    keys = owner.person.keys if owner.person else frozenset()

    def save(connection: Connection) -> None:
        known = {one.installation for one in visibility.repositories_with(connection, keys) if one.public}
        if installation not in known:
            raise ValueError("no public work of this person there")
        links.mint(connection, Link(owner.subject, installation), secret=desk.pages.secret, now=desk.pages.clock())

    await desk.pages.store.write(save)


async def _revoke(desk: Desk, owner: Owner, form: Form) -> None:
    await desk.pages.store.write(links.revoke, owner.subject, desk.pages.clock(), nonce=form["link"])


async def _take_snapshot(desk: Desk, owner: Owner, form: Form) -> None:
    if owner.person is None:
        return
    opened = await desk.pages.store.read(subjects.open_person, owner.person, OWNER, base="")
    if opened is not None:
        await profiles.take_snapshot(desk, opened)


async def _erase(desk: Desk, owner: Owner, form: Form) -> None:
    """Everything goes in one transaction; the word typed is the login, so that no slip of the hand does it."""
    if form["login"].strip().lower() != owner.session.login.lower():
        raise ValueError("the login was not typed")

    def save(connection: Connection) -> None:
        choices.forget(connection, owner.key, desk.pages.clock())
        if desk.pages.erase is not None:
            desk.pages.erase(connection, owner.key)
        sessions.end_all(connection, owner.session.user_id)

    await desk.pages.store.write(save)
    desk.reader.forget()
    desk.shelf.forget()


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

"""What can a signed-in person decide? ACTIONS lists everything; each action is one form of the settings page."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from urllib.parse import parse_qs

from aiohttp import web
from sqlalchemy import Connection

from bot.model.ids import InstallationId, RepositoryId
from bot.services.claims import ClaimDecision
from bot.store import choices, links, sessions, visibility
from bot.store.links import Link
from bot.web import profiles, subjects
from bot.web.access import OWNER
from bot.web.body import BodyError, read_body
from bot.web.collaborators import PageContext, page_context
from bot.web.owner import SESSION_COOKIE, Owner, owner_of, see_other
from bot.web.responses import problem

_LARGEST_FORM = 8192
FormFields = Mapping[str, str]
Action = Callable[[PageContext, Owner, FormFields], Awaitable[None]]


async def handle_action(request: web.Request) -> web.Response:
    """Handle one decision, from our own form: it contains the session's token, and the browser reports our origin."""
    context, owner = page_context(request), await owner_of(request)
    if owner is None:
        return problem(request, 403)
    try:
        form = await _form(request)
    except BodyError as error:
        return problem(request, error.status if error.status == 413 else 400)
    if not _is_same_origin(request, context) or not hmac.compare_digest(
        form.get("csrf", "").encode(), owner.session.csrf.encode()
    ):
        return problem(request, 403)
    action = ACTIONS.get(request.match_info["action"])
    if action is None:
        return problem(request, 404)
    try:
        await action(context, owner, form)
    except (KeyError, ValueError):
        return problem(request, 400)
    if request.match_info["action"] in ("sign-out", "erase"):
        await context.pages.store.write(sessions.end, request.cookies[SESSION_COOKIE])
    return see_other("/settings")


async def _form(request: web.Request) -> FormFields:
    if request.content_type != "application/x-www-form-urlencoded":
        raise BodyError(400)
    body = await read_body(request, seconds=5, largest=_LARGEST_FORM)
    try:
        fields = parse_qs(body.decode(), max_num_fields=20, strict_parsing=bool(body))
    except ValueError:
        raise BodyError(400) from None
    return {name: values[0] for name, values in fields.items()}


def _is_same_origin(request: web.Request, context: PageContext) -> bool:
    """Browsers send the origin with every POST; a client that does not would not send the cookie by itself either."""
    origin = request.headers.get("Origin")
    return origin is None or origin == context.pages.public_url


def _switch_value(form: FormFields) -> bool:
    return {"on": True, "off": False}[form["to"]]


async def _switch_public(context: PageContext, owner: Owner, form: FormFields) -> None:
    await context.pages.store.write(
        visibility.publish, owner.subject, public=_switch_value(form), now=context.pages.clock()
    )


async def _switch_naming(context: PageContext, owner: Owner, form: FormFields) -> None:
    naming: visibility.Naming = "anonymous" if _switch_value(form) else "named"

    def save(connection: Connection) -> None:
        if owner.person is not None and not owner.person.alias:
            visibility.publish(connection, owner.subject, public=False, now=context.pages.clock())
        visibility.set_naming(connection, owner.subject, naming)
        _refresh_posts(connection, context, owner)

    await context.pages.store.write(save)


async def _switch_repository(context: PageContext, owner: Owner, form: FormFields) -> None:
    repository = RepositoryId(int(form["repository"]))
    keys = owner.person.keys if owner.person else frozenset()

    def save(connection: Connection) -> None:
        known = {one.id for one in visibility.repositories_with(connection, keys)}
        if repository not in known:
            raise ValueError("not a repository of this person's work")
        visibility.hide_repository(connection, owner.key, repository, hidden=_switch_value(form))

    await context.pages.store.write(save)


async def _decide_claims(context: PageContext, owner: Owner, form: FormFields) -> None:
    """Accept or reject claims: those of one pull request, or all that have landed in a repository so far."""
    repository, number = RepositoryId(int(form["repository"])), int(form["number"]) or None
    now, event = context.pages.clock(), f"settings:{secrets.token_hex(8)}"
    decision = ClaimDecision(owner.key, _switch_value(form), now, event, number)
    keys = owner.person.keys if owner.person else frozenset()

    def save(connection: Connection) -> None:
        reachable = {one.id for one in visibility.repositories_with(connection, keys) if one.public and one.active}
        if repository not in reachable or context.pages.decide is None:
            raise ValueError("not a repository of this person's work")
        context.pages.decide(connection, decision, repository)

    await context.pages.store.write(save)


async def _say_human(context: PageContext, owner: Owner, form: FormFields) -> None:
    """The person is no machine. Whoever signs in is an account of the type User."""
    if context.pages.say_human is not None:
        event = f"settings:{secrets.token_hex(8)}"
        await context.pages.store.write(context.pages.say_human, owner.key, event)


async def _switch_opt_out(context: PageContext, owner: Owner, form: FormFields) -> None:
    def save(connection: Connection) -> None:
        choices.opt_out(connection, owner.key, context.pages.clock() if _switch_value(form) else None)
        _refresh_posts(connection, context, owner)

    await context.pages.store.write(save)


def _refresh_posts(connection: Connection, context: PageContext, owner: Owner) -> None:
    """Update what is posted at GitHub, as after the same command in a comment."""
    if context.pages.refresh_posts is not None:
        context.pages.refresh_posts(connection, owner.key)


async def _mint(context: PageContext, owner: Owner, form: FormFields) -> None:
    installation = InstallationId(int(form["organisation"]))
    keys = owner.person.keys if owner.person else frozenset()

    def save(connection: Connection) -> None:
        known = {one.installation for one in visibility.repositories_with(connection, keys) if one.public}
        if installation not in known:
            raise ValueError("no public work of this person there")
        links.mint(
            connection, Link(owner.subject, installation), secret=context.pages.secret, now=context.pages.clock()
        )

    await context.pages.store.write(save)


async def _revoke(context: PageContext, owner: Owner, form: FormFields) -> None:
    await context.pages.store.write(links.revoke, owner.subject, context.pages.clock(), nonce=form["link"])


async def _take_snapshot(context: PageContext, owner: Owner, form: FormFields) -> None:
    if owner.person is None:
        return
    opened = await context.pages.store.read(subjects.open_person, owner.person, OWNER, base="")
    if opened is not None:
        await profiles.take_snapshot(context, opened)


async def _erase(context: PageContext, owner: Owner, form: FormFields) -> None:
    """Erase everything in one transaction; the person types the login, so that it cannot happen by accident."""
    if form["login"].strip().lower() != owner.session.login.lower():
        raise ValueError("the login was not typed")

    def save(connection: Connection) -> None:
        choices.forget(connection, owner.key, context.pages.clock())
        if context.pages.erase is not None:
            context.pages.erase(connection, owner.key)
        sessions.end_all(connection, owner.session.user_id)

    await context.pages.store.write(save)
    context.reader.forget()
    context.cache.forget()


async def _sign_out(context: PageContext, owner: Owner, form: FormFields) -> None:
    """The session ends with the answer."""


ACTIONS: Mapping[str, Action] = MappingProxyType(
    {
        "public": _switch_public,
        "naming": _switch_naming,
        "repository": _switch_repository,
        "claims": _decide_claims,
        "human": _say_human,
        "opt-out": _switch_opt_out,
        "mint": _mint,
        "revoke": _revoke,
        "snapshot": _take_snapshot,
        "erase": _erase,
        "sign-out": _sign_out,
    }
)

"""What does a person see about their own page, signed in with GitHub?"""

from __future__ import annotations

from collections.abc import Sequence

from aiohttp import web
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.landing.identity.credit import change_credits
from bot.landing.identity.machines import is_machine
from bot.model.commit import Signature
from bot.model.ids import RepositoryId
from bot.render.html.page import PageOptions, render_page
from bot.render.html.settings import (
    ClaimRow,
    LinkRow,
    RepositoryRow,
    SettingsView,
    page_of_claims,
    settings_page,
    sign_in_page,
)
from bot.render.wording import date_name, month_name
from bot.store import choices, corrections, links, records, snapshots, visibility
from bot.store.snapshots import SnapshotEntry
from bot.store.visibility import PersonState, RepositoryState
from bot.web import profiles, subjects
from bot.web.access import OWNER
from bot.web.collaborators import PageContext, page_context
from bot.web.decisions import handle_action
from bot.web.owner import Owner, begin_sign_in, end_sign_in, owner_of
from bot.web.profile_reader import repositories_of
from bot.web.responses import HTML, Manner, answer, problem

_OWN = Manner(forms=True)


def add_routes(app: web.Application) -> None:
    """Add the settings page and the routes of its forms."""
    app.add_routes(
        [
            web.get("/settings", show_settings),
            web.get("/settings/sign-in", begin_sign_in),
            web.get("/settings/signed-in", end_sign_in),
            web.get("/settings/preview", show_preview),
            web.get("/settings/export", show_export),
            web.post("/settings/{action}", handle_action),
        ]
    )


async def show_settings(request: web.Request) -> web.Response:
    """The settings, or the link to sign in."""
    owner = await owner_of(request)
    if owner is None:
        return answer(request, sign_in_page().encode(), HTML.media, _OWN)
    context = page_context(request)
    asked = request.query.get("claims", "")
    page = int(asked) if asked.isdecimal() and len(asked) < _DIGITS else 1
    text = settings_page(await context.pages.store.read(_view, context, owner, page))
    return answer(request, text.encode("utf-8", "replace"), HTML.media, _OWN)


def _view(connection: Connection, context: PageContext, owner: Owner, claims_page: int) -> SettingsView:
    person = owner.person
    if person is None:
        return SettingsView(owner.session.login, owner.session.csrf)
    pages = context.pages
    found = visibility.repositories_with(connection, person.keys)
    hidden = visibility.hidden_repositories(connection, person.keys)
    minted = links.links_of(connection, owner.subject)
    uses = links.uses_of(connection, [link.nonce for link in minted])
    visible = [one for one in found if one.public and one.active]
    return SettingsView(
        login=owner.session.login,
        csrf=owner.session.csrf,
        known=True,
        public=person.public,
        naming=person.naming,
        opted_out=person.opted_out,
        address=_public_address(context, person),
        repositories=tuple(RepositoryRow(one.id, one.full_name, one.id in hidden) for one in visible),
        claims=page_of_claims(_claims(connection, person, visible), claims_page),
        withheld=_is_withheld(connection, owner),
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
        snapshots=tuple((one.id, _snapshot_label(one)) for one in snapshots.snapshot_entries(connection, person.keys)),
        signs=pages.signing is not None,
    )


_DIGITS = 6
"""a page's number has fewer"""


def _claims(connection: Connection, person: PersonState, visible: Sequence[RepositoryState]) -> tuple[ClaimRow, ...]:
    """The claims in these repositories, by pull request; what landed without one is decided together."""
    ids = {one.full_name: one.id for one in visible}
    found = records.facts_about(connection, person.keys, list(ids.values()))
    rows: dict[tuple[RepositoryId, int], ClaimRow] = {}
    for change in found.changes(repositories_of(visible)):
        for commit, parts in change_credits(change):
            repository = ids.get(commit.fact.repository)
            reasons = [one.why for one in parts if one.person in person.keys and one.grade == "claimed"]
            if repository is not None and reasons:
                number = commit.fact.pull_request or 0
                key = (repository, number)
                before = rows.get(key) or ClaimRow(repository, commit.fact.repository, number, change.title, 0)
                why = tuple(dict.fromkeys((*before.why, *reasons)))
                rows[key] = replace(before, commits=before.commits + 1, why=why)
    return tuple(rows[key] for key in sorted(rows))


def _is_withheld(connection: Connection, owner: Owner) -> bool:
    """Whether credit is withheld because the login is a machine's, or looks like one, and nobody said otherwise."""
    login = owner.session.login
    looks = is_machine(Signature(login, "", owner.session.user_id, login))
    return looks and not corrections.has_said_so(connection, owner.key)


def _snapshot_label(snapshot: SnapshotEntry) -> str:
    return month_name(snapshot.month) if snapshot.month else date_name(snapshot.taken_at.date().isoformat())


def _public_address(context: PageContext, person: PersonState) -> str:
    if not person.public:
        return ""
    path = f"/anonymous/{person.alias}" if person.naming == "anonymous" else f"/@{person.login}"
    return context.pages.public_url + path


def _organisations(found: list[RepositoryState]) -> tuple[tuple[int, str], ...]:
    """(installation, owner's name) wherever there is public work, for links."""
    named = {one.installation: one.full_name.partition("/")[0] for one in found if one.public and one.active}
    return tuple(sorted((int(number), name) for number, name in named.items() if number is not None))


async def show_preview(request: web.Request) -> web.Response:
    """The page as everybody would see it, public or not."""
    context, owner = page_context(request), await owner_of(request)
    if owner is None or owner.person is None:
        return problem(request, 404)
    opened = await context.pages.store.read(subjects.open_person, owner.person, OWNER, base="")
    if opened is None:
        return problem(request, 404)
    reading = await profiles.read_profile(context, opened)
    body = await context.reader.text(reading, "preview", lambda profile: render_page(profile, PageOptions()))
    return answer(request, body, HTML.media)


async def show_export(request: web.Request) -> web.Response:
    """Everything the database holds about this person, as JSON."""
    context, owner = page_context(request), await owner_of(request)
    if owner is None:
        return problem(request, 404)
    text = await context.pages.store.read(choices.export, owner.key)
    response = answer(request, text.encode("utf-8", "replace"), "application/json")
    response.headers["Content-Disposition"] = 'attachment; filename="almanac-export.json"'
    return response

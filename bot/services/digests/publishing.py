"""How is the digest of a finished month posted, and updated when late facts change it?"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.model.commit import Repository
from bot.model.ids import InstallationId, Month, RepositoryId
from bot.render.markdown_escaping import md_text
from bot.render.wording import month_name
from bot.services.context import Context, translate_github_errors
from bot.services.digests.month_note import MonthNote, month_note
from bot.services.digests.refresh import DigestId, current_home, defer_digest
from bot.services.digests.scope import (
    DigestScope,
    chosen_home,
    home_of,
    posted_scope,
    problems_with_home,
    repositories_by_name,
)
from bot.services.posting.publishing import request_post
from bot.services.repository_settings import (
    RepositorySettings,
    read_repository_settings,
    save_settings,
    stored_settings,
)
from bot.store import outbox
from bot.store.digests import DigestRow, due, of_target, open_digest, target_of
from bot.store.digests import record as record_digest

AT_ONCE, DIGEST_GAP = 20, timedelta(seconds=36)
"""GitHub takes some 150 new issues an hour, and one that watchers get mail for is in no hurry"""


_NOTHING = "Nothing in {} is counted any more.\n"


class _Plan(Struct, frozen=True):
    """One digest to publish: its repository and scope, as a preview or as a post."""

    row: DigestRow
    subject: Repository
    scope: DigestScope
    preview: bool


async def close_months(context: Context) -> int:
    """Defer the digest of every finished month that has none; return how many. Row and job share one transaction.

    Digests with a post of their own are spread: at most AT_ONCE of an installation at once, and 100 an hour.
    """
    now = context.clock()
    found = await context.store.read(due, now, context.zone)
    deferred, digests = 0, Counter[InstallationId]()
    for one in found:
        if await context.store.write(_open, context, one, now=now, earlier=digests[one[0]]):
            deferred += 1
            digests[one[0]] += await context.store.read(current_home, one) == one[1]
    return deferred


def _open(connection: Connection, context: Context, one: DigestId, *, now: datetime, earlier: int) -> bool:
    """Create the digest's row and defer it, `earlier` others of its installation before it; False if it exists."""
    _, repository, month = one
    is_new = open_digest(connection, DigestRow(target_of(repository), month, now, repository_id=repository))
    if is_new:
        is_own = current_home(connection, one) == repository
        wait = DIGEST_GAP * max(earlier - AT_ONCE + 1, 0) if is_own else timedelta(0)
        defer_digest(connection, context, one, run_at=now + wait)
    return is_new


async def refresh_settings(context: Context, one: DigestId) -> None:
    """Store the current settings of the repository, and of another one that they choose for its digest."""
    installation, repository, _ = one
    names = await context.store.read(repositories_by_name, installation)
    subject = next((known for known in names.values() if known.id == repository), None)
    if subject is None:
        return
    settings = await _read_settings(context, installation, subject)
    home = chosen_home(subject, names, settings)
    if home is not subject:
        await _read_settings(context, installation, home)


async def _read_settings(context: Context, installation: InstallationId, repository: Repository) -> RepositorySettings:
    number = RepositoryId(repository.id or 0)
    with translate_github_errors():
        settings = await read_repository_settings(context, context.reader(installation, number), repository)
    await context.store.write(save_settings, number, settings)
    return settings


def plan_digest(connection: Connection, one: DigestId) -> _Plan | None:
    """The digest to publish; None if there is nothing to post.

    That is so while the repository is paused, has its digest off, or is out of reach without a posted digest.
    """
    installation, repository, month = one
    names = repositories_by_name(connection, installation)
    subject = next((known for known in names.values() if known.id == repository), None)
    settings = stored_settings(connection, repository)
    rows = {row.month: row for row in of_target(connection, target_of(repository))}
    row = rows.get(month)
    if subject is None:
        return None if row is None else _plan_for_lost_repository(connection, one, row)
    if row is None or settings.paused or settings.digest == "off":
        return None
    if _is_preview(row, rows, settings):
        return _Plan(row, subject, DigestScope(installation, month, subject, (subject,)), preview=True)
    home = home_of(connection, subject, names, settings)
    if row.state == "posted":
        # A posted digest stays where it is, whatever the settings say later.
        home = next((known for known in names.values() if known.id == row.repository_id), home)
    return _Plan(row, subject, posted_scope(connection, (installation, month, home), subject), preview=False)


def _plan_for_lost_repository(connection: Connection, one: DigestId, row: DigestRow) -> _Plan | None:
    """The posted digest of a repository that is now out of reach, if it was posted in another one."""
    installation, repository, month = one
    names = repositories_by_name(connection, installation)
    home = next((known for known in names.values() if known.id == row.repository_id), None)
    if home is None or row.state != "posted" or row.repository_id == repository:
        return None
    return _Plan(row, home, posted_scope(connection, (installation, month, home)), preview=False)


def _is_preview(row: DigestRow, rows: dict[Month, DigestRow], settings: RepositorySettings) -> bool:
    """Whether this is a preview: a repository's first digest is, and stays one until the settings ask for a post."""
    if settings.config.first_digest == "post" or row.state == "posted":
        return False
    return row.state == "preview" or row.month == min(rows)


def request_preview(connection: Connection, context: Context, plan: _Plan) -> None:
    """Request a check run on the month's newest commit, for the people who installed the App."""
    scope = plan.scope
    note = month_note(connection, context, scope, preview=True)
    key = f"preview:{scope.home_id}:{scope.month}"
    commit = note.newest if note else _previewed_commit(connection, scope.home_id, key)
    if commit is None:
        return
    text = note.text if note else _NOTHING.format(month_name(scope.month))
    problems = [str(md_text(problem, 400)) for problem in problems_with_home(connection, scope.home_id)]
    summary = "\n\n".join((*problems, text))
    body = {"title": f"Preview of the digest for {scope.month}", "summary": summary}
    intent = outbox.Intent(key, "preview", scope.home_id, {"commit": commit}, body, scope.installation)
    request_post(connection, context, intent)
    record_digest(connection, replace(plan.row, state="preview"))


def _previewed_commit(connection: Connection, repository: RepositoryId, key: str) -> str | None:
    """The commit on which the preview with this key stands; None if there is none."""
    previews = outbox.intents(connection, repository, ("preview",))
    return next((str(one.target["commit"]) for one, _ in previews if one.key == key), None)


def request_digest(connection: Connection, context: Context, plan: _Plan) -> None:
    """Request the post; if the month has no work any more, its existing comment says so."""
    scope = plan.scope
    note = month_note(connection, context, scope)
    if note is None:
        if not outbox.is_posted(connection, scope.key):
            return
        gone = outbox.is_removed(connection, scope.key)
        note = MonthNote("" if gone else _NOTHING.format(month_name(scope.month)))
    target = {"month": scope.month, "form": _post_form(connection, plan)}
    request_post(
        connection,
        context,
        outbox.Intent(scope.key, "digest", scope.home_id, target, {"text": note.text}, scope.installation),
    )
    record_digest(connection, replace(plan.row, state="posted", repository_id=scope.home_id))


def request_removal(connection: Connection, context: Context, one: DigestId) -> None:
    """Delete a posted digest that names somebody who left, though nothing may be posted now; later it is written again.

    That is so while the repository is paused, or has its digest off.
    """
    installation, repository, month = one
    for row in of_target(connection, target_of(repository)):
        key = f"digest:{row.repository_id}:{month}"
        if row.month == month and row.state == "posted" and outbox.is_removed(connection, key):
            home = RepositoryId(row.repository_id or repository)
            posted = (intent for intent, _ in outbox.intents(connection, home, ("digest",)) if intent.key == key)
            for intent in posted:
                request_post(connection, context, replace(intent, body={"text": ""}, installation_id=installation))


def _post_form(connection: Connection, plan: _Plan) -> str:
    """`issue` or `discussion`, by the settings of the repository posted in, or ours if its own digest is off."""
    home = stored_settings(connection, plan.scope.home_id)
    own = stored_settings(connection, RepositoryId(plan.subject.id or 0))
    return home.digest if home.digest != "off" else own.digest

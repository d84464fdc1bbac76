"""How is nobody held up by a check suite that GitHub opened for Almanac by itself?

With `checks: write` every push opens one, and it stays queued until the App adds a check run. Almanac reports only what
has landed, so it asks GitHub to open none, and completes those that are open.
https://docs.github.com/en/rest/checks/suites#update-repository-preferences-for-check-suites
"""

from __future__ import annotations

import logging

from gidgethub import BadRequest
from sqlalchemy import Connection

from bot.model.commit import Repository
from bot.model.ids import CommitId, InstallationId, RepositoryId
from bot.services.context import Context
from bot.services.posting.publishing import request_post
from bot.store import outbox

log = logging.getLogger(__name__)
_SUMMARY = (
    "Almanac counts work once it is on the default branch. GitHub opened a check suite for this commit by itself; "
    "this check run completes it, so that nothing waits for it."
)


async def switch_off_suites(context: Context, installation: InstallationId, repository: Repository) -> None:
    """Ask for no more suites in this repository; some servers ask for more permissions than Almanac has."""
    _, publisher = context.publisher(installation, repository.id or 0, comments=False)
    try:
        await publisher.switch_off_suites(repository)
    except BadRequest as error:
        if error.status_code not in (403, 404, 422):
            raise
        log.warning("check suites not switched off", extra={"repository": repository.id, "reason": str(error)})


def request_closing_check(
    connection: Connection, context: Context, where: tuple[InstallationId, RepositoryId], commit: CommitId
) -> None:
    """Request a check run on the commit, unless one of ours is posted or waits there already."""
    installation, number = where
    if outbox.begun_keys(connection, [f"check:{number}:{commit}"]):
        return
    request_post(
        connection,
        context,
        outbox.Intent(
            key=f"suite:{number}:{commit}",
            kind="suite",
            repository_id=number,
            target={"commit": commit},
            body={"title": "Nothing to count yet", "summary": _SUMMARY},
            installation_id=installation,
        ),
    )

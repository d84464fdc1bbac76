"""What is to be said of a landing, and where: intents in the outbox, in the transaction of what they tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.model import Change, CommitId
from bot.render.landing_note import landing_note
from bot.store import outbox
from bot.tasks.recording import Place, Recorded
from bot.tasks.workplace import Workplace

MOST_CHECKS = 10
"""check runs for one recording: a push of more carriers gets one, on its newest"""


async def announce(conn: AsyncConnection, place: Workplace, target: Place, recorded: Recorded) -> None:
    """A check run on each commit that carried a change here, edited where it was told otherwise before."""
    carried = _by_carrier(recorded, target)
    for carrier, changes in carried.items():
        await intend_check(conn, place, target, (carrier, changes))


async def intend_check(
    conn: AsyncConnection, place: Workplace, target: Place, told: tuple[CommitId, Sequence[Change]]
) -> None:
    """Write down the check run of one carrier, and ask for its posting."""
    carrier, changes = told
    note = landing_note(changes, carrier, place.public_url)
    intent = outbox.Intent(
        key=f"check:{target.repository}:{carrier}",
        kind="check",
        repository_id=target.repository,
        target={"commit": carrier},
        body={"title": note.title, "summary": note.summary},
        installation_id=target.installation,
    )
    await post(conn, place, intent)


async def post(conn: AsyncConnection, place: Workplace, intent: outbox.Intent) -> None:
    """Write the intent down; a job posts it unless this very text stands at GitHub already."""
    waiting = await outbox.intend(conn, intent, place.clock())
    if waiting is not None:
        options: dict[str, Any] = {"installation_id": intent.installation_id}
        await place.queue.defer(
            conn, "publish_post", waiting, serial_key=f"post:{intent.key}", dedupe_key=f"post:{waiting}", **options
        )


def _by_carrier(recorded: Recorded, target: Place) -> dict[CommitId, list[Change]]:
    """The changes to be told on each carrier in this repository, newest carriers last."""
    name = next((name for name, repo in recorded.repositories.items() if repo.id == target.repository), None)
    found: dict[CommitId, list[Change]] = defaultdict(list)
    landed: dict[CommitId, int] = {}
    for change in recorded.changed:
        for commit in change.commits:
            if commit.fact.repository == name:
                landed[commit.fact.carrier] = commit.fact.landed_at
                if change not in found[commit.fact.carrier]:
                    found[commit.fact.carrier].append(change)
    newest = sorted(found, key=lambda carrier: (landed[carrier], carrier))
    if len(newest) <= MOST_CHECKS:
        return {carrier: found[carrier] for carrier in newest}
    together = list({change.id: change for carrier in newest for change in found[carrier]}.values())
    return {newest[-1]: together}

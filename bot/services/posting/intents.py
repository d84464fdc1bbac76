"""How is a post requested?"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from bot.services.context import Context
from bot.store import outbox


def request_post(connection: Connection, context: Context, intent: outbox.Intent) -> None:
    """Store the intent; a job posts it unless GitHub already has this exact text."""
    waiting = outbox.add_intent(connection, intent, context.clock())
    if waiting is not None:
        # Push and pull request arrive within moments of each other: wait for both, and post once.
        options: dict[str, Any] = {
            "installation_id": intent.installation_id,
            "run_at": context.clock() + context.settle,
        }
        context.queue.defer(
            connection,
            "publish_post",
            waiting,
            serial_key=f"post:{intent.key}",
            dedupe_key=f"post:{waiting}",
            **options,
        )

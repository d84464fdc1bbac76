"""When a post is due in the outbox, publish it on GitHub."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.queue.interface import Job, RetryLater
from bot.services.context import Context, translate_github_errors
from bot.services.posting.publishing import (
    claim_post,
    hold_lease,
    is_unsettled,
    publish_claimed,
    release_failed,
    save_post,
)


async def publish_post(job: Job, context: Context) -> None:
    """Publish idempotently; if the text changed meanwhile, defer another job for it."""
    now = context.clock()
    posting, busy = await context.store.write(claim_post, int(job.ref_id), now)
    if busy is not None:
        # that worker may have died: try again when its lease has expired
        raise RetryLater(max((busy - now).total_seconds(), 1.0), "another worker is posting it")
    if posting is None:
        return
    try:
        with translate_github_errors():
            async with hold_lease(context, posting):
                remote = await publish_claimed(context, posting)
    except BaseException as error:
        if await release_failed(context, job, posting, error):
            return
        if is_unsettled(error):
            raise RetryLater(
                UNSEEN_FOR * min(2 ** (job.attempt - 1), 30), f"it may have been posted: {error}"
            ) from error
        raise

    def save_result(connection: Connection) -> None:
        if not save_post(connection, posting, remote, context.clock()):
            context.queue.defer(connection, "publish_post", posting.id, serial_key=f"post:{posting.intent.key}")
        job.finish(connection)

    await context.store.write(save_result)
    context.on_posted(posting.intent.kind, "posted" if remote is not None else "deleted")


UNSEEN_FOR = 60.0
"""seconds during which a lagging replica may not list what was posted, so that a search would find nothing"""

"""When a backfill has its clone, store the next page of the repository's pull requests."""

from __future__ import annotations

import asyncio

from sqlalchemy import Connection

from bot.github.graphql import PAGE, read_page
from bot.model.ids import InstallationId
from bot.queue.interface import Job
from bot.services.backfill.accounts import Accounts
from bot.services.backfill.pages import defer_next, observations_in, save_accounts
from bot.services.backfill.steps import backfill_step
from bot.services.context import Context, translate_github_errors
from bot.services.observations import save_observations
from bot.services.pull_requests import pull_request_row, save_pull_request
from bot.store import backfills


async def backfill_pages(job: Job, context: Context) -> None:
    """Fetch the page after the cursor; its rows, the new cursor and the next step share one transaction."""
    found = await backfill_step(job, context)
    if found is None:
        return
    one, clone, head = found
    client = context.reader(one.installation_id, one.repository_id)
    addresses = await asyncio.to_thread(clone.addresses, head)
    accounts = Accounts.of(clone, addresses)
    with translate_github_errors():
        page = await read_page(
            client, clone.repository, after=one.cursor, size=one.size or PAGE, commits=accounts.next()
        )
    accounts.learn(page)
    brought = await asyncio.to_thread(save_accounts, clone, head, accounts, page)
    now = context.clock()

    def save(connection: Connection) -> None:
        for pull in page.pulls.pulls:
            row = pull_request_row(one.repository_id, pull, now, size=page.pulls.sizes.get(pull.number))
            save_pull_request(connection, row)
        backfills.bring(connection, one.repository_id, brought)
        save_observations(
            connection,
            context,
            (InstallationId(one.installation_id), one.repository_id),
            observations_in(one.repository_id, page),
        )
        defer_next(connection, context, one, page, kept=len(page.pulls.pulls))
        job.finish(connection)

    await context.store.write(save)

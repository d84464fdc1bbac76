"""When a backfill of a repository starts or has no clone, fetch its clone and its rules."""

from __future__ import annotations

import asyncio

from sqlalchemy import Connection

from bot.github.reads import read_repository
from bot.history.fetching import FetchedClone
from bot.landing.repo_config.files import ATTRIBUTES_PATH, CONFIG_PATH
from bot.model.ids import CommitId
from bot.queue.interface import Job, RetryLater
from bot.services.backfill.clones import fetch_clone, require_clones
from bot.services.backfill.steps import STEPS, defer_step, finish_backfill, unfinished_backfill
from bot.services.context import Context, translate_github_errors
from bot.services.measuring.rules import CurrentRules, save_rules
from bot.services.repositories.installation import ensure_installation, refresh_account
from bot.services.repositories.repository import save_repositories
from bot.services.repository_settings import read_settings_with_own_file
from bot.store import backfills


async def backfill_repository(job: Job, context: Context) -> None:
    """Fetch the clone and continue the backfill where it stopped."""
    one = await unfinished_backfill(job, context)
    if one is None:
        return
    await ensure_installation(context, one.installation_id)
    client = context.reader(one.installation_id, one.repository_id)
    with translate_github_errors():
        repository = await read_repository(client, one.repository_id)
    await refresh_account(context, one.installation_id, repository)
    clone = require_clones(context).of(repository)
    head = await fetch_clone(clone, client)
    ruling = await asyncio.to_thread(_rule_files, clone, head)
    with translate_github_errors():
        settings = await read_settings_with_own_file(context, client, repository, own=ruling.get(CONFIG_PATH, ""))
    rules = CurrentRules(settings, ruling.get(ATTRIBUTES_PATH, ""))

    def save(connection: Connection) -> None:
        now = backfills.read(connection, one.repository_id)
        if now is None or now.head != one.head:
            raise RetryLater(0.0, "the branch was rewritten during the fetch")
        save_repositories(connection, context, one.installation_id, [repository], job.begun)
        save_rules(connection, repository, rules, now=context.clock())
        backfills.move(connection, one.repository_id, requests=one.requests + _RULES)
        if head is None:
            finish_backfill(connection, context, one)
        elif one.head is not None and clone.holds(one.head):
            defer_step(connection, context, one, STEPS[one.state])
        else:
            # The first time, or the stored head is no longer on the branch: start again with the commits.
            state = "pull requests" if one.state == "waiting" else one.state
            backfills.move(connection, one.repository_id, state=state, head=head, commits=0, commits_done=0)
            defer_step(connection, context, one, STEPS[state])
        job.finish(connection)

    await context.store.write(save)
    if head is None:
        await asyncio.to_thread(clone.remove)


def _rule_files(clone: FetchedClone, head: CommitId | None) -> dict[str, str]:
    """The texts of the files that decide how its commits are measured, by path."""
    files = clone.at(head).files(CONFIG_PATH, ATTRIBUTES_PATH) if head else {}
    return {path: text for path, (_, text) in files.items()}


_RULES = 2
"""requests: the repository, and its account's settings; its own settings are in the clone"""

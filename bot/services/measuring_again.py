"""How are facts measured again after a definition has changed?

The new facts are stored beside the old ones and then replace them, a few commits at a time: commits that are not
stored are requested from GitHub, and a long transaction would delay new landings.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from gidgethub import BadRequest
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.github.client import Client, is_missing
from bot.github.reads import read_pull_request
from bot.metrics.measure import Measure
from bot.metrics.registry import FACT_METHOD
from bot.model.commit import Repository
from bot.model.fact import Fact
from bot.model.ids import InstallationId, RepositoryId
from bot.services.context import Context, job_reference, translate_github_errors
from bot.services.measuring.facts import LandingSource, measure_facts, read_recorded_landings
from bot.services.measuring.rules import current_rules
from bot.services.recording.record import RecordingTarget, record
from bot.services.repositories.repository import current_repository
from bot.store import measurements, pulls
from bot.store.jobs import LATER

log = logging.getLogger(__name__)
AT_ONCE = 20
"""commits measured in one step"""
ACTIVATED_AT_ONCE = 200
"""facts activated in one transaction: about a fifth of a second on SQLite"""
PAUSE = timedelta(minutes=2)
"""between two steps: 600 commits an hour, at most 1,200 of the 5,000 requests that an installation has"""


async def ask_to_measure_again(context: Context) -> None:
    """Defer a step for each installation with outdated facts; at most one per installation waits."""
    found = await context.store.read(measurements.repositories_outdated, FACT_METHOD)
    for installation in sorted({one for one, _ in found}):
        await context.store.write(defer_step, context, installation, timedelta(0))


async def measure_batch(
    context: Context, where: tuple[InstallationId, RepositoryId], waiting: Sequence[Fact]
) -> list[Fact]:
    client = context.reader(*where)
    with translate_github_errors():
        repository = await current_repository(context, client, where, None)
        rules = await (await current_rules(context, client, repository, touched=False)).measure()
        return [await _measure_one(context, client, (repository, rules), fact) for fact in waiting]


async def _measure_one(context: Context, client: Client, known: tuple[Repository, Measure], fact: Fact) -> Fact:
    """Measure the commit as stored when it landed, else as GitHub returns it.

    If GitHub no longer has the commit, its old fact stays.
    """
    repository, rules = known
    try:
        landed = await read_recorded_landings(context, client, repository, [fact])
    except BadRequest as error:
        if is_missing(error) or error.status_code == 422:  # GitHub's answer for a commit that it does not have
            log.warning("commit gone, measurement kept", extra={"repository": repository.id, "commit": fact.commit})
            return fact
        raise
    await _complete_pull_request(context, client, repository, fact)
    source = LandingSource(client=client, pulls_known=fact.evidence is None or fact.evidence.pulls_known)
    (measured,) = await measure_facts(context, repository, landed, rules, source=source)
    return measured


async def _complete_pull_request(context: Context, client: Client, repository: Repository, fact: Fact) -> None:
    """Read the pull request again if it was stored before GitHub was asked whether its author may write."""
    number = RepositoryId(repository.id or 0)

    def read_stored_pull_request(connection: Connection) -> pulls.PullRequestRow | None:
        row = pulls.row_merged_as(connection, number, fact.merge_commit)
        return row or (pulls.read(connection, number, fact.pull_request) if fact.pull_request else None)

    row = await context.store.read(read_stored_pull_request)
    if row is None or "author_writes" in row.payload:
        return
    try:
        answer = await read_pull_request(client, repository, row.number)
    except BadRequest as error:
        if not is_missing(error):
            raise
        return
    payload = row.payload | {"author_writes": answer.pull_request.author_writes}
    await context.store.write(pulls.save_pull_request, replace(row, payload=payload))


def activate(connection: Connection, context: Context, where: tuple[InstallationId, RepositoryId]) -> None:
    """Replace the oldest outdated facts by the new ones, in the caller's transaction; posted digests stay."""
    target, now = RecordingTarget(*where, context.zone), context.clock()
    facts = measurements.measured_facts(connection, where[1], FACT_METHOD, ACTIVATED_AT_ONCE)
    commits = [fact.commit for fact in facts]
    measurements.set_aside(connection, where[1], commits, method=FACT_METHOD, now=now)
    record(connection, target, facts, now=now, again=True)
    log.info("commits measured again", extra={"repository": where[1], "commits": len(facts)})


def defer_step(connection: Connection, context: Context, installation: InstallationId, wait: timedelta) -> None:
    ref = job_reference({"installation": installation})
    context.queue.defer(
        connection,
        "measure_again",
        ref,
        serial_key=f"measure_again:{installation}",
        dedupe_key=f"measure_again:{ref}",
        priority=LATER,
        installation_id=installation,
        run_at=context.clock() + wait,
    )

"""GitHub showed only a part of a commit, though no limit was reached: when is it read again?

Its rows did not sum to its own totals, or the commits of a squash were fewer than GitHub says. Such an answer is a
fault that passes, so the commit is read again, in growing steps for two days, until the sums agree. Meanwhile a fact
without all rows is marked as partial, and parts that were not shown are unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import Connection

from bot.github.payloads.commits import MOST_FILES
from bot.github.reads import LandedCommit, read_commit
from bot.model.commit import Commit
from bot.model.fact import Fact
from bot.model.ids import CommitId, InstallationId, RepositoryId
from bot.services.context import Context, job_reference, translate_github_errors
from bot.services.measuring.facts import LandingSource, measure_facts, read_recorded_landings
from bot.services.measuring.rules import current_rules
from bot.services.repositories.repository import current_repository
from bot.store.jobs import LATER

FIRST_WAIT = timedelta(minutes=10)
MOST_TRIES = 8
"""the last one is 42 hours after the first answer"""


class Unfinished(Struct, frozen=True):
    """A commit of which GitHub showed only a part."""

    commit: CommitId
    parts: bool = False
    """whether it is a squash whose parts are unknown"""
    tries: int = 0


def defer_completion(
    connection: Connection, context: Context, where: tuple[InstallationId, RepositoryId], one: Unfinished
) -> None:
    """Read the commit again later, unless that has been tried often enough."""
    if one.tries >= MOST_TRIES:
        return
    installation, repository = where
    context.queue.defer(
        connection,
        "complete_fact",
        job_reference({"installation": installation, "repository": repository} | asdict(one)),
        run_at=context.clock() + FIRST_WAIT * 2**one.tries,
        serial_key=f"repository:{repository}",
        dedupe_key=f"complete_fact:{repository}:{one.commit}",
        installation_id=installation,
        priority=LATER,
    )


def faulty_commits(landed: Sequence[LandedCommit]) -> list[CommitId]:
    """The commits of which GitHub may show more at another time; those at its limit of files stay as they are."""
    return [one.commit.id for one in landed if one.commit.partial and len(one.commit.files) < MOST_FILES]


class Completed(Struct, frozen=True):
    """A commit as GitHub shows it now, and its fact."""

    commit: Commit
    fact: Fact
    parts: bool
    """whether the parts of the squash are known as well"""


async def read_completed(
    context: Context, where: tuple[InstallationId, RepositoryId], fact: Fact, *, parts: bool
) -> Completed | None:
    """The commit as GitHub shows it now, with the `parts` of a squash; None if it is still partial."""
    client = context.reader(*where)
    with translate_github_errors():
        repository = await current_repository(context, client, where, None)
        commit = await read_commit(client, repository, fact.commit)
        if commit.partial:
            return None
        (stored,) = await read_recorded_landings(context, client, repository, [fact])
        rules = await (await current_rules(context, client, repository, touched=False)).measure()
    merge_commit = commit if stored.merge_commit.id == commit.id else stored.merge_commit
    source = LandingSource(client=client if parts else None, parts_again=parts)
    (measured,) = await measure_facts(
        context, repository, [LandedCommit(commit, merge_commit, stored.brought_by)], rules, source=source
    )
    return Completed(commit, measured, parts=not source.unfinished)

"""One page of a repository's closed pull requests is kept, as their deliveries would have been."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace
from sqlalchemy import Connection

from bot.github.graphql import PAGE, SMALLEST_PAGE, Page, Points, read_page
from bot.history.fetching import Fetched
from bot.model import Commit, CommitId, InstallationId, PullRequest, RepositoryId
from bot.queue.interface import Job
from bot.store import backfills, erasure, pulls
from bot.store.backfills import Backfill
from bot.store.observations import DEEDS, Observation
from bot.store.pulls import PullRequestRow
from bot.tasks.backfill import at_hand, defer
from bot.tasks.backfill_accounts import Accounts
from bot.tasks.observe_beside_code import observation
from bot.tasks.observe_pull_request import rows_of
from bot.tasks.observing import keep_observed
from bot.tasks.pull_request_json import kept
from bot.tasks.workplace import Workplace, asking_github


async def backfill_pages(job: Job, place: Workplace) -> None:
    """Ask for the page behind the cursor; its rows, the new cursor and the next step are one transaction."""
    found = await at_hand(job, place)
    if found is None:
        return
    one, clone, head = found
    client = place.reader(one.installation_id, one.repository_id)
    addresses = await asyncio.to_thread(clone.addresses, head)
    accounts = Accounts.of(clone, addresses)
    with asking_github():
        page = await read_page(
            client, clone.repository, after=one.cursor, size=one.size or PAGE, commits=accounts.next()
        )
    accounts.learn(page)
    brought = await asyncio.to_thread(_learn, clone, head, accounts, page)
    now = place.clock()

    def save(connection: Connection) -> None:
        for pull in page.pulls.pulls:
            row = row_of(one.repository_id, pull, now, size=page.pulls.sizes.get(pull.number))
            see(connection, row)
        backfills.bring(connection, one.repository_id, brought)
        keep_observed(
            connection,
            place,
            (InstallationId(one.installation_id), one.repository_id),
            deeds_in(one.repository_id, page),
        )
        _go_on(connection, place, one, page, kept=len(page.pulls.pulls))
        job.finish(connection)

    await place.store.write(save)


def deeds_in(repository: RepositoryId, page: Page) -> list[Observation]:
    """What people did to these pull requests, and the releases they published: the rows that deliveries make too."""
    shown = [row for seen in page.pulls.seen for row in rows_of(repository, seen) if row.signal in DEEDS]
    return [*shown, *(observation(repository, one) for one in page.releases)]


def _learn(clone: Fetched, head: CommitId, accounts: Accounts, page: Page) -> dict[CommitId, int]:
    accounts.keep()
    return rebased(clone, clone.mainline(head), page.pulls.pulls)


def rebased(clone: Fetched, line: Sequence[CommitId], pulls: Sequence[PullRequest]) -> dict[CommitId, int]:
    """The commits that the rebase button made of several: they keep author and text, and GitHub names only the last."""
    position = {commit: number for number, commit in enumerate(line)}
    stretches = {
        pull.number: line[start : start + len(pull.commits)]
        for pull in pulls
        if len(pull.commits) > 1 and (start := position.get(pull.merge_commit or CommitId(""))) is not None
    }
    read = clone.messages(list(dict.fromkeys(commit for stretch in stretches.values() for commit in stretch)))
    found: dict[CommitId, int] = {}
    for pull in pulls:
        stretch = stretches.get(pull.number, ())
        written = {_writing(commit) for commit in pull.commits}
        if stretch and _writing(read[stretch[0]]) in written:
            found |= {commit: pull.number for commit in stretch if _writing(read[commit]) in written}
    return found


def _writing(commit: Commit) -> tuple[str, str]:
    """What a rebase keeps of a commit."""
    return commit.author.email.lower(), commit.message.strip()


def see(connection: Connection, row: PullRequestRow) -> bool:
    """Keep a pull request; False where it is kept already as it is."""
    row = replace(row, payload=erasure.pull_request_without_erased(connection, row.payload))
    before = pulls.read(connection, row.repository_id, row.number)
    if before is None or replace(before, read_at=row.read_at, size=row.size) != row:
        pulls.see(connection, row)
        return True
    if before.size != row.size and row.size is not None:
        # It says nothing that facts are measured by, so it is not read anew for it.
        pulls.see(connection, replace(before, size=row.size))
    return False


def row_of(repository: RepositoryId, pull: PullRequest, now: datetime, *, size: int | None = None) -> PullRequestRow:
    """What is kept of a pull request; `size` is how many commits it has of its own."""
    return PullRequestRow(
        repository_id=repository,
        number=pull.number,
        head_id=pull.head_id,
        read_at=now,
        merge_commit=pull.merge_commit if pull.merged_at else None,
        merged_at=pull.merged_at,
        closed_at=pull.closed_at,
        payload=kept(replace(pull, commits=())),
        size=size or None,
    )


def _go_on(connection: Connection, place: Workplace, one: Backfill, page: Page, *, kept: int) -> None:
    last = page.pulls.cursor is None
    backfills.move(
        connection,
        one.repository_id,
        state="commits" if last else "pull requests",
        cursor=page.pulls.cursor,
        # Where GitHub was too slow for more it is asked for a little more each time: that may have been a moment's.
        size=min(page.size + SMALLEST_PAGE, PAGE),
        pulls=page.pulls.total,
        pulls_done=one.pulls_done + kept,
        requests=one.requests + page.requests,
        points=one.points + page.points.cost,
    )
    defer(connection, place, one, "backfill_commits" if last else "backfill_pages", resume_at(page.points))


def resume_at(points: Points) -> datetime | None:
    """When history may go on asking; None: at once."""
    return points.reset_at if points.scarce else None

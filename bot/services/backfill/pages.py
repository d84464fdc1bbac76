"""How is a page of a repository's closed pull requests stored, with the same rows as from deliveries?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from bot.github.graphql import PAGE, SMALLEST_PAGE, Points, PullRequestPage
from bot.history.fetching import FetchedClone
from bot.model.commit import Commit, PullRequest
from bot.model.ids import CommitId, RepositoryId
from bot.services.backfill.accounts import Accounts
from bot.services.backfill.steps import defer_step
from bot.services.context import Context
from bot.services.observations import observation, observation_rows
from bot.store import backfills
from bot.store.backfills import Backfill
from bot.store.observations import DEEDS, Observation


def observations_in(repository: RepositoryId, page: PullRequestPage) -> list[Observation]:
    """People's activity on these pull requests, and their releases, as the rows that deliveries give."""
    rows = [row for seen in page.pulls.seen for row in observation_rows(repository, seen) if row.signal in DEEDS]
    return [*rows, *(observation(repository, one) for one in page.releases)]


def save_accounts(
    clone: FetchedClone, head: CommitId, accounts: Accounts, page: PullRequestPage
) -> dict[CommitId, int]:
    accounts.keep()
    return rebased_commits(clone, clone.mainline(head), page.pulls.pulls)


def rebased_commits(clone: FetchedClone, line: Sequence[CommitId], pulls: Sequence[PullRequest]) -> dict[CommitId, int]:
    """The commits of rebases of several commits: they keep author and message, and GitHub names only the last one."""
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
        written = {_rebase_key(commit) for commit in pull.commits}
        if stretch and _rebase_key(read[stretch[0]]) in written:
            found |= {commit: pull.number for commit in stretch if _rebase_key(read[commit]) in written}
    return found


def _rebase_key(commit: Commit) -> tuple[str, str]:
    """The parts of a commit that a rebase preserves."""
    return commit.author.email.lower(), commit.message.strip()


def defer_next(connection: Connection, context: Context, one: Backfill, page: PullRequestPage, *, kept: int) -> None:
    last = page.pulls.cursor is None
    backfills.move(
        connection,
        one.repository_id,
        state="commits" if last else "pull requests",
        cursor=page.pulls.cursor,
        # After a time-out the page size grows again step by step: the cause may have been temporary.
        size=min(page.size + SMALLEST_PAGE, PAGE),
        pulls=page.pulls.total,
        pulls_done=one.pulls_done + kept,
        requests=one.requests + page.requests,
        points=one.points + page.points.cost,
    )
    defer_step(connection, context, one, "backfill_commits" if last else "backfill_pages", resume_at(page.points))


def resume_at(points: Points) -> datetime | None:
    """When the backfill may send requests again; None: at once."""
    return points.reset_at if points.scarce else None

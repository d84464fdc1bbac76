"""How are commits that reached a default branch measured and recorded?"""

from __future__ import annotations

from collections.abc import Sequence

from gidgethub import BadRequest
from msgspec import Struct
from sqlalchemy import Connection

from bot.github.client import Client, is_missing
from bot.github.pushes import Push, Pushed, read_lost
from bot.github.reads import LandedCommit, read_tip
from bot.model.commit import Commit, Repository
from bot.model.fact import Evidence
from bot.model.ids import CommitId, InstallationId, RepositoryId, UserId
from bot.queue.interface import Job
from bot.services.context import Context, job_arguments, translate_github_errors
from bot.services.digests.readers import defer_first_check
from bot.services.digests.refresh import refresh_digests
from bot.services.measuring.facts import LandingSource, PullRequestCommits, measure_facts, stored_pull_request
from bot.services.measuring.rules import CurrentRules, current_rules, forget_shared_rules, save_rules, touches_rules
from bot.services.partial_readings import Unfinished, defer_completion, faulty_commits
from bot.services.posting.landings import request_landing_posts
from bot.services.pull_requests import row_without_erased
from bot.services.recording.record import Recorded, RecordingTarget, raise_evidence, record, recount
from bot.services.refusals import A_MINUTE
from bot.services.repositories.repository import save_repositories
from bot.store import backfills, erasure, ledger, pulls, readings


class Arrivals(Struct, frozen=True):
    """What to record about one repository in one transaction."""

    repository: Repository
    pushed: Pushed
    tip: CommitId | None = None
    """the newest commit of the push that brought everything; None if it is not one push"""
    lost: tuple[CommitId, ...] = ()
    """commits that the default branch no longer contains"""
    again: bool = False
    """whether recorded commits are measured again"""
    brought: PullRequestCommits | None = None
    pull: pulls.PullRequestRow | None = None
    """a pull request to store"""
    pusher: UserId | None = None
    """who pushed, as the delivery says"""
    other_branch: bool = False
    """whether the default branch changed; then this contains everything that follows from that"""


async def limited_to_default_branch(client: Client, repository: Repository, push: Push) -> Push:
    """A push limited to what the new default branch contains, if another branch has become the default since."""
    return Push(push.before, await read_tip(client, repository, repository.default_branch))


async def rebased_pull_request(
    context: Context, repository: Repository, pushed: Pushed, tip: CommitId
) -> PullRequestCommits | None:
    """The pull request whose commits these are: the same number in a row, the last one being its merge commit."""
    names = [one.commit.id for one in pushed.landed]
    if len(names) < 2 or any(one.merge_commit.id != one.commit.id for one in pushed.landed):
        return None
    row = await context.store.read(pulls.row_merged_as, RepositoryId(repository.id or 0), tip)
    if row is None or row.size != len(names):
        return None
    return PullRequestCommits(stored_pull_request(row), frozenset(names))


async def read_lost_commits(
    job: Job, client: Client, repository: Repository, push: Push, pushed: Pushed
) -> tuple[CommitId, ...]:
    """The commits that a forced push removed from the branch; empty if GitHub has already deleted them.

    Raises Refused while GitHub may only lag.
    """
    if not pushed.behind or push.before is None:
        return ()
    try:
        return tuple(await read_lost(client, repository, before=push.before, after=push.after))
    except BadRequest as error:
        if is_missing(error):
            job.doubt(f"commit {push.before} is not found", A_MINUTE)
            return ()
        raise


async def record_arrivals(job: Job, context: Context, client: Client, arrived: Arrivals) -> None:
    """Measure new commits (with `again`, all), and write ledger, totals, posts and the end of the job together."""
    repository = arrived.repository
    number = RepositoryId(repository.id or 0)
    wanted = await _unrecorded(context, number, arrived)
    touched = touches_rules(arrived.pushed)
    rules = None
    if wanted or touched:
        with translate_github_errors():
            rules = await current_rules(context, client, repository, touched=touched)
    source = LandingSource(arrived.brought, arrived.pusher, client)
    facts = await measure_facts(context, repository, wanted, await rules.measure(), source=source) if rules else ()
    installation = InstallationId(job_arguments(job.ref_id)["installation"])
    fresh = {one.commit.id for one in wanted}
    known = [one.commit.id for one in arrived.pushed.landed if one.commit.id not in fresh]
    now = context.clock()

    def save_arrivals(connection: Connection) -> None:
        save_repositories(connection, context, installation, [repository], job.begun, followed=arrived.other_branch)
        if arrived.other_branch or arrived.pushed.behind:
            backfills.rewritten(connection, number, job.claim.id, other_branch=arrived.other_branch)
        target = RecordingTarget(installation, number, context.zone)
        _save_read(connection, context, arrived, (wanted, rules))
        if rules is not None:
            defer_first_check(connection, context, installation, number)
        if arrived.lost:
            retracted = retract(connection, target, arrived.lost)
            if retracted is not None:
                refresh_digests(connection, context, target, retracted)
        if arrived.pusher is not None and known:
            raised = raise_evidence(connection, target, known, Evidence(pusher=arrived.pusher), now=now)
            if raised is not None:
                _follow(connection, context, target, raised)
        recorded = record(connection, target, facts, now=now, again=arrived.again)
        for commit in sorted({*faulty_commits(wanted), *source.unfinished}):
            where = (installation, number)
            defer_completion(connection, context, where, Unfinished(commit, parts=commit in source.unfinished))
        _follow(connection, context, target, recorded)
        job.finish(connection)

    # After a power failure the job runs again; a post first commits and waits for the disk.
    await context.store.write_without_flush(save_arrivals)


def _follow(connection: Connection, context: Context, target: RecordingTarget, recorded: Recorded) -> None:
    """Let posts and digests say what is recorded now."""
    request_landing_posts(connection, context, target, recorded)
    refresh_digests(connection, context, target, recorded)


async def _unrecorded(context: Context, number: RepositoryId, arrived: Arrivals) -> list[LandedCommit]:
    landed = arrived.pushed.landed
    if arrived.again:
        return list(landed)
    recorded = await context.store.read(ledger.recorded_commits, number, [one.commit.id for one in landed])
    return [one for one in landed if one.commit.id not in recorded]


def _save_read(
    connection: Connection, context: Context, arrived: Arrivals, read: tuple[list[LandedCommit], CurrentRules | None]
) -> None:
    """Store what was read, so that it is not read again."""
    wanted, rules = read
    repository, now = arrived.repository, context.clock()
    if rules is not None:
        save_rules(connection, repository, rules, now=now)
    forget_shared_rules(connection, repository, arrived.pushed.paths)
    if arrived.tip is not None and wanted:
        commits: dict[CommitId, Commit] = {one.merge_commit.id: one.merge_commit for one in wanted}
        commits |= {one.commit.id: one.commit for one in wanted}
        number = RepositoryId(repository.id or 0)
        if not erasure.names_erased(connection, commits.values()):
            readings.keep(connection, number, commits.values(), tip=arrived.tip, now=now)
    if arrived.pull is not None:
        pulls.save_pull_request(connection, row_without_erased(connection, arrived.pull))


def retract(connection: Connection, target: RecordingTarget, commits: Sequence[CommitId]) -> Recorded | None:
    """Delete the facts of these commits and fold again what belonged to them; None if none was recorded."""
    lost = sorted(ledger.recorded_commits(connection, target.repository, commits))
    if not lost:
        return None
    seeds = [(target.repository, commit) for commit in lost]
    near = ledger.component(connection, seeds, installation_id=target.installation)
    ledger.forget_facts(connection, target.repository, lost)
    return recount(connection, target, [fact.commit for fact in near], gone=near)

"""Commits reached a default branch: read them, measure them, and move their contributors' metrics."""

from __future__ import annotations

from gidgethub import BadRequest
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.github.client import Client, is_missing
from bot.github.pushes import Push, Pushed, read_lost, read_push
from bot.github.reads import Landed, read_tip
from bot.model import Commit, CommitId, InstallationId, Repository, RepositoryId
from bot.queue.interface import Job
from bot.store import backfills, erasure, ledger, pulls, readings
from bot.tasks.announcing import announce
from bot.tasks.close_month import retell
from bot.tasks.known_installation import know_installation
from bot.tasks.known_repository import know_repository, see_repositories
from bot.tasks.measuring import Brought, KeptReadings, as_known, facts_of
from bot.tasks.recording import Place, record
from bot.tasks.retracting import retract
from bot.tasks.rules_now import RulesNow, are_touched, forget_shared, keep_rules, rules_now
from bot.tasks.told_delivery import told_by
from bot.tasks.workplace import Workplace, arguments, asking_github


class Arrived(Struct, frozen=True):
    """What is to be recorded of one repository, in one transaction."""

    repository: Repository
    pushed: Pushed
    tip: CommitId | None = None
    """the newest commit of the push that brought it all; None where it is not one push"""
    lost: tuple[CommitId, ...] = ()
    """what the default branch does not reach any more"""
    again: bool = False
    """also what is recorded is measured anew"""
    brought: Brought | None = None
    pull: pulls.PullRequestRow | None = None
    """a pull request to be kept"""
    other_branch: bool = False
    """the default branch is another one, and all that follows from it is here"""


async def record_landing(job: Job, place: Workplace) -> None:
    """`before` empty means a new branch; what is recorded already is left alone."""
    given = arguments(job.ref_id)
    await know_installation(place, given["installation"])
    client = place.reader(given["installation"], given["repository"])
    told = await told_by(place, given)
    push = Push(CommitId(given["before"]) or None, CommitId(given["after"]), told.commits, told.merged)
    with asking_github():
        where = (given["installation"], given["repository"])
        repository = await know_repository(place, client, where, told.repository)
        elsewhere = told.repository is not None and told.repository.default_branch != repository.default_branch
        if elsewhere:
            push = await _as_reached(client, repository, push)
        kept = KeptReadings(place, RepositoryId(given["repository"]))
        pushed = await read_push(client, repository, push, known=kept)
        lost = await _lost(client, repository, push, pushed)
    brought = await _rebased(place, repository, pushed, push.after)
    tip = None if elsewhere else push.after
    await record_arrived(job, place, client, Arrived(repository, pushed, tip, lost, brought=brought))


async def _as_reached(client: Client, repository: Repository, push: Push) -> Push:
    """Another branch is the default one since: what came with this push counts as far as that one reaches it."""
    return Push(push.before, await read_tip(client, repository, repository.default_branch))


async def _rebased(place: Workplace, repository: Repository, pushed: Pushed, tip: CommitId) -> Brought | None:
    """The pull request whose commits these are: as many as it has, in a row, and the last is its merge commit."""
    names = [one.commit.id for one in pushed.landed]
    if len(names) < 2 or any(one.carrier.id != one.commit.id for one in pushed.landed):
        return None
    row = await place.store.read(pulls.merged_as, RepositoryId(repository.id or 0), tip)
    if row is None or row.size != len(names):
        return None
    return Brought(as_known(row), frozenset(names))


async def _lost(client: Client, repository: Repository, push: Push, pushed: Pushed) -> tuple[CommitId, ...]:
    """What a forced push took off the branch; nothing where GitHub has thrown it away already."""
    if not pushed.behind or push.before is None:
        return ()
    try:
        return tuple(await read_lost(client, repository, before=push.before, after=push.after))
    except BadRequest as error:
        if is_missing(error):
            return ()
        raise


async def record_arrived(job: Job, place: Workplace, client: Client, arrived: Arrived) -> None:
    """Measure what is new (with `again`, all of it), and write ledger, totals, posts and the end of the job at once."""
    repository = arrived.repository
    number = RepositoryId(repository.id or 0)
    wanted = await _wanted(place, number, arrived)
    touched = are_touched(arrived.pushed)
    rules = None
    if wanted or touched:
        with asking_github():
            rules = await rules_now(place, client, repository, touched=touched)
    facts = await facts_of(place, repository, wanted, await rules.measure(), brought=arrived.brought) if rules else ()
    installation = InstallationId(arguments(job.ref_id)["installation"])
    now = place.clock()

    def written(connection: Connection) -> None:
        see_repositories(connection, place, installation, [repository], job.begun, followed=arrived.other_branch)
        if arrived.other_branch or arrived.pushed.behind:
            backfills.rewritten(connection, number, job.claim.id, other_branch=arrived.other_branch)
        target = Place(installation, number, place.zone)
        _keep(connection, place, arrived, (wanted, rules))
        if arrived.lost:
            told = retract(connection, target, arrived.lost)
            if told is not None:
                retell(connection, place, target, told)
        recorded = record(connection, target, facts, now=now, again=arrived.again)
        announce(connection, place, target, recorded)
        retell(connection, place, target, recorded)
        job.finish(connection)

    # Lost with the power, the job is done once more; whoever posts what it says commits, and waits for the disk, first.
    await place.store.write_without_flush(written)


async def _wanted(place: Workplace, number: RepositoryId, arrived: Arrived) -> list[Landed]:
    landed = arrived.pushed.landed
    if arrived.again:
        return list(landed)
    recorded = await place.store.read(ledger.known, number, [one.commit.id for one in landed])
    return [one for one in landed if one.commit.id not in recorded]


def _keep(
    connection: Connection, place: Workplace, arrived: Arrived, read: tuple[list[Landed], RulesNow | None]
) -> None:
    """What was read and need not be read again."""
    wanted, rules = read
    repository, now = arrived.repository, place.clock()
    if rules is not None:
        keep_rules(connection, repository, rules, now=now)
    forget_shared(connection, repository, arrived.pushed.paths)
    if arrived.tip is not None and wanted:
        commits: dict[CommitId, Commit] = {one.carrier.id: one.carrier for one in wanted}
        commits |= {one.commit.id: one.commit for one in wanted}
        number = RepositoryId(repository.id or 0)
        readings.keep(connection, number, commits.values(), tip=arrived.tip, now=now)
    if arrived.pull is not None:
        pulls.see(connection, without_erased(connection, arrived.pull))


def without_erased(connection: Connection, row: pulls.PullRequestRow) -> pulls.PullRequestRow:
    """The pull request as it may be kept."""
    return replace(row, payload=erasure.pull_request_without_erased(connection, row.payload))

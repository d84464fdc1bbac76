"""May everybody who reads a digest repository read what its digests tell of?

A public repository may be told of anywhere. A private one is told of in another private repository only while GitHub's
lists of collaborators show that every reader of that one may read it. What GitHub does not show counts as no.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta

from gidgethub import BadRequest
from sqlalchemy import Connection

from bot.github.client import BadAnswer, is_missing
from bot.github.listings import read_readers
from bot.model.commit import Repository
from bot.model.ids import InstallationId, RepositoryId, UserId
from bot.queue.interface import Job, Refused
from bot.services.context import Context, job_reference, translate_github_errors
from bot.services.digests.refresh import DigestId, refresh_digests_elsewhere
from bot.services.digests.scope import chosen_home, repositories_by_name
from bot.services.refusals import A_MINUTE
from bot.services.repository_settings import stored_settings
from bot.store import digest_readers
from bot.store.digests import digests_posted_in, of_target, repository_of, target_of
from bot.store.jobs import LATER

TRUSTED_FOR = timedelta(hours=30)
"""an answer's age up to which a digest is posted by it: readers are compared daily"""

_Pairs = dict[RepositoryId, list[Repository]]
"""private repositories by the private repository in which their digests are, or shall be"""


async def check_readers(
    job: Job, context: Context, installation: InstallationId, pairs: Mapping[RepositoryId, Collection[Repository]]
) -> None:
    """Compare the readers of these repositories, and take back what is posted where somebody may not read it."""
    names = await context.store.read(repositories_by_name, installation)
    known = {RepositoryId(one.id or 0): one for one in names.values()}
    for home, subjects in pairs.items():
        if home not in known:
            continue
        home_readers = await _read_twice(job, context, installation, known[home])
        answers: dict[RepositoryId, bool] = {}
        for one in subjects:
            subject_readers = await _read(job, context, installation, one)
            answers[RepositoryId(one.id or 0)] = _includes(subject_readers, home_readers)
        await context.store.write(_save, context, installation, home, answers)


def _includes(readers: frozenset[UserId] | None, wanted: frozenset[UserId] | None) -> bool:
    return readers is not None and wanted is not None and wanted <= readers


async def _read_twice(
    job: Job, context: Context, installation: InstallationId, repository: Repository
) -> frozenset[UserId] | None:
    """The readers, in two answers that agree: a list that lacks one would show texts to somebody without a right."""
    first = await _read(job, context, installation, repository)
    with translate_github_errors():
        if first != await _read(job, context, installation, repository):
            raise BadAnswer("two lists of collaborators that differ")
    return first


async def _read(
    job: Job, context: Context, installation: InstallationId, repository: Repository
) -> frozenset[UserId] | None:
    """The readers; None if GitHub does not list them, which is believed after a minute."""
    try:
        with translate_github_errors():
            return await read_readers(context.reader(installation, repository.id or 0), repository)
    except (BadRequest, Refused) as error:
        if isinstance(error, BadRequest) and not is_missing(error):
            raise
        job.doubt(f"GitHub does not list the collaborators of {repository.full_name}", A_MINUTE)
        return None


def _save(
    connection: Connection,
    context: Context,
    installation: InstallationId,
    home: RepositoryId,
    answers: Mapping[RepositoryId, bool],
) -> None:
    before = {one: allowed for one, (allowed, _) in digest_readers.last_checks(connection, home).items()}
    digest_readers.save_checks(connection, home, answers, context.clock())
    lost = [one for one, allowed in answers.items() if before.get(one) and not allowed]
    gained = [one for one, allowed in answers.items() if before.get(one) is False and allowed]
    refresh_digests_elsewhere(connection, context, installation, lost, taking_back=True)
    refresh_digests_elsewhere(connection, context, installation, gained)


async def check_readers_of_digest(job: Job, context: Context, one: DigestId) -> None:
    """Before a digest is posted or edited: compare the readers of every repository in it, unless lately compared."""
    pairs = await context.store.read(_pairs_of_digest, context, one)
    await check_readers(job, context, one[0], pairs)


def _pairs_of_digest(connection: Connection, context: Context, one: DigestId) -> _Pairs:
    """The private repositories in this digest that were not compared lately with the private one it is posted in."""
    installation, repository, month = one
    names = repositories_by_name(connection, installation)
    by_id = {RepositoryId(row.id or 0): row for row in names.values()}
    subject = by_id.get(repository)
    posted = {row.repository_id for row in of_target(connection, target_of(repository)) if row.month == month}
    homes = {by_id[RepositoryId(home)] for home in posted if home in by_id}
    if subject is not None:
        homes.add(chosen_home(subject, names, stored_settings(connection, repository)))
    pairs: _Pairs = {}
    for home in homes:
        rows = digests_posted_in(connection, home.id or 0, month)
        covered = {repository, *(repository_of(row.target) for row in rows)} & by_id.keys()
        checks = digest_readers.last_checks(connection, home.id or 0)
        since = context.clock() - TRUSTED_FOR
        stale = [by_id[row] for row in sorted(covered) if row not in checks or checks[row][1] < since]
        _add(pairs, home, stale)
    return pairs


def _add(pairs: _Pairs, home: Repository, subjects: Collection[Repository]) -> None:
    private = [one for one in subjects if one.private and one.id != home.id]
    if home.private and private:
        pairs.setdefault(RepositoryId(home.id or 0), []).extend(private)


def pairs_of_installation(connection: Connection, installation: InstallationId) -> _Pairs:
    """Every private repository whose digest is posted in another private one, or shall be by its settings."""
    names = repositories_by_name(connection, installation)
    by_id = {RepositoryId(one.id or 0): one for one in names.values()}
    covered = {home: {repository_of(row.target) for row in digests_posted_in(connection, home)} for home in by_id}
    for number, one in by_id.items():
        home = chosen_home(one, names, stored_settings(connection, number))
        covered[RepositoryId(home.id or 0)].add(number)
    pairs: _Pairs = {}
    for number in sorted(covered):
        _add(pairs, by_id[number], [by_id[one] for one in sorted(covered[number] & by_id.keys())])
    return pairs


def defer_check(connection: Connection, context: Context, installation: InstallationId) -> None:
    """Defer comparing the readers of an installation's digest repositories."""
    ref = job_reference({"installation": installation})
    context.queue.defer(
        connection,
        "check_readers",
        ref,
        serial_key=f"check_readers:{installation}",
        dedupe_key=f"check_readers:{ref}",
        installation_id=installation,
        priority=LATER,
    )


def defer_first_check(
    connection: Connection, context: Context, installation: InstallationId, repository: RepositoryId
) -> None:
    """Defer that if a repository's settings choose a private digest repository for the first time."""
    settings = stored_settings(connection, repository)
    names = repositories_by_name(connection, installation) if settings.config.digest_repository else {}
    subject = next((one for one in names.values() if one.id == repository), None)
    if subject is None or not subject.private:
        return
    home = chosen_home(subject, names, settings)
    if home.private and home is not subject and repository not in digest_readers.last_checks(connection, home.id or 0):
        defer_check(connection, context, installation)

"""Which repository is this, by the store and by GitHub? Names change; ids do not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from gidgethub import BadRequest
from msgspec.structs import replace
from sqlalchemy import Connection

from bot.github.client import Client, is_missing
from bot.github.reads import read_repository
from bot.model.commit import Repository
from bot.model.ids import InstallationId, RepositoryId
from bot.queue.interface import Park
from bot.services.context import Context, job_reference
from bot.services.digests.refresh import refresh_digests_elsewhere
from bot.services.recording.record import RecordingTarget, recount
from bot.services.repositories.installation import refresh_account
from bot.store import changes, folding, installations, ledger
from bot.store.installations import StoredRepository


async def current_repository(
    context: Context, client: Client, where: tuple[int, int], reported: Repository | None
) -> Repository:
    """The stored repository; read from GitHub if it is unknown or a delivery contradicts it.

    `where` is (installation, repository). A delivery may be old, so it is only a reason to ask. It names no parent, so
    a fork with an unknown parent is read too. Raises Park if the repository is out of reach.
    """
    installation, number = InstallationId(where[0]), RepositoryId(where[1])
    stored = await context.store.read(installations.repository, number)
    if stored is not None and _is_up_to_date(stored, installation, reported):
        return stored.repository
    try:
        found = await read_repository(client, number)
    except BadRequest as error:
        if stored is not None and stored.removed_at is not None and is_missing(error):
            raise Park(f"repository {number} is out of reach") from error
        raise
    await refresh_account(context, installation, found)
    return found


def _is_up_to_date(stored: StoredRepository, installation: InstallationId, reported: Repository | None) -> bool:
    known = stored.repository
    if stored.removed_at is not None or stored.installation_id != installation or (known.fork and not known.parent):
        return False
    return reported is None or replace(reported, parent=known.parent) == known


def save_repositories(
    connection: Connection,
    context: Context,
    installation: InstallationId,
    found: Sequence[Repository],
    asked: datetime,
    *,
    followed: bool = False,
) -> None:
    """Store repositories as GitHub returned them; after a rename or a new installation, the record follows.

    A new default branch is stored only once the record has `followed` it, otherwise a job is deferred for that. `asked`
    is a time before GitHub was asked: a repository hidden since then stays hidden.
    """
    now = context.clock()
    known = installations.repositories(connection, [RepositoryId(one.id or 0) for one in found])
    unmoved: list[Repository] = []
    moved: list[tuple[StoredRepository, Repository, InstallationId]] = []
    for repository in found:
        before = known.get(RepositoryId(repository.id or 0))
        if before is None:
            unmoved.append(repository)
            continue
        old = before.repository
        if has_left(connection, installation, before, repository) or _was_removed(before, installation, asked):
            continue
        if before.seen_at > asked:
            repository = replace(repository, private=repository.private or old.private)
        if repository.fork:
            repository = replace(repository, parent=repository.parent or old.parent)
        if repository.default_branch != old.default_branch and not followed:
            _defer_branch_change(connection, context, installation, repository)
            repository = replace(repository, default_branch=old.default_branch)
        if _has_moved(before, repository, installation):
            moved.append((before, repository, installation))
        else:
            unmoved.append(repository)
    installations.save_repositories(connection, installation, unmoved, now)
    for one in moved:
        _follow_move(connection, context, one, now)


def _was_removed(before: StoredRepository, installation: InstallationId, since: datetime) -> bool:
    return before.installation_id == installation and before.removed_at is not None and before.removed_at > since


def has_left(
    connection: Connection, installation: InstallationId, before: StoredRepository, repository: Repository
) -> bool:
    """Whether it belongs to another account than the installation's; a token can also read others' public ones."""
    owner = repository.full_name.partition("/")[0].lower()
    if before.installation_id == installation and before.repository.full_name.partition("/")[0].lower() == owner:
        return False
    login = installations.login_of(connection, installation)
    return login is not None and login.lower() != owner


def _defer_branch_change(
    connection: Connection, context: Context, installation: InstallationId, repository: Repository
) -> None:
    given = {"action": "edited", "installation": installation, "repository": repository.id}
    ref = job_reference(given)
    serial, dedupe = f"repository:{repository.id}", f"update_repository:{ref}"
    context.queue.defer(
        connection, "update_repository", ref, serial_key=serial, dedupe_key=dedupe, installation_id=installation
    )


def _has_moved(before: StoredRepository, repository: Repository, installation: InstallationId) -> bool:
    return before.repository.full_name != repository.full_name or before.installation_id != installation


def _follow_move(
    connection: Connection, context: Context, moved: tuple[StoredRepository, Repository, InstallationId], now: datetime
) -> None:
    """Give the facts the new name, and fold again both what they leave and what they join."""
    before, repository, installation = moved
    number = RepositoryId(repository.id or 0)
    left = {installation} if before.installation_id is None else {installation, before.installation_id}
    folding.lock_repository(connection, number, left)
    commits = [fact.commit for fact in ledger.facts_in(connection, number)]
    seeds = [(number, commit) for commit in commits]
    near = ledger.component(connection, seeds, installation_id=before.installation_id)
    old = changes.ids_in(connection, number)
    installations.save_repositories(connection, installation, [repository], now)
    if before.repository.full_name != repository.full_name:
        ledger.follow_rename(connection, number, before.repository.full_name, repository.full_name)
    changes.replace_changes(connection, old, [])
    if before.installation_id is not None:
        # Including one that took the old name, if it was reported before the rename.
        _recount_remaining(connection, context, (before.installation_id, number), {fact.repository for fact in near})
    if before.installation_id is not None and before.installation_id != installation:
        refresh_digests_elsewhere(connection, context, before.installation_id, [number])
    recount(connection, RecordingTarget(installation, number, context.zone), commits)


def _recount_remaining(
    connection: Connection, context: Context, left: tuple[InstallationId, RepositoryId], names: set[str]
) -> None:
    """Recount repositories that stay in the installation and were folded with the one that left."""
    installation, gone = left
    for stored in installations.repositories_of(connection, installation):
        number = stored.repository.id
        if number is None or number == gone or stored.repository.full_name not in names:
            continue
        commits = [fact.commit for fact in ledger.facts_in(connection, number)]
        recount(connection, RecordingTarget(installation, number, context.zone), commits)

"""The history of a repository comes into the ledger, in steps that may each be the last before a crash.

`backfill_repository` fetches a clone, `backfill_pages` keeps its pull requests a page at a time, `backfill_commits`
records its commits a batch at a time: the records that deliveries would have made, and no posts. A step and the job of
the next are one transaction; each step is a job of its repository, behind whatever is live.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from bot.github.client import Client
from bot.github.operations import INSTALLATION_REPOSITORIES, needed
from bot.github.reads import read_installation_repositories, read_repository
from bot.history.fetching import Clones, Fetched
from bot.history.git import GitError
from bot.landing.rule_files import ATTRIBUTES_PATH, CONFIG_PATH
from bot.model import CommitId, InstallationId, Repository, RepositoryId
from bot.queue.interface import Job, Park, RetryLater
from bot.store import backfills, installations, jobs
from bot.store.backfills import Backfill, Watermark
from bot.store.installations import Stored
from bot.store.jobs import LATER
from bot.tasks.configuring import in_force_with
from bot.tasks.known_installation import know_account, know_installation
from bot.tasks.known_repository import see_repositories
from bot.tasks.rules_now import RulesNow, keep_rules
from bot.tasks.workplace import Workplace, arguments, asking_github, reference

_RULES = 2
"""requests for the repository itself and the settings of its account: its own settings stand in the clone"""
_TOGETHER = 100
"""histories opened in one transaction: deliveries wait for it on SQLite"""


async def backfill_installation(job: Job, place: Workplace) -> None:
    """Read the history of every repository that the installation reaches and that was not read yet."""
    number = InstallationId(arguments(job.ref_id)["installation"])
    if place.clones is None:
        return
    await know_installation(place, number)
    with asking_github():
        client = place.github.installation(number, permissions=needed(INSTALLATION_REPOSITORIES))
        reached = await read_installation_repositories(client)

    def save(connection: Connection) -> None:
        stored = {row.repository.id: row for row in installations.repositories_of(connection, number)}
        new = [repository for repository in reached if repository.id not in stored]
        see_repositories(connection, place, number, new, job.begun)

    await place.store.write(save)
    ids = [RepositoryId(one.id or 0) for one in reached]
    for at in range(0, len(ids), _TOGETHER):
        await place.store.write(open_backfills, place, number, ids[at : at + _TOGETHER])
    await place.store.write(job.finish)


def open_backfills(
    connection: Connection,
    place: Workplace,
    installation: InstallationId,
    repositories: Sequence[RepositoryId],
    *,
    again: bool = False,
) -> list[RepositoryId]:
    """Ask for the history of these repositories; those that were not asked for before (`again`: are not being read)."""
    opened, steps = [], sorted(set(STEPS.values()))
    known = {one.repository_id: one for one in backfills.of(connection, repositories)}
    going_on = jobs.under_way(connection, steps, installation) if again else set()
    for repository in repositories:
        old, new = known.get(repository), Backfill(repository, installation, place.clock())
        if old is not None and not again and (old.state == "done" or old.installation_id == installation):
            continue
        if old is not None and old.state != "done" and old.installation_id == installation:
            if _about(new) in going_on:
                continue
            # What is left of its jobs was given up or set aside: it is ended, as a new one goes on.
            jobs.dismiss(connection, steps, _about(new), place.clock())
        elif not backfills.begin(connection, new, again=again):
            continue
        defer(connection, place, new, "backfill_repository")
        opened.append(repository)
    return opened


def _about(one: Backfill) -> str:
    """The arguments of each of its jobs."""
    return reference({"installation": one.installation_id, "repository": one.repository_id})


def defer(connection: Connection, place: Workplace, one: Backfill, task: str, run_at: datetime | None = None) -> None:
    """Ask for a step. The clone is fetched beside live jobs of the repository, records are made between them."""
    ref = _about(one)
    serial = "clone" if task == "backfill_repository" else "repository"
    place.queue.defer(
        connection,
        task,
        ref,
        serial_key=f"{serial}:{one.repository_id}",
        dedupe_key=f"{task}:{ref}",
        installation_id=one.installation_id,
        priority=LATER,
        run_at=run_at,
    )


async def backfill_repository(job: Job, place: Workplace) -> None:
    """Fetch the clone, and go on where the reading stands."""
    one = await opened(job, place)
    if one is None:
        return
    await know_installation(place, one.installation_id)
    client = place.reader(one.installation_id, one.repository_id)
    with asking_github():
        repository = await read_repository(client, one.repository_id)
    await know_account(place, one.installation_id, repository)
    clone = clones_of(place).of(repository)
    head = await fetch(clone, client)
    ruling = await asyncio.to_thread(_ruling, clone, head)
    with asking_github():
        settings = await in_force_with(place, client, repository, own=ruling.get(CONFIG_PATH, ""))
    rules = RulesNow(settings, ruling.get(ATTRIBUTES_PATH, ""))

    def save(connection: Connection) -> None:
        now = backfills.read(connection, one.repository_id)
        if now is None or now.head != one.head:
            raise RetryLater(0.0, "the branch was rewritten during the fetch")
        see_repositories(connection, place, one.installation_id, [repository], job.begun)
        keep_rules(connection, repository, rules, now=place.clock())
        backfills.move(connection, one.repository_id, requests=one.requests + _RULES)
        if head is None:
            finished(connection, place, one)
        elif one.head is not None and clone.holds(one.head):
            defer(connection, place, one, STEPS[one.state])
        else:
            # The first time, or the head that was read is no longer on the branch: commits are looked through again.
            state = "pull requests" if one.state == "waiting" else one.state
            backfills.move(connection, one.repository_id, state=state, head=head, commits=0, commits_done=0)
            defer(connection, place, one, STEPS[state])
        job.finish(connection)

    await place.store.write(save)
    if head is None:
        await asyncio.to_thread(clone.remove)


def _ruling(clone: Fetched, head: CommitId | None) -> dict[str, str]:
    """The files that say how its commits are measured, by path: their texts."""
    files = clone.at(head).files(CONFIG_PATH, ATTRIBUTES_PATH) if head else {}
    return {path: text for path, (_, text) in files.items()}


STEPS = {
    "waiting": "backfill_pages",
    "pull requests": "backfill_pages",
    "commits": "backfill_commits",
    "done": "backfill_repository",
}


async def opened(job: Job, place: Workplace) -> Backfill | None:
    """The reading that a job is about; None where it is done, or was never asked for."""
    one = await place.store.read(backfills.read, RepositoryId(arguments(job.ref_id)["repository"]))
    return None if one is None or one.state == "done" else one


def clones_of(place: Workplace) -> Clones:
    if place.clones is None:
        raise Park("this process does not read histories")
    return place.clones


async def fetch(clone: Fetched, client: Client) -> CommitId | None:
    """Bring the clone up to date. Raises RetryLater where GitHub does not give it now."""
    with asking_github():
        token = await client.token()
    try:
        return await clone.refresh(token)
    except (GitError, OSError) as error:
        raise RetryLater(300.0, f"the history could not be fetched: {error}") from error


async def clone_at_hand(job: Job, place: Workplace, one: Backfill) -> tuple[Fetched, CommitId] | None:
    """The clone with the head that is being read; None, and a job that fetches it, where another machine has it.

    Raises Park where the repository was taken away: what lies here of it is read no further.
    """

    def read(connection: Connection) -> tuple[Stored | None, bool]:
        stored = installations.repository(connection, one.repository_id)
        return stored, installations.is_active(connection, one.installation_id)

    stored, active = await place.store.read(read)
    if not active or (stored is not None and stored.removed_at is not None):
        raise Park("the repository is out of reach")
    clone = clones_of(place).of(stored.repository if stored else Repository("", one.repository_id))
    if one.head is not None and stored is not None and await asyncio.to_thread(clone.holds, one.head):
        return clone, one.head

    def save(connection: Connection) -> None:
        defer(connection, place, one, "backfill_repository")
        job.finish(connection)

    await place.store.write(save)
    return None


async def at_hand(job: Job, place: Workplace) -> tuple[Backfill, Fetched, CommitId] | None:
    """What a step goes on with: the reading, its clone and the head that is read; None where there is nothing to do."""
    one = await opened(job, place)
    found = None if one is None else await clone_at_hand(job, place, one)
    return None if one is None or found is None else (one, *found)


def finished(connection: Connection, place: Workplace, one: Backfill) -> None:
    """Write down the end, and up to where nothing is missing."""
    backfills.move(connection, one.repository_id, state="done", cursor=None, finished_at=place.clock())
    name = f"repository:{one.repository_id}"
    if backfills.watermark(connection, name) is None:
        backfills.mark(connection, Watermark(name, one.started_at, one.head))


async def remove_left_clones(place: Workplace) -> None:
    """Delete the clones whose history is read no longer: what is taken away from us does not stay on this machine."""
    if place.clones is None:
        return
    lying = place.clones.lying()

    def read(connection: Connection) -> set[RepositoryId]:
        reading = {one.repository_id for one in backfills.of(connection, sorted(lying)) if one.state != "done"}
        return reading & installations.reached(connection, sorted(reading))

    reading = await place.store.read(read)
    for number in lying.keys() - reading:
        await asyncio.to_thread(lying[number].remove)

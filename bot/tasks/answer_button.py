"""Somebody pressed a button on one of our check runs: it says what `classify` says in a comment."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.digest.commands import Command
from bot.github.reads import read_permission, read_repository
from bot.landing.corrections import SAID_KINDS
from bot.model import CommitId, InstallationId, Repository, RepositoryId, Signature, UserId
from bot.queue.interface import Job
from bot.store import ledger, outbox
from bot.tasks.answering import ACTIONS, Asked
from bot.tasks.asking import MAINTAINERS, Asker, Scene, changes_of, keys_of, may, wrote
from bot.tasks.known_installation import know_installation
from bot.tasks.workplace import Workplace, arguments, asking_github


async def answer_button(job: Job, place: Workplace) -> None:
    """Whoever may press it is asked of GitHub; a press that is not allowed does nothing."""
    given = arguments(job.ref_id)
    action, _, kind = given["identifier"].partition(":")
    await know_installation(place, given["installation"])
    with asking_github():
        client = place.reader(given["installation"], given["repository"])
        repository = await read_repository(client, RepositoryId(given["repository"]))
        maintainer = await read_permission(client, repository, given["login"]) in MAINTAINERS
    account = Signature(given["login"], "", UserId(given["user"]), given["login"])

    def save(connection: Connection) -> None:
        scene = _scene(connection, InstallationId(given["installation"]), repository, given["check_run"])
        if scene is not None and action == "classify" and kind in SAID_KINDS:
            key, keys = keys_of(connection, account)
            asker = Asker(key, keys, maintainer, account, place.clock())
            if may(asker, "classify", wrote=wrote(asker, scene.changes)):
                # The job is one press, however often it is tried.
                asked = Asked(asker, scene, Command("classify", kind), f"press:{job.claim.id}")
                ACTIONS["classify"](connection, place, asked)
        job.finish(connection)

    await place.store.write(save)


def _scene(
    connection: Connection, installation: InstallationId, repository: Repository, check_run: int
) -> Scene | None:
    """The one pull request that the check run is about; None where it is about none of ours."""
    here = RepositoryId(repository.id or 0)
    intent = outbox.posted_as(connection, "check", here, check_run)
    if intent is None:
        return None
    facts = ledger.facts_carried(connection, here, CommitId(intent.target["commit"]))
    numbers = {fact.pull_request for fact in facts if fact.pull_request is not None}
    if len(numbers) != 1:
        return None
    (number,) = numbers
    return Scene(installation, repository, number, changes=changes_of(connection, installation, here, number))

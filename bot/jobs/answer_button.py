"""When somebody presses a button on one of our check runs, do what the command `classify` does."""

from __future__ import annotations

from sqlalchemy import Connection

from bot.github.reads import read_permission, read_repository
from bot.landing.corrections import CLASSIFY_KINDS
from bot.model.commit import Signature
from bot.model.ids import InstallationId, RepositoryId, UserId
from bot.narrative.commands import Command
from bot.queue.interface import Job
from bot.services.commands.actions import ACTIONS, CommandRequest
from bot.services.context import Context, job_arguments, translate_github_errors
from bot.services.permissions import (
    MAINTAINERS,
    Asker,
    is_author,
    keys_of,
    may_ask,
    scene_of_check_run,
)
from bot.services.repositories.installation import ensure_installation
from bot.store import erasure


async def answer_button(job: Job, context: Context) -> None:
    """Ask GitHub for the person's permission; do nothing if they may not press it."""
    given = job_arguments(job.ref_id)
    action, _, kind = given["identifier"].partition(":")
    await ensure_installation(context, given["installation"])
    with translate_github_errors():
        client = context.reader(given["installation"], given["repository"])
        repository = await read_repository(client, RepositoryId(given["repository"]))
        maintainer = await read_permission(client, repository, given["login"]) in MAINTAINERS
    account = Signature(given["login"], "", UserId(given["user"]), given["login"])

    def save(connection: Connection) -> None:
        scene = scene_of_check_run(connection, InstallationId(given["installation"]), repository, given["check_run"])
        if scene is not None and action == "classify" and kind in CLASSIFY_KINDS:
            key, keys = keys_of(connection, account)
            asker = Asker(key, keys, maintainer, account, context.clock())
            erased = erasure.erased_people(connection, keys)
            if not erased and may_ask(asker, "classify", is_theirs=is_author(asker, scene.changes)):
                # One job is one press, however often it is tried.
                asked = CommandRequest(asker, scene, Command("classify", kind), f"press:{job.claim.id}")
                ACTIONS["classify"](connection, context, asked)
        job.finish(connection)

    await context.store.write(save)

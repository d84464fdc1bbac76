"""How is a post requested, and published at GitHub? It is found by a hidden marker and edited, or else created."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

from gidgethub import BadRequest
from msgspec import convert
from sqlalchemy import Connection

from bot.configuration.logs import scrub_secrets
from bot.github import discussions
from bot.github.client import BadAnswer, Client, is_missing
from bot.github.discussions import NoDiscussionsError
from bot.github.payloads.discussions import DiscussionThread
from bot.github.posts import Button, CheckRun, Post, Publisher
from bot.github.reads import issue_exists, read_repository
from bot.model.commit import Repository
from bot.model.ids import CommitId, InstallationId, RepositoryId
from bot.queue.interface import Job, RetryLater
from bot.services.context import Context
from bot.services.refusals import A_DAY
from bot.store import digests, installations, jobs, outbox
from bot.store.engine import StoreUnavailableError
from bot.store.outbox import Intent, Posting

log = logging.getLogger(__name__)
LEASE, RENEW_EVERY = timedelta(seconds=60), 20.0
"""as short as a job's and renewed as often (seconds), so that the post of a killed worker is not delayed longer"""
REPLACED_WITHIN = timedelta(days=61)
"""how old a comment may be that is posted again after its removal"""
CHECKS = {"check": "Almanac", "preview": "Almanac: digest preview", "suite": "Almanac: nothing to count yet"}
"""names of check runs by kind of intent; all other kinds are comments or reactions"""
DIGESTS = ("digest", "preview")
"""kinds of intents that wait for those about landings"""
DIGEST_TITLE = "Almanac: the months"
DIGEST_BODY = (
    "Each finished month gets one comment here: who landed what, with the changes behind every sentence. "
    "Unsubscribe to stop notifications."
)


def request_post(connection: Connection, context: Context, intent: Intent) -> None:
    """Store the intent; a job posts it unless GitHub already has this exact text."""
    waiting = outbox.add_intent(connection, intent, context.clock())
    if waiting is not None:
        # Push and pull request arrive within moments of each other: wait for both, and post once.
        options: dict[str, Any] = {
            "installation_id": intent.installation_id,
            "run_at": context.clock() + context.settle,
            "priority": jobs.DIGESTS if intent.kind in DIGESTS else jobs.NORMAL,
        }
        context.queue.defer(
            connection,
            "publish_post",
            waiting,
            serial_key=f"post:{intent.key}",
            dedupe_key=f"post:{waiting}",
            **options,
        )


async def release_failed(context: Context, job: Job, posting: Posting, error: BaseException) -> bool:
    """Release a post that failed; whether it is given up, which ends the job.

    422 means that GitHub will never accept this text, 410 that what it was about is gone. After a 404 it is tried
    again for a day, because replicas lag for writes too.
    """
    refused = isinstance(error, BadRequest) and (
        error.status_code in (410, 422) or (is_missing(error) and job.refused_for >= A_DAY)
    )
    final = refused or isinstance(error, NoDiscussionsError)

    def save(connection: Connection) -> None:
        outbox.release(connection, posting, scrub_secrets(f"{type(error).__name__}: {error}")[:300], give_up=final)
        if final:
            job.finish(connection)

    await context.store.write(save)
    context.on_posted(posting.intent.kind, "given_up" if final else "put_off")
    if final:
        log.warning("post given up", extra={"post": posting.intent.key, "reason": str(error)})
    return final


def is_unsettled(error: BaseException) -> bool:
    """Whether GitHub failed without an answer that can be believed: the post may stand there."""
    return isinstance(error, BadAnswer) or (isinstance(error, RetryLater) and error.seconds is None)


def claim_post(connection: Connection, intent: int, now: datetime) -> tuple[Posting | None, datetime | None]:
    """The claimed posting, or the time until which another worker has it."""
    posting = outbox.claim(connection, intent, now=now, lease_until=now + LEASE)
    return posting, outbox.busy_until(connection, intent) if posting is None else None


@contextlib.asynccontextmanager
async def hold_lease(context: Context, posting: Posting) -> AsyncIterator[None]:
    """Renew the lease while the block runs."""

    async def renew() -> None:
        while True:
            await asyncio.sleep(RENEW_EVERY)
            with contextlib.suppress(StoreUnavailableError):
                await context.store.write(outbox.renew, posting, context.clock() + LEASE)

    renewing = asyncio.create_task(renew())
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)


def save_post(connection: Connection, posting: Posting, remote: int | str | None, now: datetime) -> bool:
    """Record what stands at GitHub now; None for nothing. False if a newer text is waiting."""
    name = None if remote is None else str(remote)
    return outbox.mark_posted(connection, posting, name, now, withdrawn=_is_too_old_to_replace(posting, now))


def _is_too_old_to_replace(posting: Posting, now: datetime) -> bool:
    """Whether a removed post is only deleted, because a new comment about long ago would mail every watcher."""
    return bool(posting.removals and posting.posted_at and now - posting.posted_at > REPLACED_WITHIN)


async def publish_claimed(context: Context, posting: Posting) -> int | str | None:
    """The id of the post that shows the text now; None if what stood there was deleted, and nothing takes its place."""
    intent = posting.intent
    if "thread" in intent.target:
        return await _answer_in_discussion(context, posting)
    if _is_discussion(posting):
        return await _post_discussion(context, posting)
    client, publisher = context.publisher(
        intent.installation_id or 0,
        intent.repository_id,
        comments=intent.kind not in CHECKS,
        urgent=intent.kind not in DIGESTS,
    )
    known = int(posting.remote_id) if posting.remote_id else None
    repository = await _target_repository(context, client, RepositoryId(intent.repository_id))
    first = known is None and is_first(context, posting)
    if intent.kind in CHECKS:
        return await publisher.check_run(repository, _check_run(intent), known=known, first=first)
    if intent.kind == "reaction":
        return await publisher.reaction(repository, intent.target["comment"], intent.body["content"])
    if "number" not in intent.target:
        return await _post_in_digests_issue(context, (client, publisher), repository, posting)
    post = Post(intent.target["number"], intent.key, _text_of(context, posting))
    if posting.removals or not post.body:
        return await publisher.replace_comment(repository, post, known=known)
    return await publisher.comment(repository, post, known=known, first=first)


def _text_of(context: Context, posting: Posting) -> str:
    """What is to stand at GitHub; empty for nothing."""
    text: str = posting.intent.body["text"]
    return "" if _is_too_old_to_replace(posting, context.clock()) else text


async def _post_in_digests_issue(
    context: Context, clients: tuple[Client, Publisher], repository: Repository, posting: Posting
) -> int | None:
    """Post in the issue whose number was kept; if somebody deleted it, in another one at the next attempt."""
    client, publisher = clients
    number = RepositoryId(repository.id or 0)
    issue = await context.store.read(digests.kept_issue, number)
    known = int(posting.remote_id) if posting.remote_id else None
    if issue is None:
        issue = await _digests_issue(context, publisher, repository)
        await context.store.write(digests.keep_issue, number, issue)
    post = Post(issue, posting.intent.key, _text_of(context, posting))
    try:
        if posting.removals or not post.body:
            return await publisher.replace_comment(repository, post, known=known)
        return await publisher.comment(repository, post, known=known)
    except BadRequest as error:
        if is_missing(error) and not await issue_exists(client, repository, issue):
            await context.store.write(digests.keep_issue, number, None)
            raise RetryLater(60.0, f"issue {issue} is gone; another one is opened") from error
        raise


async def _digests_issue(context: Context, publisher: Publisher, repository: Repository) -> int:
    """The number of the issue for the digests of a repository."""
    if not context.ourselves.login:
        # Only its creator distinguishes our issue from a copy.
        raise RetryLater(60.0, "GitHub has not confirmed the App's identity yet")
    return await publisher.issue(repository, DIGEST_TITLE, key=digests_key(repository.id or 0), body=DIGEST_BODY)


def is_first(context: Context, posting: Posting) -> bool:
    """Whether the post cannot exist at GitHub yet, so that nobody need look for it.

    The claim is on disk before the first attempt, so no earlier attempt of this database posted it. A database restored
    from a backup may not know its latest posts: for landings before this process started, this returns False.
    """
    landed, started = posting.intent.target.get("landed"), context.started
    if posting.attempt > 1 or started is None or not isinstance(landed, int):
        return False
    return landed >= int(started.timestamp())


async def _target_repository(context: Context, client: Client, number: RepositoryId) -> Repository:
    """The repository to post in. The stored row suffices, because ids never change, unless the host uses names."""
    stored = await context.store.read(installations.repository, number)
    if stored is None or client.repository_path(stored.repository) == f"repos/{stored.repository.full_name}":
        return await read_repository(client, number)
    return stored.repository


def _is_discussion(posting: Posting) -> bool:
    """Whether it is a discussion comment. An existing post keeps its form: only comments on issues have numeric ids."""
    if posting.remote_id:
        return not posting.remote_id.isdecimal()
    return bool(posting.intent.target.get("form") == "discussion")


def _discussions_client(context: Context, intent: Intent, *, urgent: bool) -> Client:
    """A client that may only read and write the discussions of one repository."""
    return context.github.installation(
        InstallationId(intent.installation_id or 0),
        repositories=(RepositoryId(intent.repository_id),),
        permissions=discussions.PERMISSIONS,
        urgent=urgent,
    )


async def _answer_in_discussion(context: Context, posting: Posting) -> str | None:
    """A reaction to a comment of a discussion, or a reply in its thread."""
    intent, thread = posting.intent, convert(posting.intent.target["thread"], DiscussionThread)
    client = _discussions_client(context, intent, urgent=True)
    if intent.kind == "reaction":
        return await discussions.react(client, thread, intent.body["content"])
    text = _text_of(context, posting)
    replacing = posting.removals > 0 or not text
    return await discussions.post_reply(
        client, thread, key=intent.key, text=text, known=posting.remote_id, replacing=replacing
    )


async def _post_discussion(context: Context, posting: Posting) -> str | None:
    intent, number = posting.intent, RepositoryId(posting.intent.repository_id)
    client = _discussions_client(context, intent, urgent=False)
    return await discussions.post_comment(
        client,
        await read_repository(client, number),
        key=intent.key,
        text=_text_of(context, posting),
        known=posting.remote_id,
        replacing=posting.removals > 0 or not intent.body["text"],
        opening=(digests_key(number), DIGEST_TITLE, DIGEST_BODY),
    )


def digests_key(repository: int) -> str:
    """The key of the issue for the digests of a repository."""
    return f"digests:{repository}"


def _check_run(intent: Intent) -> CheckRun:
    return CheckRun(
        CHECKS[intent.kind],
        CommitId(intent.target["commit"]),
        intent.key,
        intent.body["title"],
        intent.body["summary"],
        buttons=tuple(Button(*button) for button in intent.body.get("buttons", ())),
    )

"""One intent of the outbox reaches GitHub: found by its hidden marker and edited, or created."""

from __future__ import annotations

from datetime import timedelta

from gidgethub import BadRequest

from bot.github.client import is_missing
from bot.github.publish import Button, CheckRun, Post
from bot.github.reads import read_repository
from bot.model import CommitId, RepositoryId
from bot.queue.interface import Job, RetryLater
from bot.store import outbox
from bot.store.outbox import Intent, Posting
from bot.tasks.workplace import Workplace, asking_github

LEASE = timedelta(minutes=5)
CHECKS = {"check": "Almanac", "preview": "Almanac: digest preview"}
"""names of check runs by kind of intent; every other kind is a comment or a reaction"""
DIGEST_TITLE = "Almanac: the months"
DIGEST_BODY = (
    "Each month that is over gets one comment here: who landed what, with the changes behind every sentence. "
    "Unsubscribe from this issue to hear no more of it."
)


async def publish_post(job: Job, place: Workplace) -> None:
    """Posting twice is posting once; a text that changed meanwhile is posted again."""
    now = place.clock()
    async with place.store.begin() as conn:
        posting = await outbox.claim(conn, int(job.ref_id), now=now, lease_until=now + LEASE)
        busy = await outbox.busy_until(conn, int(job.ref_id)) if posting is None else None
    if busy is not None:
        # perhaps a worker that died with the intent in hand: look again when its lease is over
        raise RetryLater(max((busy - now).total_seconds(), 1.0), "another worker is posting it")
    if posting is None:
        return
    try:
        with asking_github():
            remote = await _post(place, posting)
    except BaseException as error:
        # 422 means that GitHub will never take this text; 404 that what it was about is gone
        final = isinstance(error, BadRequest) and (error.status_code == 422 or is_missing(error))
        async with place.store.begin() as conn:
            await outbox.let_go(conn, posting, f"{type(error).__name__}: {error}"[:300], give_up=final)
            if final:
                await job.finish(conn)
        if final:
            return
        raise
    async with place.store.begin() as conn:
        if not await outbox.done(conn, posting, str(remote)):
            await place.queue.defer(conn, "publish_post", posting.id, serial_key=f"post:{posting.intent.key}")
        await job.finish(conn)


async def _post(place: Workplace, posting: Posting) -> int:
    intent = posting.intent
    client, publisher = place.publisher(
        intent.installation_id or 0, intent.repository_id, comments=intent.kind not in CHECKS
    )
    known = int(posting.remote_id) if posting.remote_id else None
    repository = await read_repository(client, RepositoryId(intent.repository_id))
    if intent.kind in CHECKS:
        return await publisher.check_run(repository, _check_run(intent), known=known)
    if intent.kind == "reaction":
        return await publisher.reaction(repository, intent.target["comment"], intent.body["content"])
    number = intent.target.get("number") or await publisher.issue(
        repository, DIGEST_TITLE, key=digests_key(intent.repository_id), body=DIGEST_BODY
    )
    return await publisher.comment(repository, Post(number, intent.key, intent.body["text"]), known=known)


def digests_key(repository: int) -> str:
    """The key of the issue that takes the digests of a repository."""
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

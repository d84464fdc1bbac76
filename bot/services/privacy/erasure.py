"""How is a person erased everywhere: from the record, pages, digests and notes?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime, timedelta

from msgspec.structs import replace
from sqlalchemy import Connection

from bot.landing.identity.credit import person_key
from bot.landing.identity.marks import quotes_marks
from bot.model.fact import Fact
from bot.model.ids import InstallationId, PersonKey, RepositoryId, UserId
from bot.render.markdown_escaping import plain_of_markdown
from bot.services.context import Context, job_reference
from bot.services.digests.refresh import refresh_months
from bot.services.posting.publishing import request_post
from bot.services.privacy.refresh import refresh_notes
from bot.services.recording.record import RecordingTarget, recount
from bot.store import (
    choices,
    corrections,
    erasure,
    folding,
    inbox,
    installations,
    ledger,
    outbox,
    readings,
    sessions,
    snapshots,
    visibility,
)
from bot.store.jobs import LAST


def forget(connection: Connection, context: Context, key: PersonKey, now: datetime) -> None:
    """Hide the person at once and store tombstones; a job erases the record, which takes longer."""
    keys = visibility.every_key(connection, key)
    erasure.add_tombstones(connection, keys, now)
    choices.forget(connection, key, now)
    if key.startswith("u:"):
        sessions.end_all(connection, UserId(int(key[2:])))
        defer_for_account(connection, context, "erase_person", key)


def defer_for_account(connection: Connection, context: Context, task: str, key: PersonKey) -> None:
    """Defer a task about one account, after others about it, unless an equal one waits."""
    user = int(key.removeprefix("u:"))
    ref = job_reference({"user": user})
    context.queue.defer(connection, task, ref, serial_key=f"user:{user}", dedupe_key=f"{task}:{user}")


def erase(connection: Connection, context: Context, key: PersonKey) -> None:
    """Delete an erased person's record, fold again what is left, and rewrite every post without them."""
    keys = visibility.every_key(connection, key)
    _lock_folding(connection, keys)
    work = erasure.work_of(connection, keys)
    marks = erasure.marks_of_people(connection, keys)
    erasure.add_marks(connection, marks)
    by_repository: dict[RepositoryId, list[Fact]] = defaultdict(list)
    near: dict[RepositoryId, list[Fact]] = {}
    for repository, fact in work:
        by_repository[repository].append(fact)
    homes = {repository: _installation_of(connection, repository) for repository in by_repository}
    for repository, facts in by_repository.items():
        seeds = [(repository, fact.commit) for fact in facts]
        near[repository] = ledger.component(connection, seeds, installation_id=homes[repository])
    disputed = corrections.disputes_of(connection, keys)
    quoting = erasure.erase_record(connection, keys, marks)
    inbox.drop_bodies(connection, context.clock() + timedelta(seconds=1))
    readings.forget_all(connection)
    snapshots.forget_quoting(connection, marks)
    for repository, facts in by_repository.items():
        home = homes[repository]
        if home is not None:
            _recount_without(
                connection, context, RecordingTarget(home, repository, context.zone), (keys, facts, near[repository])
            )
    _recount_quoting(connection, context, keys, quoting)
    for repository, number in disputed:
        _refresh_without_dispute(connection, context, repository, number)
    _erase_replies(connection, context, keys, marks)
    _empty_posts_out_of_reach(connection, marks)
    defer_scrub(connection, context)


def _lock_folding(connection: Connection, keys: Collection[PersonKey]) -> None:
    """Lock folding in every installation with their work, until the transaction ends."""
    repositories = {repository for repository, _ in erasure.work_of(connection, keys)}
    for home in sorted({home for one in repositories if (home := _installation_of(connection, one)) is not None}):
        folding.lock_installation(connection, home)


def _installation_of(connection: Connection, repository: RepositoryId) -> InstallationId | None:
    stored = installations.repository(connection, repository)
    return stored.installation_id if stored is not None and stored.removed_at is None else None


def _recount_without(
    connection: Connection,
    context: Context,
    target: RecordingTarget,
    gone: tuple[Collection[PersonKey], list[Fact], list[Fact]],
) -> None:
    """Fold again, and post again, what was folded with erased facts."""
    keys, facts, near = gone
    left = [fact.commit for fact in near if person_key(fact.author) not in keys]
    lost = [fact for fact in near if person_key(fact.author) in keys]
    recorded = recount(connection, target, left, gone=lost)
    refresh_notes(connection, context, target, facts, recorded, gone=keys)
    refresh_months(connection, context, (target.installation, target.repository), taking_back=True)


def _recount_quoting(
    connection: Connection, context: Context, keys: Collection[PersonKey], quoting: list[tuple[RepositoryId, Fact]]
) -> None:
    """Fold again, and post again, what quoted their names and titles."""
    by_repository: dict[RepositoryId, list[Fact]] = defaultdict(list)
    for repository, fact in quoting:
        by_repository[repository].append(fact)
    for repository, facts in by_repository.items():
        home = _installation_of(connection, repository)
        if home is not None:
            target = RecordingTarget(home, repository, context.zone)
            recorded = recount(connection, target, [fact.commit for fact in facts])
            refresh_notes(connection, context, target, facts, recorded, gone=keys)
            refresh_months(connection, context, (home, repository), taking_back=True)


def _refresh_without_dispute(connection: Connection, context: Context, repository: RepositoryId, number: int) -> None:
    """Remove an erased person's dispute from posts; a negative number identifies a month."""
    home = _installation_of(connection, repository)
    if home is None:
        return
    refresh_months(connection, context, (home, repository))
    if number > 0:
        facts = ledger.facts_of_pull_request(connection, repository, number)
        refresh_notes(connection, context, RecordingTarget(home, repository, context.zone), facts)


def _erase_replies(
    connection: Connection, context: Context, keys: Collection[PersonKey], marks: Collection[str]
) -> None:
    """Delete our replies to that person, and those to others that quote them."""
    for intent in outbox.intents_of_kinds(connection, ("reply",)):
        if intent.target.get("person") in keys or _quotes(intent, marks):
            remove_post(connection, context, replace(intent, target={**intent.target, "person": ""}))


def remove_post(connection: Connection, context: Context, intent: outbox.Intent) -> None:
    """Delete a comment of ours, with all its revisions, for good."""
    outbox.take_back(connection, [intent.key])
    request_post(connection, context, replace(intent, body={"text": ""}))


def _quotes(intent: outbox.Intent, marks: Collection[str]) -> bool:
    texts = (text for text in intent.body.values() if isinstance(text, str))
    return any(quotes_marks(plain_of_markdown(text), marks) for text in texts)


def _empty_posts_out_of_reach(connection: Connection, marks: Collection[str]) -> None:
    """What was posted where we may no longer write cannot be deleted there, but it is no longer stored here."""
    for intent in outbox.intents_of_kinds(connection, ("check", "comment", "digest", "preview", "reply", "suite")):
        if _installation_of(connection, RepositoryId(intent.repository_id)) is None and _quotes(intent, marks):
            outbox.empty(connection, intent.key)


SCRUB_AGAIN = timedelta(minutes=10)
"""after this long, posts that were being rewritten during an erasure are done"""


def defer_scrub(connection: Connection, context: Context) -> None:
    """Remove deleted rows from the bytes of the file once nothing more urgent waits, and once more after a while."""
    now = context.clock()
    for turn, run_at in enumerate((now, now + SCRUB_AGAIN), 1):
        dedupe = f"scrub_database:{turn}"
        context.queue.defer(
            connection, "scrub_database", turn, run_at=run_at, priority=LAST, serial_key="scrub", dedupe_key=dedupe
        )

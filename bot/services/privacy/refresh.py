"""Which posts are rewritten when a person's choice changes?"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection

from bot.model.fact import Fact
from bot.model.ids import CommitId, PersonKey
from bot.services.context import Context
from bot.services.digests.refresh import refresh_months
from bot.services.posting.landings import request_check, request_comment
from bot.services.recording.record import Recorded, RecordingTarget, recount
from bot.store import erasure, installations, outbox, visibility


def refresh_person_posts(connection: Connection, context: Context, key: PersonKey) -> None:
    """Rewrite every digest and note that includes this person's work."""
    work = erasure.work_of(connection, visibility.every_key(connection, key))
    for repository in sorted({repository for repository, _ in work}):
        stored = installations.repository(connection, repository)
        if stored is None or stored.installation_id is None or stored.removed_at is not None:
            continue
        facts = [fact for where, fact in work if where == repository]
        target = RecordingTarget(stored.installation_id, repository, context.zone)
        refresh_months(connection, context, (stored.installation_id, repository))
        refresh_notes(connection, context, target, facts)


def refresh_notes(
    connection: Connection,
    context: Context,
    target: RecordingTarget,
    facts: Collection[Fact],
    recorded: Recorded | None = None,
) -> None:
    """Post again the existing notes on these facts' merge commits and pull requests."""
    recorded = recorded or recount(connection, target, [fact.commit for fact in facts])
    merge_commits, numbers = {fact.merge_commit for fact in facts}, {fact.pull_request for fact in facts}
    name = next((name for name, repo in recorded.repositories.items() if repo.id == target.repository), "")
    for intent, _ in outbox.intents(connection, target.repository, ("check", "comment")):
        if intent.kind == "check" and intent.target["commit"] in merge_commits:
            merge_commit = CommitId(intent.target["commit"])
            changes = [c for c in recorded.changed if any(one.fact.merge_commit == merge_commit for one in c.commits)]
            request_check(connection, context, target, (merge_commit, changes))
        if intent.kind == "comment" and intent.target["number"] in numbers:
            number = int(intent.target["number"])
            changes = [
                change
                for change in recorded.changed
                if any((one.fact.repository, one.fact.pull_request) == (name, number) for one in change.commits)
            ]
            request_comment(connection, context, target, (number, changes))

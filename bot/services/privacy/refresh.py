"""Which posts are rewritten when a person's choice changes?"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace
from sqlalchemy import Connection

from bot.landing.identity.addresses import person_key
from bot.landing.identity.machines import is_machine
from bot.landing.identity.naming import signatures_of
from bot.model.change import Change
from bot.model.fact import Fact
from bot.model.ids import CommitId, PersonKey
from bot.services.context import Context
from bot.services.digests.refresh import refresh_months
from bot.services.posting.landings import request_check, request_comment
from bot.services.posting.publishing import request_post
from bot.services.recording.record import Recorded, RecordingTarget, recount
from bot.store import erasure, installations, naming, outbox, visibility


def refresh_person_posts(connection: Connection, context: Context, key: PersonKey) -> None:
    """Rewrite every digest and note that includes this person's work; what names them is deleted, not edited."""
    keys = visibility.every_key(connection, key)
    work = erasure.work_of(connection, keys)
    hidden = bool(naming.unnamed_among(connection, keys))
    for repository in sorted({repository for repository, _ in work}):
        stored = installations.repository(connection, repository)
        if stored is None or stored.installation_id is None or stored.removed_at is not None:
            continue
        facts = [fact for where, fact in work if where == repository]
        target = RecordingTarget(stored.installation_id, repository, context.zone)
        refresh_months(connection, context, (stored.installation_id, repository), taking_back=hidden)
        refresh_notes(connection, context, target, facts, gone=keys if hidden else ())


def refresh_notes(
    connection: Connection,
    context: Context,
    target: RecordingTarget,
    facts: Collection[Fact],
    recorded: Recorded | None = None,
    *,
    gone: Collection[PersonKey] = (),
) -> None:
    """Post again the existing notes on these facts' merge commits and pull requests.

    Comments that may name the people in `gone` are deleted, and written again only if others' work stands in them. A
    check run can only be edited, and shows no revision.
    """
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
            if gone:
                outbox.take_back(connection, [intent.key])
            if gone and not any(_is_of_others(change, gone) for change in changes):
                request_post(connection, context, replace(intent, body={"text": ""}))
            else:
                request_comment(connection, context, target, (number, changes))


def _is_of_others(change: Change, gone: Collection[PersonKey]) -> bool:
    people = (sig for one in change.commits for sig in signatures_of(one.fact) if not is_machine(sig))
    return any(person_key(sig) not in gone for sig in people)

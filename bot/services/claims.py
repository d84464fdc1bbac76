"""What happens when a person accepts or rejects work that others say is theirs?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection

from bot.model.fact import Fact
from bot.model.ids import InstallationId, PersonKey, RepositoryId
from bot.services.context import Context
from bot.services.digests.refresh import refresh_digests
from bot.services.posting.landings import request_landing_posts
from bot.services.recording.record import RecordingTarget, recount
from bot.store import corrections, installations, ledger, visibility
from bot.store.corrections import Correction


class ClaimDecision(Struct, frozen=True):
    """Who decided what: about one pull request, or about everything in a repository that had landed by then."""

    key: PersonKey
    accepted: bool
    at: datetime
    event: str
    number: int | None = None


def decide_claims(
    connection: Connection,
    context: Context,
    decision: ClaimDecision,
    where: tuple[InstallationId, Sequence[RepositoryId]],
) -> int:
    """Record the decision for each repository with work credited to the person, and count it again; the commits."""
    installation, repositories = where
    keys = sorted(visibility.proved_keys(connection, decision.key))
    return sum(
        _decide_in(connection, context, (decision, keys), RecordingTarget(installation, repository, context.zone))
        for repository in repositories
    )


def _decide_in(
    connection: Connection,
    context: Context,
    decided: tuple[ClaimDecision, Sequence[PersonKey]],
    target: RecordingTarget,
) -> int:
    decision, keys = decided
    until = None if decision.number is not None else int(decision.at.timestamp())
    facts = [
        fact
        for fact in ledger.facts_of(connection, keys, repositories=[target.repository])
        if _concerns(fact, decision.number, until)
    ]
    value = {"accepted": decision.accepted, "keys": list(keys), "number": decision.number, "until": until}
    event = Correction(
        f"{decision.event}:{target.repository}",
        "credit",
        decision.key,
        decision.at,
        value,
        repository_id=target.repository,
        person_key=decision.key,
    )
    if not facts or not corrections.append(connection, event):
        return 0
    recorded = recount(connection, target, [fact.commit for fact in facts])
    request_landing_posts(connection, context, target, recorded)
    refresh_digests(connection, context, target, recorded)
    return len(facts)


def _concerns(fact: Fact, number: int | None, until: int | None) -> bool:
    return fact.pull_request == number if number is not None else until is None or fact.landed_at <= until


def decide_on_page(connection: Connection, context: Context, decision: ClaimDecision, repository: RepositoryId) -> None:
    """The same from the settings page; raises ValueError for a repository that no installation reaches."""
    known = installations.repository(connection, repository)
    if known is None or known.installation_id is None or known.removed_at is not None:
        raise ValueError("no installation reaches this repository")
    decide_claims(connection, context, decision, (known.installation_id, [repository]))

"""What do deliveries show of a pull request that no clone contains: reviews, checks, who merged it?

Deliveries are signed, so their content is stored without asking GitHub: an ordinary landing costs no request here.
No delivery can show that nobody approved. That is stored only after one request for all reviews of a merged pull
request that was reviewed and has no known approval.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from sqlalchemy import Connection

from bot.github.payloads.non_code_activity import Release, Triage
from bot.github.payloads.signals import NOTHING, Merge, PullRequestSignals, read_signals
from bot.landing.identity.credit import person_key
from bot.landing.months import month_after, month_of
from bot.model.commit import Review
from bot.model.ids import InstallationId, RepositoryId
from bot.services.context import Context
from bot.services.digests.refresh import refresh_months
from bot.store import erasure, inbox, observations
from bot.store.observations import DEEDS, NOBODY, Observation


async def read_delivery_signals(context: Context, guid: str) -> PullRequestSignals:
    body = await context.store.read(inbox.body_of, f"app:{context.ourselves.id}", guid)
    return read_signals(body) if body else NOTHING


def observation_rows(repository: RepositoryId, signals: PullRequestSignals) -> list[Observation]:
    """The observations in one delivery, or in an answer with the same content."""
    rows = []
    if signals.merge is not None:
        rows += merge_rows(repository, signals.number, signals.merge)
    if signals.review is not None and _is_by_another(signals, signals.review[1]):
        rows.append(review_row(repository, signals.number, signals.review))
    if signals.comment is not None and _is_by_another(signals, signals.comment[1]):
        remark = review_row(repository, signals.number, signals.comment)
        rows.append(replace(remark, signal="remark", source=str(signals.comment[0]), value={}))
    return rows


def _is_by_another(signals: PullRequestSignals, review: Review) -> bool:
    """Reviews by machines, and authors' comments on their own work, do not count."""
    return not review.author.bot and (signals.author is None or review.author.user_id != signals.author)


def merge_rows(repository: RepositoryId, number: int, found: Merge) -> list[Observation]:
    """One row for the merge, without a person, and one for the person who merged it, if any."""
    by_author = {} if found.by_author is None else {"by_author": found.by_author}
    rows = [Observation(repository, number, "merge", found.head, found.at, {"head": found.head} | by_author)]
    if found.by is not None and not found.by.bot:
        state, key = "own" if found.by_author else "other", person_key(found.by)
        rows.append(Observation(repository, number, "merger", found.head, found.at, {"state": state}, key))
    return rows


def review_row(repository: RepositoryId, number: int, found: tuple[int, Review]) -> Observation:
    name, review = found
    source, key = f"{name}:{review.state}", person_key(review.author)
    return Observation(repository, number, "review", source, review.submitted_at, {"state": review.state}, key)


def observation(repository: RepositoryId, found: Triage | Release) -> Observation:
    """The row of one activity. Deliveries of the same activity at the same moment give the same row."""
    key = NOBODY if found.by is None else person_key(found.by)
    if isinstance(found, Triage):
        source = f"{found.did}:{key}:{int(found.at.timestamp())}"
        return Observation(repository, found.number, "triage", source, found.at, {"state": found.did}, key)
    value = {"state": found.state, "tag": found.tag}
    return Observation(repository, 0, "release", f"{found.id}:{found.state}", found.at, value, key)


def save_observations(
    connection: Connection, context: Context, where: tuple[InstallationId, RepositoryId], rows: Sequence[Observation]
) -> int:
    """Append new observations; return how many are new. Updates the digests of past months."""
    gone = erasure.erased_people(connection, {one.person_key for one in rows if one.person_key})
    kept = [one for one in rows if one.person_key not in gone]
    new = observations.observe(connection, kept)
    now = month_of(int(context.clock().timestamp()), context.zone)
    late = {month_of(int(one.at.timestamp()), context.zone) for one in kept if new and one.signal in DEEDS} - {now}
    if late:
        # A month of the digest may begin a day before or after the operator's.
        refresh_months(connection, context, where, {month_after(month, step) for month in late for step in (-1, 0, 1)})
    return new

"""What does a delivery show of a pull request that no clone will hold: its reviews, its checks, who merged it?

Deliveries are signed, so what they show is kept as it is and GitHub is not asked: an ordinary landing costs nothing
here. One thing no delivery can show: that nobody approved. That is said only after the reviews themselves were read,
once, of a merged pull request that was reviewed and of which no approval is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace
from sqlalchemy import Connection

from bot.github.listings import read_reviews
from bot.github.payloads.seen import NOTHING, Checks, Merge, Seen, seen
from bot.landing.identity import person_key
from bot.model import InstallationId, RepositoryId, Review
from bot.queue.interface import Job
from bot.store import inbox, observations
from bot.store.observations import READ, Observation
from bot.tasks.known_repository import know_repository
from bot.tasks.observing import keep_observed
from bot.tasks.workplace import Workplace, arguments, asking_github


async def observe_pull_request(job: Job, place: Workplace) -> None:
    """Append what the delivery shows and was not seen before; a delivery that is kept no more shows nothing."""
    given = arguments(job.ref_id)
    repository, shown = RepositoryId(given["repository"]), await _shown(place, given["delivery"])
    rows = rows_of(repository, shown) if shown.checks is None or shown.checks.app != place.ourselves.id else []
    if shown.number and rows:
        before = await place.store.read(observations.of_work, repository, [shown.number])
        merged_at = _unapproved([*before, *rows])
        if merged_at is not None:
            rows += await _read_again(place, (given["installation"], repository), shown, merged_at)

    def written(connection: Connection) -> None:
        keep_observed(connection, place, (InstallationId(given["installation"]), repository), rows)
        job.finish(connection)

    await place.store.write_without_flush(written)


async def _shown(place: Workplace, guid: str) -> Seen:
    body = await place.store.read(inbox.body_of, f"app:{place.ourselves.id}", guid)
    return seen(body) if body else NOTHING


def rows_of(repository: RepositoryId, shown: Seen) -> list[Observation]:
    """What one delivery shows, or what an answer says that deliveries would have shown."""
    rows = []
    if shown.checks is not None:
        rows.append(_checks(repository, shown.checks))
    if shown.merge is not None:
        rows += merge_rows(repository, shown.number, shown.merge)
    if shown.review is not None and _is_of_another(shown, shown.review[1]):
        rows.append(review_row(repository, shown.number, shown.review))
    if shown.comment is not None and _is_of_another(shown, shown.comment[1]):
        remark = review_row(repository, shown.number, shown.comment)
        rows.append(replace(remark, signal="remark", source=str(shown.comment[0]), value={}))
    return rows


def _is_of_another(shown: Seen, review: Review) -> bool:
    """Reviews of machines, and what authors write below their own work, are no reviews."""
    return not review.author.bot and (shown.author is None or review.author.user_id != shown.author)


def _checks(repository: RepositoryId, found: Checks) -> Observation:
    source = f"{found.head}:{found.app}:{found.state}:{int(found.at.timestamp())}"
    value = {"head": found.head, "app": found.app, "state": found.state}
    return Observation(repository, 0, "checks", source, found.at, value)


def merge_rows(repository: RepositoryId, number: int, found: Merge) -> list[Observation]:
    """The merge itself, which names nobody, and where a person merged it, a row of that person."""
    said = {} if found.by_author is None else {"by_author": found.by_author}
    rows = [Observation(repository, number, "merge", found.head, found.at, {"head": found.head} | said)]
    if found.by is not None and not found.by.bot:
        state, key = "own" if found.by_author else "other", person_key(found.by)
        rows.append(Observation(repository, number, "merger", found.head, found.at, {"state": state}, key))
    return rows


def review_row(repository: RepositoryId, number: int, found: tuple[int, Review]) -> Observation:
    name, review = found
    source, key = f"{name}:{review.state}", person_key(review.author)
    return Observation(repository, number, "review", source, review.submitted_at, {"state": review.state}, key)


def _unapproved(rows: Sequence[Observation]) -> datetime | None:
    """When it was merged, where it was reviewed, no approval is known, and nobody has looked for one."""
    merged = [row.at for row in rows if row.signal == "merge"]
    reviewed = any(row.signal == "review" for row in rows)
    return merged[0] if merged and reviewed and observations.approval(rows) is None else None


async def _read_again(
    place: Workplace, where: tuple[int, RepositoryId], shown: Seen, merged_at: datetime
) -> list[Observation]:
    """All its reviews as GitHub has them; where none of them approved, a row that says so."""
    client = place.reader(*where)
    with asking_github():
        repository = await know_repository(place, client, where, None)
        found = await read_reviews(client, repository, shown.number)
    rows = [review_row(where[1], shown.number, one) for one in found if _is_of_another(shown, one[1])]
    if observations.approval(rows) is None:
        rows.append(Observation(where[1], shown.number, "review", READ, merged_at, {"state": "none"}))
    return rows

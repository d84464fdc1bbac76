"""What does the bot intend to write to GitHub? One durable intent per key, posted by one worker at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from sqlalchemy import Column, Connection, Index, Table, UniqueConstraint, case, delete, null, or_, select, update

from bot.store.border import canonical_json
from bot.store.columns import METADATA, CleanText, Instant, Json, WholeNumber, counters
from bot.store.dialect import among, insert_into

OUTBOX = Table(
    "outbox",
    METADATA,
    Column("id", WholeNumber, primary_key=True),
    Column("intent_key", CleanText, nullable=False),
    Column("kind", CleanText, nullable=False),
    Column("installation_id", WholeNumber),
    Column("repository_id", WholeNumber, nullable=False),
    Column("target", Json, nullable=False),
    Column("body", Json, nullable=False),
    Column("body_hash", CleanText, nullable=False),
    Column("posted_hash", CleanText),
    Column("remote_id", CleanText),
    Column("state", CleanText, nullable=False, server_default="waiting"),
    *counters("attempt"),
    Column("lease_until", Instant),
    Column("changed_at", Instant, nullable=False),
    Column("last_error", CleanText),
    Column("posted_at", Instant),
    Column("removals", WholeNumber, nullable=False, server_default="0"),
    UniqueConstraint("intent_key"),
    Index(None, "repository_id"),
    Index(None, "state", "changed_at"),
)


WITHDRAWN = -1
"""the value of `removals` of a post that was deleted for good"""


class Intent(Struct, frozen=True):
    """Something to post or edit. `key` identifies it for ever, for example `check:<repository id>:<commit>`."""

    key: str
    kind: str
    repository_id: int
    target: dict[str, Any]
    body: dict[str, Any]
    installation_id: int | None = None


class Posting(Struct, frozen=True):
    """A claimed intent. With a `remote_id` it exists at GitHub already; `attempt` is the fencing token."""

    id: int
    intent: Intent
    remote_id: str | None
    attempt: int
    body_hash: str
    posted_at: datetime | None = None
    """when what stands at GitHub was created"""
    removals: int = 0
    """how often it was asked that what stands at GitHub is deleted, with all its revisions, and not only edited"""


def add_intent(connection: Connection, intent: Intent, now: datetime) -> int | None:
    """Write the intent in the caller's transaction; return its row id, or None if the same body is posted already."""
    body_hash = hashlib.sha256(canonical_json(intent.body).encode()).hexdigest()
    names = ("kind", "installation_id", "repository_id", "target", "body")
    row = {name: getattr(intent, name) for name in names} | {"intent_key": intent.key}
    statement = insert_into(connection, OUTBOX).values(row | {"body_hash": body_hash, "changed_at": now})
    new = statement.excluded
    # A posting in flight keeps its lease: `mark_posted` notices that the body has changed, and leaves the row waiting.
    state = case(
        (OUTBOX.c.removals == WITHDRAWN, "done"),
        (OUTBOX.c.state == "claimed", OUTBOX.c.state),
        (OUTBOX.c.posted_hash == new.body_hash, "done"),
        else_="waiting",
    )
    changed = {name: new[name] for name in ("target", "body", "body_hash", "installation_id", "changed_at")}
    statement = statement.on_conflict_do_update(
        index_elements=["intent_key"], set_=changed | {"state": state}, where=OUTBOX.c.body_hash != new.body_hash
    )
    connection.execute(statement)
    # A text that says the same as before names nobody who is to leave it.
    unchanged = (OUTBOX.c.state == "done") & (OUTBOX.c.posted_hash == body_hash) & (OUTBOX.c.removals > 0)
    connection.execute(update(OUTBOX).where(OUTBOX.c.intent_key == intent.key, unchanged).values(removals=0))
    found = connection.execute(select(OUTBOX.c.id, OUTBOX.c.state).where(OUTBOX.c.intent_key == intent.key)).one()
    return None if found.state == "done" else int(found.id)


def take_back(connection: Connection, keys: Collection[str]) -> None:
    """Ask that the next other text under these keys does not edit what stands at GitHub, which keeps every revision.

    What stands there is deleted; the new text, if there is any, is posted in its place.
    """
    posted = OUTBOX.c.remote_id.is_not(None) | (OUTBOX.c.attempt > 0)
    for these in among(OUTBOX.c.intent_key, sorted(keys)):
        begun = these & posted & (OUTBOX.c.removals != WITHDRAWN)
        connection.execute(update(OUTBOX).where(begun).values(removals=OUTBOX.c.removals + 1))


def is_removed(connection: Connection, key: str) -> bool:
    """Whether what stands at GitHub under this key is to be deleted, or was for good."""
    query = select(OUTBOX.c.removals).where(OUTBOX.c.intent_key == key)
    return bool(connection.execute(query).scalar_one_or_none())


def post_again(connection: Connection, key: str) -> None:
    """Post the next intent of this key even if its body is unchanged."""
    posted = (OUTBOX.c.intent_key == key) & (OUTBOX.c.state == "done")
    connection.execute(update(OUTBOX).where(posted).values(state="waiting", posted_hash=None))


def withdraw(connection: Connection, keys: Sequence[str]) -> None:
    """Delete intents that nobody has begun to post; what is, or may be, at GitHub stays."""
    if not keys:
        return
    unbegun = (OUTBOX.c.state == "waiting") & (OUTBOX.c.attempt == 0) & OUTBOX.c.remote_id.is_(None)
    connection.execute(delete(OUTBOX).where(OUTBOX.c.intent_key.in_(keys), unbegun))


def claim(connection: Connection, outbox_id: int, *, now: datetime, lease_until: datetime) -> Posting | None:
    """Claim one intent; None if it is posted, given up, or leased by another worker."""
    free = or_(OUTBOX.c.state == "waiting", (OUTBOX.c.state == "claimed") & (OUTBOX.c.lease_until <= now))
    values = {"state": "claimed", "lease_until": lease_until, "attempt": OUTBOX.c.attempt + 1}
    statement = update(OUTBOX).where(OUTBOX.c.id == outbox_id, free).values(values).returning(*OUTBOX.c)
    row = connection.execute(statement).one_or_none()
    if row is None:
        return None
    intent = Intent(row.intent_key, row.kind, row.repository_id, row.target, row.body, row.installation_id)
    return Posting(row.id, intent, row.remote_id, row.attempt, row.body_hash, row.posted_at, row.removals)


def renew(connection: Connection, posting: Posting, until: datetime) -> None:
    """Extend the lease if it was not lost."""
    connection.execute(update(OUTBOX).where(*_mine(posting)).values(lease_until=until))


def mark_posted(
    connection: Connection, posting: Posting, remote_id: str | None, now: datetime, *, withdrawn: bool = False
) -> bool:
    """Record its id at GitHub, or that nothing stands there. False if the lease was lost, or a newer body is waiting.

    With `withdrawn`, nothing is posted under this key any more.
    """
    current = (OUTBOX.c.body_hash == posting.body_hash) | withdrawn
    # What was asked while this was being posted is still to be done.
    asked_since = OUTBOX.c.removals - posting.removals
    values = {
        "state": case((current, "done"), else_="waiting"),
        "posted_hash": posting.body_hash,
        "remote_id": remote_id,
        "posted_at": posting.posted_at if remote_id == posting.remote_id else now,
        "removals": WITHDRAWN if withdrawn else asked_since,
        "lease_until": null(),
        "last_error": null(),
    }
    statement = update(OUTBOX).where(*_mine(posting)).values(values).returning(OUTBOX.c.state)
    return bool(connection.execute(statement).scalar_one_or_none() == "done")


def release(connection: Connection, posting: Posting, error: str, *, give_up: bool = False) -> bool:
    """Release an unposted intent to be tried again, or (`give_up`) until a newer body. False if the lease was lost."""
    values = {"state": "failed" if give_up else "waiting", "lease_until": None, "last_error": error}
    return connection.execute(update(OUTBOX).where(*_mine(posting)).values(values)).rowcount == 1


def _mine(posting: Posting) -> tuple[Any, ...]:
    return OUTBOX.c.id == posting.id, OUTBOX.c.state == "claimed", OUTBOX.c.attempt == posting.attempt


def is_posted(connection: Connection, key: str) -> bool:
    """Whether an intent of this key exists, posted or not."""
    return bool(begun_keys(connection, [key]))


def begun_keys(connection: Connection, keys: Sequence[str]) -> set[str]:
    """The keys under which an intent exists, posted or not."""
    if not keys:
        return set()
    return set(connection.execute(select(OUTBOX.c.intent_key).where(OUTBOX.c.intent_key.in_(keys))).scalars())


def intents(connection: Connection, repository_id: int, kinds: tuple[str, ...]) -> list[tuple[Intent, datetime]]:
    """All intents of these kinds in one repository, with the time each was last changed, oldest first."""
    mine = (OUTBOX.c.repository_id == repository_id) & OUTBOX.c.kind.in_(kinds)
    rows = connection.execute(select(OUTBOX).where(mine).order_by(OUTBOX.c.changed_at, OUTBOX.c.id))
    return [
        (Intent(r.intent_key, r.kind, r.repository_id, r.target, r.body, r.installation_id), r.changed_at) for r in rows
    ]


def intents_of_kinds(connection: Connection, kinds: Collection[str]) -> list[Intent]:
    """All intents of these kinds, oldest first."""
    rows = connection.execute(select(OUTBOX).where(OUTBOX.c.kind.in_(kinds)).order_by(OUTBOX.c.id))
    return [Intent(r.intent_key, r.kind, r.repository_id, r.target, r.body, r.installation_id) for r in rows]


def empty(connection: Connection, key: str) -> None:
    """Store no text under this key any more; nothing is sent to GitHub."""
    values = {"body": {}, "body_hash": "", "state": "failed"}
    connection.execute(update(OUTBOX).where(OUTBOX.c.intent_key == key).values(values))


def intent_posted_as(connection: Connection, kind: str, repository_id: int, remote_id: int) -> Intent | None:
    """The intent posted at GitHub under this id."""
    mine = (OUTBOX.c.repository_id == repository_id) & (OUTBOX.c.kind == kind)
    query = select(OUTBOX).where(mine, OUTBOX.c.remote_id == str(remote_id))
    r = connection.execute(query).first()
    if r is None:
        return None
    return Intent(r.intent_key, r.kind, r.repository_id, r.target, r.body, r.installation_id)


def busy_until(connection: Connection, outbox_id: int) -> datetime | None:
    """When another worker's lease on an intent ends; None if there is none."""
    query = select(OUTBOX.c.lease_until).where(OUTBOX.c.id == outbox_id, OUTBOX.c.state == "claimed")
    return connection.execute(query).scalar_one_or_none()


def free_all(connection: Connection, now: datetime) -> None:
    """End every lease; only for a process that is certainly the only one."""
    connection.execute(update(OUTBOX).where(OUTBOX.c.state == "claimed").values(lease_until=now))

"""How is a person erased so that data which arrives later does not restore them?

A salted hash of each key remains. It names nobody. Only with the salt, which is stored only in this database, can it
show whether a person was erased.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Column, Connection, Table, delete, or_, select, update

from bot.landing.identity.credit import person_key, signature_of
from bot.landing.identity.evidence import named_keys
from bot.landing.message.trailers import as_trailer
from bot.model.commit import Signature
from bot.model.fact import Evidence, Fact, fact_from_json, fact_to_json
from bot.model.ids import PersonKey, RepositoryId
from bot.store.changes import CONTRIBUTION
from bot.store.columns import METADATA, CleanText, Instant, WholeNumber
from bot.store.corrections import CORRECTION
from bot.store.dialect import STREAMED, fetch, is_one_of, lock, value_list
from bot.store.inserts import insert_absent
from bot.store.installations import REPOSITORY
from bot.store.ledger import FACT, FACT_PERSON
from bot.store.measurements import forget as forget_measurements
from bot.store.observations import forget as forget_observations
from bot.store.people import PERSON, PERSON_ALIAS
from bot.store.pulls import PULL_REQUEST
from bot.store.totals import TOTALS
from bot.store.wordings import forget as forget_wordings

ERASURE_SALT = Table(
    "erasure_salt",
    METADATA,
    Column("number", WholeNumber, primary_key=True, autoincrement=False),
    Column("salt", CleanText, nullable=False),
)
TOMBSTONE = Table(
    "tombstone",
    METADATA,
    Column("hash", CleanText, primary_key=True),
    Column("made_at", Instant, nullable=False),
)
NOBODY = Signature("", "")
"""replaces an erased person in other people's work"""


_GATE = 0x616C6D62 << 32
"""the advisory lock that recorders share; the locks for folding use other numbers"""


def _lock_erasures(connection: Connection, *, shared: bool) -> None:
    """Until the transaction ends nobody is erased, and nobody records unless the lock is `shared`.

    A recorder that looked for erased people before an erasure has therefore finished writing, and its rows are erased,
    too.
    """
    lock(connection, _GATE, shared=shared)


def add_tombstones(connection: Connection, keys: Iterable[PersonKey], now: datetime) -> None:
    """Record nothing about these people from now on."""
    _lock_erasures(connection, shared=False)
    insert_absent(connection, ERASURE_SALT, [{"number": 1, "salt": secrets.token_hex(32)}])
    salt = _salt(connection)
    insert_absent(connection, TOMBSTONE, [{"hash": _hash(salt, key), "made_at": now} for key in sorted(set(keys))])


def erased_people(connection: Connection, keys: Iterable[PersonKey]) -> frozenset[PersonKey]:
    """The keys whose people were erased."""
    _lock_erasures(connection, shared=True)
    salt = _salt(connection)
    if not salt:
        return frozenset()
    hashes = {_hash(salt, key): key for key in keys}
    rows = connection.execute(select(TOMBSTONE.c.hash).where(TOMBSTONE.c.hash.in_(hashes)))
    return frozenset(hashes[row.hash] for row in rows)


def _salt(connection: Connection) -> str:
    return connection.execute(select(ERASURE_SALT.c.salt)).scalar_one_or_none() or ""


def _hash(salt: str, key: PersonKey) -> str:
    return hashlib.blake2b(key.encode(), key=bytes.fromhex(salt), digest_size=32).hexdigest()


# --- incoming data ---------------------------------------------------------------------------------------------------


def facts_without_erased(connection: Connection, facts: Iterable[Fact]) -> list[Fact]:
    """The facts that may be recorded: none authored by erased people, and none of their names in the others."""
    given = list(facts)
    _lock_erasures(connection, shared=True)
    rows = fetch(connection, "SELECT salt FROM erasure_salt")
    if not rows:
        return given
    hashes = {_hash(rows[0][0], key): key for key in sorted({key for fact in given for key in named_keys(fact)})}
    sql = f"SELECT hash FROM tombstone WHERE {is_one_of(connection, 'hash')}"  # noqa: S608  # a name
    gone = {hashes[row[0]] for row in fetch(connection, sql, (value_list(connection, list(hashes)),))}
    return [clean_fact(fact, gone) for fact in given if person_key(fact.author) not in gone] if gone else given


def clean_fact(fact: Fact, gone: Collection[PersonKey]) -> Fact:
    """The fact without the people in `gone`, except for its author. Their share of a squash stays, without a name."""
    committer = NOBODY if person_key(fact.committer) in gone else fact.committer
    helpers = tuple(sig for sig in fact.co_authors if person_key(sig) not in gone)
    return replace(fact, committer=committer, co_authors=helpers, evidence=_clean_evidence(fact.evidence, gone))


def _clean_evidence(found: Evidence | None, gone: Collection[PersonKey]) -> Evidence | None:
    if found is None:
        return None
    shares = [replace(one, author=NOBODY, title="") if person_key(one.author) in gone else one for one in found.shares]
    opener, pusher, signer = (
        None if who is not None and PersonKey(f"u:{who}") in gone else who
        for who in (found.opener, found.pusher, found.signer)
    )
    helpers = tuple(who for who in found.collaborators if PersonKey(f"u:{who}") not in gone)
    return replace(found, opener=opener, pusher=pusher, signer=signer, shares=tuple(shares), collaborators=helpers)


# --- stored data -----------------------------------------------------------------------------------------------------


def work_of(connection: Connection, keys: Collection[PersonKey]) -> list[tuple[RepositoryId, Fact]]:
    """The facts these people authored or co-authored, with their repositories, oldest first."""
    theirs = select(FACT_PERSON.c.fact_id).where(FACT_PERSON.c.person_key.in_(keys))
    query = select(FACT.c.repository_id, FACT.c.payload).where(FACT.c.id.in_(theirs))
    rows = connection.execute(query.order_by(FACT.c.landed_at, FACT.c.repository_id, FACT.c.commit_id))
    return [(RepositoryId(row.repository_id), fact_from_json(row.payload)) for row in rows]


def erase_record(connection: Connection, keys: Collection[PersonKey]) -> None:
    """Delete what names these people: their facts, totals, aliases and corrections; others' facts lose the name."""
    connection.execute(delete(FACT).where(FACT.c.author_key.in_(keys)))
    _clean_facts(connection, keys)
    _clean_pull_requests(connection, keys)
    connection.execute(delete(CONTRIBUTION).where(CONTRIBUTION.c.person_key.in_(keys)))
    connection.execute(delete(TOTALS).where(TOTALS.c.person_key.in_(keys)))
    forget_wordings(connection, keys)
    forget_observations(connection, keys)
    forget_measurements(connection, sorted(keys))
    own = or_(CORRECTION.c.person_key.in_(keys), CORRECTION.c.made_by.in_(keys) & (CORRECTION.c.kind != "classify"))
    connection.execute(delete(CORRECTION).where(own))
    # Their classifications of others' work stay valid; who made them is forgotten.
    connection.execute(update(CORRECTION).where(CORRECTION.c.made_by.in_(keys)).values(made_by=""))
    connection.execute(delete(PERSON_ALIAS).where(PERSON_ALIAS.c.person_key.in_(keys)))
    connection.execute(delete(PERSON).where(PERSON.c.key.in_(keys)))


def _clean_facts(connection: Connection, keys: Collection[PersonKey]) -> None:
    """Remove them as co-author or committer from others' facts; committers have no index, so all are searched."""
    rows = connection.execute(select(FACT.c.id, FACT.c.payload).execution_options(yield_per=STREAMED))
    theirs = [(row.id, fact) for row in rows if named_keys(fact := fact_from_json(row.payload)) & set(keys)]
    for number, fact in theirs:
        values = {"payload": fact_to_json(clean_fact(fact, keys))}
        connection.execute(update(FACT).where(FACT.c.id == number).values(values))
    connection.execute(delete(FACT_PERSON).where(FACT_PERSON.c.person_key.in_(keys)))


def _clean_pull_requests(connection: Connection, keys: Collection[PersonKey]) -> None:
    """Stored pull requests name people as `[name, e-mail, user id, login, bot]`."""
    table = PULL_REQUEST.join(REPOSITORY, REPOSITORY.c.id == PULL_REQUEST.c.repository_id)
    query = select(PULL_REQUEST.c.repository_id, PULL_REQUEST.c.number, PULL_REQUEST.c.payload).select_from(table)
    for row in connection.execute(query).all():
        payload = without_people(row.payload, keys)
        if payload != row.payload:
            same = (PULL_REQUEST.c.repository_id == row.repository_id) & (PULL_REQUEST.c.number == row.number)
            connection.execute(update(PULL_REQUEST).where(same).values(payload=payload))


def pull_request_without_erased(connection: Connection, payload: dict[str, Any]) -> dict[str, Any]:
    """The pull request without erased people, as it may be stored."""
    rows = [payload.get("author"), *(author for author, *_ in payload.get("shares", ()))]
    signatures = [
        *(_signature(row) for row in rows if row),
        *(sig for line in payload["body"].split("\n") if (sig := _names_credit(line))),
    ]
    gone = erased_people(connection, {person_key(sig) for sig in signatures})
    return without_people(payload, gone) if gone else payload


def without_people(payload: dict[str, Any], keys: Collection[PersonKey]) -> dict[str, Any]:
    """A stored pull request without these people: no author or credit, and their shares without a name."""
    own = _is_of(payload.get("author"), keys)
    return payload | {
        "author": None if own else payload.get("author"),
        # Text that they wrote and a branch that they named may identify them.
        "body": "" if own else _without_credits(payload["body"], keys),
        "head_ref": "" if own else payload["head_ref"],
        "shares": [
            [["", "", None, None, False], *counts, ""] if _is_of(author, keys) else [author, *counts, title]
            for author, *counts, title in payload.get("shares", ())
        ],
        "collaborators": [who for who in payload.get("collaborators", ()) if f"u:{who}" not in keys],
    }


def _is_of(row: list[Any] | None, keys: Collection[PersonKey]) -> bool:
    return bool(row) and person_key(_signature(row or [])) in keys


def _signature(row: list[Any]) -> Signature:
    name, email, user_id, login, bot = row
    return Signature(name, email, user_id, login, bot)


def _without_credits(text: str, keys: Collection[PersonKey]) -> str:
    """The text without the lines that credit these people or are signed off by them."""
    lines = text.split("\n")
    return "\n".join(line for line in lines if (sig := _names_credit(line)) is None or person_key(sig) not in keys)


def _names_credit(line: str) -> Signature | None:
    trailer = as_trailer(line)
    return signature_of(trailer[1]) if trailer is not None else None

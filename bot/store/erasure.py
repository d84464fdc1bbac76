"""How is a person erased so that data which arrives later does not restore them?

A salted hash of each key remains, and of each name, login, address and title (`bot/landing/identity/marks.py`), because
other people's texts quote them. Hashes name nobody. Only with the salt, which is stored only in this database, can they
show whether a person was erased.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Column, Connection, Table, delete, func, or_, select, update

from bot.landing.identity.credit import person_key, signature_of
from bot.landing.identity.evidence import named_keys
from bot.landing.identity.marks import candidates, fact_without_marks, marks_of, texts_of_fact, without_marks
from bot.landing.message.trailers import as_trailer
from bot.landing.same_work.keys import plain_title
from bot.metrics import kind_model
from bot.model.commit import Commit, Signature
from bot.model.fact import Evidence, Fact, fact_from_json, fact_to_json
from bot.model.ids import PersonKey, RepositoryId
from bot.store.changes import CONTRIBUTION
from bot.store.columns import METADATA, CleanText, Instant, WholeNumber
from bot.store.corrections import CORRECTION
from bot.store.dialect import STREAMED, among, fetch, is_one_of, lock, value_list
from bot.store.inserts import insert_absent
from bot.store.installations import REPOSITORY
from bot.store.ledger import FACT, FACT_PERSON, write_keys_again
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


def is_anybody_erased(connection: Connection) -> bool:
    return bool(_salt(connection))


def known_marks(connection: Connection, texts: Iterable[str]) -> frozenset[str]:
    """The marks of erased people in these texts."""
    salt = _salt(connection)
    if not salt:
        return frozenset()
    hashes = {_hash(salt, one.mark): one.mark for text in texts for one in candidates(text)}
    found: set[str] = set()
    for these in among(TOMBSTONE.c.hash, list(hashes)):
        found |= {hashes[row.hash] for row in connection.execute(select(TOMBSTONE.c.hash).where(these))}
    return frozenset(found)


def names_erased(connection: Connection, commits: Iterable[Commit]) -> bool:
    """Whether one of these commits names an erased person."""
    given = list(commits) if is_anybody_erased(connection) else []
    keys = {person_key(sig) for one in given for sig in (one.author, one.committer)}
    texts = (line for one in given for line in one.message.split("\n"))
    return bool(given) and bool(erased_people(connection, keys) or known_marks(connection, texts))


def _salt(connection: Connection) -> str:
    return connection.execute(select(ERASURE_SALT.c.salt)).scalar_one_or_none() or ""


def _hash(salt: str, key: str) -> str:
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
    kept = [clean_fact(fact, gone) for fact in given if person_key(fact.author) not in gone] if gone else given
    if len(kept) < len(given):
        lost = [fact for fact in given if person_key(fact.author) in gone]
        add_marks(connection, {f"title:{plain_title(text)}" for fact in lost for text in (fact.title, fact.subject)})
    marks = known_marks(connection, (text for fact in kept for text in texts_of_fact(fact)))
    return [fact_without_marks(fact, marks) for fact in kept] if marks else kept


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


def marks_of_people(connection: Connection, keys: Collection[PersonKey]) -> frozenset[str]:
    """The names, logins, addresses and titles by which texts refer to these people."""
    rows = connection.execute(select(PERSON.c.login, PERSON.c.name).where(PERSON.c.key.in_(keys)))
    signed = {Signature(row.name or "", "", None, row.login) for row in rows}
    aliases = select(PERSON_ALIAS.c.kind, PERSON_ALIAS.c.value).where(PERSON_ALIAS.c.person_key.in_(keys))
    for kind, value in connection.execute(aliases):
        of_kind = {"name": Signature(value, ""), "email": Signature("", value)}
        signed.add(of_kind.get(kind) or Signature("", "", None, value))
    titles: set[str] = set()
    for _, fact in work_of(connection, keys):
        shares = fact.evidence.shares if fact.evidence else ()
        everybody = (fact.author, fact.committer, *fact.co_authors, *(one.author for one in shares))
        signed |= {sig for sig in everybody if person_key(sig) in keys}
        titles |= {one.title for one in shares if person_key(one.author) in keys}
        opener = fact.evidence.opener if fact.evidence else None
        if person_key(fact.author) in keys or f"u:{opener}" in keys:
            titles |= {fact.title, fact.subject}
    for row in connection.execute(select(PULL_REQUEST.c.payload)):
        if _is_of(row.payload.get("author"), keys):
            titles.add(row.payload["title"])
    return frozenset(marks_of(signed, titles, kind_model.load().learnt["words"].positions))


def add_marks(connection: Connection, marks: Iterable[str]) -> None:
    """Let no text bring these back. The salt exists once somebody was erased."""
    salt = _salt(connection)
    made = connection.execute(select(func.min(TOMBSTONE.c.made_at))).scalar()
    insert_absent(connection, TOMBSTONE, [{"hash": _hash(salt, one), "made_at": made} for one in sorted(set(marks))])


def erase_record(
    connection: Connection, keys: Collection[PersonKey], marks: Collection[str]
) -> list[tuple[RepositoryId, Fact]]:
    """Delete what names these people: their facts, totals, aliases and corrections; others' facts lose the names.

    Returns the facts of others whose texts changed.
    """
    connection.execute(delete(FACT).where(FACT.c.author_key.in_(keys)))
    quoting = _clean_facts(connection, keys, marks)
    _clean_pull_requests(connection, keys, marks)
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
    _clean_disputes(connection, marks)
    return quoting


def _clean_disputes(connection: Connection, marks: Collection[str]) -> None:
    """Others' disputes without these words."""
    disputes = select(CORRECTION.c.event_key, CORRECTION.c.value).where(CORRECTION.c.kind == "dispute")
    for row in connection.execute(disputes).all():
        value = row.value | {"text": without_marks(row.value["text"], marks)}
        if value != row.value:
            same = CORRECTION.c.event_key == row.event_key
            connection.execute(update(CORRECTION).where(same).values(value=value))


def _clean_facts(
    connection: Connection, keys: Collection[PersonKey], marks: Collection[str]
) -> list[tuple[RepositoryId, Fact]]:
    """Remove them and their words from others' facts; return those whose texts changed, as they are now.

    Neither committers nor texts have an index, so all facts are searched.
    """
    query = select(FACT.c.id, FACT.c.repository_id, FACT.c.payload).execution_options(yield_per=STREAMED)
    changed: dict[int, Fact] = {}
    quoting: list[tuple[RepositoryId, Fact]] = []
    for row in connection.execute(query):
        fact = fact_from_json(row.payload)
        named = clean_fact(fact, keys) if named_keys(fact) & set(keys) else fact
        cleaned = fact_without_marks(named, marks)
        if cleaned != fact:
            changed[row.id] = cleaned
        if cleaned != named:
            quoting.append((RepositoryId(row.repository_id), cleaned))
    for number, fact in changed.items():
        connection.execute(update(FACT).where(FACT.c.id == number).values(payload=fact_to_json(fact)))
    write_keys_again(connection, changed)
    connection.execute(delete(FACT_PERSON).where(FACT_PERSON.c.person_key.in_(keys)))
    return quoting


def _clean_pull_requests(connection: Connection, keys: Collection[PersonKey], marks: Collection[str]) -> None:
    """Stored pull requests name people as `[name, e-mail, user id, login, bot]`."""
    table = PULL_REQUEST.join(REPOSITORY, REPOSITORY.c.id == PULL_REQUEST.c.repository_id)
    query = select(PULL_REQUEST.c.repository_id, PULL_REQUEST.c.number, PULL_REQUEST.c.payload).select_from(table)
    for row in connection.execute(query).all():
        payload = _without_words(without_people(row.payload, keys), marks)
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
    kept = without_people(payload, gone) if gone else payload
    marks = known_marks(connection, (kept["title"], kept["head_ref"], *kept["body"].split("\n")))
    return _without_words(kept, marks) if marks else kept


def _without_words(payload: dict[str, Any], marks: Collection[str]) -> dict[str, Any]:
    lines = (without_marks(line, marks) for line in payload["body"].split("\n"))
    named = {name: without_marks(payload[name], marks) for name in ("title", "head_ref")}
    return payload | named | {"body": "\n".join(lines)}


def without_people(payload: dict[str, Any], keys: Collection[PersonKey]) -> dict[str, Any]:
    """A stored pull request without these people: no author or credit, and their shares without a name."""
    own = _is_of(payload.get("author"), keys)
    return payload | {
        "author": None if own else payload.get("author"),
        # Text that they wrote and a branch that they named may identify them.
        "title": "" if own else payload["title"],
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

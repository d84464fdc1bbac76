"""Which commits landed, and what was measured? The append-only facts, and the keys that connect facts of one change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace
from pydantic_core import from_json
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    ForeignKey,
    FromClause,
    Index,
    Table,
    UniqueConstraint,
    delete,
    func,
    select,
    union,
    update,
)

from bot.landing.identity.credit import credited_keys, person_key
from bot.landing.same_work.keys import commit_key
from bot.metrics.registry import FACT_METHOD
from bot.model.fact import Fact, fact_from_json, fact_to_json
from bot.model.ids import CommitId, PersonKey, RepositoryId
from bot.store import lines
from bot.store.border import REPLACEMENT, ordered_json
from bot.store.columns import METADATA, CleanText, EncodedJson, Instant, Json, WholeNumber
from bot.store.dialect import Row, among, execute, fetch, is_one_of, is_postgresql, value_list
from bot.store.fact_keys import DUPLICATE, OFFERS, KeyedFact, with_keys
from bot.store.inserts import Insert
from bot.store.installations import REPOSITORY

FACT = Table(
    "fact",
    METADATA,
    Column("id", WholeNumber, primary_key=True),
    Column("repository_id", WholeNumber, ForeignKey(REPOSITORY.c.id), nullable=False),
    Column("commit_id", CleanText, nullable=False),
    Column("landed_at", WholeNumber, nullable=False),
    Column("author_key", CleanText, nullable=False),
    Column("pull_request", WholeNumber),
    Column("recorded_at", Instant, nullable=False),
    Column("payload", Json, nullable=False),
    # The version of the definitions that measured it; 0 before versions were stored.
    Column("method", WholeNumber, nullable=False, server_default="0"),
    UniqueConstraint("repository_id", "commit_id"),
    Index(None, "repository_id", "landed_at"),
    Index(None, "repository_id", "pull_request"),
)
# A trigger deletes a fact's keys with it; a foreign key would be checked for each row (docs/decisions/0083).
FACT_KEY = Table(
    "fact_key",
    METADATA,
    Column("key", CleanText, primary_key=True),
    Column("role", CleanText, primary_key=True),
    Column("fact_id", WholeNumber, primary_key=True),
    Index(None, "fact_id"),
    sqlite_with_rowid=False,
)
# Credited people: authors and co-authors, both of whom `facts_of` looks for.
FACT_PERSON = Table(
    "fact_person",
    METADATA,
    Column("person_key", CleanText, primary_key=True),
    Column("fact_id", WholeNumber, primary_key=True),
    Index(None, "fact_id"),
    sqlite_with_rowid=False,
)


def append_facts(
    connection: Connection, repository_id: RepositoryId, facts: Iterable[Fact], now: datetime
) -> dict[int, KeyedFact]:
    """Append the facts that the ledger does not hold yet; return the new ones as stored, by row number.

    Four statements whatever the number, so that the cost of a landing does not grow.
    """
    hashed = {fact.commit: fact for fact in facts}
    given = {commit: replace(fact, line_hashes=b"") for commit, fact in hashed.items()}
    payloads = {commit: EncodedJson(ordered_json(fact_to_json(fact))) for commit, fact in given.items()}
    rows = [_row(fact, repository_id, payloads[commit], now) for commit, fact in sorted(given.items())]
    ids: dict[CommitId, int] = dict(_FACTS.run_returning(connection, _FACTS.clean_rows(connection, rows), _NUMBERED))
    new = with_keys({ids[commit]: _kept(fact, payloads[commit]) for commit, fact in given.items() if commit in ids})
    _write_keys(connection, new)
    landed = {number: hashed[one.fact.commit] for number, one in new.items()}
    _LINE_HASHES.run(connection, lines.hash_rows(landed, repository_id))
    return new


def _kept(fact: Fact, payload: str) -> Fact:
    """The fact as a reader will get it, with the characters replaced that a database refuses."""
    return fact_of(payload) if REPLACEMENT in payload else fact


_FACTS = Insert(
    FACT,
    (
        *("repository_id", "commit_id", "landed_at", "author_key", "pull_request"),
        *("recorded_at", "payload", "method"),
    ),
)
_NUMBERED = ("commit_id", "id")
_KEYS = Insert(FACT_KEY, ("key", "role", "fact_id"))
_PEOPLE = Insert(FACT_PERSON, ("person_key", "fact_id"))
_LINE_HASHES = Insert(lines.LINE_HASH, lines.COLUMNS)


def _row(fact: Fact, repository_id: RepositoryId, payload: EncodedJson, now: datetime) -> tuple[Any, ...]:
    who = person_key(fact.author)
    return repository_id, fact.commit, fact.landed_at, who, fact.pull_request, now, payload, FACT_METHOD


def _write_keys(connection: Connection, new: Mapping[int, KeyedFact]) -> None:
    """Write keys and people of stored facts, which are clean already."""
    _KEYS.run(connection, [row for number, one in new.items() for row in one.rows(number)])
    _PEOPLE.run(connection, [(key, number) for number, one in new.items() for key in credited_keys(one.fact)])


def write_keys_again(connection: Connection, facts: Mapping[int, Fact]) -> None:
    """Replace the keys of stored facts whose texts changed; people are the caller's to delete."""
    if facts:
        for these in among(FACT_KEY.c.fact_id, sorted(facts)):
            connection.execute(delete(FACT_KEY).where(these))
        _KEYS.run(connection, [row for number, one in with_keys(facts).items() for row in one.rows(number)])


def meets(left: FromClause, right: FromClause) -> ColumnElement[bool]:
    """Whether two rows of keys, from different facts, join the facts: one asks for what the other offers."""
    both_ask = (left.c.role == OFFERS) & func.substr(left.c.key, 1, 6).not_in(DUPLICATE)
    return (right.c.key == left.c.key) & ((right.c.role != left.c.role) | both_ask)


def numbered_facts(connection: Connection, numbers: Sequence[int]) -> dict[int, Fact]:
    """The facts of these rows."""
    if not numbers:
        return {}
    # As bytes, because the driver would decode them to text, which the JSON parser would encode again.
    payload = "payload" if is_postgresql(connection) else "CAST(payload AS BLOB)"
    sql = f"SELECT id, {payload} FROM fact WHERE {is_one_of(connection, 'id', 'bigint')}"  # noqa: S608  # names
    return facts_by_number(fetch(connection, sql, (value_list(connection, numbers),)))


def fact_of(payload: str | bytes) -> Fact:
    """The fact in a row's text; field names repeat in every fact."""
    return fact_from_json(from_json(payload, cache_strings="keys"))


def facts_by_number(rows: Iterable[Row]) -> dict[int, Fact]:
    """The facts of rows that are a number and a payload."""
    return {int(number): fact_of(payload) for number, payload in rows}


def delete_facts(connection: Connection, numbers: Sequence[int]) -> None:
    """Delete these facts with their keys."""
    which = is_one_of(connection, "id", "bigint")
    execute(connection, f"DELETE FROM fact WHERE {which}", (value_list(connection, numbers),))  # noqa: S608  # names


def numbers_of(connection: Connection, repository_id: RepositoryId, commits: Sequence[CommitId]) -> list[int]:
    """The row numbers of these commits."""
    which = is_one_of(connection, "commit_id")
    sql = f"SELECT id FROM fact WHERE repository_id = ? AND {which}"  # noqa: S608  # names of this program
    return [int(row[0]) for row in fetch(connection, sql, (repository_id, value_list(connection, commits)))]


def component(
    connection: Connection, commits: Sequence[tuple[RepositoryId, CommitId]], *, installation_id: int | None
) -> list[Fact]:
    """Every fact that must be folded together with these commits, oldest first.

    Facts belong together if one asks for a key that the other offers, transitively. With an `installation_id` the
    search stays inside its repositories, so that no tenant sees another's; None searches all.
    """
    seeds = _ids(connection, commits)
    left, right = FACT_KEY.alias("here"), FACT_KEY.alias("there")
    reached = select(FACT.c.id).where(FACT.c.id.in_(seeds)).cte("reached", recursive=True)
    step = (
        select(right.c.fact_id)
        .select_from(reached)
        .join(left, left.c.fact_id == reached.c.id)
        .join(right, meets(left, right))
    )
    if installation_id is not None:
        step = step.join(FACT, FACT.c.id == right.c.fact_id).join(REPOSITORY, REPOSITORY.c.id == FACT.c.repository_id)
        step = step.where(REPOSITORY.c.installation_id == installation_id)
    reached = reached.union(step)
    return _facts(connection, FACT.c.id.in_(select(reached.c.id)))


def _ids(connection: Connection, commits: Sequence[tuple[RepositoryId, CommitId]]) -> list[int]:
    by_repository: dict[RepositoryId, list[CommitId]] = {}
    for repository_id, commit in commits:
        by_repository.setdefault(repository_id, []).append(commit)
    parts = [
        select(FACT.c.id).where(FACT.c.repository_id == repository_id, these)
        for repository_id, ids in sorted(by_repository.items())
        for these in among(FACT.c.commit_id, ids)
    ]
    return list(connection.execute(union(*parts)).scalars()) if parts else []


def facts_of(
    connection: Connection, people: Sequence[PersonKey], *, repositories: Sequence[RepositoryId]
) -> list[Fact]:
    """The facts these people authored or co-authored in these repositories, oldest first."""
    theirs = select(FACT_PERSON.c.fact_id).where(FACT_PERSON.c.person_key.in_(people))
    return _facts(connection, FACT.c.id.in_(theirs) & FACT.c.repository_id.in_(repositories))


def facts_in(connection: Connection, repository_id: RepositoryId, since: int = 0, until: int = 2**62) -> list[Fact]:
    """The facts of one repository landed in [since, until), epoch seconds, oldest first."""
    landed = FACT.c.landed_at
    return _facts(connection, (FACT.c.repository_id == repository_id) & (landed >= since) & (landed < until))


def recorded_commits(connection: Connection, repository_id: RepositoryId, commits: Sequence[CommitId]) -> set[CommitId]:
    """The commits that the ledger holds."""
    found: set[CommitId] = set()
    for these in among(FACT.c.commit_id, commits):
        same = (FACT.c.repository_id == repository_id) & these
        found |= {CommitId(row.commit_id) for row in connection.execute(select(FACT.c.commit_id).where(same))}
    return found


def _facts(connection: Connection, which: Any) -> list[Fact]:
    query = select(FACT.c.payload).where(which).order_by(FACT.c.landed_at, FACT.c.repository_id, FACT.c.commit_id)
    return [fact_from_json(row.payload) for row in connection.execute(query)]


def follow_rename(connection: Connection, repository_id: RepositoryId, old: str, new: str) -> int:
    """Write the new full name into the facts and keys of a renamed repository; return facts changed.

    Only this repository's own rows change: another repository may take the old name tomorrow, and must not inherit its
    work.
    """
    rows = list(connection.execute(select(FACT.c.id, FACT.c.payload).where(FACT.c.repository_id == repository_id)))
    renamed = [(row.id, _renamed(row.payload, old, new)) for row in rows]
    for fact_id, payload in renamed:
        connection.execute(update(FACT).where(FACT.c.id == fact_id).values(payload=payload))
        connection.execute(delete(FACT_KEY).where(FACT_KEY.c.fact_id == fact_id))
    rewritten = {fact_id: fact_from_json(payload) for fact_id, payload in renamed}
    _write_keys(connection, with_keys(rewritten))
    return len(renamed)


def _renamed(payload: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    for name in ("keys", "reverts", "relands", "links"):
        if name in payload:
            payload[name] = [_renamed_key(key, old, new) for key in payload[name]]
    return payload | {"repository": new}


def _renamed_key(key: str, old: str, new: str) -> str:
    """`pr:old/name#1`, `title:old/name:…` and similar keys with the new name; other keys unchanged."""
    kind, _, rest = key.partition(":")
    if rest.lower().startswith(old.lower()) and rest[len(old) : len(old) + 1] in {"#", ":"}:
        return f"{kind}:{new.lower() if rest[: len(old)].islower() else new}{rest[len(old) :]}"
    return key


def forget_facts(connection: Connection, repository_id: RepositoryId, commits: Sequence[CommitId]) -> None:
    """Delete facts that are about to be measured again, with their keys."""
    for these in among(FACT.c.commit_id, commits):
        same = (FACT.c.repository_id == repository_id) & these
        connection.execute(delete(FACT).where(same))


def facts_at(connection: Connection, repository_id: RepositoryId, commits: Sequence[CommitId]) -> list[Fact]:
    """The facts of these commits of one repository, oldest first."""
    return _facts(connection, (FACT.c.repository_id == repository_id) & FACT.c.commit_id.in_(commits))


def hashed_facts_at(connection: Connection, repository_id: RepositoryId, commits: Sequence[CommitId]) -> list[Fact]:
    """The same with the hashes of their lines, so that recording them once more loses nothing."""
    query = select(FACT.c.payload, lines.LINE_HASH.c.hashes).join_from(
        FACT, lines.LINE_HASH, FACT.c.id == lines.LINE_HASH.c.fact_id, isouter=True
    )
    mine = (FACT.c.repository_id == repository_id) & FACT.c.commit_id.in_(commits)
    rows = connection.execute(query.where(mine).order_by(FACT.c.landed_at, FACT.c.commit_id))
    return [replace(fact_from_json(row.payload), line_hashes=row.hashes or b"") for row in rows]


def facts_of_pull_request(connection: Connection, repository_id: RepositoryId, pull_request: int) -> list[Fact]:
    """The facts of one repository that one of its pull requests landed, oldest first."""
    return _facts(connection, (FACT.c.repository_id == repository_id) & (FACT.c.pull_request == pull_request))


def facts_of_merge_commit(connection: Connection, repository_id: RepositoryId, merge_commit: CommitId) -> list[Fact]:
    """The facts that one commit of the first-parent line landed, including its own."""
    offered = select(FACT_KEY.c.fact_id).where(FACT_KEY.c.key == commit_key(merge_commit), FACT_KEY.c.role == OFFERS)
    found = _facts(connection, FACT.c.id.in_(offered) & (FACT.c.repository_id == repository_id))
    return [fact for fact in found if fact.merge_commit == merge_commit]


def newest_merge_commit(connection: Connection, repository_id: RepositoryId, before: int = 2**62) -> CommitId | None:
    """The merge commit of the newest landing on the default branch `before` a time; None if nothing is recorded."""
    mine = select(FACT.c.payload).where((FACT.c.repository_id == repository_id) & (FACT.c.landed_at < before))
    row = connection.execute(mine.order_by(FACT.c.landed_at.desc(), FACT.c.commit_id).limit(1)).first()
    return None if row is None else fact_from_json(row.payload).merge_commit

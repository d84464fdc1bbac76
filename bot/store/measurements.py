"""Which facts were measured with definitions other than those in force? They are stored beside the ledger, by version.

When a definition changes, commits are measured again into these rows while the ledger's facts stay in force. After the
last commit of a repository the two are swapped, some hundred commits per transaction: the ledger then holds the new
facts, these rows the old. A commit and everything that folds with it are always in force in one version.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import Column, Connection, Table, delete, select, update

from bot.landing.identity.evidence import named_keys
from bot.model.fact import Fact, fact_from_json, fact_to_json
from bot.model.ids import CommitId, InstallationId, PersonKey, RepositoryId
from bot.store.columns import METADATA, CleanText, Instant, Json, WholeNumber
from bot.store.dialect import STREAMED
from bot.store.inserts import insert_absent
from bot.store.installations import REPOSITORY
from bot.store.ledger import FACT, FACT_PERSON

MEASUREMENT = Table(
    "measurement",
    METADATA,
    Column("repository_id", WholeNumber, primary_key=True, autoincrement=False),
    Column("commit_id", CleanText, primary_key=True),
    Column("method", WholeNumber, primary_key=True, autoincrement=False),
    Column("measured_at", Instant, nullable=False),
    Column("payload", Json, nullable=False),
)


def outdated_facts(connection: Connection, repository: RepositoryId, method: int, most: int) -> list[Fact]:
    """Facts in force that an older version measured and this one has not measured yet; newest first."""
    done = select(MEASUREMENT.c.commit_id).where(
        MEASUREMENT.c.repository_id == repository, MEASUREMENT.c.method == method
    )
    waiting = (FACT.c.repository_id == repository) & (FACT.c.method < method) & FACT.c.commit_id.not_in(done)
    query = select(FACT.c.payload).where(waiting).order_by(FACT.c.landed_at.desc(), FACT.c.commit_id).limit(most)
    return [fact_from_json(row.payload) for row in connection.execute(query)]


def repositories_outdated(connection: Connection, method: int) -> list[tuple[InstallationId, RepositoryId]]:
    """Repositories with facts of an older version in force; only those that an installation still reaches."""
    query = (
        select(REPOSITORY.c.installation_id, REPOSITORY.c.id)
        .join(FACT, FACT.c.repository_id == REPOSITORY.c.id)
        .where(FACT.c.method < method, REPOSITORY.c.installation_id.is_not(None), REPOSITORY.c.removed_at.is_(None))
        .distinct()
        .order_by(REPOSITORY.c.id)
    )
    return [(InstallationId(row[0]), RepositoryId(row[1])) for row in connection.execute(query)]


def mark_outdated(connection: Connection, installation: InstallationId, person: PersonKey, method: int) -> int:
    """Have everything by this person in an installation measured again, because its rules changed; the commits."""
    theirs = select(FACT_PERSON.c.fact_id).where(FACT_PERSON.c.person_key == person)
    reached = select(REPOSITORY.c.id).where(
        REPOSITORY.c.installation_id == installation, REPOSITORY.c.removed_at.is_(None)
    )
    wanted = FACT.c.id.in_(theirs) & FACT.c.repository_id.in_(reached) & (FACT.c.method == method)
    return connection.execute(update(FACT).where(wanted).values(method=method - 1)).rowcount


def keep(
    connection: Connection, repository: RepositoryId, facts: Iterable[Fact], *, method: int, now: datetime
) -> None:
    """Store measurements beside the ledger."""
    rows = [
        {
            "repository_id": repository,
            "commit_id": fact.commit,
            "method": method,
            "measured_at": now,
            "payload": fact_to_json(fact),
        }
        for fact in facts
    ]
    insert_absent(connection, MEASUREMENT, rows)


def measured_facts(
    connection: Connection, repository: RepositoryId, method: int, most: int | None = None
) -> list[Fact]:
    """Facts measured with one version and not in force, for commits that the ledger still holds; oldest first.

    At most `most` of them; None returns all.
    """
    same = (FACT.c.repository_id == MEASUREMENT.c.repository_id) & (FACT.c.commit_id == MEASUREMENT.c.commit_id)
    query = (
        select(MEASUREMENT.c.payload)
        .join(FACT, same)
        .where(MEASUREMENT.c.repository_id == repository, MEASUREMENT.c.method == method, FACT.c.method < method)
        .order_by(FACT.c.landed_at, FACT.c.commit_id)
        .limit(most)
    )
    return [fact_from_json(row.payload) for row in connection.execute(query)]


def set_aside(
    connection: Connection, repository: RepositoryId, commits: Sequence[CommitId], *, method: int, now: datetime
) -> None:
    """Store the older versions' measurements of these commits and drop those of this version, which is about to be in
    force."""
    older = (FACT.c.repository_id == repository) & FACT.c.commit_id.in_(commits) & (FACT.c.method < method)
    found = connection.execute(select(FACT.c.commit_id, FACT.c.method, FACT.c.payload).where(older)).mappings()
    insert_absent(connection, MEASUREMENT, [{**row, "repository_id": repository, "measured_at": now} for row in found])
    mine = (MEASUREMENT.c.repository_id == repository) & MEASUREMENT.c.commit_id.in_(commits)
    connection.execute(delete(MEASUREMENT).where(mine & (MEASUREMENT.c.method == method)))


def forget(connection: Connection, people: Sequence[PersonKey]) -> None:
    """Drop every measurement that names these people; the facts in force are cleaned by the ledger's own rules."""
    wanted = set(people)
    found = connection.execute(select(MEASUREMENT).execution_options(yield_per=STREAMED))
    rows = [row for row in found if wanted & named_keys(fact_from_json(row.payload))]
    for row in rows:
        same = (MEASUREMENT.c.repository_id == row.repository_id) & (MEASUREMENT.c.commit_id == row.commit_id)
        connection.execute(delete(MEASUREMENT).where(same & (MEASUREMENT.c.method == row.method)))

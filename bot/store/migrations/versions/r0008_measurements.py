"""What the metrics need: the past of files, what GitHub alone shows, and facts of other versions beside the ledger."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

from bot.metrics.hotspots import visits
from bot.model import fact_from_json
from bot.store.columns import Instant, Json, Whole, Words

revision = "0008"
down_revision = "0007"

_SLICE = 500


def upgrade() -> None:
    op.add_column("fact", sa.Column("method", Whole, server_default="0", nullable=False))
    _create_visit()
    _create_observation()
    op.create_table(
        "measurement",
        sa.Column("repository_id", Whole, autoincrement=False, nullable=False),
        sa.Column("commit_id", Words, nullable=False),
        sa.Column("method", Whole, autoincrement=False, nullable=False),
        sa.Column("measured_at", Instant, nullable=False),
        sa.Column("payload", Json, nullable=False),
        sa.PrimaryKeyConstraint("repository_id", "commit_id", "method", name="pk_measurement"),
    )
    _fill_visits()


def _create_visit() -> None:
    op.create_table(
        "visit",
        sa.Column("repository_id", Whole, autoincrement=False, nullable=False),
        sa.Column("file", Whole, autoincrement=False, nullable=False),
        sa.Column("fact_id", Whole, autoincrement=False, nullable=False),
        sa.Column("landed_at", Whole, nullable=False),
        sa.Column("weight", Whole, nullable=False),
        sa.ForeignKeyConstraint(["fact_id"], ["fact.id"], name="fk_visit_fact_id_fact", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("repository_id", "file", "fact_id", name="pk_visit"),
    )
    op.create_index("ix_visit_fact_id", "visit", ["fact_id"])


def _create_observation() -> None:
    op.create_table(
        "observation",
        sa.Column("repository_id", Whole, autoincrement=False, nullable=False),
        sa.Column("number", Whole, autoincrement=False, nullable=False),
        sa.Column("signal", Words, nullable=False),
        sa.Column("source", Words, nullable=False),
        sa.Column("person_key", Words, server_default="", nullable=False),
        sa.Column("at", Instant, nullable=False),
        sa.Column("value", Json, nullable=False),
        sa.PrimaryKeyConstraint("repository_id", "number", "signal", "source", name="pk_observation"),
    )
    op.create_index("ix_observation_person_key", "observation", ["person_key"])


def _fill_visits() -> None:
    """What facts recorded before have visited."""
    conn = op.get_bind()
    last = 0
    query = sa.text("SELECT id, repository_id, payload FROM fact WHERE id > :last ORDER BY id LIMIT :most")
    insert = sa.text(
        "INSERT INTO visit (repository_id, file, fact_id, landed_at, weight)"
        " VALUES (:repository_id, :file, :fact_id, :landed_at, :weight)"
    )
    while found := conn.execute(query, {"last": last, "most": _SLICE}).all():
        rows = []
        for fact_id, repository_id, payload in found:
            fact = fact_from_json(json.loads(payload))
            rows += [
                {
                    "repository_id": repository_id,
                    "file": file,
                    "fact_id": fact_id,
                    "landed_at": fact.landed_at,
                    "weight": weight,
                }
                for file, weight in visits(fact)
            ]
        if rows:
            conn.execute(insert, rows)
        last = found[-1][0]

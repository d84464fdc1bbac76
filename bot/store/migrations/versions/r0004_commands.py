"""What commands and repository settings need: configurations kept in force, and tombstones of the forgotten."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bot.store.columns import Instant, Json, Whole, Words

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    _create_configuration()
    op.create_table(
        "erasure_salt",
        sa.Column("number", Whole, autoincrement=False, nullable=False),
        sa.Column("salt", Words, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_erasure_salt"),
    )
    op.create_table(
        "tombstone",
        sa.Column("hash", Words, nullable=False),
        sa.Column("made_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_tombstone"),
    )


def _create_configuration() -> None:
    op.create_table(
        "configuration",
        sa.Column("repository_id", Whole, nullable=False),
        sa.Column("own", Words, server_default="", nullable=False),
        sa.Column("shared", Words, server_default="", nullable=False),
        sa.Column("problems", Json, nullable=False),
        sa.Column("digest", Words, server_default="issue", nullable=False),
        sa.Column("zone", Words),
        sa.Column("paused_at", Instant),
        sa.ForeignKeyConstraint(["repository_id"], ["repository.id"], name="fk_configuration_repository_id_repository"),
        sa.PrimaryKeyConstraint("repository_id", name="pk_configuration"),
    )

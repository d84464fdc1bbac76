"""What keeps live deliveries cheap: commits that were read, whether the rules were, and the pace that workers share."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bot.store.columns import Instant, Whole, Words

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    _create_reading()
    op.add_column("pull_request", sa.Column("size", Whole))
    op.create_table(
        "rules_read",
        sa.Column("repository_id", Whole, autoincrement=False, nullable=False),
        sa.Column("attributes", Words, nullable=False),
        sa.Column("read_at", Instant, nullable=False),
        sa.ForeignKeyConstraint(["repository_id"], ["repository.id"], name="fk_rules_read_repository_id_repository"),
        sa.PrimaryKeyConstraint("repository_id", name="pk_rules_read"),
    )
    op.create_table(
        "pace",
        sa.Column("installation_id", Whole, autoincrement=False, nullable=False),
        sa.Column("next_write", Whole, server_default="0", nullable=False),
        sa.Column("closed_until", Whole, server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("installation_id", name="pk_pace"),
    )


def _create_reading() -> None:
    op.create_table(
        "reading",
        sa.Column("repository_id", Whole, autoincrement=False, nullable=False),
        sa.Column("commit_id", Words, nullable=False),
        sa.Column("tip", Words, nullable=False),
        sa.Column("read_at", Instant, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(["repository_id"], ["repository.id"], name="fk_reading_repository_id_repository"),
        sa.PrimaryKeyConstraint("repository_id", "commit_id", name="pk_reading"),
    )
    op.create_index("ix_reading_read_at", "reading", ["read_at"])
    op.create_index("ix_reading_repository_id_tip", "reading", ["repository_id", "tip"])

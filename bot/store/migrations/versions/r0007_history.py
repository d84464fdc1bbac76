"""What backfill and catch-up need: how far each repository's history was read, and watermarks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bot.store.columns import Instant, Whole, Words

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    counts = ("size", "pulls", "pulls_done", "commits", "commits_done", "requests", "points")
    op.create_table(
        "backfill",
        sa.Column("repository_id", Whole, autoincrement=False, nullable=False),
        sa.Column("installation_id", Whole, nullable=False),
        sa.Column("state", Words, server_default="waiting", nullable=False),
        sa.Column("head", Words),
        sa.Column("cursor", Words),
        *(sa.Column(name, Whole, server_default="0", nullable=False) for name in counts),
        sa.Column("started_at", Instant, nullable=False),
        sa.Column("finished_at", Instant),
        sa.ForeignKeyConstraint(["repository_id"], ["repository.id"], name="fk_backfill_repository_id_repository"),
        sa.PrimaryKeyConstraint("repository_id", name="pk_backfill"),
    )
    op.create_table(
        "brought",
        sa.Column("repository_id", Whole, autoincrement=False, nullable=False),
        sa.Column("commit_id", Words, nullable=False),
        sa.Column("number", Whole, nullable=False),
        sa.ForeignKeyConstraint(["repository_id"], ["repository.id"], name="fk_brought_repository_id_repository"),
        sa.PrimaryKeyConstraint("repository_id", "commit_id", name="pk_brought"),
    )
    op.create_table(
        "watermark",
        sa.Column("name", Words, nullable=False),
        sa.Column("at", Instant, nullable=False),
        sa.Column("head", Words),
        sa.PrimaryKeyConstraint("name", name="pk_watermark"),
    )

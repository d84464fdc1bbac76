"""What a language model answered is kept, so that a digest edited later does not change its words without need."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bot.store.columns import Instant, Whole, Words

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "wording",
        sa.Column("repository_id", Whole, autoincrement=False, nullable=False),
        sa.Column("month", Words, nullable=False),
        sa.Column("person_key", Words, nullable=False),
        sa.Column("sheet_hash", Words, nullable=False),
        sa.Column("writer", Words, nullable=False),
        sa.Column("answer", Words, nullable=False),
        sa.Column("said_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("repository_id", "month", "person_key", name="pk_wording"),
    )

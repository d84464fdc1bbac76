"""Whether all readers of a private digest repository may read another private repository, as GitHub last said."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Boolean, Column

from bot.store.columns import Instant, WholeNumber

revision = "0110"
down_revision = "0109"


def upgrade() -> None:
    op.create_table(
        "digest_readers",
        Column("home_id", WholeNumber, primary_key=True, autoincrement=False),
        Column("repository_id", WholeNumber, primary_key=True, autoincrement=False),
        Column("allowed", Boolean(create_constraint=False), nullable=False),
        Column("checked_at", Instant, nullable=False),
    )
    op.create_index("ix_digest_readers_repository_id", "digest_readers", ["repository_id"])

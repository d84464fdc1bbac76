"""A removed post is deleted and written again, as GitHub shows every revision of an edited comment."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column

from bot.store.columns import Instant, WholeNumber

revision = "0107"
down_revision = "0106"


def upgrade() -> None:
    op.add_column("outbox", Column("posted_at", Instant))
    op.add_column("outbox", Column("removals", WholeNumber, nullable=False, server_default="0"))
    op.execute("UPDATE outbox SET posted_at = changed_at WHERE remote_id IS NOT NULL")

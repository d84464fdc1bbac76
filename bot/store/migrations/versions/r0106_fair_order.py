"""The index of ready jobs holds their installation, so that a claim passes those of one that has its share."""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

revision = "0106"
down_revision = "0105"
_READY = text("state = 'ready'")


def upgrade() -> None:
    op.drop_index("ix_job_ready", "job")
    op.create_index(
        "ix_job_ready",
        "job",
        [text("priority DESC"), "run_at", "id", "installation_id"],
        sqlite_where=_READY,
        postgresql_where=_READY,
    )

"""An index of parked and dead jobs, which the probes count every few seconds."""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

revision = "0108"
down_revision = "0107"
_STOPPED = text("state IN ('parked', 'dead')")


def upgrade() -> None:
    op.create_index("ix_job_stopped", "job", ["state"], sqlite_where=_STOPPED, postgresql_where=_STOPPED)

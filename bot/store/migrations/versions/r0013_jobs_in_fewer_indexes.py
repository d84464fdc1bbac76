"""An index of jobs holds only those that a query by it looks for: a job that moves is written in fewer places."""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

revision = "0013"
down_revision = "0012"

_NARROWED = {
    "uq_job_waiting": ("dedupe_key", "state = 'ready' AND dedupe_key IS NOT NULL"),
    "ix_job_installation": ("installation_id", "state IN ('ready', 'parked')"),
    "ix_job_finished": ("finished_at", "finished_at IS NOT NULL"),
}


def upgrade() -> None:
    for name, (column, words) in _NARROWED.items():
        which, unique = text(words), name.startswith("uq_")
        op.drop_index(name, "job")
        op.create_index(name, "job", [column], unique=unique, sqlite_where=which, postgresql_where=which)

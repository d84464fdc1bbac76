"""Snapshots that are taken as a month closes bear the month, once a person and page."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bot.store.columns import Words

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("snapshot", sa.Column("month", Words))
    op.add_column("snapshot", sa.Column("scope", Words))
    op.create_index("ix_snapshot_person_key_month_scope", "snapshot", ["person_key", "month", "scope"], unique=True)

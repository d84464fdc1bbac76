"""A repository knows its server. One of another server than github.com is updated when it is next read."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column

from bot.store.columns import CleanText

revision = "0104"
down_revision = "0103"


def upgrade() -> None:
    op.add_column("repository", Column("host", CleanText, nullable=False, server_default="github.com"))

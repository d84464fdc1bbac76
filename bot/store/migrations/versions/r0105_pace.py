"""The pace of an installation is a row for each budget and pause; what the old row held lasts for seconds."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column

from bot.store.columns import CleanText, WholeNumber

revision = "0105"
down_revision = "0104"


def upgrade() -> None:
    op.drop_table("pace")
    op.create_table(
        "pace",
        Column("installation_id", WholeNumber, primary_key=True, autoincrement=False),
        Column("name", CleanText, primary_key=True),
        Column("until", WholeNumber, server_default="0", nullable=False),
    )

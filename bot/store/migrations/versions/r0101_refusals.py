"""Jobs remember since when GitHub has refused them."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column

from bot.store.columns import Instant

revision = "0101"
down_revision = "0100"


def upgrade() -> None:
    op.add_column("job", Column("refused_since", Instant))

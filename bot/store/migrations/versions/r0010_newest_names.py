"""Which landing a person's shown name stands in, so that the name does not depend on what arrived last."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bot.store.columns import Whole, Words

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    # Names that stand already count as older than any landing: the next one that is recorded replaces them.
    op.add_column("person", sa.Column("named_at", Whole, server_default="0", nullable=False))
    op.add_column("person", sa.Column("named_by", Words, server_default="", nullable=False))

"""An account is what GitHub answers about it: names from commits go, and so do machines that only a name made."""

from __future__ import annotations

from alembic import op

revision = "0103"
down_revision = "0102"


def upgrade() -> None:
    op.execute("UPDATE person SET name = ''")
    op.execute("UPDATE person SET bot = false WHERE login IS NULL OR login NOT LIKE '%[bot]'")
    op.execute("DELETE FROM person_alias WHERE kind = 'name'")

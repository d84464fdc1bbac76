"""The tables of the scaled queue's engine, on PostgreSQL alone.

Their text comes from the installed engine, which numbers its own schema; a database that has them keeps them.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name != "postgresql" or sa.inspect(connection).has_table("procrastinate_jobs"):
        return
    from procrastinate.schema import SchemaManager

    # The driver reads % as the start of a parameter.
    connection.exec_driver_sql(SchemaManager.get_schema().replace("%", "%%"))

"""What alembic runs to upgrade: on the given connection, inside the open transaction."""

from __future__ import annotations

from alembic import context

from bot.store.migrations.names import is_ours
from bot.store.schema import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    include_name=is_ours,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()

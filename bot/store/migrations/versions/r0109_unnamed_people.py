"""An index of the people who opted out; addresses are stored in the form in which they are compared."""

from __future__ import annotations

from alembic import op
from sqlalchemy import delete, func, or_, select, text

from bot.landing.identity.addresses import plain_email
from bot.store.inserts import insert_absent
from bot.store.people import PERSON_ALIAS

revision = "0109"
down_revision = "0108"
_OPTED_OUT = text("opted_out_at IS NOT NULL")


def upgrade() -> None:
    op.create_index(
        "ix_person_opted_out", "person", ["opted_out_at"], sqlite_where=_OPTED_OUT, postgresql_where=_OPTED_OUT
    )
    connection = op.get_bind()
    value = PERSON_ALIAS.c.value
    unlike = or_(value.contains("<"), value.contains(">"), value != func.trim(value), value != func.lower(value))
    odd = connection.execute(select(PERSON_ALIAS).where(PERSON_ALIAS.c.kind == "email", unlike)).mappings().all()
    insert_absent(connection, PERSON_ALIAS, [dict(row) | {"value": plain_email(row["value"])} for row in odd])
    for row in odd:
        if plain_email(row["value"]) != row["value"]:
            same = [PERSON_ALIAS.c[name] == row[name] for name in ("kind", "value", "person_key")]
            connection.execute(delete(PERSON_ALIAS).where(*same))

"""Hashes of lines, and whose lines each commit replaced, take the place of the visits that the old scores used.

The table `visit` stays, empty: processes of the release before insert into it during a rolling upgrade. Nothing reads
it, and a revision of the release after this one drops it.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, LargeBinary, PrimaryKeyConstraint

from bot.store.columns import WholeNumber

revision = "0102"
down_revision = "0101"


def upgrade() -> None:
    _create("line_hash", ("fact_id",), ("repository_id", "landed_at"), blob="hashes")
    _create("standing_lines", ("repository_id", "file"), (), blob="stack")
    _create("added_lines", ("fact_id",), ("repository_id", "lines"))
    _create("line_loss", ("owner", "later"), ("repository_id", "replaced", "dropped"))
    _create("line_mark", ("repository_id",), ("last_fact", "landed_at", "commits"))
    op.create_index("ix_line_hash_repository_id_landed_at", "line_hash", ["repository_id", "landed_at"])
    op.create_index("ix_added_lines_repository_id", "added_lines", ["repository_id"])
    op.create_index("ix_line_loss_repository_id", "line_loss", ["repository_id"])
    if op.get_bind().dialect.name == "postgresql":
        op.execute(_FORGET_WITH_FACT)
    else:
        op.execute("DROP TRIGGER fact_gone")
        op.execute(_FACT_GONE)
    op.execute("DELETE FROM visit")


def _create(name: str, key: tuple[str, ...], numbers: tuple[str, ...], *, blob: str | None = None) -> None:
    op.create_table(
        name,
        *(Column(one, WholeNumber, nullable=False, autoincrement=False) for one in (*key, *numbers)),
        *((Column(blob, LargeBinary, nullable=False),) if blob else ()),
        PrimaryKeyConstraint(*key, name=f"pk_{name}"),
    )


_FACT_GONE = """
    CREATE TRIGGER fact_gone AFTER DELETE ON fact BEGIN
        DELETE FROM fact_key WHERE fact_id = OLD.id;
        DELETE FROM fact_person WHERE fact_id = OLD.id;
        DELETE FROM line_hash WHERE fact_id = OLD.id;
        DELETE FROM line_mark WHERE repository_id = OLD.repository_id;
    END"""
_FORGET_WITH_FACT = """
    CREATE OR REPLACE FUNCTION forget_with_fact() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        DELETE FROM fact_key USING gone WHERE fact_id = gone.id;
        DELETE FROM fact_person USING gone WHERE fact_id = gone.id;
        DELETE FROM line_hash USING gone WHERE fact_id = gone.id;
        DELETE FROM line_mark USING gone WHERE line_mark.repository_id = gone.repository_id;
        RETURN NULL;
    END $$"""
"""what was derived from a repository's lines is derived again once one of its facts is gone"""

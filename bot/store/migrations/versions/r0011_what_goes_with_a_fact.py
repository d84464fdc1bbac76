"""Keys, people and visits go with their fact by a trigger: a foreign key looks the fact up for each of their rows."""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"

_KEYS = {
    "fact_key": {"key": "TEXT", "role": "TEXT", "fact_id": "INTEGER"},
    "fact_person": {"person_key": "TEXT", "fact_id": "INTEGER"},
    "visit": {"repository_id": "INTEGER", "file": "INTEGER", "fact_id": "INTEGER"},
}
"""the columns of each primary key"""
_MORE = {"visit": {"landed_at": "INTEGER", "weight": "INTEGER"}}


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        _drop_constraints()
    else:
        for table in _KEYS:
            _rebuild(table)
        op.execute("""
            CREATE TRIGGER fact_gone AFTER DELETE ON fact BEGIN
                DELETE FROM fact_key WHERE fact_id = OLD.id;
                DELETE FROM fact_person WHERE fact_id = OLD.id;
                DELETE FROM visit WHERE fact_id = OLD.id;
            END""")


def _drop_constraints() -> None:
    # In the order in which a recording takes them, so that one that is under way is waited for.
    op.execute("LOCK TABLE fact, fact_key, fact_person, visit IN ACCESS EXCLUSIVE MODE")
    op.execute("""
        CREATE FUNCTION forget_with_fact() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            DELETE FROM fact_key USING gone WHERE fact_id = gone.id;
            DELETE FROM fact_person USING gone WHERE fact_id = gone.id;
            DELETE FROM visit USING gone WHERE fact_id = gone.id;
            RETURN NULL;
        END $$""")
    op.execute("""
        CREATE TRIGGER fact_gone AFTER DELETE ON fact REFERENCING OLD TABLE AS gone
        FOR EACH STATEMENT EXECUTE FUNCTION forget_with_fact()""")
    for table in _KEYS:
        op.drop_constraint(f"fk_{table}_fact_id_fact", table, type_="foreignkey")


def _rebuild(table: str) -> None:
    """SQLite drops no constraint of a table that stands. Without row numbers each row is in one tree less."""
    columns = _KEYS[table] | _MORE.get(table, {})
    lines = [f"{name} {kind} NOT NULL" for name, kind in columns.items()]
    key = f"CONSTRAINT pk_{table} PRIMARY KEY ({', '.join(_KEYS[table])})"
    op.execute(f"CREATE TABLE new_{table} ({', '.join(lines)}, {key}) WITHOUT ROWID")
    names = ", ".join(columns)
    op.execute(f"INSERT INTO new_{table} ({names}) SELECT {names} FROM {table}")  # noqa: S608  # names of this file
    op.execute(f"DROP TABLE {table}")
    op.execute(f"ALTER TABLE new_{table} RENAME TO {table}")
    op.execute(f"CREATE INDEX ix_{table}_fact_id ON {table} (fact_id)")

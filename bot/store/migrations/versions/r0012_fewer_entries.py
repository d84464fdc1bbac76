"""What is derived from facts has no references, and only the indexes that a query goes by (docs/decisions/0085)."""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"

_UNASKED = {
    "ix_contribution_repository_id_month": "contribution",
    "ix_totals_repository_id_month": "totals",
    "ix_person_login": "person",
    "ix_person_user_id": "person",
}
_REFERENCES = (
    ("contribution", "fk_contribution_change_id_change"),
    ("contribution", "fk_contribution_repository_id_repository"),
    ("change", "fk_change_repository_id_repository"),
    ("totals", "fk_totals_repository_id_repository"),
)
_TEXT, _WHOLE, _COUNTED = "TEXT NOT NULL", "INTEGER NOT NULL", "INTEGER DEFAULT '0' NOT NULL"
_LINES = {
    f"lines_{part}": _COUNTED
    for part in (
        *("authored", "tests", "docs", "config", "generated", "vendored", "lockfiles", "moved", "whitespace"),
        *("reverted", "mirrored"),
    )
}
_OWN = {"person_key": _TEXT, "repository_id": _WHOLE, "month": _TEXT}
_TABLES = {
    "change": {
        **dict.fromkeys(("id", "month", "kind", "state", "payload"), _TEXT),
        **dict.fromkeys(("repository_id", "landed_at"), _WHOLE),
        "pull_request": "INTEGER",
    },
    "contribution": {"change_id": _TEXT, **_OWN, "commits": _COUNTED, "co_authored": _COUNTED, **_LINES},
    "totals": {
        **_OWN,
        **dict.fromkeys(("commits", "co_authored", "outcomes", "ai_declared", "ai_detected", "ai_unknown"), _COUNTED),
        **dict.fromkeys(("features", "bugs", "other"), _COUNTED),
        **_LINES,
        **dict.fromkeys(("languages", "skills", "tools", "days"), _TEXT),
    },
}
_KEYS = {
    "change": ("id",),
    "contribution": ("change_id", "person_key", "repository_id", "month"),
    "totals": ("person_key", "repository_id", "month"),
}


def upgrade() -> None:
    on_postgresql = op.get_bind().dialect.name == "postgresql"
    if on_postgresql:
        # Whoever writes to the others has read its repository before: one that is under way is waited for.
        op.execute("LOCK TABLE repository, person, change, contribution, totals IN ACCESS EXCLUSIVE MODE")
    for index, table in _UNASKED.items():
        op.drop_index(index, table)
    if on_postgresql:
        for table, reference in _REFERENCES:
            op.drop_constraint(reference, table, type_="foreignkey")
        return
    for table in ("contribution", "change", "totals"):
        _rebuild(table)
    op.create_index("ix_contribution_person_key_month", "contribution", ["person_key", "month"])
    op.create_index("ix_change_repository_id_month", "change", ["repository_id", "month"])


def _rebuild(table: str) -> None:
    """SQLite drops no constraint of a table that stands. A contribution is hardly more than its key: one tree does."""
    lines = [f"{name} {kind}" for name, kind in _TABLES[table].items()]
    key = f"CONSTRAINT pk_{table} PRIMARY KEY ({', '.join(_KEYS[table])})"
    tail = " WITHOUT ROWID" if table == "contribution" else ""
    op.execute(f'CREATE TABLE "new_{table}" ({", ".join(lines)}, {key}){tail}')
    names = ", ".join(_TABLES[table])
    op.execute(f'INSERT INTO "new_{table}" ({names}) SELECT {names} FROM "{table}"')  # noqa: S608  # names of this file
    op.execute(f'DROP TABLE "{table}"')
    op.execute(f'ALTER TABLE "new_{table}" RENAME TO "{table}"')

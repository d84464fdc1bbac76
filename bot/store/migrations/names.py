"""Which tables in the database are ours to compare? Not those of the queue engine, nor what only older releases use."""

from __future__ import annotations


def is_ours(name: str | None, kind: str, _parents: object) -> bool:
    """For alembic's `include_name`; without it, a comparison would drop the tables of procrastinate."""
    return not (kind == "table" and name is not None and (name == "visit" or name.startswith("procrastinate_")))

"""The revisions of the tables, oldest first; alembic runs them through env.py."""

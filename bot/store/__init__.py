"""The record on disk: one schema for SQLite and PostgreSQL, one file for each family of tables."""

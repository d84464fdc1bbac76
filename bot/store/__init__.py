"""The database: one schema for SQLite and PostgreSQL, one file for each family of tables."""

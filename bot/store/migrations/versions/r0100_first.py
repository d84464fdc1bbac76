"""The first tables. Revisions 0001 to 0013 were of versions that were never released: no upgrade leads from them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from alembic import op
from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    Table,
    UniqueConstraint,
    false,
    inspect,
    text,
)

from bot.store.columns import METADATA, Instant, Json, Whole, Words

revision = "0100"
down_revision = None

FIRST = MetaData(naming_convention=METADATA.naming_convention)
_LINES = (
    "lines_authored",
    "lines_tests",
    "lines_docs",
    "lines_config",
    "lines_generated",
    "lines_vendored",
    "lines_lockfiles",
    "lines_moved",
    "lines_whitespace",
    "lines_reverted",
    "lines_mirrored",
)


def upgrade() -> None:
    connection = op.get_bind()
    FIRST.create_all(connection)
    if connection.dialect.name == "postgresql":
        op.execute(_FORGET_WITH_FACT)
        op.execute(_FACT_GONE_ON_POSTGRESQL)
        _create_tables_of_the_queue(connection)
    else:
        op.execute(_FACT_GONE)


_FACT_GONE = """
    CREATE TRIGGER fact_gone AFTER DELETE ON fact BEGIN
        DELETE FROM fact_key WHERE fact_id = OLD.id;
        DELETE FROM fact_person WHERE fact_id = OLD.id;
        DELETE FROM visit WHERE fact_id = OLD.id;
    END"""
"""keys, people and visits go with their fact by a trigger: a foreign key looks the fact up for each of their rows"""
_FORGET_WITH_FACT = """
    CREATE FUNCTION forget_with_fact() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        DELETE FROM fact_key USING gone WHERE fact_id = gone.id;
        DELETE FROM fact_person USING gone WHERE fact_id = gone.id;
        DELETE FROM visit USING gone WHERE fact_id = gone.id;
        RETURN NULL;
    END $$"""
_FACT_GONE_ON_POSTGRESQL = """
    CREATE TRIGGER fact_gone AFTER DELETE ON fact REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION forget_with_fact()"""


def _create_tables_of_the_queue(connection: Connection) -> None:
    """Their text comes from the installed engine, which numbers its own schema; a database that has them keeps them."""
    if inspect(connection).has_table("procrastinate_jobs"):
        return
    from procrastinate.schema import SchemaManager

    # The driver reads % as the start of a parameter.
    connection.exec_driver_sql(SchemaManager.get_schema().replace("%", "%%"))


def _counters(*names: str) -> Iterable[Column[int]]:
    return [Column(name, Whole, server_default="0", nullable=False) for name in names]


def _where(words: str) -> dict[str, Any]:
    """The rows that an index holds."""
    return {"sqlite_where": text(words), "postgresql_where": text(words)}


Table(
    "account",
    FIRST,
    Column("id", Whole, primary_key=True, autoincrement=False),
    Column("login", Words, nullable=False),
    Column("kind", Words, nullable=False),
)
Table(
    "change",
    FIRST,
    Column("id", Words, primary_key=True),
    Column("repository_id", Whole, nullable=False),
    Column("month", Words, nullable=False),
    Column("landed_at", Whole, nullable=False),
    Column("kind", Words, nullable=False),
    Column("state", Words, nullable=False),
    Column("pull_request", Whole),
    Column("payload", Json, nullable=False),
    Index("ix_change_repository_id_month", "repository_id", "month"),
)
Table(
    "contribution",
    FIRST,
    Column("change_id", Words, primary_key=True),
    Column("person_key", Words, primary_key=True),
    Column("repository_id", Whole, primary_key=True),
    Column("month", Words, primary_key=True),
    *_counters("commits", "co_authored", *_LINES),
    Index("ix_contribution_person_key_month", "person_key", "month"),
    sqlite_with_rowid=False,
)
Table(
    "correction",
    FIRST,
    Column("event_key", Words, primary_key=True),
    Column("kind", Words, nullable=False),
    Column("repository_id", Whole),
    Column("change_id", Words),
    Column("person_key", Words),
    Column("made_by", Words, nullable=False),
    Column("made_at", Instant, nullable=False),
    Column("value", Json, nullable=False),
    Index("ix_correction_change_id", "change_id"),
    Index("ix_correction_person_key", "person_key"),
    Index("ix_correction_repository_id", "repository_id"),
)
Table(
    "digest",
    FIRST,
    Column("target", Words, primary_key=True),
    Column("month", Words, primary_key=True),
    Column("repository_id", Whole),
    Column("state", Words, server_default="due", nullable=False),
    Column("issue_number", Whole),
    Column("comment_id", Whole),
    Column("body_hash", Words),
    Column("opened_at", Instant, nullable=False),
    Index("ix_digest_repository_id", "repository_id"),
)
Table(
    "erasure_salt",
    FIRST,
    Column("number", Whole, primary_key=True, autoincrement=False),
    Column("salt", Words, nullable=False),
)
Table(
    "fact_key",
    FIRST,
    Column("key", Words, primary_key=True),
    Column("role", Words, primary_key=True),
    Column("fact_id", Whole, primary_key=True),
    Index("ix_fact_key_fact_id", "fact_id"),
    sqlite_with_rowid=False,
)
Table(
    "fact_person",
    FIRST,
    Column("person_key", Words, primary_key=True),
    Column("fact_id", Whole, primary_key=True),
    Index("ix_fact_person_fact_id", "fact_id"),
    sqlite_with_rowid=False,
)
Table(
    "inbox",
    FIRST,
    Column("id", Whole, primary_key=True),
    Column("app_id", Words, nullable=False),
    Column("guid", Words, nullable=False),
    Column("event", Words, nullable=False),
    Column("action", Words),
    Column("installation_id", Whole),
    Column("repository_id", Whole),
    Column("received_at", Instant, nullable=False),
    Column("body", LargeBinary),
    Column("state", Words, server_default="new", nullable=False),
    UniqueConstraint("app_id", "guid"),
    Index("ix_inbox_received_at", "received_at"),
)
Table(
    "job",
    FIRST,
    Column("id", Whole, primary_key=True),
    Column("task", Words, nullable=False),
    Column("ref_id", Words, nullable=False),
    Column("installation_id", Whole),
    Column("serial_key", Words),
    Column("dedupe_key", Words),
    *_counters("priority", "attempt", "failures"),
    Column("state", Words, server_default="ready", nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("run_at", Instant, nullable=False),
    Column("owner", Words),
    Column("lease_until", Instant),
    Column("finished_at", Instant),
    Column("last_error", Words),
    Index("ix_job_finished", "finished_at", **_where("finished_at IS NOT NULL")),
    Index("ix_job_installation", "installation_id", **_where("state IN ('ready', 'parked')")),
    Index("ix_job_lease", "lease_until", **_where("state = 'running'")),
    Index("ix_job_next", "serial_key", **_where("state = 'ready'")),
    Index("ix_job_ready", text("priority DESC"), "run_at", "id", **_where("state = 'ready'")),
    Index("uq_job_serial", "serial_key", unique=True, **_where("state = 'running'")),
    Index("uq_job_waiting", "dedupe_key", unique=True, **_where("state = 'ready' AND dedupe_key IS NOT NULL")),
)
Table(
    "link",
    FIRST,
    Column("nonce", Words, primary_key=True),
    Column("subject", Words, nullable=False),
    Column("installation_id", Whole, nullable=False),
    Column("private", Boolean, server_default=false(), nullable=False),
    Column("minted_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("revoked_at", Instant),
    Index("ix_link_subject", "subject"),
)
Table(
    "measurement",
    FIRST,
    Column("repository_id", Whole, primary_key=True, autoincrement=False),
    Column("commit_id", Words, primary_key=True),
    Column("method", Whole, primary_key=True, autoincrement=False),
    Column("measured_at", Instant, nullable=False),
    Column("payload", Json, nullable=False),
)
Table(
    "observation",
    FIRST,
    Column("repository_id", Whole, primary_key=True, autoincrement=False),
    Column("number", Whole, primary_key=True, autoincrement=False),
    Column("signal", Words, primary_key=True),
    Column("source", Words, primary_key=True),
    Column("person_key", Words, server_default="", nullable=False),
    Column("at", Instant, nullable=False),
    Column("value", Json, nullable=False),
    Index("ix_observation_person_key", "person_key"),
)
Table(
    "outbox",
    FIRST,
    Column("id", Whole, primary_key=True),
    Column("intent_key", Words, nullable=False),
    Column("kind", Words, nullable=False),
    Column("installation_id", Whole),
    Column("repository_id", Whole, nullable=False),
    Column("target", Json, nullable=False),
    Column("body", Json, nullable=False),
    Column("body_hash", Words, nullable=False),
    Column("posted_hash", Words),
    Column("remote_id", Words),
    Column("state", Words, server_default="waiting", nullable=False),
    Column("attempt", Whole, server_default="0", nullable=False),
    Column("lease_until", Instant),
    Column("changed_at", Instant, nullable=False),
    Column("last_error", Words),
    UniqueConstraint("intent_key"),
    Index("ix_outbox_repository_id", "repository_id"),
    Index("ix_outbox_state_changed_at", "state", "changed_at"),
)
Table(
    "pace",
    FIRST,
    Column("installation_id", Whole, primary_key=True, autoincrement=False),
    Column("next_write", Whole, server_default="0", nullable=False),
    Column("closed_until", Whole, server_default="0", nullable=False),
)
Table(
    "period",
    FIRST,
    Column("schedule", Words, primary_key=True),
    Column("period", Words, primary_key=True),
    Column("begun_at", Instant, nullable=False),
    Column("ended_at", Instant),
)
Table(
    "person",
    FIRST,
    Column("key", Words, primary_key=True),
    Column("user_id", Whole),
    Column("login", Words),
    Column("name", Words, server_default="", nullable=False),
    Column("bot", Boolean, server_default=false(), nullable=False),
    Column("opted_out_at", Instant),
    Column("named_at", Whole, server_default="0", nullable=False),
    Column("named_by", Words, server_default="", nullable=False),
)
Table(
    "person_alias",
    FIRST,
    Column("kind", Words, primary_key=True),
    Column("value", Words, primary_key=True),
    Column("person_key", Words, primary_key=True),
    Column("proof", Words, nullable=False),
    Index("ix_person_alias_person_key", "person_key"),
)
Table(
    "published",
    FIRST,
    Column("subject", Words, primary_key=True),
    Column("public", Boolean, server_default=false(), nullable=False),
    Column("naming", Words, server_default="named", nullable=False),
    Column("alias", Words, nullable=False),
    Column("changed_at", Instant, nullable=False),
    Index("ix_published_alias", "alias", unique=True),
)
Table(
    "session",
    FIRST,
    Column("hash", Words, primary_key=True),
    Column("user_id", Whole, nullable=False),
    Column("login", Words, nullable=False),
    Column("csrf", Words, nullable=False),
    Column("begun_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index("ix_session_expires_at", "expires_at"),
    Index("ix_session_user_id", "user_id"),
)
Table(
    "snapshot",
    FIRST,
    Column("id", Words, primary_key=True),
    Column("person_key", Words, nullable=False),
    Column("naming", Words, nullable=False),
    Column("repositories", Json, nullable=False),
    Column("taken_at", Instant, nullable=False),
    Column("text", Words, nullable=False),
    Column("signature", Words, nullable=False),
    Column("key_id", Words, nullable=False),
    Column("month", Words),
    Column("scope", Words),
    Index("ix_snapshot_person_key_month_scope", "person_key", "month", "scope", unique=True),
    Index("ix_snapshot_person_key_taken_at", "person_key", "taken_at"),
)
Table(
    "tombstone",
    FIRST,
    Column("hash", Words, primary_key=True),
    Column("made_at", Instant, nullable=False),
)
Table(
    "totals",
    FIRST,
    Column("person_key", Words, primary_key=True),
    Column("repository_id", Whole, primary_key=True),
    Column("month", Words, primary_key=True),
    *_counters(
        "commits",
        "co_authored",
        "outcomes",
        "ai_declared",
        "ai_detected",
        "ai_unknown",
        "features",
        "bugs",
        "other",
        *_LINES,
    ),
    Column("languages", Json, nullable=False),
    Column("skills", Json, nullable=False),
    Column("tools", Json, nullable=False),
    Column("days", Json, nullable=False),
)
Table(
    "visit",
    FIRST,
    Column("repository_id", Whole, primary_key=True, autoincrement=False),
    Column("file", Whole, primary_key=True, autoincrement=False),
    Column("fact_id", Whole, primary_key=True, autoincrement=False),
    Column("landed_at", Whole, nullable=False),
    Column("weight", Whole, nullable=False),
    Index("ix_visit_fact_id", "fact_id"),
    sqlite_with_rowid=False,
)
Table(
    "watermark",
    FIRST,
    Column("name", Words, primary_key=True),
    Column("at", Instant, nullable=False),
    Column("head", Words),
)
Table(
    "wording",
    FIRST,
    Column("repository_id", Whole, primary_key=True, autoincrement=False),
    Column("month", Words, primary_key=True),
    Column("person_key", Words, primary_key=True),
    Column("sheet_hash", Words, nullable=False),
    Column("writer", Words, nullable=False),
    Column("answer", Words, nullable=False),
    Column("said_at", Instant, nullable=False),
)
Table(
    "installation",
    FIRST,
    Column("id", Whole, primary_key=True, autoincrement=False),
    Column("app_id", Words, nullable=False),
    Column("account_id", Whole, ForeignKey("account.id"), nullable=False),
    Column("permissions", Json),
    Column("created_at", Instant, nullable=False),
    Column("suspended_at", Instant),
    Column("removed_at", Instant),
    Index("ix_installation_account_id", "account_id"),
)
Table(
    "link_use",
    FIRST,
    Column("nonce", Words, ForeignKey("link.nonce", ondelete="CASCADE"), primary_key=True),
    Column("day", Words, primary_key=True),
    Column("form", Words, primary_key=True),
    Column("times", Whole, server_default="0", nullable=False),
)
Table(
    "repository",
    FIRST,
    Column("id", Whole, primary_key=True, autoincrement=False),
    Column("installation_id", Whole, ForeignKey("installation.id")),
    Column("full_name", Words, nullable=False),
    Column("private", Boolean, nullable=False),
    Column("fork", Boolean, server_default=false(), nullable=False),
    Column("parent", Words),
    Column("default_branch", Words, server_default="main", nullable=False),
    Column("visibility", Words, server_default="hidden", nullable=False),
    Column("seen_at", Instant, nullable=False),
    Column("removed_at", Instant),
    Index("ix_repository_full_name_lower", text("lower(full_name)")),
    Index("ix_repository_installation_id", "installation_id"),
)
Table(
    "backfill",
    FIRST,
    Column("repository_id", Whole, ForeignKey("repository.id"), primary_key=True),
    Column("installation_id", Whole, nullable=False),
    Column("state", Words, server_default="waiting", nullable=False),
    Column("head", Words),
    Column("cursor", Words),
    *_counters("size", "pulls", "pulls_done", "commits", "commits_done", "requests", "points"),
    Column("started_at", Instant, nullable=False),
    Column("finished_at", Instant),
)
Table(
    "brought",
    FIRST,
    Column("repository_id", Whole, ForeignKey("repository.id"), primary_key=True),
    Column("commit_id", Words, primary_key=True),
    Column("number", Whole, nullable=False),
)
Table(
    "configuration",
    FIRST,
    Column("repository_id", Whole, ForeignKey("repository.id"), primary_key=True, autoincrement=False),
    Column("own", Words, server_default="", nullable=False),
    Column("shared", Words, server_default="", nullable=False),
    Column("problems", Json, nullable=False),
    Column("digest", Words, server_default="issue", nullable=False),
    Column("zone", Words),
    Column("paused_at", Instant),
)
Table(
    "fact",
    FIRST,
    Column("id", Whole, primary_key=True),
    Column("repository_id", Whole, ForeignKey("repository.id"), nullable=False),
    Column("commit_id", Words, nullable=False),
    Column("landed_at", Whole, nullable=False),
    Column("author_key", Words, nullable=False),
    Column("pull_request", Whole),
    Column("recorded_at", Instant, nullable=False),
    Column("payload", Json, nullable=False),
    Column("method", Whole, server_default="0", nullable=False),
    UniqueConstraint("repository_id", "commit_id"),
    Index("ix_fact_repository_id_landed_at", "repository_id", "landed_at"),
    Index("ix_fact_repository_id_pull_request", "repository_id", "pull_request"),
)
Table(
    "hidden_repository",
    FIRST,
    Column("person_key", Words, primary_key=True),
    Column("repository_id", Whole, ForeignKey("repository.id"), primary_key=True),
)
Table(
    "pull_request",
    FIRST,
    Column("repository_id", Whole, ForeignKey("repository.id"), primary_key=True),
    Column("number", Whole, primary_key=True, autoincrement=False),
    Column("head_id", Words, nullable=False),
    Column("merge_commit", Words),
    Column("merged_at", Instant),
    Column("closed_at", Instant),
    Column("read_at", Instant, nullable=False),
    Column("payload", Json, nullable=False),
    Column("size", Whole),
    Index("ix_pull_request_repository_id_merge_commit", "repository_id", "merge_commit"),
)
Table(
    "reading",
    FIRST,
    Column("repository_id", Whole, ForeignKey("repository.id"), primary_key=True, autoincrement=False),
    Column("commit_id", Words, primary_key=True),
    Column("tip", Words, nullable=False),
    Column("read_at", Instant, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Index("ix_reading_read_at", "read_at"),
    Index("ix_reading_repository_id_tip", "repository_id", "tip"),
)
Table(
    "rules_read",
    FIRST,
    Column("repository_id", Whole, ForeignKey("repository.id"), primary_key=True, autoincrement=False),
    Column("attributes", Words, nullable=False),
    Column("read_at", Instant, nullable=False),
)

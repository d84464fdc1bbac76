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

from bot.store.columns import METADATA, CleanText, Instant, Json, WholeNumber

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
    return [Column(name, WholeNumber, server_default="0", nullable=False) for name in names]


def _where(words: str) -> dict[str, Any]:
    """The rows that an index holds."""
    return {"sqlite_where": text(words), "postgresql_where": text(words)}


Table(
    "account",
    FIRST,
    Column("id", WholeNumber, primary_key=True, autoincrement=False),
    Column("login", CleanText, nullable=False),
    Column("kind", CleanText, nullable=False),
)
Table(
    "change",
    FIRST,
    Column("id", CleanText, primary_key=True),
    Column("repository_id", WholeNumber, nullable=False),
    Column("month", CleanText, nullable=False),
    Column("landed_at", WholeNumber, nullable=False),
    Column("kind", CleanText, nullable=False),
    Column("state", CleanText, nullable=False),
    Column("pull_request", WholeNumber),
    Column("payload", Json, nullable=False),
    Index("ix_change_repository_id_month", "repository_id", "month"),
)
Table(
    "contribution",
    FIRST,
    Column("change_id", CleanText, primary_key=True),
    Column("person_key", CleanText, primary_key=True),
    Column("repository_id", WholeNumber, primary_key=True),
    Column("month", CleanText, primary_key=True),
    *_counters("commits", "co_authored", *_LINES),
    Index("ix_contribution_person_key_month", "person_key", "month"),
    sqlite_with_rowid=False,
)
Table(
    "correction",
    FIRST,
    Column("event_key", CleanText, primary_key=True),
    Column("kind", CleanText, nullable=False),
    Column("repository_id", WholeNumber),
    Column("change_id", CleanText),
    Column("person_key", CleanText),
    Column("made_by", CleanText, nullable=False),
    Column("made_at", Instant, nullable=False),
    Column("value", Json, nullable=False),
    Index("ix_correction_change_id", "change_id"),
    Index("ix_correction_person_key", "person_key"),
    Index("ix_correction_repository_id", "repository_id"),
)
Table(
    "digest",
    FIRST,
    Column("target", CleanText, primary_key=True),
    Column("month", CleanText, primary_key=True),
    Column("repository_id", WholeNumber),
    Column("state", CleanText, server_default="due", nullable=False),
    Column("issue_number", WholeNumber),
    Column("comment_id", WholeNumber),
    Column("body_hash", CleanText),
    Column("opened_at", Instant, nullable=False),
    Index("ix_digest_repository_id", "repository_id"),
)
Table(
    "erasure_salt",
    FIRST,
    Column("number", WholeNumber, primary_key=True, autoincrement=False),
    Column("salt", CleanText, nullable=False),
)
Table(
    "fact_key",
    FIRST,
    Column("key", CleanText, primary_key=True),
    Column("role", CleanText, primary_key=True),
    Column("fact_id", WholeNumber, primary_key=True),
    Index("ix_fact_key_fact_id", "fact_id"),
    sqlite_with_rowid=False,
)
Table(
    "fact_person",
    FIRST,
    Column("person_key", CleanText, primary_key=True),
    Column("fact_id", WholeNumber, primary_key=True),
    Index("ix_fact_person_fact_id", "fact_id"),
    sqlite_with_rowid=False,
)
Table(
    "inbox",
    FIRST,
    Column("id", WholeNumber, primary_key=True),
    Column("app_id", CleanText, nullable=False),
    Column("guid", CleanText, nullable=False),
    Column("event", CleanText, nullable=False),
    Column("action", CleanText),
    Column("installation_id", WholeNumber),
    Column("repository_id", WholeNumber),
    Column("received_at", Instant, nullable=False),
    Column("body", LargeBinary),
    Column("state", CleanText, server_default="new", nullable=False),
    UniqueConstraint("app_id", "guid"),
    Index("ix_inbox_received_at", "received_at"),
)
Table(
    "job",
    FIRST,
    Column("id", WholeNumber, primary_key=True),
    Column("task", CleanText, nullable=False),
    Column("ref_id", CleanText, nullable=False),
    Column("installation_id", WholeNumber),
    Column("serial_key", CleanText),
    Column("dedupe_key", CleanText),
    *_counters("priority", "attempt", "failures"),
    Column("state", CleanText, server_default="ready", nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("run_at", Instant, nullable=False),
    Column("owner", CleanText),
    Column("lease_until", Instant),
    Column("finished_at", Instant),
    Column("last_error", CleanText),
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
    Column("nonce", CleanText, primary_key=True),
    Column("subject", CleanText, nullable=False),
    Column("installation_id", WholeNumber, nullable=False),
    Column("private", Boolean, server_default=false(), nullable=False),
    Column("minted_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("revoked_at", Instant),
    Index("ix_link_subject", "subject"),
)
Table(
    "measurement",
    FIRST,
    Column("repository_id", WholeNumber, primary_key=True, autoincrement=False),
    Column("commit_id", CleanText, primary_key=True),
    Column("method", WholeNumber, primary_key=True, autoincrement=False),
    Column("measured_at", Instant, nullable=False),
    Column("payload", Json, nullable=False),
)
Table(
    "observation",
    FIRST,
    Column("repository_id", WholeNumber, primary_key=True, autoincrement=False),
    Column("number", WholeNumber, primary_key=True, autoincrement=False),
    Column("signal", CleanText, primary_key=True),
    Column("source", CleanText, primary_key=True),
    Column("person_key", CleanText, server_default="", nullable=False),
    Column("at", Instant, nullable=False),
    Column("value", Json, nullable=False),
    Index("ix_observation_person_key", "person_key"),
)
Table(
    "outbox",
    FIRST,
    Column("id", WholeNumber, primary_key=True),
    Column("intent_key", CleanText, nullable=False),
    Column("kind", CleanText, nullable=False),
    Column("installation_id", WholeNumber),
    Column("repository_id", WholeNumber, nullable=False),
    Column("target", Json, nullable=False),
    Column("body", Json, nullable=False),
    Column("body_hash", CleanText, nullable=False),
    Column("posted_hash", CleanText),
    Column("remote_id", CleanText),
    Column("state", CleanText, server_default="waiting", nullable=False),
    Column("attempt", WholeNumber, server_default="0", nullable=False),
    Column("lease_until", Instant),
    Column("changed_at", Instant, nullable=False),
    Column("last_error", CleanText),
    UniqueConstraint("intent_key"),
    Index("ix_outbox_repository_id", "repository_id"),
    Index("ix_outbox_state_changed_at", "state", "changed_at"),
)
Table(
    "pace",
    FIRST,
    Column("installation_id", WholeNumber, primary_key=True, autoincrement=False),
    Column("next_write", WholeNumber, server_default="0", nullable=False),
    Column("closed_until", WholeNumber, server_default="0", nullable=False),
)
Table(
    "period",
    FIRST,
    Column("schedule", CleanText, primary_key=True),
    Column("period", CleanText, primary_key=True),
    Column("begun_at", Instant, nullable=False),
    Column("ended_at", Instant),
)
Table(
    "person",
    FIRST,
    Column("key", CleanText, primary_key=True),
    Column("user_id", WholeNumber),
    Column("login", CleanText),
    Column("name", CleanText, server_default="", nullable=False),
    Column("bot", Boolean, server_default=false(), nullable=False),
    Column("opted_out_at", Instant),
    Column("named_at", WholeNumber, server_default="0", nullable=False),
    Column("named_by", CleanText, server_default="", nullable=False),
)
Table(
    "person_alias",
    FIRST,
    Column("kind", CleanText, primary_key=True),
    Column("value", CleanText, primary_key=True),
    Column("person_key", CleanText, primary_key=True),
    Column("proof", CleanText, nullable=False),
    Index("ix_person_alias_person_key", "person_key"),
)
Table(
    "published",
    FIRST,
    Column("subject", CleanText, primary_key=True),
    Column("public", Boolean, server_default=false(), nullable=False),
    Column("naming", CleanText, server_default="named", nullable=False),
    Column("alias", CleanText, nullable=False),
    Column("changed_at", Instant, nullable=False),
    Index("ix_published_alias", "alias", unique=True),
)
Table(
    "session",
    FIRST,
    Column("hash", CleanText, primary_key=True),
    Column("user_id", WholeNumber, nullable=False),
    Column("login", CleanText, nullable=False),
    Column("csrf", CleanText, nullable=False),
    Column("begun_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index("ix_session_expires_at", "expires_at"),
    Index("ix_session_user_id", "user_id"),
)
Table(
    "snapshot",
    FIRST,
    Column("id", CleanText, primary_key=True),
    Column("person_key", CleanText, nullable=False),
    Column("naming", CleanText, nullable=False),
    Column("repositories", Json, nullable=False),
    Column("taken_at", Instant, nullable=False),
    Column("text", CleanText, nullable=False),
    Column("signature", CleanText, nullable=False),
    Column("key_id", CleanText, nullable=False),
    Column("month", CleanText),
    Column("scope", CleanText),
    Index("ix_snapshot_person_key_month_scope", "person_key", "month", "scope", unique=True),
    Index("ix_snapshot_person_key_taken_at", "person_key", "taken_at"),
)
Table(
    "tombstone",
    FIRST,
    Column("hash", CleanText, primary_key=True),
    Column("made_at", Instant, nullable=False),
)
Table(
    "totals",
    FIRST,
    Column("person_key", CleanText, primary_key=True),
    Column("repository_id", WholeNumber, primary_key=True),
    Column("month", CleanText, primary_key=True),
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
    Column("repository_id", WholeNumber, primary_key=True, autoincrement=False),
    Column("file", WholeNumber, primary_key=True, autoincrement=False),
    Column("fact_id", WholeNumber, primary_key=True, autoincrement=False),
    Column("landed_at", WholeNumber, nullable=False),
    Column("weight", WholeNumber, nullable=False),
    Index("ix_visit_fact_id", "fact_id"),
    sqlite_with_rowid=False,
)
Table(
    "watermark",
    FIRST,
    Column("name", CleanText, primary_key=True),
    Column("at", Instant, nullable=False),
    Column("head", CleanText),
)
Table(
    "wording",
    FIRST,
    Column("repository_id", WholeNumber, primary_key=True, autoincrement=False),
    Column("month", CleanText, primary_key=True),
    Column("person_key", CleanText, primary_key=True),
    Column("prompt_hash", CleanText, nullable=False),
    Column("writer", CleanText, nullable=False),
    Column("answer", CleanText, nullable=False),
    Column("answered_at", Instant, nullable=False),
)
Table(
    "installation",
    FIRST,
    Column("id", WholeNumber, primary_key=True, autoincrement=False),
    Column("app_id", CleanText, nullable=False),
    Column("account_id", WholeNumber, ForeignKey("account.id"), nullable=False),
    Column("permissions", Json),
    Column("created_at", Instant, nullable=False),
    Column("suspended_at", Instant),
    Column("removed_at", Instant),
    Index("ix_installation_account_id", "account_id"),
)
Table(
    "link_use",
    FIRST,
    Column("nonce", CleanText, ForeignKey("link.nonce", ondelete="CASCADE"), primary_key=True),
    Column("day", CleanText, primary_key=True),
    Column("form", CleanText, primary_key=True),
    Column("times", WholeNumber, server_default="0", nullable=False),
)
Table(
    "repository",
    FIRST,
    Column("id", WholeNumber, primary_key=True, autoincrement=False),
    Column("installation_id", WholeNumber, ForeignKey("installation.id")),
    Column("full_name", CleanText, nullable=False),
    Column("private", Boolean, nullable=False),
    Column("fork", Boolean, server_default=false(), nullable=False),
    Column("parent", CleanText),
    Column("default_branch", CleanText, server_default="main", nullable=False),
    Column("visibility", CleanText, server_default="hidden", nullable=False),
    Column("seen_at", Instant, nullable=False),
    Column("removed_at", Instant),
    Index("ix_repository_full_name_lower", text("lower(full_name)")),
    Index("ix_repository_installation_id", "installation_id"),
)
Table(
    "backfill",
    FIRST,
    Column("repository_id", WholeNumber, ForeignKey("repository.id"), primary_key=True),
    Column("installation_id", WholeNumber, nullable=False),
    Column("state", CleanText, server_default="waiting", nullable=False),
    Column("head", CleanText),
    Column("cursor", CleanText),
    *_counters("size", "pulls", "pulls_done", "commits", "commits_done", "requests", "points"),
    Column("started_at", Instant, nullable=False),
    Column("finished_at", Instant),
)
Table(
    "brought",
    FIRST,
    Column("repository_id", WholeNumber, ForeignKey("repository.id"), primary_key=True),
    Column("commit_id", CleanText, primary_key=True),
    Column("number", WholeNumber, nullable=False),
)
Table(
    "configuration",
    FIRST,
    Column("repository_id", WholeNumber, ForeignKey("repository.id"), primary_key=True, autoincrement=False),
    Column("own", CleanText, server_default="", nullable=False),
    Column("shared", CleanText, server_default="", nullable=False),
    Column("problems", Json, nullable=False),
    Column("digest", CleanText, server_default="issue", nullable=False),
    Column("zone", CleanText),
    Column("paused_at", Instant),
)
Table(
    "fact",
    FIRST,
    Column("id", WholeNumber, primary_key=True),
    Column("repository_id", WholeNumber, ForeignKey("repository.id"), nullable=False),
    Column("commit_id", CleanText, nullable=False),
    Column("landed_at", WholeNumber, nullable=False),
    Column("author_key", CleanText, nullable=False),
    Column("pull_request", WholeNumber),
    Column("recorded_at", Instant, nullable=False),
    Column("payload", Json, nullable=False),
    Column("method", WholeNumber, server_default="0", nullable=False),
    UniqueConstraint("repository_id", "commit_id"),
    Index("ix_fact_repository_id_landed_at", "repository_id", "landed_at"),
    Index("ix_fact_repository_id_pull_request", "repository_id", "pull_request"),
)
Table(
    "hidden_repository",
    FIRST,
    Column("person_key", CleanText, primary_key=True),
    Column("repository_id", WholeNumber, ForeignKey("repository.id"), primary_key=True),
)
Table(
    "pull_request",
    FIRST,
    Column("repository_id", WholeNumber, ForeignKey("repository.id"), primary_key=True),
    Column("number", WholeNumber, primary_key=True, autoincrement=False),
    Column("head_id", CleanText, nullable=False),
    Column("merge_commit", CleanText),
    Column("merged_at", Instant),
    Column("closed_at", Instant),
    Column("read_at", Instant, nullable=False),
    Column("payload", Json, nullable=False),
    Column("size", WholeNumber),
    Index("ix_pull_request_repository_id_merge_commit", "repository_id", "merge_commit"),
)
Table(
    "reading",
    FIRST,
    Column("repository_id", WholeNumber, ForeignKey("repository.id"), primary_key=True, autoincrement=False),
    Column("commit_id", CleanText, primary_key=True),
    Column("tip", CleanText, nullable=False),
    Column("read_at", Instant, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Index("ix_reading_read_at", "read_at"),
    Index("ix_reading_repository_id_tip", "repository_id", "tip"),
)
Table(
    "rules_read",
    FIRST,
    Column("repository_id", WholeNumber, ForeignKey("repository.id"), primary_key=True, autoincrement=False),
    Column("attributes", CleanText, nullable=False),
    Column("read_at", Instant, nullable=False),
)

"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bot.store.columns import Instant, Json, Whole, Words

revision = "0001"
down_revision = None


def upgrade() -> None:
    _create_account()
    _create_correction()
    _create_digest()
    _create_inbox()
    _create_job()
    _create_outbox()
    _create_period()
    _create_person()
    _create_person_alias()
    _create_installation()
    _create_repository()
    _create_change()
    _create_fact()
    _create_pull_request()
    _create_totals()
    _create_contribution()
    _create_fact_key()
    _create_fact_person()


def _create_account() -> None:
    op.create_table(
        "account",
        sa.Column("id", Whole, autoincrement=False, nullable=False),
        sa.Column("login", Words, nullable=False),
        sa.Column("kind", Words, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_account"),
    )


def _create_correction() -> None:
    op.create_table(
        "correction",
        sa.Column("event_key", Words, nullable=False),
        sa.Column("kind", Words, nullable=False),
        sa.Column("repository_id", Whole),
        sa.Column("change_id", Words),
        sa.Column("person_key", Words),
        sa.Column("made_by", Words, nullable=False),
        sa.Column("made_at", Instant, nullable=False),
        sa.Column("value", Json, nullable=False),
        sa.PrimaryKeyConstraint("event_key", name="pk_correction"),
    )
    op.create_index("ix_correction_change_id", "correction", ["change_id"])
    op.create_index("ix_correction_person_key", "correction", ["person_key"])
    op.create_index("ix_correction_repository_id", "correction", ["repository_id"])


def _create_digest() -> None:
    op.create_table(
        "digest",
        sa.Column("target", Words, nullable=False),
        sa.Column("month", Words, nullable=False),
        sa.Column("repository_id", Whole),
        sa.Column("state", Words, server_default="due", nullable=False),
        sa.Column("issue_number", Whole),
        sa.Column("comment_id", Whole),
        sa.Column("body_hash", Words),
        sa.Column("opened_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("target", "month", name="pk_digest"),
    )
    op.create_index("ix_digest_repository_id", "digest", ["repository_id"])


def _create_inbox() -> None:
    op.create_table(
        "inbox",
        sa.Column("id", Whole, nullable=False),
        sa.Column("app_id", Words, nullable=False),
        sa.Column("guid", Words, nullable=False),
        sa.Column("event", Words, nullable=False),
        sa.Column("action", Words),
        sa.Column("installation_id", Whole),
        sa.Column("repository_id", Whole),
        sa.Column("received_at", Instant, nullable=False),
        sa.Column("body", sa.LargeBinary),
        sa.Column("state", Words, server_default="new", nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_inbox"),
        sa.UniqueConstraint("app_id", "guid", name="uq_inbox_app_id_guid"),
    )
    op.create_index("ix_inbox_received_at", "inbox", ["received_at"])


def _create_job() -> None:
    op.create_table(
        "job",
        sa.Column("id", Whole, nullable=False),
        sa.Column("task", Words, nullable=False),
        sa.Column("ref_id", Words, nullable=False),
        sa.Column("installation_id", Whole),
        sa.Column("serial_key", Words),
        sa.Column("dedupe_key", Words),
        sa.Column("priority", Whole, server_default="0", nullable=False),
        sa.Column("attempt", Whole, server_default="0", nullable=False),
        sa.Column("failures", Whole, server_default="0", nullable=False),
        sa.Column("state", Words, server_default="ready", nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("run_at", Instant, nullable=False),
        sa.Column("owner", Words),
        sa.Column("lease_until", Instant),
        sa.Column("finished_at", Instant),
        sa.Column("last_error", Words),
        sa.PrimaryKeyConstraint("id", name="pk_job"),
    )
    op.create_index("ix_job_finished", "job", ["finished_at"])
    op.create_index("ix_job_installation", "job", ["installation_id", "state"])
    op.create_index(
        "ix_job_lease",
        "job",
        ["lease_until"],
        sqlite_where=sa.text("state = 'running'"),
        postgresql_where=sa.text("state = 'running'"),
    )
    op.create_index(
        "ix_job_next",
        "job",
        ["serial_key"],
        sqlite_where=sa.text("state = 'ready'"),
        postgresql_where=sa.text("state = 'ready'"),
    )
    op.create_index(
        "ix_job_ready",
        "job",
        [sa.literal_column("priority DESC"), "run_at", "id"],
        sqlite_where=sa.text("state = 'ready'"),
        postgresql_where=sa.text("state = 'ready'"),
    )
    op.create_index(
        "uq_job_serial",
        "job",
        ["serial_key"],
        unique=True,
        sqlite_where=sa.text("state = 'running'"),
        postgresql_where=sa.text("state = 'running'"),
    )
    op.create_index(
        "uq_job_waiting",
        "job",
        ["dedupe_key"],
        unique=True,
        sqlite_where=sa.text("state = 'ready'"),
        postgresql_where=sa.text("state = 'ready'"),
    )


def _create_outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", Whole, nullable=False),
        sa.Column("intent_key", Words, nullable=False),
        sa.Column("kind", Words, nullable=False),
        sa.Column("installation_id", Whole),
        sa.Column("repository_id", Whole, nullable=False),
        sa.Column("target", Json, nullable=False),
        sa.Column("body", Json, nullable=False),
        sa.Column("body_hash", Words, nullable=False),
        sa.Column("posted_hash", Words),
        sa.Column("remote_id", Words),
        sa.Column("state", Words, server_default="waiting", nullable=False),
        sa.Column("attempt", Whole, server_default="0", nullable=False),
        sa.Column("lease_until", Instant),
        sa.Column("changed_at", Instant, nullable=False),
        sa.Column("last_error", Words),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
        sa.UniqueConstraint("intent_key", name="uq_outbox_intent_key"),
    )
    op.create_index("ix_outbox_repository_id", "outbox", ["repository_id"])
    op.create_index("ix_outbox_state_changed_at", "outbox", ["state", "changed_at"])


def _create_period() -> None:
    op.create_table(
        "period",
        sa.Column("schedule", Words, nullable=False),
        sa.Column("period", Words, nullable=False),
        sa.Column("begun_at", Instant, nullable=False),
        sa.Column("ended_at", Instant),
        sa.PrimaryKeyConstraint("schedule", "period", name="pk_period"),
    )


def _create_person() -> None:
    op.create_table(
        "person",
        sa.Column("key", Words, nullable=False),
        sa.Column("user_id", Whole),
        sa.Column("login", Words),
        sa.Column("name", Words, server_default="", nullable=False),
        sa.Column("bot", sa.Boolean, server_default=sa.false(), nullable=False),
        sa.Column("opted_out_at", Instant),
        sa.PrimaryKeyConstraint("key", name="pk_person"),
    )
    op.create_index("ix_person_login", "person", ["login"])
    op.create_index("ix_person_user_id", "person", ["user_id"])


def _create_person_alias() -> None:
    op.create_table(
        "person_alias",
        sa.Column("kind", Words, nullable=False),
        sa.Column("value", Words, nullable=False),
        sa.Column("person_key", Words, nullable=False),
        sa.Column("proof", Words, nullable=False),
        sa.PrimaryKeyConstraint("kind", "value", "person_key", name="pk_person_alias"),
    )
    op.create_index("ix_person_alias_person_key", "person_alias", ["person_key"])


def _create_installation() -> None:
    op.create_table(
        "installation",
        sa.Column("id", Whole, autoincrement=False, nullable=False),
        sa.Column("app_id", Words, nullable=False),
        sa.Column("account_id", Whole, nullable=False),
        sa.Column("permissions", Json),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("suspended_at", Instant),
        sa.Column("removed_at", Instant),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name="fk_installation_account_id_account"),
        sa.PrimaryKeyConstraint("id", name="pk_installation"),
    )
    op.create_index("ix_installation_account_id", "installation", ["account_id"])


def _create_repository() -> None:
    op.create_table(
        "repository",
        sa.Column("id", Whole, autoincrement=False, nullable=False),
        sa.Column("installation_id", Whole),
        sa.Column("full_name", Words, nullable=False),
        sa.Column("private", sa.Boolean, nullable=False),
        sa.Column("fork", sa.Boolean, server_default=sa.false(), nullable=False),
        sa.Column("parent", Words),
        sa.Column("default_branch", Words, server_default="main", nullable=False),
        sa.Column("visibility", Words, server_default="hidden", nullable=False),
        sa.Column("seen_at", Instant, nullable=False),
        sa.Column("removed_at", Instant),
        sa.ForeignKeyConstraint(
            ["installation_id"], ["installation.id"], name="fk_repository_installation_id_installation"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_repository"),
    )
    op.create_index("ix_repository_installation_id", "repository", ["installation_id"])
    op.create_index("ix_repository_full_name_lower", "repository", [sa.text("lower(full_name)")])


def _create_change() -> None:
    op.create_table(
        "change",
        sa.Column("id", Words, nullable=False),
        sa.Column("repository_id", Whole, nullable=False),
        sa.Column("month", Words, nullable=False),
        sa.Column("landed_at", Whole, nullable=False),
        sa.Column("kind", Words, nullable=False),
        sa.Column("state", Words, nullable=False),
        sa.Column("pull_request", Whole),
        sa.Column("payload", Json, nullable=False),
        sa.ForeignKeyConstraint(["repository_id"], ["repository.id"], name="fk_change_repository_id_repository"),
        sa.PrimaryKeyConstraint("id", name="pk_change"),
    )
    op.create_index("ix_change_repository_id_month", "change", ["repository_id", "month"])


def _create_fact() -> None:
    op.create_table(
        "fact",
        sa.Column("id", Whole, nullable=False),
        sa.Column("repository_id", Whole, nullable=False),
        sa.Column("commit_id", Words, nullable=False),
        sa.Column("landed_at", Whole, nullable=False),
        sa.Column("author_key", Words, nullable=False),
        sa.Column("pull_request", Whole),
        sa.Column("recorded_at", Instant, nullable=False),
        sa.Column("payload", Json, nullable=False),
        sa.ForeignKeyConstraint(["repository_id"], ["repository.id"], name="fk_fact_repository_id_repository"),
        sa.PrimaryKeyConstraint("id", name="pk_fact"),
        sa.UniqueConstraint("repository_id", "commit_id", name="uq_fact_repository_id_commit_id"),
    )
    op.create_index("ix_fact_repository_id_landed_at", "fact", ["repository_id", "landed_at"])
    op.create_index("ix_fact_repository_id_pull_request", "fact", ["repository_id", "pull_request"])


def _create_pull_request() -> None:
    op.create_table(
        "pull_request",
        sa.Column("repository_id", Whole, nullable=False),
        sa.Column("number", Whole, autoincrement=False, nullable=False),
        sa.Column("head_id", Words, nullable=False),
        sa.Column("merge_commit", Words),
        sa.Column("merged_at", Instant),
        sa.Column("closed_at", Instant),
        sa.Column("read_at", Instant, nullable=False),
        sa.Column("payload", Json, nullable=False),
        sa.ForeignKeyConstraint(["repository_id"], ["repository.id"], name="fk_pull_request_repository_id_repository"),
        sa.PrimaryKeyConstraint("repository_id", "number", name="pk_pull_request"),
    )
    op.create_index("ix_pull_request_repository_id_merge_commit", "pull_request", ["repository_id", "merge_commit"])


def _create_totals() -> None:
    op.create_table(
        "totals",
        sa.Column("person_key", Words, nullable=False),
        sa.Column("repository_id", Whole, nullable=False),
        sa.Column("month", Words, nullable=False),
        sa.Column("commits", Whole, server_default="0", nullable=False),
        sa.Column("co_authored", Whole, server_default="0", nullable=False),
        sa.Column("features", Whole, server_default="0", nullable=False),
        sa.Column("bugs", Whole, server_default="0", nullable=False),
        sa.Column("other", Whole, server_default="0", nullable=False),
        sa.Column("outcomes", Whole, server_default="0", nullable=False),
        sa.Column("ai_declared", Whole, server_default="0", nullable=False),
        sa.Column("ai_detected", Whole, server_default="0", nullable=False),
        sa.Column("ai_unknown", Whole, server_default="0", nullable=False),
        sa.Column("lines_authored", Whole, server_default="0", nullable=False),
        sa.Column("lines_tests", Whole, server_default="0", nullable=False),
        sa.Column("lines_docs", Whole, server_default="0", nullable=False),
        sa.Column("lines_config", Whole, server_default="0", nullable=False),
        sa.Column("lines_generated", Whole, server_default="0", nullable=False),
        sa.Column("lines_vendored", Whole, server_default="0", nullable=False),
        sa.Column("lines_lockfiles", Whole, server_default="0", nullable=False),
        sa.Column("lines_moved", Whole, server_default="0", nullable=False),
        sa.Column("lines_whitespace", Whole, server_default="0", nullable=False),
        sa.Column("lines_reverted", Whole, server_default="0", nullable=False),
        sa.Column("lines_mirrored", Whole, server_default="0", nullable=False),
        sa.Column("languages", Json, nullable=False),
        sa.Column("skills", Json, nullable=False),
        sa.Column("tools", Json, nullable=False),
        sa.Column("days", Json, nullable=False),
        sa.ForeignKeyConstraint(["repository_id"], ["repository.id"], name="fk_totals_repository_id_repository"),
        sa.PrimaryKeyConstraint("person_key", "repository_id", "month", name="pk_totals"),
    )
    op.create_index("ix_totals_repository_id_month", "totals", ["repository_id", "month"])


def _create_contribution() -> None:
    op.create_table(
        "contribution",
        sa.Column("change_id", Words, nullable=False),
        sa.Column("person_key", Words, nullable=False),
        sa.Column("repository_id", Whole, nullable=False),
        sa.Column("month", Words, nullable=False),
        sa.Column("commits", Whole, server_default="0", nullable=False),
        sa.Column("co_authored", Whole, server_default="0", nullable=False),
        sa.Column("lines_authored", Whole, server_default="0", nullable=False),
        sa.Column("lines_tests", Whole, server_default="0", nullable=False),
        sa.Column("lines_docs", Whole, server_default="0", nullable=False),
        sa.Column("lines_config", Whole, server_default="0", nullable=False),
        sa.Column("lines_generated", Whole, server_default="0", nullable=False),
        sa.Column("lines_vendored", Whole, server_default="0", nullable=False),
        sa.Column("lines_lockfiles", Whole, server_default="0", nullable=False),
        sa.Column("lines_moved", Whole, server_default="0", nullable=False),
        sa.Column("lines_whitespace", Whole, server_default="0", nullable=False),
        sa.Column("lines_reverted", Whole, server_default="0", nullable=False),
        sa.Column("lines_mirrored", Whole, server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["change_id"], ["change.id"], name="fk_contribution_change_id_change", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["repository_id"], ["repository.id"], name="fk_contribution_repository_id_repository"),
        sa.PrimaryKeyConstraint("change_id", "person_key", "repository_id", "month", name="pk_contribution"),
    )
    op.create_index("ix_contribution_person_key_month", "contribution", ["person_key", "month"])
    op.create_index("ix_contribution_repository_id_month", "contribution", ["repository_id", "month"])


def _create_fact_key() -> None:
    op.create_table(
        "fact_key",
        sa.Column("key", Words, nullable=False),
        sa.Column("role", Words, nullable=False),
        sa.Column("fact_id", Whole, nullable=False),
        sa.ForeignKeyConstraint(["fact_id"], ["fact.id"], name="fk_fact_key_fact_id_fact", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("key", "role", "fact_id", name="pk_fact_key"),
    )
    op.create_index("ix_fact_key_fact_id", "fact_key", ["fact_id"])


def _create_fact_person() -> None:
    op.create_table(
        "fact_person",
        sa.Column("person_key", Words, nullable=False),
        sa.Column("fact_id", Whole, nullable=False),
        sa.ForeignKeyConstraint(["fact_id"], ["fact.id"], name="fk_fact_person_fact_id_fact", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("person_key", "fact_id", name="pk_fact_person"),
    )
    op.create_index("ix_fact_person_fact_id", "fact_person", ["fact_id"])

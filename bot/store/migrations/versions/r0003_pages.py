"""What pages need: switches, hidden repositories, signed links, sessions and dated snapshots."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bot.store.columns import Instant, Json, Whole, Words

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    _create_published()
    _create_hidden_repository()
    _create_link()
    _create_link_use()
    _create_session()
    _create_snapshot()


def _create_published() -> None:
    op.create_table(
        "published",
        sa.Column("subject", Words, nullable=False),
        sa.Column("public", sa.Boolean(create_constraint=False), server_default=sa.false(), nullable=False),
        sa.Column("naming", Words, server_default="named", nullable=False),
        sa.Column("alias", Words, nullable=False),
        sa.Column("changed_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("subject", name="pk_published"),
    )
    op.create_index("ix_published_alias", "published", ["alias"], unique=True)


def _create_hidden_repository() -> None:
    op.create_table(
        "hidden_repository",
        sa.Column("person_key", Words, nullable=False),
        sa.Column("repository_id", Whole, nullable=False),
        sa.ForeignKeyConstraint(
            ["repository_id"], ["repository.id"], name="fk_hidden_repository_repository_id_repository"
        ),
        sa.PrimaryKeyConstraint("person_key", "repository_id", name="pk_hidden_repository"),
    )


def _create_link() -> None:
    op.create_table(
        "link",
        sa.Column("nonce", Words, nullable=False),
        sa.Column("subject", Words, nullable=False),
        sa.Column("installation_id", Whole, nullable=False),
        sa.Column("private", sa.Boolean(create_constraint=False), server_default=sa.false(), nullable=False),
        sa.Column("minted_at", Instant, nullable=False),
        sa.Column("expires_at", Instant),
        sa.Column("revoked_at", Instant),
        sa.PrimaryKeyConstraint("nonce", name="pk_link"),
    )
    op.create_index("ix_link_subject", "link", ["subject"])


def _create_link_use() -> None:
    op.create_table(
        "link_use",
        sa.Column("nonce", Words, nullable=False),
        sa.Column("day", Words, nullable=False),
        sa.Column("form", Words, nullable=False),
        sa.Column("times", Whole, server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["nonce"], ["link.nonce"], name="fk_link_use_nonce_link", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("nonce", "day", "form", name="pk_link_use"),
    )


def _create_session() -> None:
    op.create_table(
        "session",
        sa.Column("hash", Words, nullable=False),
        sa.Column("user_id", Whole, nullable=False),
        sa.Column("login", Words, nullable=False),
        sa.Column("csrf", Words, nullable=False),
        sa.Column("begun_at", Instant, nullable=False),
        sa.Column("expires_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_session"),
    )
    op.create_index("ix_session_user_id", "session", ["user_id"])
    op.create_index("ix_session_expires_at", "session", ["expires_at"])


def _create_snapshot() -> None:
    op.create_table(
        "snapshot",
        sa.Column("id", Words, nullable=False),
        sa.Column("person_key", Words, nullable=False),
        sa.Column("naming", Words, nullable=False),
        sa.Column("repositories", Json, nullable=False),
        sa.Column("taken_at", Instant, nullable=False),
        sa.Column("text", Words, nullable=False),
        sa.Column("signature", Words, nullable=False),
        sa.Column("key_id", Words, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_snapshot"),
    )
    op.create_index("ix_snapshot_person_key_taken_at", "snapshot", ["person_key", "taken_at"])

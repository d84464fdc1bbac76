"""Which tables are there, and in which order can they be filled?"""

from __future__ import annotations

from sqlalchemy import Table

from bot.store.backfills import BACKFILL, BROUGHT, WATERMARK
from bot.store.changes import CHANGE, CONTRIBUTION
from bot.store.columns import METADATA
from bot.store.configurations import CONFIGURATION, RULES_READ
from bot.store.corrections import CORRECTION
from bot.store.digest_readers import DIGEST_READERS
from bot.store.digests import DIGEST, PERIOD
from bot.store.erasure import ERASURE_SALT, TOMBSTONE
from bot.store.inbox import INBOX
from bot.store.installations import ACCOUNT, INSTALLATION, REPOSITORY
from bot.store.jobs import JOB
from bot.store.ledger import FACT, FACT_KEY, FACT_PERSON
from bot.store.lines import ADDED_LINES, LINE_HASH, LINE_LOSS, LINE_MARK, STANDING_LINES
from bot.store.links import LINK, LINK_USE
from bot.store.measurements import MEASUREMENT
from bot.store.observations import OBSERVATION
from bot.store.outbox import OUTBOX
from bot.store.pace import PACE
from bot.store.people import PERSON, PERSON_ALIAS
from bot.store.pulls import PULL_REQUEST
from bot.store.readings import READING
from bot.store.sessions import SESSION
from bot.store.snapshots import SNAPSHOT
from bot.store.totals import TOTALS
from bot.store.visibility import HIDDEN_REPOSITORY, PUBLISHED
from bot.store.wordings import WORDING

TRAFFIC: tuple[Table, ...] = (
    *(INBOX, JOB, OUTBOX, PERIOD, BACKFILL, BROUGHT, WATERMARK, MEASUREMENT),
    *(READING, RULES_READ, PACE, DIGEST_READERS),
)
"""transient rows, which depend on when things arrived"""
RECORD: tuple[Table, ...] = (
    *(ACCOUNT, INSTALLATION, REPOSITORY, PERSON, PERSON_ALIAS),
    *(FACT, FACT_KEY, FACT_PERSON, LINE_HASH, PULL_REQUEST, OBSERVATION, CORRECTION),
    *(CHANGE, CONTRIBUTION, TOTALS, DIGEST),
)
"""the record: two stores that saw the same landings hold the same rows"""
CHOICES: tuple[Table, ...] = (
    *(PUBLISHED, HIDDEN_REPOSITORY, LINK, LINK_USE, SESSION, SNAPSHOT),
    *(CONFIGURATION, ERASURE_SALT, TOMBSTONE, WORDING),
)
"""what people chose to show, how, and in which words: it depends on the time"""
DERIVED: tuple[Table, ...] = (STANDING_LINES, ADDED_LINES, LINE_LOSS, LINE_MARK)
"""what is derived from the record when somebody reads it"""
_ALL = frozenset((*TRAFFIC, *RECORD, *DERIVED, *CHOICES))
TABLES: tuple[Table, ...] = tuple(table for table in METADATA.sorted_tables if table in _ALL)
"""all tables, referenced ones first"""

__all__ = ["CHOICES", "METADATA", "RECORD", "TABLES", "TRAFFIC"]

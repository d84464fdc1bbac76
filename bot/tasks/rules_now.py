"""By which rules is a landing measured? As their files were read last, until something lands that touches them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from datetime import datetime, timedelta
from functools import lru_cache

from msgspec import Struct
from sqlalchemy import Connection

from bot.github.client import Client
from bot.github.pushes import Pushed
from bot.github.reads import read_file
from bot.landing.attributes import Attributes
from bot.landing.rule_files import ATTRIBUTES_PATH, CONFIG_PATH
from bot.metrics.measure import Measure
from bot.model import Repository, RepositoryId
from bot.store import installations, rules_read
from bot.tasks.configuring import SHARED_REPOSITORY, InForce, in_force, keep, read_in_force
from bot.tasks.workplace import Workplace

RULING = frozenset((CONFIG_PATH, ATTRIBUTES_PATH))
_LARGE = 2_000
"""characters"""
BELIEVED = timedelta(days=1)
"""for which a file shared from a repository that we are not installed on is taken to be as it was: no push tells us"""


class RulesNow(Struct, frozen=True):
    """The settings in force and `.gitattributes`. `fresh` where the files were just read, and have to be kept."""

    settings: InForce
    attributes: str
    fresh: bool = True

    async def measure(self) -> Measure:
        """What landings are measured by. The patterns of a large file take seconds, and deliveries do not wait."""
        large = len(self.attributes) > _LARGE
        found = await asyncio.to_thread(_attributes, self.attributes) if large else _attributes(self.attributes)
        return Measure.of(self.settings.config, found)


@lru_cache(maxsize=16)
def _attributes(text: str) -> Attributes:
    """Read once for the many landings under the same file."""
    return Attributes.parse(text)


async def rules_now(place: Workplace, client: Client, repository: Repository, *, touched: bool) -> RulesNow:
    """The rules at the head of the default branch, as a clone's are: from the store, unless they were `touched`."""
    number = RepositoryId(repository.id or 0)
    if not touched:
        kept = await place.store.read(_kept, repository, number, now=place.clock())
        if kept is not None:
            return kept
    settings = await read_in_force(place, client, repository)
    return RulesNow(settings, await read_file(client, repository, ATTRIBUTES_PATH) or "")


def _kept(connection: Connection, repository: Repository, number: RepositoryId, *, now: datetime) -> RulesNow | None:
    kept = rules_read.read(connection, number)
    if kept is None or not _is_believed(connection, repository, kept[1], now):
        return None
    return RulesNow(in_force(connection, number), kept[0], fresh=False)


def _is_believed(connection: Connection, repository: Repository, read_at: datetime, now: datetime) -> bool:
    name = shared_name(repository)
    if repository.full_name.lower() == name.lower() or now - read_at < BELIEVED:
        return True
    stored = installations.repository_named(connection, name)
    return stored is not None and stored.installation_id is not None and stored.removed_at is None


def shared_name(repository: Repository) -> str:
    """The repository whose settings file holds for all of an account."""
    return f"{repository.full_name.partition('/')[0]}/{SHARED_REPOSITORY}"


def are_touched(pushed: Pushed) -> bool:
    """Whether a push may have changed one of the files: also where GitHub did not show all that it changed."""
    return bool(RULING & pushed.paths) or not pushed.whole or pushed.behind > 0


def keep_rules(connection: Connection, repository: Repository, rules: RulesNow, *, now: datetime) -> None:
    """Put in force what was just read."""
    if rules.fresh:
        number = RepositoryId(repository.id or 0)
        keep(connection, number, rules.settings)
        rules_read.keep(connection, number, rules.attributes, now=now)


def forget_shared(connection: Connection, repository: Repository, paths: Collection[str]) -> None:
    """A landing in an account's shared repository may change the rules of all others."""
    if repository.full_name.lower() == shared_name(repository).lower() and CONFIG_PATH in paths:
        rules_read.forget_of_owner(connection, repository.full_name.partition("/")[0])

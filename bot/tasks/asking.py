"""Who asks for something, about which work, and what may they ask?

Everybody decides about themselves. About a piece of work its author and the repository's maintainers have a say; only
maintainers decide what is posted.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection

from bot.digest.commands import Name
from bot.landing.identity import person_key
from bot.model import Change, InstallationId, PersonKey, Repository, RepositoryId, Signature
from bot.store import installations, ledger, visibility
from bot.tasks.correcting import fold_for_readers

MAINTAINERS = frozenset(("admin", "maintain", "write"))
OWN: frozenset[Name] = frozenset(("me", "anonymise", "public", "opt-out", "forget-me"))
"""about whoever asks"""
ABOUT_WORK: frozenset[Name] = frozenset(("why", "classify", "dispute"))


class Asker(Struct, frozen=True):
    """Who asks, where, and when. `keys` are all that are proved to be theirs."""

    key: PersonKey
    keys: frozenset[PersonKey]
    maintainer: bool
    account: Signature
    asked_at: datetime


class Scene(Struct, frozen=True):
    """Where it is asked: a pull request with the changes it landed, or the digest issue."""

    installation: InstallationId
    repository: Repository
    number: int
    is_digest: bool = False
    changes: tuple[Change, ...] = ()

    @property
    def repository_id(self) -> RepositoryId:
        return RepositoryId(self.repository.id or 0)


def may(asker: Asker, name: Name, *, wrote: bool) -> bool:
    """Whether this person may ask this; `wrote` where the work is theirs."""
    if name in OWN:
        return True
    return asker.maintainer or (name in ABOUT_WORK and wrote)


def wrote(asker: Asker, changes: Sequence[Change]) -> bool:
    """The asker authored or helped with one of the changes."""
    signatures = [sig for c in changes for one in c.commits for sig in (one.fact.author, *one.fact.co_authors)]
    return any(person_key(sig) in asker.keys for sig in signatures)


def keys_of(connection: Connection, account: Signature) -> tuple[PersonKey, frozenset[PersonKey]]:
    """The key of an account, and all that are proved to be the same person's."""
    key = PersonKey(f"u:{account.user_id}")
    return key, visibility.proved_keys(connection, key)


def changes_of(
    connection: Connection, installation: InstallationId, repository: RepositoryId, number: int
) -> tuple[Change, ...]:
    """What one pull request landed, as it is counted now."""
    facts = ledger.facts_named(connection, repository, number)
    seeds = [(repository, fact.commit) for fact in facts]
    whole = ledger.component(connection, seeds, installation_id=installation)
    stored = installations.repositories_of(connection, installation)
    names = {row.repository.full_name: row.repository for row in stored}
    own = {fact.commit for fact in facts}
    changes = fold_for_readers(connection, whole, names, repository)
    return tuple(change for change in changes if any(commit.fact.commit in own for commit in change.commits))

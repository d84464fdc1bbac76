"""Who asks for something, about which work, and are they allowed to?

Everybody decides about themselves. The author of a piece of work and the repository's maintainers may ask about it;
only maintainers decide what is posted.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection

from bot.landing.identity.credit import person_key
from bot.model.change import Change
from bot.model.commit import Repository, Signature
from bot.model.ids import CommitId, InstallationId, PersonKey, RepositoryId
from bot.narrative.commands import Name
from bot.services.corrections import fold_for_readers
from bot.store import installations, ledger, outbox, visibility

MAINTAINERS = frozenset(("admin", "maintain", "write"))
OWN: frozenset[Name] = frozenset(("me", "accept", "reject", "human", "anonymise", "public", "opt-out", "forget-me"))
"""commands about the person who asks"""
ABOUT_WORK: frozenset[Name] = frozenset(("why", "classify", "dispute"))


class Asker(Struct, frozen=True):
    """Who asks, and when. `keys` are all keys proved to be theirs."""

    key: PersonKey
    keys: frozenset[PersonKey]
    maintainer: bool
    account: Signature
    asked_at: datetime


class Scene(Struct, frozen=True):
    """Where they ask: on a pull request with the changes it landed, or on the digest issue."""

    installation: InstallationId
    repository: Repository
    number: int
    is_digest: bool = False
    changes: tuple[Change, ...] = ()

    @property
    def repository_id(self) -> RepositoryId:
        return RepositoryId(self.repository.id or 0)


def may_ask(asker: Asker, name: Name, *, is_theirs: bool) -> bool:
    """Whether this person may use this command; `is_theirs` if the work is theirs."""
    if name in OWN:
        return True
    return asker.maintainer or (name in ABOUT_WORK and is_theirs)


def is_author(asker: Asker, changes: Sequence[Change]) -> bool:
    """Whether the asker is author or co-author of one of the changes."""
    signatures = [sig for c in changes for one in c.commits for sig in (one.fact.author, *one.fact.co_authors)]
    return any(person_key(sig) in asker.keys for sig in signatures)


def keys_of(connection: Connection, account: Signature) -> tuple[PersonKey, frozenset[PersonKey]]:
    """The key of an account, and all keys proved to be the same person's."""
    key = PersonKey(f"u:{account.user_id}")
    return key, visibility.proved_keys(connection, key)


def changes_of(
    connection: Connection, installation: InstallationId, repository: RepositoryId, number: int
) -> tuple[Change, ...]:
    """The changes that one pull request landed, as counted now."""
    facts = ledger.facts_of_pull_request(connection, repository, number)
    seeds = [(repository, fact.commit) for fact in facts]
    component = ledger.component(connection, seeds, installation_id=installation)
    stored = installations.repositories_of(connection, installation)
    names = {row.repository.full_name: row.repository for row in stored}
    own = {fact.commit for fact in facts}
    changes = fold_for_readers(connection, component, names, repository)
    return tuple(change for change in changes if any(commit.fact.commit in own for commit in change.commits))


def scene_of_check_run(
    connection: Connection, installation: InstallationId, repository: Repository, check_run: int
) -> Scene | None:
    """The pull request that the check run is about; None unless it is one of ours about exactly one."""
    repository_id = RepositoryId(repository.id or 0)
    intent = outbox.intent_posted_as(connection, "check", repository_id, check_run)
    if intent is None:
        return None
    facts = ledger.facts_of_merge_commit(connection, repository_id, CommitId(intent.target["commit"]))
    numbers = {fact.pull_request for fact in facts if fact.pull_request is not None}
    if len(numbers) != 1:
        return None
    (number,) = numbers
    return Scene(installation, repository, number, changes=changes_of(connection, installation, repository_id, number))

"""What is to be said of a landing, and where: intents in the outbox, in the transaction of what they tell."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection

from bot.model import Change, CommitId, CountedCommit, Fact, PersonKey, RepositoryId
from bot.render.landing_note import Around, by_machine, landing_note
from bot.store import ledger, outbox, visibility
from bot.tasks.configuring import in_force
from bot.tasks.correcting import disputed, fold_for_readers
from bot.tasks.recording import Place, Recorded
from bot.tasks.workplace import Workplace

MOST_CHECKS = 10
"""check runs for one recording: a push of more carriers gets one, on its newest"""
ONE_PUSH = 60
"""seconds between the commits of one pull request that a rebase made"""
BUTTONS = (
    ("feature", "Feature", "Count it as a feature", "classify:feature"),
    ("bug_fix", "Bug fix", "Count it as a bug fix", "classify:fix"),
    ("other", "Neither", "Count it as other work", "classify:other"),
)
"""item kind, label, description and identifier of what authors and maintainers may press"""

K = TypeVar("K")
_Here = list[tuple[Change, CountedCommit]]


def announce(connection: Connection, place: Workplace, target: Place, recorded: Recorded) -> None:
    """What is counted, where the repository's settings want it said; edited where it was told otherwise before."""
    settings = in_force(connection, target.repository)
    how = settings.config.on_merge
    if settings.paused or how == "off":
        return
    here = _changes_here(connection, recorded, target)
    if how == "comment":
        brought, rest = _by_pull_request(here)
        for number, changes in brought.items():
            intend_comment(connection, place, target, (number, changes))
        here = rest
    told = _by_carrier(here)
    silent = {one.fact.carrier for _, one in here}.difference(told)
    told |= _still_standing(connection, target, [one for one in here if one[1].fact.carrier in silent])
    for carrier, carried in told.items():
        intend_check(connection, place, target, (carrier, carried))


def _still_standing(connection: Connection, target: Place, silent: _Here) -> dict[CommitId, list[Change]]:
    """What was told one by one before the pull request was known that brought it together: taken back where nobody has
    begun to post it. The rest stands at GitHub, which deletes no check run, and is to say what is counted now."""
    carried = _grouped(silent, lambda commit: commit.fact.carrier)
    keys = {check_key(target, carrier): carrier for carrier in sorted(carried)}
    outbox.withdraw(connection, list(keys))
    standing = outbox.written(connection, list(keys))
    return {carrier: carried[carrier] for key, carrier in keys.items() if key in standing}


def intend_check(
    connection: Connection, place: Workplace, target: Place, told: tuple[CommitId, Sequence[Change]]
) -> None:
    """Write down the check run of one carrier, and ask for its posting."""
    carrier, changes = told
    note = landing_note(changes, around(connection, target.repository))
    intent = outbox.Intent(
        key=check_key(target, carrier),
        kind="check",
        repository_id=target.repository,
        target={"commit": carrier, "landed": _landed(changes, lambda fact: fact.carrier == carrier)},
        body={"title": note.title, "summary": note.summary, "buttons": _buttons(changes)},
        installation_id=target.installation,
    )
    post(connection, place, intent)


def intend_comment(connection: Connection, place: Workplace, target: Place, told: tuple[int, Sequence[Change]]) -> None:
    """Write down the one comment on a pull request; none where no person has a part in it and none stands there."""
    number, changes = told
    key = f"landing:{target.repository}:{number}"
    if all(by_machine(change) for change in changes) and not outbox.is_posted(connection, key):
        return
    note = landing_note(changes, around(connection, target.repository))
    intent = outbox.Intent(
        key=key,
        kind="comment",
        repository_id=target.repository,
        target={"number": number, "landed": _landed(changes, lambda fact: fact.pull_request == number)},
        body={"text": note.summary},
        installation_id=target.installation,
    )
    post(connection, place, intent)


def check_key(target: Place, carrier: CommitId) -> str:
    """What names the one check run of a commit for ever."""
    return f"check:{target.repository}:{carrier}"


def _landed(changes: Sequence[Change], is_told: Callable[[Fact], bool]) -> int:
    """Since when it can have been told: epoch seconds of the oldest landing that is."""
    facts = (one.fact for change in changes for one in change.commits)
    return min((fact.landed_at for fact in facts if is_told(fact)), default=0)


def around(connection: Connection, repository: RepositoryId) -> Around:
    """What every note of this repository has to respect or to say."""
    settings = in_force(connection, repository)
    return Around(unnamed(connection), settings.problems, disputed(connection, repository))


def unnamed(connection: Connection) -> frozenset[PersonKey]:
    """Whom no post names: those who opted out, and those who chose to be anonymous."""
    return visibility.left_out(connection) | visibility.anonymous(connection)


def post(connection: Connection, place: Workplace, intent: outbox.Intent) -> None:
    """Write the intent down; a job posts it unless this very text stands at GitHub already."""
    waiting = outbox.intend(connection, intent, place.clock())
    if waiting is not None:
        # Push and pull request tell of one landing within moments: both are heard before it is told, once.
        options: dict[str, Any] = {"installation_id": intent.installation_id, "run_at": place.clock() + place.settle}
        place.queue.defer(
            connection,
            "publish_post",
            waiting,
            serial_key=f"post:{intent.key}",
            dedupe_key=f"post:{waiting}",
            **options,
        )


def _buttons(changes: Sequence[Change]) -> list[list[str]]:
    """The two other kinds, where the check run is about one change that is no revert."""
    people = [change for change in changes if not by_machine(change)]
    if len(people) != 1 or people[0].kind == "revert" or people[0].pull_request is None:
        return []
    now = people[0].kind if people[0].kind in ("feature", "bug_fix") else "other"
    return [[label, about, identifier] for kind, label, about, identifier in BUTTONS if kind != now]


# --- what belongs where ----------------------------------------------------------------------------------------------


def _changes_here(connection: Connection, recorded: Recorded, target: Place) -> _Here:
    """The changes to be told, each with the commits that carried it here, as readers of this repository may see it."""
    name = next((name for name, repo in recorded.repositories.items() if repo.id == target.repository), None)
    own = {one.fact.commit for c in recorded.changed for one in c.commits if one.fact.repository == name}
    changes: Sequence[Change] = recorded.changed
    private = any(repo.private and repo.id != target.repository for repo in recorded.repositories.values())
    if private or any(not _named_in(change) <= recorded.repositories.keys() for change in changes):
        seeds = [(target.repository, commit) for commit in sorted(own)]
        facts = ledger.component(connection, seeds, installation_id=target.installation)
        changes = fold_for_readers(connection, facts, recorded.repositories, target.repository)
    pairs = [(change, one) for change in changes for one in change.commits]
    return [(change, one) for change, one in pairs if one.fact.repository == name and one.fact.commit in own]


def _named_in(change: Change) -> set[str]:
    """The repositories that a change was made in, and those that its state tells of."""
    takers = (change.reverted_by, *change.partly_reverted_by)
    told = {re.split("[#@]", taker, maxsplit=1)[0] for taker in takers if taker}
    return told | {commit.fact.repository for commit in change.commits}


def _grouped(here: _Here, key: Callable[[CountedCommit], K]) -> dict[K, list[Change]]:
    found: dict[K, list[Change]] = defaultdict(list)
    for change, commit in here:
        if change not in found[key(commit)]:
            found[key(commit)].append(change)
    return found


def _by_pull_request(here: _Here) -> tuple[dict[int, list[Change]], _Here]:
    """The changes by the pull request that brought them, and what came without one."""
    brought = [one for one in here if one[1].fact.pull_request is not None]
    rest = [one for one in here if one[1].fact.pull_request is None]
    return _grouped(brought, lambda commit: commit.fact.pull_request or 0), rest


def _told_once(here: _Here) -> _Here:
    """A rebased pull request lands as several commits in one push: it is told on the newest of them alone."""
    last: dict[str, CountedCommit] = {}
    kept: _Here = []
    for change, commit in sorted(here, key=lambda one: (one[1].fact.landed_at, one[1].fact.commit), reverse=True):
        newer = last.get(change.id)
        last[change.id] = commit
        if newer is None or not _in_one_push(commit, newer):
            kept.append((change, commit))
    return kept[::-1]


def _in_one_push(one: CountedCommit, newer: CountedCommit) -> bool:
    if one.fact.carrier == newer.fact.carrier:
        return False
    bare = all(fact.carrier == fact.commit for fact in (one.fact, newer.fact))
    return bare and newer.fact.landed_at - one.fact.landed_at <= ONE_PUSH


def _by_carrier(here: _Here) -> dict[CommitId, list[Change]]:
    """The changes to be told on each carrier in this repository, newest carriers last."""
    here = _told_once(here)
    found = _grouped(here, lambda commit: commit.fact.carrier)
    landed = {commit.fact.carrier: commit.fact.landed_at for _, commit in here}
    newest = sorted(found, key=lambda carrier: (landed[carrier], carrier))
    if len(newest) <= MOST_CHECKS:
        return {carrier: found[carrier] for carrier in newest}
    together = list({change.id: change for carrier in newest for change in found[carrier]}.values())
    return {newest[-1]: together}

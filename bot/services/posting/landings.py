"""What is posted about a landing, and where? Intents are added in the transaction that records the landing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TypeVar

from sqlalchemy import Connection

from bot.model.change import Change, CountedCommit
from bot.model.fact import Fact
from bot.model.ids import CommitId, RepositoryId
from bot.render.notes.landing import NoteContext, is_machine_work, landing_note
from bot.services.context import Context
from bot.services.corrections import disputes_in, fold_for_readers
from bot.services.digests.scope import problems_with_home
from bot.services.posting.publishing import request_post
from bot.services.recording.record import Recorded, RecordingTarget
from bot.services.repository_settings import stored_settings
from bot.store import ledger, outbox, visibility

MOST_CHECKS = 10
"""check runs for one recording; a push with more merge commits gets one, on the newest"""
ONE_PUSH = 60
"""seconds between the commits of one rebased pull request"""
BUTTONS = (
    ("feature", "Feature", "Count it as a feature", "classify:feature"),
    ("bug_fix", "Bug fix", "Count it as a bug fix", "classify:fix"),
    ("other", "Neither", "Count it as other work", "classify:other"),
)
"""item kind, label, description and identifier of the buttons for authors and maintainers"""
K = TypeVar("K")
_LandedChanges = list[tuple[Change, CountedCommit]]


def request_landing_posts(
    connection: Connection, context: Context, target: RecordingTarget, recorded: Recorded
) -> None:
    """Request the posts about recorded changes, as the repository's settings say; existing posts are edited."""
    settings = stored_settings(connection, target.repository)
    how = settings.config.on_merge
    if settings.paused or how == "off":
        return
    landed = _visible_changes(connection, recorded, target)
    if how == "comment":
        brought, rest = _split_by_pull_request(landed)
        for number, changes in brought.items():
            request_comment(connection, context, target, (number, changes))
        landed = rest
    reported = _group_by_merge_commit(landed)
    silent = {one.fact.merge_commit for _, one in landed}.difference(reported)
    reported |= _already_posted(connection, target, [one for one in landed if one[1].fact.merge_commit in silent])
    for merge_commit, carried in reported.items():
        request_check(connection, context, target, (merge_commit, carried))


def _already_posted(
    connection: Connection, target: RecordingTarget, silent: _LandedChanges
) -> dict[CommitId, list[Change]]:
    """The changes on merge commits whose check run was requested before the pull request joined them.

    Check runs that nobody has begun to post are withdrawn. The others stay at GitHub, which deletes no check run, and
    are updated to what is counted now.
    """
    carried = _group_changes(silent, lambda commit: commit.fact.merge_commit)
    keys = {check_key(target, merge_commit): merge_commit for merge_commit in sorted(carried)}
    outbox.withdraw(connection, list(keys))
    posted_keys = outbox.begun_keys(connection, list(keys))
    return {merge_commit: carried[merge_commit] for key, merge_commit in keys.items() if key in posted_keys}


def request_check(
    connection: Connection, context: Context, target: RecordingTarget, reported: tuple[CommitId, Sequence[Change]]
) -> None:
    """Request the check run of one merge commit."""
    merge_commit, changes = reported
    note = landing_note(changes, note_context(connection, target.repository))
    intent = outbox.Intent(
        key=check_key(target, merge_commit),
        kind="check",
        repository_id=target.repository,
        target={
            "commit": merge_commit,
            "landed": _first_landed_at(changes, lambda fact: fact.merge_commit == merge_commit),
        },
        body={"title": note.title, "summary": note.summary, "buttons": _buttons(changes)},
        installation_id=target.installation,
    )
    request_post(connection, context, intent)


def request_comment(
    connection: Connection, context: Context, target: RecordingTarget, reported: tuple[int, Sequence[Change]]
) -> None:
    """Request the one comment on a pull request; nothing for machine work only, unless a comment exists."""
    number, changes = reported
    key = f"landing:{target.repository}:{number}"
    if all(is_machine_work(change) for change in changes) and not outbox.is_posted(connection, key):
        return
    note = landing_note(changes, note_context(connection, target.repository))
    intent = outbox.Intent(
        key=key,
        kind="comment",
        repository_id=target.repository,
        target={"number": number, "landed": _first_landed_at(changes, lambda fact: fact.pull_request == number)},
        body={"text": note.summary},
        installation_id=target.installation,
    )
    request_post(connection, context, intent)


def check_key(target: RecordingTarget, merge_commit: CommitId) -> str:
    """The permanent key of a commit's check run."""
    return f"check:{target.repository}:{merge_commit}"


def _first_landed_at(changes: Sequence[Change], is_included: Callable[[Fact], bool]) -> int:
    """Landing time of the oldest included commit, in epoch seconds: it cannot have been posted earlier."""
    facts = (one.fact for change in changes for one in change.commits)
    return min((fact.landed_at for fact in facts if is_included(fact)), default=0)


def note_context(connection: Connection, repository: RepositoryId) -> NoteContext:
    """What all notes of this repository depend on: hidden names, problems and disputes."""
    problems = [*stored_settings(connection, repository).problems, *problems_with_home(connection, repository)]
    return NoteContext(visibility.unnamed_people(connection), problems, disputes_in(connection, repository))


def _buttons(changes: Sequence[Change]) -> list[list[str]]:
    """Buttons for the two other kinds, if the check run is about exactly one change that is no revert."""
    people = [change for change in changes if not is_machine_work(change)]
    if len(people) != 1 or people[0].kind == "revert" or people[0].pull_request is None:
        return []
    now = people[0].kind if people[0].kind in ("feature", "bug_fix") else "other"
    return [[label, about, identifier] for kind, label, about, identifier in BUTTONS if kind != now]


def _visible_changes(connection: Connection, recorded: Recorded, target: RecordingTarget) -> _LandedChanges:
    """The changes to report, each with its commits in this repository, as its readers may see them."""
    name = next((name for name, repo in recorded.repositories.items() if repo.id == target.repository), None)
    own = {one.fact.commit for c in recorded.changed for one in c.commits if one.fact.repository == name}
    changes: Sequence[Change] = recorded.changed
    private = any(repo.private and repo.id != target.repository for repo in recorded.repositories.values())
    if private or any(not _repositories_named(change) <= recorded.repositories.keys() for change in changes):
        seeds = [(target.repository, commit) for commit in sorted(own)]
        facts = ledger.component(connection, seeds, installation_id=target.installation)
        changes = fold_for_readers(connection, facts, recorded.repositories, target.repository)
    pairs = [(change, one) for change in changes for one in change.commits]
    return [(change, one) for change, one in pairs if one.fact.repository == name and one.fact.commit in own]


def _repositories_named(change: Change) -> set[str]:
    """The repositories of a change's commits and of its reverts."""
    takers = (change.reverted_by, *change.partly_reverted_by)
    names = {re.split("[#@]", taker, maxsplit=1)[0] for taker in takers if taker}
    return names | {commit.fact.repository for commit in change.commits}


def _group_changes(landed: _LandedChanges, key: Callable[[CountedCommit], K]) -> dict[K, list[Change]]:
    found: dict[K, list[Change]] = defaultdict(list)
    for change, commit in landed:
        if change not in found[key(commit)]:
            found[key(commit)].append(change)
    return found


def _split_by_pull_request(landed: _LandedChanges) -> tuple[dict[int, list[Change]], _LandedChanges]:
    """The changes by pull request, and those without one."""
    brought = [one for one in landed if one[1].fact.pull_request is not None]
    rest = [one for one in landed if one[1].fact.pull_request is None]
    return _group_changes(brought, lambda commit: commit.fact.pull_request or 0), rest


def _last_of_each_rebase(landed: _LandedChanges) -> _LandedChanges:
    """A rebased pull request lands as several commits in one push: report it only on the newest."""
    last: dict[str, CountedCommit] = {}
    kept: _LandedChanges = []
    for change, commit in sorted(landed, key=lambda one: (one[1].fact.landed_at, one[1].fact.commit), reverse=True):
        newer = last.get(change.id)
        last[change.id] = commit
        if newer is None or not _is_one_push(commit, newer):
            kept.append((change, commit))
    return kept[::-1]


def _is_one_push(one: CountedCommit, newer: CountedCommit) -> bool:
    if one.fact.merge_commit == newer.fact.merge_commit:
        return False
    bare = all(fact.merge_commit == fact.commit for fact in (one.fact, newer.fact))
    return bare and newer.fact.landed_at - one.fact.landed_at <= ONE_PUSH


def _group_by_merge_commit(landed_changes: _LandedChanges) -> dict[CommitId, list[Change]]:
    """The changes to report on each merge commit in this repository, newest last."""
    landed_changes = _last_of_each_rebase(landed_changes)
    found = _group_changes(landed_changes, lambda commit: commit.fact.merge_commit)
    landed = {commit.fact.merge_commit: commit.fact.landed_at for _, commit in landed_changes}
    newest = sorted(found, key=lambda merge_commit: (landed[merge_commit], merge_commit))
    if len(newest) <= MOST_CHECKS:
        return {merge_commit: found[merge_commit] for merge_commit in newest}
    all_changes = list({change.id: change for merge_commit in newest for change in found[merge_commit]}.values())
    return {newest[-1]: all_changes}


def is_check_wanted(connection: Connection, target: RecordingTarget, merge_commit: CommitId) -> bool:
    """Whether to write a check run: if the settings ask for one or one exists, but never while paused."""
    settings = stored_settings(connection, target.repository)
    is_reported = settings.config.on_merge == "check" or outbox.is_posted(connection, check_key(target, merge_commit))
    return is_reported and not settings.paused

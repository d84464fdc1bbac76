"""What became of the lines of each commit: how many later changes took away, when, and for what reason?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Literal
from zoneinfo import ZoneInfo

from msgspec import Struct

from bot.landing.identity.credit import change_credits, person_key
from bot.landing.identity.machines import is_machine
from bot.landing.months import month_of
from bot.metrics.component_imports import ComponentImport, component_imports
from bot.metrics.items import group, item_id
from bot.metrics.totals import delivery_month
from bot.model.change import Change, CountedCommit
from bot.model.ids import ChangeId, CommitId, Month, PersonKey

Cause = Literal["fix", "revert", "performance", "other"]
CommitKey = tuple[str, CommitId]
"""full name of the repository and commit id"""


class LineLoss(Struct, frozen=True):
    """Lines of one commit that another one replaced, or dropped with a whole file or feature."""

    owner: CommitKey
    by: CommitKey
    replaced: int
    dropped: int


class LineRecord(Struct, frozen=True):
    """What the patches of some repositories show of their lines."""

    added: Mapping[CommitKey, int]
    """source lines that each commit added, without moved, formatted, repeated or generated ones"""
    losses: Sequence[LineLoss]

    @classmethod
    def of(cls, added: Iterable[tuple[CommitKey, int]], losses: Iterable[LineLoss]) -> LineRecord:
        """The same record whatever order the rows come in."""
        return cls(dict(added), sorted(losses, key=attrgetter("owner", "by")))


class Taken(Struct, frozen=True):
    """Lines that one later change took from a commit."""

    change: ChangeId
    at: int
    cause: Cause
    replaced: int
    dropped: int
    follow_up: bool
    """whether the later change belongs to the same change or item and reverts nothing"""


class OwnCommit(Struct, frozen=True):
    """One person's commit, its added lines and what became of them."""

    repository: str
    author: PersonKey
    change: ChangeId
    item: str
    landed_at: int
    month: Month
    added: int
    taken: tuple[Taken, ...] = ()
    language: str | None = None
    """the one with most of its lines"""
    tested: bool = False
    """whether it changes tests as well"""
    imports: tuple[ComponentImport, ...] | None = None
    """its new imports between components; None where no graph of imports is known"""


def item_ids(changes: Iterable[Change], zone: ZoneInfo) -> dict[ChangeId, str]:
    """The item of each change among its first author's changes of the month."""
    months: defaultdict[tuple[PersonKey, Month], list[Change]] = defaultdict(list)
    for change in changes:
        author = _first_author(change)
        month = delivery_month(change, (author,), zone) if author else None
        if author and month:
            months[author, month].append(change)
    return {
        change: item_id(tuple(sorted(item.changes)))
        for found in months.values()
        for item in group(found)
        for change in item.changes
    }


def _first_author(change: Change) -> PersonKey | None:
    commits = change.counted or change.commits
    return person_key(commits[0].fact.author) if commits else None


def cause_of(change: Change) -> Cause:
    """Why this change replaces lines, if it is certain."""
    if change.kind == "revert":
        return "revert"
    if not change.certain:
        return "other"
    return "fix" if change.kind == "bug_fix" else "performance" if change.kind == "perf" else "other"


def own_commits(changes: Sequence[Change], lines: LineRecord, zone: ZoneInfo) -> list[OwnCommit]:
    """Every counted commit of a person that added source lines, in the order of the changes."""
    items = item_ids(changes, zone)
    changes_by_commit = {
        (commit.fact.repository, commit.fact.commit): change for change in changes for commit in change.commits
    }
    lost: defaultdict[CommitKey, list[LineLoss]] = defaultdict(list)
    for loss in lines.losses:
        lost[loss.owner].append(loss)
    imports = _imports_by_commit(changes)
    found = []
    for change in changes:
        item = items.get(change.id, change.id)
        for commit in change.counted:
            key = (commit.fact.repository, commit.fact.commit)
            added = lines.added.get(key, 0)
            if not added or is_machine(commit.fact.author) or _is_claimed(change, commit):
                continue
            taken = [
                _taken(changes_by_commit[loss.by], (change, item), items, loss)
                for loss in lost.get(key, ())
                if loss.by in changes_by_commit
            ]
            languages = commit.fact.languages
            found.append(
                OwnCommit(
                    *(key[0], person_key(commit.fact.author), change.id, item, commit.fact.landed_at),
                    *(month_of(commit.fact.landed_at, zone), added, tuple(taken)),
                    max(languages, key=lambda name: (languages[name], name)) if languages else None,
                    commit.fact.lines.tests > 0,
                    None if imports is None else tuple(imports.get(key, ())),
                )
            )
    return found


def _imports_by_commit(changes: Sequence[Change]) -> Mapping[CommitKey, list[ComponentImport]] | None:
    """The new imports between components; None where the facts hold no imports, as those that GitHub reported."""
    facts = [commit.fact for change in changes for commit in change.commits]
    if not any(fact.imports for fact in facts):
        return None
    found: defaultdict[CommitKey, list[ComponentImport]] = defaultdict(list)
    for one in component_imports(facts):
        found[one.repository, one.commit].append(one)
    return found


def _is_claimed(change: Change, commit: CountedCommit) -> bool:
    """Whether only a text says who wrote it; a clone's author is attributed."""
    if commit.fact.evidence is None and not commit.judgements:
        return False
    author = person_key(commit.fact.author)
    grades = [
        part.grade
        for one, parts in change_credits(change)
        if one.fact.commit == commit.fact.commit
        for part in parts
        if part.authored and part.person == author
    ]
    return "claimed" in grades


def _taken(later: Change, own: tuple[Change, str], items: Mapping[ChangeId, str], loss: LineLoss) -> Taken:
    change, item = own
    at = next(one.fact.landed_at for one in later.commits if one.fact.commit == loss.by[1])
    cause = cause_of(later)
    follow_up = cause != "revert" and (later.id == change.id or items.get(later.id, later.id) == item)
    return Taken(later.id, at, cause, loss.replaced, loss.dropped, follow_up)

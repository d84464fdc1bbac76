"""Every landed change as one plain row: what it is, who made it, which item it belongs to, and what became of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from msgspec import Struct

from bot.landing.identity.credit import People, people_of, person_key
from bot.metrics.line_fates import LineRecord, OwnCommit, item_ids, own_commits
from bot.model.change import Change
from bot.model.commit import Signature
from bot.model.ids import STATED, ChangeId, PersonKey


class ListedChange(Struct, frozen=True):
    """`keys` are the people who authored it; `values` is the JSON object."""

    keys: frozenset[PersonKey]
    values: dict[str, Any]


def _languages(change: Change) -> dict[str, int]:
    total: dict[str, int] = defaultdict(int)
    for commit in change.counted:
        for name, lines in commit.fact.languages.items():
            total[name] += lines
    return dict(sorted(total.items(), key=lambda one: (-one[1], one[0])))


class _Fate(Struct):
    """Of the lines that a change added: how many a later certain bug fix replaced, and how many still stand."""

    replaced_by_fixes: int = 0
    surviving: int = 0


def _fates(lines: Iterable[OwnCommit], now: int | None) -> dict[ChangeId, _Fate]:
    found: defaultdict[ChangeId, _Fate] = defaultdict(_Fate)
    for commit in lines:
        fate = found[commit.change]
        later = [one for one in commit.taken if now is not None and one.at <= now]
        fate.surviving += commit.added - sum(one.replaced + one.dropped for one in later)
        fate.replaced_by_fixes += sum(
            one.replaced + one.dropped for one in later if one.cause == "fix" and not one.follow_up
        )
    return found


class Everybody(Struct, frozen=True):
    """The people of the record, and the keys of those who authored a landed commit in it."""

    people: People
    authors: Collection[PersonKey]
    signatures: Mapping[PersonKey, Signature]

    @classmethod
    def of(cls, people: People, authors: Collection[PersonKey], changes: Sequence[Change]) -> Everybody:
        """Everybody in these changes, with one signature for each key."""
        facts = [commit.fact for change in changes for commit in change.commits]
        return cls(people, authors, {person_key(sig): sig for fact in facts for sig in (fact.author, *fact.co_authors)})

    def parts_of(self, change: Change) -> list[dict[str, Any]]:
        """Who has which part of a change, and how surely; machines are left out."""
        found = [(self.people.person(self.signatures[one.person]), one) for one in people_of(change, self.authors)]
        return [
            {
                "who": person.display,
                "grade": one.grade,
                "part": {
                    "role": "author" if one.authored else "co-author",
                    "commits": one.commits,
                    "lines": one.lines.total,
                },
            }
            for person, one in sorted(found, key=lambda row: (not row[1].authored, -row[1].lines.total, row[0].key))
            if not person.bot
        ]


def listed_changes(
    changes: Sequence[Change], everybody: Everybody, zone: ZoneInfo, *, lines: LineRecord, now: int | None
) -> Iterator[ListedChange]:
    """The rows, oldest landing first. `now` None: as at the landing, with no later knowledge."""
    items = item_ids(changes, zone)
    fates = _fates(own_commits(changes, lines, zone), now)
    for change in changes:
        commits = change.counted or change.commits
        first = commits[0].fact
        person = everybody.people.person(first.author)
        yield ListedChange(
            frozenset(person_key(commit.fact.author) for commit in commits),
            {
                "id": change.id,
                "commits": [commit.fact.commit for commit in commits],
                "repository": change.repository,
                "landed_at": datetime.fromtimestamp(change.landed_at, UTC).isoformat().replace("+00:00", "Z"),
                "author": person.display,
                "author_email": first.author.email,
                "title": change.title,
                "kind": change.kind,
                "why": change.why,
                "certain": change.certain,
                "probability": change.probability / STATED,
                "lines": change.lines.as_dict(),
                "languages": _languages(change),
                "item": items.get(change.id),
                "state": "landed" if now is None else change.state,
                "people": everybody.parts_of(change),
                "parts_unknown": change.parts_unknown,
                "also_in": list(change.also_in),
                "replaced_by_fixes": fates[change.id].replaced_by_fixes,
                "surviving": fates[change.id].surviving,
                **({"not_measured": files} if (files := sum(one.fact.not_measured for one in commits)) else {}),
            },
        )

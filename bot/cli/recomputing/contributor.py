"""Which person of the clones does a published profile describe?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from msgspec import Struct

from bot.configuration.errors import UnusableInputError
from bot.history.record import CloneRecord
from bot.landing.months import month_of
from bot.model.commit import Person
from bot.model.fact import Fact
from bot.model.ids import CommitId, Month, PersonKey
from bot.render.anonymity import PERSONAL


class PublishedScope(Struct, frozen=True):
    """What the publisher included: these repositories, up to this moment (epoch seconds), in these months."""

    names: Collection[str]
    zone: ZoneInfo
    now: int
    since: Month | None = None
    until: Month | None = None

    def holds(self, fact: Fact) -> bool:
        month = month_of(fact.landed_at, self.zone)
        masked = any(name.startswith(PERSONAL) for name in self.names)
        return (
            fact.landed_at <= self.now
            and (masked or fact.repository in self.names)
            and (self.since is None or month >= self.since)
            and (self.until is None or month <= self.until)
        )


def find_contributor(record: CloneRecord, published: Mapping[str, Any], scope: PublishedScope) -> tuple[Person, ...]:
    """The person by user id, login or name; if these match several people or none, those whose work is fully listed.

    Raises UnusableInputError if nobody in the clones matches.
    """
    named = _named_people(record, published["contributor"])
    if len(named) == 1:
        return named
    listed = _listed_commits(published)
    credited = _credited_commits(record, scope)
    among = [person for person in named or record.people.all() if credited[person.key] & listed]
    fully_listed = [person for person in among if credited[person.key] <= listed]
    found = (
        _pick_people(fully_listed, credited, _stated_commits(published)) or named or _pick_people(among, credited, 1)
    )
    if not found:
        raise UnusableInputError("these clones contain none of the profile's commits")
    return tuple(found)


def _listed_commits(published: Mapping[str, Any]) -> frozenset[str]:
    rows = [row.get("commits") for row in published["changes"]]
    return frozenset(commit for row in rows if isinstance(row, list) for commit in row if isinstance(commit, str))


def _named_people(record: CloneRecord, published: Mapping[str, Any]) -> tuple[Person, ...]:
    found = [
        person for person in record.people.all() if person.user_id is not None and person.user_id == published.get("id")
    ]
    for who in (published.get("login"), published.get("name")):
        found += record.people.find(who) if isinstance(who, str) and who else ()
    return tuple({person.key: person for person in found}.values())


def _credited_commits(record: CloneRecord, scope: PublishedScope) -> Mapping[PersonKey, set[CommitId]]:
    """The counted commits of each person, as author or co-author."""
    found: dict[PersonKey, set[CommitId]] = defaultdict(set)
    for change in record.all_changes():
        for fact in (commit.fact for commit in change.counted):
            if scope.holds(fact):
                for sig in (fact.author, *fact.co_authors):
                    found[record.people.person(sig).key].add(fact.commit)
    return found


def _stated_commits(published: Mapping[str, Any]) -> int:
    """The number of commits that the profile states, own and credited ones."""
    overall = published.get("overall")
    counts = [overall.get(name) for name in ("commits", "co_authored", "claimed")] if isinstance(overall, dict) else []
    return sum(count for count in counts if isinstance(count, int))


def _pick_people(people: Sequence[Person], credited: Mapping[PersonKey, set[CommitId]], wanted: int) -> list[Person]:
    """The people with the most commits first, each only if they add new ones, until `wanted` commits are covered."""
    found: list[Person] = []
    held: set[CommitId] = set()
    for person in sorted(people, key=lambda person: (-len(credited[person.key]), person.key)):
        if len(held) < wanted and credited[person.key] - held:
            found.append(person)
            held |= credited[person.key]
    return found

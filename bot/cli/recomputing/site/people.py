"""What is the profile of each person who agreed, without the names of others?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cached_property
from zoneinfo import ZoneInfo

from msgspec import Struct

from bot.cli.recomputing.site.agreement import Agreement, everybody_else
from bot.cli.recomputing.site.months import NamedPeople
from bot.history.record import CloneRecord
from bot.metrics.line_fates import OwnCommit, own_commits
from bot.model.change import Change
from bot.model.commit import Person
from bot.model.ids import PersonKey
from bot.model.profile import Profile
from bot.narrative.part_totals import TotalOf, theme_totals
from bot.narrative.profile import ProfileContext, ProfileScope, build
from bot.narrative.project_texts import ProjectTexts
from bot.render.static.addresses import distinct_folders
from bot.render.static.masking import hide_authors, mask_profile
from bot.render.static.other_names import OtherNames


def shown_people(record: CloneRecord, agreed: Agreement) -> NamedPeople:
    """Who may be named, and the mask of everybody else's names."""
    names = OtherNames(everybody_else(record.people.all(), agreed), agreed.people, record.repositories)
    displayed = frozenset(name for person in agreed.people for name in (person.display, *person.names))
    machines = frozenset(person.display for person in record.people.all() if person.bot)
    return NamedPeople(frozenset(agreed.keys), displayed | machines, names.mask)


class SitePeople(Struct, frozen=True, dict=True):
    """Makes the profiles; what they share is computed once, and only if there is anybody."""

    record: CloneRecord
    changes: tuple[Change, ...]
    texts: ProjectTexts
    named: NamedPeople
    zone: ZoneInfo
    now: datetime

    @cached_property
    def _lines(self) -> list[OwnCommit]:
        return list(own_commits(self.changes, self.record.line_record(), self.zone))

    @cached_property
    def _totals(self) -> TotalOf:
        return theme_totals((commit.fact for change in self.changes for commit in change.commits), self.texts)

    def profile(self, person: Person) -> Profile:
        keys = self.record.keys_of((person,))
        scope = ProfileScope(person=person, keys=keys, zone=self.zone, now=self.now)
        own = hide_authors(self.record.changes_of((person,)), keys | self._named_keys)
        partial = self.record.without_start
        context = ProfileContext(
            self._lines, everybody=True, texts=self.texts, totals=self._totals, partial=partial, shallow=bool(partial)
        )
        return mask_profile(build(own, scope, context), self.named.mask)

    @cached_property
    def _named_keys(self) -> frozenset[PersonKey]:
        people = (person for person in self.record.people.all() if person.key in self.named.keys)
        return self.record.keys_of(people)


def folders_of(people: Iterable[Person]) -> Iterator[tuple[str, Person]]:
    """(folder, person): the login, where an address proves one, else the name."""
    ordered = sorted(people, key=lambda person: person.key)
    yield from zip(distinct_folders(person.login or person.display for person in ordered), ordered, strict=True)

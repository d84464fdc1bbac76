"""What does a digest say about a month: its counts, highlights, entries by theme, reverts and contributors?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from zoneinfo import ZoneInfo

from msgspec import Struct, field
from msgspec.structs import replace

from bot.landing.identity.addresses import person_key
from bot.landing.months import month_of
from bot.model.change import Change, Item
from bot.model.ids import ChangeId, Month, PersonKey
from bot.model.profile import Sentence
from bot.narrative.cleaning import without_scope
from bot.narrative.entry import Entry
from bot.narrative.highlights import may_lead
from bot.narrative.quotes import NO_QUOTES, Quotes
from bot.narrative.release_notes import NO_NOTES, ReleaseNotes, SectionEntry, release_sections
from bot.narrative.repository_month import ContributorMonth
from bot.narrative.sentences import NOUNS, change_label, count_kinds
from bot.narrative.timeline import Turn
from bot.narrative.turns import turn_sentences
from bot.narrative.words import digits

MOST_UNFOLDED = 12
MOST_HIGHLIGHTS = 5
_MOST_THEMES = 4
_FEWEST_OF_A_THEME = 2
"""entries that a heading needs"""
_QUIET = 2
"""so many changes or fewer are told in one line"""
_MOST_KINDS = 2
_LEAST_OF_A_KIND = 10
"""beside features and fixes, kinds with at least one in this many changes are named in the first line"""
UNNAMED = "somebody who is not named"


class DigestedMonth(Struct, frozen=True):
    """The repositories and the month that a digest is about."""

    repositories: frozenset[str]
    month: Month
    zone: ZoneInfo


class DigestLine(Struct, frozen=True):
    """One entry, who made it, and its repository where the digest covers several."""

    entry: Entry
    authors: tuple[str, ...]
    repository: str = ""


class DigestGroup(Struct, frozen=True):
    """Entries under one heading; an empty name needs none."""

    name: str
    lines: tuple[DigestLine, ...]


class ContributorRow(Struct, frozen=True):
    name: str
    commits: int
    features: int
    fixes: int
    reviews: int
    people: int = 1
    """more than one where people are counted together"""


def _no_addresses() -> Mapping[str, str | None]:
    return MappingProxyType({})


class MonthDigest(Struct, frozen=True):
    """Everything that a digest says, before it is formatted."""

    month: Month
    commits: int
    changes: int
    features: int
    fixes: int
    groups: tuple[DigestGroup, ...]
    folded: tuple[DigestLine, ...]
    rest: tuple[str, ...]
    """what is not unfolded, counted by kind"""
    more: int
    """changes that are not unfolded"""
    reverts: tuple[Sentence, ...]
    contributors: tuple[ContributorRow, ...]
    """in alphabetical order"""
    addresses: Mapping[str, str | None] = field(default_factory=_no_addresses)
    """number -> address of the changes that the sentences about reverts name"""
    others: tuple[str, ...] = ()
    """where most changes are neither features nor fixes: the largest other kinds and how many are left"""
    unquoted: tuple[tuple[str, str | None], ...] = ()
    """number and address of what is only counted, where one line says it all"""

    @property
    def quiet(self) -> bool:
        """Whether one line says it all."""
        few = sum(len(group.lines) for group in self.groups) <= _QUIET
        return few and self.changes <= _QUIET and not any(row.reviews for row in self.contributors)


class DigestOrder(Struct, frozen=True):
    """Which changes lead, and under which headings the others stand: from the ranking, or chosen by a model."""

    highlights: tuple[ChangeId, ...]
    groups: tuple[tuple[str, tuple[ChangeId, ...]], ...]


def ranked_order(quotes: Quotes, from_notes: int = 0) -> DigestOrder:
    """The entries that lead, and the others by theme. Of highlights there are fewer, if so many entries of release
    notes stand before them.
    """
    found = quotes.lead_entries(quotes.entries.keys(), len(quotes.order))
    few = len(found) <= MOST_HIGHLIGHTS
    highlights = found[: MOST_UNFOLDED if few and not from_notes else max(MOST_HIGHLIGHTS - from_notes, 0)]
    left = {entry.change for entry in found[len(highlights) :]}
    groups = []
    for theme in quotes.themes[:_MOST_THEMES]:
        members = tuple(entry.change for entry in found if entry.change in left and entry.change in theme.changes)
        if len(members) >= _FEWEST_OF_A_THEME:
            left.difference_update(members)
            groups.append((theme.name, members))
    return DigestOrder(tuple(entry.change for entry in highlights), tuple(groups))


def changes_of_month(scope: DigestedMonth, changes: Iterable[Change], people: Collection[PersonKey]) -> list[Change]:
    """The changes that landed there that month and are still counted, by people who may be unfolded; oldest first."""
    found = [
        change
        for change in changes
        if change.repository in scope.repositories
        and change.outcome
        and month_of(change.landed_at, scope.zone) == scope.month
        and any(person_key(commit.fact.author) in people for commit in change.commits)
    ]
    return sorted(found, key=lambda change: (change.landed_at, change.id))


def month_digest(
    scope: DigestedMonth,
    changes: Sequence[Change],
    contributors: Sequence[ContributorMonth],
    *,
    quotes: Quotes,
    order: DigestOrder | None = None,
    unnamed: Collection[PersonKey] = (),
    notes: ReleaseNotes = NO_NOTES,
) -> MonthDigest:
    """The digest of the month; `changes` may hold more than landed in it. Who is `unnamed` is counted, not named."""
    names = {
        key: UNNAMED if one.person.key in unnamed else one.person.display for one in contributors for key in one.keys
    }
    landed = changes_of_month(scope, changes, names)
    lines = _Lines(quotes, {change.id: change for change in landed}, names, len(scope.repositories) > 1)
    from_notes = _noted(notes, scope, names, unnamed)
    groups, used = _unfolded(order, quotes, lines, from_notes)
    unfolded = {quotes.entries[name].quoted for name in used if name in quotes.entries}
    left = [one for one in landed if one.id not in used and quotes.quotation_of(one.id) not in unfolded]
    items = {item.changes: item for one in contributors for item in one.record.items if item.state != "reverted"}
    turns = _turns(scope, changes, names)
    return MonthDigest(
        month=scope.month,
        commits=sum(one.record.commits for one in contributors),
        changes=len(landed),
        features=sum(item.kind == "feature" and item.certain for item in items.values()),
        fixes=sum(item.kind == "bug_fix" and item.certain for item in items.values()),
        groups=groups,
        folded=lines.of(change.id for change in left if _may_be_listed(change, quotes)),
        rest=tuple(_rest(left, items.values())),
        more=len(left),
        reverts=tuple(turn_sentences(turns, quotes)),
        addresses={change_label(turn.change): turn.change.url for turn in turns},
        contributors=tuple(_rows(contributors, names)),
        others=tuple(_other_work(landed)),
        unquoted=tuple((change_label(one), one.url) for one in left if one.id not in quotes.entries)[:_QUIET],
    )


def _may_be_listed(change: Change, quotes: Quotes) -> bool:
    """Whether it has an entry and is no upkeep, which is only counted."""
    entry = quotes.entries.get(change.id)
    return entry is not None and may_lead(change, entry)


def _rest(left: Sequence[Change], items: Iterable[Item]) -> list[str]:
    """What is not unfolded: features and fixes as the month's counts have them, the other changes by kind."""
    ids = {change.id for change in left}
    unshown = [item for item in items if item.certain and ids.issuperset(item.changes)]
    sums = [digits(sum(item.kind == kind for item in unshown), *NOUNS[kind]) for kind in ("feature", "bug_fix")]
    others = [change for change in left if not (change.certain and change.kind in ("feature", "bug_fix"))]
    return [*(text for text in sums if not text.startswith("0 ")), *count_kinds(others)]


def _other_work(landed: Sequence[Change]) -> list[str]:
    """What else was done, where most changes are neither features nor fixes: the largest kinds and the rest."""
    others = [change for change in landed if not (change.certain and change.kind in ("feature", "bug_fix"))]
    if len(others) * 2 <= len(landed):
        return []
    kinds = Counter(change.kind for change in others if change.certain).most_common(_MOST_KINDS)
    large = [(kind, count) for kind, count in kinds if count * _LEAST_OF_A_KIND >= len(landed)]
    left = len(others) - sum(count for _, count in large)
    return [*(digits(count, *NOUNS[kind]) for kind, count in large), *([digits(left, "other change")] if left else [])]


class _Lines(Struct, frozen=True):
    """Makes the lines of a digest."""

    quotes: Quotes
    landed: Mapping[ChangeId, Change]
    names: Mapping[PersonKey, str]
    several: bool

    def of(self, ids: Iterable[ChangeId], heading: str = "") -> tuple[DigestLine, ...]:
        """The lines of those changes that landed and have an entry, each quotation once; under a heading that is a
        scope, that is not said again.
        """
        found: dict[str, DigestLine] = {}
        for name in ids:
            entry, change = self.quotes.entries.get(name), self.landed.get(name)
            if entry is not None and change is not None:
                said = replace(entry, quoted=without_scope(entry.quoted, heading)) if heading else entry
                found.setdefault(entry.quoted, DigestLine(said, self._authors(change), self._repository(change)))
        return tuple(found.values())

    def note_line(self, one: SectionEntry) -> DigestLine:
        """The line of an entry of release notes; one about no known change names nobody."""
        if one.about is None:
            return DigestLine(one.entry, ())
        return DigestLine(one.entry, self._authors(one.about), self._repository(one.about))

    def _authors(self, change: Change) -> tuple[str, ...]:
        keys = dict.fromkeys(person_key(commit.fact.author) for commit in change.commits)
        return tuple(dict.fromkeys(self.names[key] for key in keys if key in self.names))

    def _repository(self, change: Change) -> str:
        return change.repository.rpartition("/")[2] if self.several else ""


def _noted(
    notes: ReleaseNotes, scope: DigestedMonth, names: Mapping[PersonKey, str], unnamed: Collection[PersonKey]
) -> list[DigestGroup]:
    """The notes of the month's releases, each entry with its authors."""
    everybody = {**{key: UNNAMED if key in unnamed else name for key, name in notes.names.items()}, **names}
    lines = _Lines(NO_QUOTES, {}, everybody, len(scope.repositories) > 1)
    groups, room = [], MOST_UNFOLDED
    for section in release_sections(notes, everybody, scope.zone):
        found = tuple(lines.note_line(one) for one in section.entries[:room])
        room -= len(found)
        groups += [DigestGroup(f"Released in {section.version}", found)] if found else []
    return groups


def _unfolded(
    order: DigestOrder | None, quotes: Quotes, lines: _Lines, from_notes: Sequence[DigestGroup]
) -> tuple[tuple[DigestGroup, ...], list[ChangeId]]:
    """Release notes, highlights and groups, at most `MOST_UNFOLDED` lines in all, and the changes in them."""
    known = [line.entry.change for group in from_notes for line in group.lines]
    quotes = quotes.leave_out(known)
    order = order or ranked_order(quotes, len(known))
    room = MOST_UNFOLDED - len(known)
    groups = list(from_notes)
    head = "Highlights" if order.groups or from_notes else ""
    for name, ids in ((head, order.highlights), *order.groups):
        found = lines.of([one for one in ids if one not in known], name)[:room]
        if found and (len(found) >= _FEWEST_OF_A_THEME or len(found) == len(ids)):
            room -= len(found)
            groups.append(DigestGroup(name, found))
    return tuple(groups), [line.entry.change for group in groups for line in group.lines]


def _turns(scope: DigestedMonth, changes: Iterable[Change], people: Collection[PersonKey]) -> list[Turn]:
    """What was reverted or landed again there that month, each once."""
    by_id = {change.id: change for change in changes}
    found = []
    for change in by_id.values():
        by = by_id.get(change.reverted_by) if change.reverted_by else None
        ours = _is_by(change, people) or (by is not None and _is_by(by, people))
        if change.repository not in scope.repositories or not ours:
            continue
        month = month_of(change.landed_at, scope.zone)
        if change.state == "relanded" and month == scope.month:
            found.append(Turn("relanded", change, (change.id,)))
        if change.state == "reverted":
            found += _reverted(change, month, by_id, scope)
    return found


def _reverted(change: Change, month: Month, by_id: Mapping[ChangeId, Change], scope: DigestedMonth) -> list[Turn]:
    """A change of this month that was reverted then or later, or one of an earlier month that was reverted now."""
    by = by_id.get(change.reverted_by) if change.reverted_by else None
    when = month_of(by.landed_at, scope.zone) if by else None
    evidence = (change.id, by.id) if by else (change.id,)
    if month == scope.month:
        return [Turn("reverted", change, evidence, when if when != month else None)]
    return [Turn("reverted_now", change, evidence)] if when == scope.month else []


def _is_by(change: Change, people: Collection[PersonKey]) -> bool:
    """Whether somebody who may be unfolded made it; only people of this month are known here."""
    return any(person_key(commit.fact.author) in people for commit in change.commits)


def _rows(contributors: Iterable[ContributorMonth], names: Mapping[PersonKey, str]) -> list[ContributorRow]:
    rows = [
        ContributorRow(
            names[one.person.key],
            one.record.commits,
            one.record.features,
            one.record.bugs,
            len(one.record.non_code.reviews),
        )
        for one in contributors
    ]
    return sorted(rows, key=lambda row: (row.name.casefold(), row.name))

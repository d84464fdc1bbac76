"""Which facts may a text about one contributor state, each with the changes that prove it?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from math import log2
from types import MappingProxyType

from msgspec import Struct, field

from bot.metrics.work import MonthWork
from bot.model.change import Change, Item
from bot.model.ids import ChangeId, ItemKind, Kind, Month
from bot.model.profile import LanguageSkill, MonthRecord, Overall, RepositoryRecord, TechnicalSkill
from bot.narrative.timeline import Evidence, Timeline, Turn, timeline

__all__ = [
    "ItemFacts",
    "MonthFacts",
    "ProfileFacts",
    "Timeline",
    "Turn",
    "each_months_facts",
    "month_facts",
    "profile_facts",
    "timeline",
]


def _no_changes() -> Mapping[ChangeId, Change]:
    return MappingProxyType({})


def _no_evidence() -> Mapping[str, Evidence]:
    return MappingProxyType({})


class ItemFacts(Struct, frozen=True, dict=True):
    """One item that stands, with its changes, oldest first. `kind` is stated only where `certain`."""

    kind: ItemKind
    work: Kind
    """kind of the change that is most of it"""
    certain: bool
    title: str
    changes: tuple[Change, ...]

    @cached_property
    def evidence(self) -> Evidence:
        return tuple([change.id for change in self.changes])

    @cached_property
    def weight(self) -> float:
        """Grows with lines and changes, slowly: a large patch may hide nine careful ones."""
        return log2(1 + sum([change.lines.code for change in self.changes])) + len(self.changes)


class MonthFacts(Struct, frozen=True):
    """All that may be said about one contributor's month. Every number a text states is a field or property here."""

    month: Month
    person: str
    """display name, verbatim; only the named text states it"""
    repositories: tuple[str, ...]
    commits: int
    items: tuple[ItemFacts, ...] = ()
    """what stands, weightiest first"""
    turns: tuple[Turn, ...] = ()
    co_authored: int = 0
    helped: Evidence = ()
    """changes whose co-author the contributor is"""
    reviews: int = 0
    languages: tuple[str, ...] = ()
    new_repositories: Mapping[str, Evidence] = field(default_factory=_no_evidence)
    new_languages: Mapping[str, Evidence] = field(default_factory=_no_evidence)
    new_skills: Mapping[str, Evidence] = field(default_factory=_no_evidence)
    other_months: Evidence = ()
    """changes that own commits of this month belong to, and that another month tells"""
    previous: tuple[Month, int] | None = None
    """the contributor's own month before, and its commits"""
    changes: Mapping[ChangeId, Change] = field(default_factory=_no_changes)
    """every change that the fields above cite"""

    @property
    def features(self) -> tuple[ItemFacts, ...]:
        return tuple(item for item in self.items if item.kind == "feature")

    @property
    def fixes(self) -> tuple[ItemFacts, ...]:
        return tuple(item for item in self.items if item.kind == "bug_fix")

    @property
    def others(self) -> tuple[ItemFacts, ...]:
        return tuple(item for item in self.items if item.kind == "other")


class ProfileFacts(Struct, frozen=True, dict=True):
    """All that the narrative of a profile may say."""

    person: str
    overall: Overall
    first_month: Month
    """of the months with own commits, where there are any"""
    last_month: Month
    repositories: tuple[RepositoryRecord, ...]
    months: tuple[MonthFacts, ...]
    """newest first"""
    languages: Mapping[str, Evidence] = field(default_factory=_no_evidence)
    """by lines, most first"""
    skills: Mapping[str, Evidence] = field(default_factory=_no_evidence)
    """by weight, most first"""
    changes: Mapping[ChangeId, Change] = field(default_factory=_no_changes)
    landed: Evidence = ()
    """every change with an own commit, whether it stands or not; with a credited one, where there is no own"""

    @cached_property
    def items(self) -> tuple[ItemFacts, ...]:
        """What stands, of all months, weightiest first."""
        found = [item for month in self.months for item in month.items]
        return tuple(sorted(found, key=lambda item: (-item.weight, item.evidence)))

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(turn for month in self.months for turn in month.turns)

    @property
    def repository_names(self) -> tuple[str, ...]:
        """The repositories by name; those of credited commits, where no own commit landed anywhere."""
        own = tuple(record.full_name for record in self.repositories)
        return own or tuple(sorted({name for month in self.months for name in month.repositories}))


def item_facts(item: Item, changes: Mapping[ChangeId, Change]) -> ItemFacts:
    """The item with its changes; certain where a change of its own kind is."""
    members = tuple(changes[name] for name in item.changes if name in changes)
    of_kind = [change for change in members if _item_kind(change.kind) == item.kind] or list(members)
    main = of_kind[0] if len(of_kind) == 1 else max(of_kind, key=lambda change: (change.lines.code, change.id))
    return ItemFacts(item.kind, main.kind, any(change.certain for change in of_kind), item.title, members)


def changes_in(items: Iterable[ItemFacts]) -> int:
    """How many changes make the items."""
    return sum(len(item.changes) for item in items)


def upkeep_counts(items: Iterable[ItemFacts]) -> Counter[Kind]:
    """How many of the items went to documentation, tests, CI or the build, where that is certain."""
    kinds = (item.work for item in items if item.certain)
    return Counter(kind for kind in kinds if kind in ("docs", "test", "ci", "build"))


def certainty_counts(items: Sequence[ItemFacts]) -> tuple[int, int]:
    """How many of the items are certainly what they are called, and how many may be."""
    sure = sum(item.certain for item in items)
    return sure, len(items) - sure


def _item_kind(kind: Kind) -> ItemKind:
    return kind if kind in ("feature", "bug_fix") else "other"


def _unreverted_items(items: Iterable[Item], changes: Mapping[ChangeId, Change]) -> tuple[ItemFacts, ...]:
    """Items that stand, without the reverted changes in them and without reverts, which are told as turns."""
    found = []
    for item in items:
        unreverted = tuple(name for name in item.changes if name in changes and changes[name].outcome)
        if item.state != "reverted" and unreverted:
            found.append(item_facts(Item(item.kind, item.title, item.state, unreverted, item.edges), changes))
    return tuple(sorted(found, key=lambda item: (-item.weight, item.evidence)))


def month_facts(
    record: MonthRecord, line: Timeline, *, earlier: MonthRecord | None = None, reviews: int = 0
) -> MonthFacts:
    """The facts of one month. `record.summary` is not read; `earlier` is the contributor's own month before."""
    month = record.month
    items = _unreverted_items(record.items, line.changes)
    turns = line.turns.get(month, ())
    cited = [name for item in items for name in item.evidence] + [name for turn in turns for name in turn.evidence]
    done = line.work.get(month)
    cited += [change.id for change, _ in (done.commits + done.co_authored if done else ())]
    return MonthFacts(
        month=month,
        person=line.person,
        repositories=record.repositories or _credited_repositories(done),
        commits=record.commits,
        items=items,
        turns=turns,
        co_authored=record.co_authored,
        helped=tuple(dict.fromkeys(change.id for change, _ in (done.co_authored if done else ()))),
        reviews=reviews,
        other_months=_other_months_changes(done),
        languages=tuple(record.languages),
        new_repositories=line.new_repositories.get(month, {}),
        new_languages=line.new_languages.get(month, {}),
        new_skills=line.new_skills.get(month, {}),
        previous=(earlier.month, earlier.commits) if earlier else None,
        changes={name: line.changes[name] for name in dict.fromkeys(cited) if name in line.changes},
    )


def each_months_facts(records: Sequence[MonthRecord], line: Timeline) -> tuple[MonthFacts, ...]:
    """The facts of each of one contributor's months, newest first as the records are."""
    earlier = [*records[1:], None][: len(records)]
    return tuple(month_facts(record, line, earlier=before) for record, before in zip(records, earlier, strict=True))


def _other_months_changes(done: MonthWork | None) -> Evidence:
    delivered_ids = {change.id for change in done.delivered} if done else set()
    return tuple(
        dict.fromkeys(change.id for change, _ in (done.commits if done else ()) if change.id not in delivered_ids)
    )


def _credited_repositories(done: MonthWork | None) -> tuple[str, ...]:
    """Where the changes of a month without an own commit landed."""
    return tuple(sorted({change.repository for change, _ in (done.co_authored if done else ())}))


def profile_facts(
    line: Timeline,
    months: Sequence[MonthFacts],
    *,
    overall: Overall,
    repositories: Sequence[RepositoryRecord],
    skills: tuple[Sequence[LanguageSkill], Sequence[TechnicalSkill]],
) -> ProfileFacts:
    """The facts of the whole record; `months` is newest first, `skills` the languages and the technologies as shown."""
    languages, technical = skills
    active = [facts for facts in months if facts.commits] or months
    return ProfileFacts(
        person=line.person,
        overall=overall,
        first_month=active[-1].month,
        last_month=active[0].month,
        repositories=tuple(repositories),
        months=tuple(months),
        languages=_by_language(line, [language.name for language in languages], {facts.month for facts in months}),
        skills={skill.name: skill.evidence for skill in technical},
        changes={name: change for month in months for name, change in month.changes.items()},
        landed=_landed_ids(line, [facts.month for facts in reversed(active)]),
    )


def _landed_ids(line: Timeline, months: Sequence[Month]) -> Evidence:
    work = [line.work[month] for month in months if month in line.work]
    own = [change.id for done in work for change, _ in done.commits]
    return tuple(dict.fromkeys(own or [change.id for done in work for change, _ in done.co_authored]))


def _by_language(line: Timeline, names: Sequence[str], months: Collection[Month]) -> dict[str, Evidence]:
    """For each language the changes with most of its lines, five at most."""
    lines: dict[str, Counter[ChangeId]] = {name: Counter() for name in names}
    for done in (work for month, work in line.work.items() if month in months):
        for change, commit in done.commits:
            for name, count in commit.fact.languages.items():
                if name in lines and change.outcome:
                    lines[name][change.id] += count
    ranked = {name: sorted(found, key=lambda change: (-found[change], change)) for name, found in lines.items()}
    return {name: tuple(found[:5]) for name, found in ranked.items() if found}

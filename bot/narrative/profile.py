"""How a contributor's changes become the profile: every field with its evidence."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo

from msgspec import Struct, field
from msgspec.structs import replace

from bot.landing.months import month_of
from bot.metrics import METHOD_VERSION
from bot.metrics.ai_usage import traced_usage
from bot.metrics.items import group
from bot.metrics.line_fates import OwnCommit
from bot.metrics.non_code_activity import documentation, first_contributions
from bot.metrics.quality import rate
from bot.metrics.registry import numbers_of, parts_of
from bot.metrics.skills import technical_skills
from bot.metrics.totals import commits_by_day, own_credits, work_by_month
from bot.metrics.work import MonthWork, Work, sum_languages, sum_lines
from bot.model.change import Change, CountedCommit
from bot.model.commit import Person
from bot.model.ids import ChangeId, Month, PersonKey
from bot.model.profile import (
    Contributor,
    LanguageSkill,
    Method,
    MonthRecord,
    NonCodeActivity,
    Overall,
    Profile,
    Quality,
    RepositoryRecord,
    Text,
)
from bot.narrative.month_text import month_text
from bot.narrative.non_code_activity import non_code_months, with_monthly_non_code
from bot.narrative.part_totals import PartKey, PartTotal, TotalOf, no_total
from bot.narrative.profile_text import RecordFacts, profile_text
from bot.narrative.project_texts import NO_TEXTS, ProjectTexts
from bot.narrative.timeline import turns_by_month
from bot.narrative.title_quotes import quotes_of

Pair = tuple[Change, CountedCommit]
MOST_SKILLS = 15
MOST_SKILLS_A_REPOSITORY = 6
LEAST_LANGUAGE_LINES = 5
LEAST_LANGUAGE_SHARE = 100
"""a language is shown from five lines on, or from one in this many of the contributor's lines"""


class ProfileScope(Struct, frozen=True):
    """Whose record, of which months, as seen when. Months are inclusive."""

    person: Person
    keys: frozenset[PersonKey]
    zone: ZoneInfo
    now: datetime
    since: Month | None = None
    until: Month | None = None
    naming: Literal["named", "anonymous"] = "named"


def _contributor(scope: ProfileScope) -> Contributor:
    if scope.naming == "anonymous":
        return Contributor(display="Anonymous contributor", naming="anonymous")
    person = scope.person
    return Contributor(person.display, "named", person.user_id, person.login, person.name or None)


def _languages(work: Sequence[MonthWork]) -> tuple[LanguageSkill, ...]:
    lines: Counter[str] = Counter()
    first: dict[str, Month] = {}
    for month in work:
        counts = month.languages
        lines.update(counts)
        for name in counts:
            first.setdefault(name, month.month)
    total = sum(lines.values())
    selected = [
        LanguageSkill(name, count, first[name])
        for name, count in lines.items()
        if count >= LEAST_LANGUAGE_LINES or count * LEAST_LANGUAGE_SHARE >= total
    ]
    return tuple(sorted(selected, key=lambda language: (-language.lines, language.name)))


def month_record(work: MonthWork) -> MonthRecord:
    """The month in numbers and items; its text comes when the months around it are known."""
    items = group(work.delivered)
    measured = Work((work,), items)
    return MonthRecord(
        month=work.month,
        lines=work.lines,
        summary=Text(()),
        items=items,
        numbers=numbers_of(measured),
        parts=parts_of(measured),
        repositories=work.repositories,
        languages=dict(work.languages.most_common()),
        non_code=NonCodeActivity(documentation=documentation(work.delivered)),
    )


def _repositories(
    work: Sequence[MonthWork], now_month: Month, partial: Collection[str]
) -> tuple[RepositoryRecord, ...]:
    commits: dict[str, list[tuple[Month, Change, CountedCommit]]] = defaultdict(list)
    for month in work:
        for change, commit in month.commits:
            commits[commit.fact.repository].append((month.month, change, commit))
    records = [
        replace(_repository(name, found, now_month), full_history=name not in partial)
        for name, found in commits.items()
    ]
    return tuple(sorted(records, key=lambda record: (-record.active_months, -record.commits, record.full_name)))


def _repository(name: str, found: Sequence[tuple[Month, Change, CountedCommit]], now_month: Month) -> RepositoryRecord:
    months = sorted({month for month, _, _ in found})
    languages = sum_languages(commit for _, _, commit in found)
    skills = technical_skills(((change.id, commit.fact) for _, change, commit in found if change.outcome), now_month)
    return RepositoryRecord(
        full_name=name,
        first_month=months[0],
        last_month=months[-1],
        active_months=len(months),
        commits=len(found),
        languages=tuple(sorted(languages, key=lambda language: (-languages[language], language))),
        skills=tuple(skill.name for skill in skills[:MOST_SKILLS_A_REPOSITORY]),
    )


def _overall(months: Sequence[MonthRecord], work: Sequence[MonthWork], claimed: Sequence[Pair]) -> Overall:
    items = [item for month in reversed(months) for item in month.items]
    return Overall(sum_lines(month.lines for month in months), numbers_of(Work(work, items, claimed)))


def _is_in_window(window: ProfileScope, month: Month) -> bool:
    return (window.since is None or month >= window.since) and (window.until is None or month <= window.until)


def _months(changes: Sequence[Change], scope: ProfileScope) -> dict[Month, MonthWork]:
    """Active months of the whole record: those with a commit, authored or co-authored, or a delivery."""
    return work_by_month(changes, scope.keys, scope.zone)


def _evidence(
    work: Iterable[MonthWork], texts: Iterable[Text], claimed: Iterable[Pair], by_id: Mapping[ChangeId, Change]
) -> tuple[Change, ...]:
    """Every change that the profile refers to, oldest first."""
    named = {change.id for month in work for change, _ in (*month.commits, *month.co_authored)}
    named |= {change.id for change, _ in claimed}
    named |= {change.id for month in work for change in month.delivered}
    named |= {change for text in texts for sentence in text.sentences for change in sentence.evidence}
    return tuple(sorted((by_id[name] for name in named if name in by_id), key=lambda c: (c.landed_at, c.id)))


class ProfileContext(Struct, frozen=True):
    """What is known beside the changes: what became of the lines of these commits; the non-code activity, which only
    GitHub shows; the repositories whose history is not known from its first commit on. `texts` is what other landings
    tell of the changes, and `totals` everybody's changes in the parts of the product; they are said only of the
    repositories that are not in `partial`."""

    lines: Sequence[OwnCommit] = ()
    everybody: bool = False
    """whether `lines` are those of all people, and not only of this one"""
    non_code: Mapping[Month, NonCodeActivity] = field(default_factory=dict)
    partial: Collection[str] = ()
    texts: ProjectTexts = NO_TEXTS
    totals: TotalOf = no_total
    shallow: bool = False
    """whether `partial` names repositories because their clones are shallow"""

    def total_of(self, key: PartKey) -> PartTotal | None:
        """Everybody's changes in a part of a repository whose history is known from its first commit on."""
        return None if key[0] in self.partial else self.totals(key)


NO_PROFILE_CONTEXT = ProfileContext()


def quality(scope: ProfileScope, months: Collection[Month], context: ProfileContext) -> Quality:
    """What happened to the person's lines of these months by now."""
    own = [one for one in context.lines if one.author in scope.keys and one.month in months]
    return rate(own, context.lines if context.everybody else (), int(scope.now.timestamp()))


def _method(scope: ProfileScope, commits: Sequence[Pair], context: ProfileContext) -> Method:
    return Method(
        METHOD_VERSION,
        str(scope.zone),
        since=scope.since,
        until=scope.until,
        not_measured=sum(commit.fact.not_measured for _, commit in commits),
        shallow=context.shallow and any(commit.fact.repository in context.partial for _, commit in commits),
    )


def build(changes: Sequence[Change], scope: ProfileScope, context: ProfileContext = NO_PROFILE_CONTEXT) -> Profile:
    """The profile of one contributor from all changes that the contributor has a part in.

    `changes` may hold more than that (reverts by others, say): what the texts need to know of them is read there.
    """
    every_month = _months(changes, scope)
    claimed = [pair for name, one in every_month.items() if _is_in_window(scope, name) for pair in one.claimed]
    all_months = {name: one for name, one in every_month.items() if one.is_active}
    work = [all_months[name] for name in all_months if _is_in_window(scope, name)]
    by_id = {change.id: change for change in changes}
    turns = turns_by_month(all_months, by_id, zone=scope.zone)
    plain = (month_record(month) for month in reversed(work))
    records = with_monthly_non_code(plain, context.non_code, first_contributions(all_months, context.partial))
    delivered = [change for month in work for change in month.delivered]
    quotes = quotes_of(delivered, scope.keys, scope.zone, context.texts, context.total_of)
    months = tuple(
        replace(record, summary=month_text(record, all_months[record.month], turns.get(record.month, ()), quotes))
        for record in records
    )
    now_month = month_of(int(scope.now.timestamp()), scope.zone)
    commits = [pair for month in work for pair in month.commits]
    skills = technical_skills(((change.id, commit.fact) for change, commit in commits if change.outcome), now_month)
    overall, languages = _overall(months, work, claimed), _languages(work)
    repositories = _repositories(work, now_month, context.partial)
    top_skills = skills[:MOST_SKILLS]
    narrative = Text(())
    if months:
        names = [language.name for language in languages]
        facts = RecordFacts(_contributor(scope).display, scope.keys, work, overall, repositories, names)
        narrative = profile_text(facts, quotes, scope.naming)
    evidence = _evidence(work, [narrative, *(month.summary for month in months)], claimed, by_id)
    return Profile(
        generated_at=scope.now,
        method=_method(scope, commits, context),
        contributor=_contributor(scope),
        narrative=narrative,
        overall=overall,
        months=months,
        activity=commits_by_day(work, scope.zone),
        quality=quality(scope, frozenset(month.month for month in work), context),
        ai_usage=traced_usage([(change.id, commit.fact) for change, commit in commits]),
        languages=languages,
        technical=top_skills,
        repositories=repositories,
        changes=evidence,
        credits=own_credits(evidence, scope.keys),
        non_code_months=non_code_months(
            context.non_code, [one for one in context.non_code.keys() - all_months.keys() if _is_in_window(scope, one)]
        ),
    )

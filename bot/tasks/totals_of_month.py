"""What is one person's month as rows of the totals?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from zoneinfo import ZoneInfo

from bot.metrics.ai_usage import usage
from bot.metrics.items import group
from bot.metrics.totals import MonthWork, days, sum_languages
from bot.model import Item, Lines, PersonKey, RepositoryId
from bot.store import totals


def cells(work: MonthWork, person: PersonKey, ids: Mapping[str, RepositoryId], zone: ZoneInfo) -> list[totals.Totals]:
    """One person's month as rows of the totals, one a repository. An item counts where its first change lives."""
    by_id = {change.id: change for change in work.delivered}
    items: dict[str, list[Item]] = defaultdict(list)
    for item in group(work.delivered):
        items[by_id[item.changes[0]].repository].append(item)
    names = {commit.fact.repository for _, commit in (*work.commits, *work.co_authored)} | set(items)
    return [
        _cell(work, person, name, items[name], (ids[name], zone)) for name in sorted(names) if ids.get(name) is not None
    ]


def _cell(
    work: MonthWork, person: PersonKey, name: str, items: Sequence[Item], place: tuple[RepositoryId, ZoneInfo]
) -> totals.Totals:
    repository_id, zone = place
    here = [(change, commit) for change, commit in work.commits if commit.fact.repository == name]
    helped = [1 for _, commit in work.co_authored if commit.fact.repository == name]
    kinds = Counter(item.kind for item in items if item.state != "reverted")
    ai = usage(commit.fact for _, commit in here)
    skills: Counter[str] = Counter()
    for change, commit in here:
        if change.outcome:
            skills.update(dict(commit.fact.skills))
    return totals.Totals(
        person_key=person,
        repository_id=repository_id,
        month=work.month,
        commits=len(here),
        co_authored=len(helped),
        features=kinds["feature"],
        bugs=kinds["bug_fix"],
        other=kinds["other"],
        outcomes=sum(1 for change in work.delivered if change.outcome and change.repository == name),
        ai_declared=ai.declared,
        ai_detected=ai.detected,
        ai_unknown=ai.unknown,
        lines=sum((commit.lines for _, commit in here), Lines()),
        languages=dict(sum_languages(commit for _, commit in here)),
        skills=dict(skills),
        tools=dict(ai.tools),
        days=days([MonthWork(work.month, commits=here)], zone),
    )

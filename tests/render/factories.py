"""Which invented people are rendered in the tests? All names, repositories and numbers here are made up."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from bot.metrics.registry import numbers_of, parts_of
from bot.metrics.work import MonthWork, Work
from bot.model.change import Change, CountedCommit, Item
from bot.model.commit import Signature
from bot.model.fact import Fact, Lines
from bot.model.ids import ChangeId, CommitId, Month, UserId
from bot.model.profile import (
    AiTrace,
    AiUsage,
    Contributor,
    LanguageSkill,
    Layout,
    Method,
    MonthRecord,
    Overall,
    Profile,
    Quality,
    QualityFact,
    RepositoryRecord,
    Score,
    ScoreEvidence,
    Sentence,
    TechnicalSkill,
    Text,
)
from bot.narrative.entry import Entry, Theme
from bot.narrative.sentences import entry_sentence, theme_sentence

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
SOMEBODY = Signature("Mira Okonjo", "mira@example.org")


def commit_id(seed: str) -> CommitId:
    return CommitId(hashlib.sha256(seed.encode()).hexdigest()[:40])


def seconds(date: str) -> int:
    return int(datetime.fromisoformat(date + "T12:00:00+00:00").timestamp())


def change(repository: str, number: int | None, title: str, landed: str, /, **more: Any) -> Change:
    """A change of one commit; `lines`, `kind`, `state`, `languages`, `skills` and any field of `Change` by name."""
    lines = more.pop("lines", Lines(authored=40, tests=12))
    fact = Fact(
        repository=repository,
        commit=commit_id(f"{repository} {number} {title} {landed}"),
        landed_at=seconds(landed),
        authored_at=seconds(landed) - 3600,
        author=SOMEBODY,
        committer=SOMEBODY,
        title=title,
        how="squash",
        merge_commit=commit_id(f"{repository} {number} {title} {landed}"),
        pull_request=number,
        lines=lines,
        languages=more.pop("languages", {"Python": lines.authored + lines.tests}),
        skills=more.pop("skills", {}),
    )
    more.setdefault("kind", "feature")
    more.setdefault("state", "landed")
    key = f"{repository}#{number}" if number else f"{repository}@{fact.commit}"
    where = f"pull/{number}" if number else f"commit/{fact.commit}"
    more.setdefault("url", f"https://github.com/{repository}/{where}")
    return Change(
        id=ChangeId(key),
        repository=repository,
        title=title,
        why="",
        certain=more.pop("certain", True),
        landed_at=seconds(landed),
        commits=(CountedCommit(fact, True, lines),),
        pull_request=number,
        **more,
    )


def item(title: str, *changes: Change, kind: Any = "feature", state: Any = "landed") -> Item:
    return Item(kind, title, state, tuple(one.id for one in changes))


def sentence(text: str, *changes: Change) -> Sentence:
    return Sentence(text, tuple(one.id for one in changes))


NOVEMBER = Month("2025-11")


def entry(
    found: Change, quoted: str, tag: str, *, release: str | None = None, people: tuple[str, ...] = ()
) -> Sentence:
    """The sentence that quotes a changelog entry about the change."""
    number = found.pull_request
    made = Entry(quoted, tag, "changelog", found.id, None, found.url, number, people, release, NOVEMBER)
    return entry_sentence(made)


def month_record(month: str, summary: Text, items: tuple[Item, ...], changes: list[Change]) -> MonthRecord:
    pairs = [(one, commit) for one in changes for commit in one.counted]
    work = Work((MonthWork(Month(month), pairs, [], changes),), items)
    return MonthRecord(
        month=Month(month),
        numbers=numbers_of(work) | counts_of(items),
        parts=parts_of(work),
        lines=sum((one.lines for one in changes), Lines()),
        summary=summary,
        items=items,
        repositories=tuple(sorted({one.repository for one in changes})),
        languages={"Python": 10},
    )


def counts_of(items: Iterable[Item]) -> dict[str, int]:
    """Items by kind; the reverted ones are counted too, so that every form has a number of them to show."""
    kinds = Counter(one.kind for one in items)
    return {"features": kinds["feature"], "bugs": kinds["bug_fix"], "other": kinds["other"]}


def overall(months: tuple[MonthRecord, ...], changes: tuple[Change, ...]) -> Overall:
    items = [one for month in months for one in month.items]
    by_id = {one.id: one for one in changes}
    work = [
        MonthWork(month.month, [(one, commit) for one in found for commit in one.counted], [], found)
        for month in months
        if (found := [by_id[key] for part in month.parts.get("commits", ()) for key in part.changes])
    ]
    counts = counts_of(items)
    share = Fraction(counts["features"], counts["features"] + counts["bugs"])
    numbers = numbers_of(Work(work, items)) | counts | {"feature_share": share, "co_authored": 2}
    return Overall(sum((month.lines for month in months), Lines()), numbers)


def activity(changes: tuple[Change, ...]) -> dict[str, int]:
    days: dict[str, int] = defaultdict(int)
    for one in changes:
        for commit in one.counted:
            days[datetime.fromtimestamp(commit.fact.landed_at, UTC).date().isoformat()] += 1
    return dict(sorted(days.items()))


def small_profile() -> Profile:
    """Three months, two repositories: a feature of two changes, a revert, a re-land, a fix that is elsewhere too."""
    queue = change("harbour/beacon", 41, "Add a retry queue for failed uploads", "2025-11-04", skills={"asyncio": 6})
    jitter = change("harbour/beacon", 43, "Retry queue: jitter between attempts", "2025-11-06", skills={"asyncio": 3})
    leak = change(
        "harbour/beacon",
        47,
        "Fix file handle leak in `Uploader.close()` <again> & again",
        "2025-11-20",
        kind="bug_fix",
        also_in=("harbour/beacon-lts",),
        lines=Lines(authored=8, tests=20, docs=2),
    )
    cache = change(
        "harbour/beacon",
        52,
        "Cache the tide table",
        "2026-01-12",
        state="reverted",
        reverted_by=ChangeId("harbour/beacon#55"),
        lines=Lines(reverted=120),
    )
    back_out = change(
        "harbour/beacon", 55, 'Revert "Cache the tide table"', "2026-01-15", kind="revert", lines=Lines(reverted=120)
    )
    charts = change(
        "harbour/charts",
        7,
        "Draw depth contours on the overview map",
        "2026-02-03",
        state="relanded",
        lines=Lines(authored=310, tests=90, docs=14, config=3, generated=1200, lockfiles=45, moved=60, whitespace=9),
        languages={"TypeScript": 400},
        skills={"SVG": 12},
    )
    bump = change("harbour/charts", None, "Update the linter", "2026-02-20", kind="chore", certain=False)
    changes = (queue, jitter, leak, cache, back_out, charts, bump)
    months = (
        month_record(
            "2026-02",
            Text(
                (sentence("February 2026, harbour/charts: depth contours on the overview map landed again.", charts),)
            ),
            (
                item("Draw depth contours on the overview map", charts, state="relanded"),
                item("Update the linter", bump, kind="other"),
            ),
            [charts, bump],
        ),
        month_record(
            "2026-01",
            Text(
                (
                    sentence(
                        "January 2026, harbour/beacon: a tide table cache landed and was reverted.", cache, back_out
                    ),
                )
            ),
            (item("Cache the tide table", cache, back_out, kind="other", state="reverted"),),
            [cache, back_out],
        ),
        month_record(
            "2025-11",
            Text(
                (
                    sentence("November 2025, harbour/beacon: a retry queue for failed uploads.", queue, jitter),
                    sentence("A file handle leak in Uploader.close() was fixed.", leak),
                )
            ),
            (
                item("Retry queue for failed uploads", queue, jitter),
                item("Fix file handle leak in `Uploader.close()` <again> & again", leak, kind="bug_fix"),
            ),
            [queue, jitter, leak],
        ),
    )
    return Profile(
        generated_at=NOW,
        method=Method("1.0", "Europe/Berlin"),
        contributor=Contributor("Mira (Mi) Okonjo", id=UserId(4711), login="mira-okonjo", name="Mira (Mi) Okonjo"),
        narrative=Text(
            (
                Sentence(
                    "Mira (Mi) Okonjo landed seven commits in harbour/beacon and harbour/charts between November 2025 "
                    "and February 2026, most of them in Uploads.",
                    (queue.id, charts.id),
                    layout=Layout(
                        brief="Landed seven commits in harbour/beacon and harbour/charts, most of them in Uploads."
                    ),
                ),
                sentence("They add up to two features and one bug fix.", queue, leak, charts),
                theme_sentence(
                    Theme("Uploads", "beacon/uploads", (queue.id, jitter.id, leak.id), 9, True, (NOVEMBER, NOVEMBER)),
                    ("2025-11", "2026-02"),
                ),
                entry(queue, "Added a retry queue for failed uploads", "Feature", release="2.4.0"),
                entry(leak, "Fixed a file handle leak when an upload is closed <twice> & again", "Fix"),
                theme_sentence(
                    Theme("Charts", "charts", (charts.id, bump.id), 12, False, (Month("2026-02"), Month("2026-02"))),
                    ("2025-11", "2026-02"),
                ),
                entry(charts, "Depth contours are drawn on the overview map", "Feature", people=("Odo Vance",)),
                Sentence("1 change with others · TypeScript, Python", (charts.id,), "rest"),
            )
        ),
        overall=overall(months, changes),
        months=months,
        activity=activity(changes),
        quality=Quality(
            correctness=Score(
                96.4,
                14,
                (93.9, 98.1),
                (
                    ScoreEvidence(cache.id, "32 lines replaced by a revert", -2.67, back_out.id),
                    ScoreEvidence(leak.id, "11 lines replaced by a bug fix", -0.92, jitter.id),
                ),
                1200,
                43,
                95.2,
            ),
            maintainability=Score(None, 9, None, (), 900, 81, 90.4, "fewer than 12 changes at risk"),
            architecture=Score(unrated="patches alone show no graph of imports"),
            performance=Score(unrated="no lines old enough"),
            facts=(QualityFact("tested_changes", 0.4, 0.35),),
        ),
        ai_usage=AiUsage(
            declared=1,
            detected=1,
            unknown=5,
            tools={"Claude Code": 1, "Copilot": 1},
            evidence={
                "Claude Code": (AiTrace(queue.id, queue.commits[0].fact.commit),),
                "Copilot": (AiTrace(jitter.id, jitter.commits[0].fact.commit),),
            },
        ),
        languages=(
            LanguageSkill("TypeScript", 400, Month("2026-02")),
            LanguageSkill("Python", 160, Month("2025-11")),
        ),
        technical=(TechnicalSkill("SVG", 12.0, (charts.id,)), TechnicalSkill("asyncio", 9.0, (queue.id, jitter.id))),
        repositories=(
            RepositoryRecord("harbour/beacon", Month("2025-11"), Month("2026-01"), 2, 5, ("Python",), ("asyncio",)),
            RepositoryRecord("harbour/charts", Month("2026-02"), Month("2026-02"), 1, 2, ("TypeScript",), ("SVG",)),
        ),
        changes=changes,
    )


def empty_profile() -> Profile:
    """Somebody whose work has not landed yet."""
    return Profile(
        generated_at=NOW,
        method=Method("1.0"),
        contributor=Contributor("Tomas Veld"),
        narrative=Text(()),
        overall=Overall(Lines(), numbers_of(Work(()))),
        months=(),
        activity={},
        quality=Quality(),
        ai_usage=AiUsage(),
        languages=(),
        technical=(),
        repositories=(),
        changes=(),
    )


_VERBS = ("Add", "Support", "Fix", "Speed up", "Document", "Refactor", "Allow", "Handle", "Fix a race in", "Test")
_THINGS = (
    "tide forecasts",
    "the upload queue",
    "signed manifests",
    "harbour lookups",
    "chart tiles",
    "the depth parser",
)
_WHERE = ("for small vessels", "on slow links", "when the mirror is down", "in the overview", "across time zones")
_REPOSITORIES = ("harbour/beacon", "harbour/charts", "harbour/manifest-tools", "harbour/tide-table")
_LANGUAGES = ("Python", "TypeScript", "Rust", "C++", "Shell", "CSS", "HTML", "YAML")


def long_profile(*, months: int = 120, changes_a_month: int = 12, extra_commits: int = 4) -> Profile:
    """Somebody who landed work in every month of ten years: 1,500 changes, about 2,000 commits."""
    records: list[MonthRecord] = []
    every: list[Change] = []
    number = 0
    for index in range(months):
        year, month = 2016 + index // 12, index % 12 + 1
        month_changes: list[Change] = []
        for order in range(changes_a_month + index % 2):
            number += 1
            title = f"{_VERBS[number % 10]} {_THINGS[number % 6]} {_WHERE[number * 7 % 5]}"
            date = f"{year}-{month:02d}-{1 + (number * 11 + order) % 28:02d}"
            repository = _REPOSITORIES[(index + (order > 9)) % (1 + min(3, index // 20))]
            kind = (
                "feature",
                "feature",
                "bug_fix",
                "perf",
                "docs",
                "refactor",
                "feature",
                "bug_fix",
                "bug_fix",
                "test",
            )[number % 10]
            lines = Lines(
                authored=number * 37 % 211 + 1, tests=number * 17 % 90, docs=number % 7, generated=number % 400
            )
            language = _LANGUAGES[min(number * 5 % 11, 7)]
            month_changes.append(
                change(
                    repository,
                    number * 3,
                    title,
                    date,
                    kind=kind,
                    lines=lines,
                    languages={language: lines.authored},
                    state="reverted" if number % 60 == 0 else "landed",
                )
            )
        every += month_changes
        items = []
        for start in range(0, len(month_changes), 2):
            pair = month_changes[start : start + 2]
            kinds = {one.kind for one in pair}
            kind = "feature" if "feature" in kinds else "bug_fix" if "bug_fix" in kinds else "other"
            items.append(item(pair[0].title, *pair, kind=kind, state=pair[0].state))
        text = Text(
            tuple(
                sentence(
                    f"{datetime(year, month, 1, tzinfo=UTC):%B %Y}, {month_changes[0].repository}: "
                    f"{pair[0].title.lower()}, "
                    f"with {len(pair)} changes that touch {_THINGS[index % 6]}.",
                    *pair,
                )
                for pair in (month_changes[:4], month_changes[4:9])
            )
        )
        records.append(month_record(f"{year}-{month:02d}", text, tuple(items), month_changes))
    base = small_profile()
    changes = tuple(every)
    newest = tuple(reversed(records))
    commits = activity(changes)
    for offset in range(months * extra_commits):
        day = (datetime(2016, 1, 1, tzinfo=UTC) + timedelta(days=offset * 7 % (365 * months // 12))).date().isoformat()
        commits[day] = commits.get(day, 0) + 1
    ids = [one.id for one in reversed(changes)]
    evidence = tuple(ScoreEvidence(key, "size", -0.1 * (index % 40)) for index, key in enumerate(ids))
    return Profile(
        generated_at=NOW,
        method=base.method,
        contributor=base.contributor,
        narrative=Text(
            tuple(
                Sentence(f"{one.text[:-1]} and so on.", tuple(ids[position::97][:12]))
                for position, one in enumerate(base.narrative.sentences)
            )
        ),
        overall=overall(newest, changes),
        months=newest,
        activity=dict(sorted(commits.items())),
        quality=Quality(*(Score(95.3 + part, len(ids), (94.8 + part, 95.9 + part), evidence) for part in range(4))),
        ai_usage=AiUsage(declared=310, detected=42, unknown=1648, tools={"Claude Code": 250, "Copilot": 102}),
        languages=tuple(
            LanguageSkill(name, 90000 // (position + 1) ** 2, Month("2016-01"))
            for position, name in enumerate(_LANGUAGES)
        ),
        technical=tuple(
            TechnicalSkill(f"skill {position}", 100.0 - position, tuple(ids[position :: position + 3]))
            for position in range(15)
        ),
        repositories=tuple(
            RepositoryRecord(
                name,
                Month(f"{2016 + position}-01"),
                Month("2025-12"),
                120 - 12 * position,
                800 - 200 * position,
                _LANGUAGES[:4],
                ("skill 1", "skill 2"),
            )
            for position, name in enumerate(_REPOSITORIES)
        ),
        changes=changes,
    )

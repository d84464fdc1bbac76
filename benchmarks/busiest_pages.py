"""How large, fast and accurate is the page of a history's busiest contributor?

    python -m benchmarks.busiest_pages CLONE...

For each clone, prints the size of the page in bytes, its CPU time next to that of a bare template that prints the same
lines, and every number on it that differs from the JSON form. Exit 1 if one does.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import html5lib

from benchmarks.page_render import measure_render
from bot.cli.recomputing.offline import record_of
from bot.metrics.feature_share import FEATURE_SHARE
from bot.metrics.line_fates import own_commits
from bot.metrics.metric import Metric
from bot.metrics.registry import metrics_on
from bot.model.profile import Profile
from bot.narrative.profile import ProfileContext, ProfileScope, build
from bot.render import RENDERERS
from bot.render.text.json import profile_object
from bot.render.wording import PART_NAMES, percents, short_month

Element = Any


def busiest_profile(path: str) -> Profile:
    """The profile of the person with the most landed commits in the clone."""
    with record_of([path]) as record:
        people = [person for person in record.people.all() if not person.bot]
        counts = {person.key: 0 for person in people}
        for change in record.all_changes():
            for commit in change.counted:
                person = record.people.person(commit.fact.author)
                if person.key in counts:
                    counts[person.key] += 1
        first = min(people, key=lambda person: (-counts[person.key], person.key))
        keys = record.keys_of([first])
        scope = ProfileScope(person=first, keys=keys, zone=ZoneInfo("UTC"), now=datetime.now(UTC))
        lines = own_commits(record.all_changes(), record.line_record(), scope.zone)
        return build(record.changes_of([first]), scope, ProfileContext(lines, everybody=True))


def numbers_that_differ(page: str, record: dict[str, Any]) -> Iterator[str]:
    """Each number in the page's totals and tables that differs from the JSON form."""
    tree = html5lib.parse(page, namespaceHTMLElements=False)
    for name, found, expected in (
        *_totals(tree, record),
        *_months(tree, record),
        *_languages(tree, record),
        *_rest(tree, record),
    ):
        if found != expected:
            yield f"{name}: the page says {found}, the JSON form {expected}"


def _text(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


def _totals(tree: Element, record: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    metrics = {metric.label: metric for metric in metrics_on("page")}
    for box in tree.findall(".//dl[@class='stats']/div"):
        label, number = _text(box.find("dt")), _text(box.find("dd"))
        yield f"overall.{metrics[label].key}", number, _figure(metrics[label], record["overall"])
    yield "overall.feature_share", _share(tree), _figure(FEATURE_SHARE, record["overall"])
    parts = {name: part for part, name in PART_NAMES.items()} | {"total": "total"}
    for row in tree.findall(".//table[@class='parts']//tr"):
        cells = [_text(cell) for cell in row]
        if cells[0] in parts:
            yield f"overall.lines.{cells[0]}", cells[1], f"{record['overall']['lines'][parts[cells[0]]]:,}"


def _figure(metric: Metric, told: dict[str, Any]) -> str:
    """What the JSON form of a month or of all says of a metric, as a page writes it."""
    value = told[metric.field] if metric.field else told["metrics"][metric.key]["value"]
    return metric.figure(Fraction(value) if isinstance(value, float) else value)


def _share(tree: Element) -> str:
    return _text(tree.find(".//p[@class='big']")).partition(" features")[0]


def _months(tree: Element, record: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    rows = tree.findall(".//table[@id='months']/tbody/tr")
    days: dict[str, int] = {}
    for day in record["activity"]:
        days[day["date"][:7]] = days.get(day["date"][:7], 0) + 1
    yield "months", str(len(rows)), str(len(record["months"]))
    for row, month in zip(rows, record["months"], strict=True):
        cells = [_text(cell) for cell in row]
        yield f"months[{month['month']}]", cells[0], short_month(month["month"])
        metrics = metrics_on("table")
        for metric, found in zip(metrics, cells[1:], strict=False):
            yield f"months[{month['month']}].{metric.key}", found, _figure(metric, month)
        found = str(len(cells[-1].split(", ")) if cells[-1] else 0)
        yield f"days of {month['month']}", found, str(days.get(month["month"], 0))


def _languages(tree: Element, record: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    rows = tree.findall(".//table[@class='langs']/tbody/tr")
    for row, language in zip(rows, record["skills"]["languages"], strict=True):
        cells = [_text(cell) for cell in row]
        yield f"languages[{language['name']}]", f"{cells[0]} {cells[1]}", f"{language['name']} {language['lines']:,}"


def _rest(tree: Element, record: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for box in tree.findall(".//div[@class='score']"):
        name = _text(box.find("h3")).lower()
        score = record["quality"][name]["score"]
        found = next(iter(box.find("p").itertext())).strip()
        yield f"quality.{name}", found, "not rated" if score is None else f"{score:.1f}"
    usage = record["ai_usage"]
    shares = percents((usage["declared"], usage["detected"], usage["unknown"]))
    for box, share in zip(tree.findall(".//dl[@class='parts3']/div"), shares, strict=True):
        yield f"ai_usage.{_text(box.find('dt'))}", _text(box.find("dd")), share


def main(paths: list[str]) -> int:
    wrong = 0
    for path in paths:
        profile = busiest_profile(path)
        page = RENDERERS["html"](profile)
        found = list(numbers_that_differ(page, profile_object(profile)))
        row = measure_render(f"{len(profile.months)} months, {profile.overall.commits:,} commits", profile)
        size = f"{len(page.encode()):,} bytes, {len(profile.changes):,} changes"
        print(f"{path}: {size}, {row['work']}: {row['ours']}, bare {row['floor']}, {row['ratio']:.1f}")
        print("\n".join(found) or "every number is the JSON form's", flush=True)
        wrong += len(found)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Does the ranking of highlights put first what a project's own changelog names?

The judge is the changelog: of the changes of a person in a month, those that an entry of it names are worth leading.
The signs that come from the changelog are switched off in the measured run (and switched on in a second one, which is
only reported). Beside it stand the order by size alone, by date, and by chance. nDCG@3 of a person-month, with the
difference to size bootstrapped over person-months.

    python -m benchmarks.highlights encode/httpx=/clones/httpx psf/black=/clones/black ...
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import log2
from statistics import mean
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from bot.history.clone import Clone, open_clone
from bot.history.record import CloneRecord
from bot.landing.identity.credit import person_key
from bot.landing.months import month_of
from bot.model.change import Change
from bot.model.ids import ChangeId, PersonKey
from bot.narrative.entries import entries_of
from bot.narrative.highlights import RANK_WEIGHTS, rank
from bot.narrative.project_texts import NO_TEXTS, ProjectTexts

UTC = ZoneInfo("UTC")
TOP = 3
LEAST_CHANGES = 5
"""changes of a person-month below which there is nothing to rank"""
MOST_PEOPLE = 60
"""people of one history, those with most changes"""
DRAWS = 2000
ORDERS = 200
"""random orders by which chance is estimated"""


class PersonMonth(Struct):
    """The changes of a person in a month, which of them the changelog names, and the orders to compare."""

    named: frozenset[ChangeId]
    orders: Mapping[str, Sequence[ChangeId]]


def named_clone(argument: str) -> Clone:
    """`OWNER/NAME=PATH`, or a path whose origin tells the name."""
    name, _, path = argument.rpartition("=")
    clone = open_clone(path)
    return replace(clone, repository=replace(clone.repository, full_name=name)) if name else clone


def ndcg(order: Sequence[ChangeId], named: frozenset[ChangeId]) -> float:
    """The normalized discounted cumulative gain of the first three."""
    gain = sum(1 / log2(at + 2) for at, name in enumerate(order[:TOP]) if name in named)
    return gain / sum(1 / log2(at + 2) for at in range(min(TOP, len(named))))


def without_changelog(change: Change) -> Change:
    """The change as if its commits had added no changelog entry."""
    commits = [replace(one, fact=replace(one.fact, changelog=())) for one in change.commits]
    return replace(change, commits=tuple(commits))


def person_months(clone: Clone) -> list[PersonMonth]:
    """The months of the busiest people in which the changelog names some of their changes but not all."""
    record = CloneRecord([clone])
    record.refresh()
    people = sorted((one for one in record.people.all() if not one.bot), key=lambda one: one.key)
    work = [(record.keys_of([one]), record.changes_of([one])) for one in people]
    work.sort(key=lambda each: -len(each[1]))
    found = [
        each for keys, changes in work[:MOST_PEOPLE] for each in _months(changes, keys, record.texts_about(changes))
    ]
    record.close()
    return found


def _months(changes: Sequence[Change], keys: frozenset[PersonKey], texts: ProjectTexts) -> list[PersonMonth]:
    months: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        if any(one.counts and person_key(one.fact.author) in keys for one in change.commits):
            months[month_of(change.landed_at, UTC)].append(change)
    found = [_judged(each, keys, texts) for each in months.values() if len(each) >= LEAST_CHANGES]
    return [each for each in found if 0 < len(each.named) < len(each.orders["date"])]


def _judged(changes: Sequence[Change], keys: frozenset[PersonKey], texts: ProjectTexts) -> PersonMonth:
    plain = [without_changelog(change) for change in changes]
    entries = entries_of(plain, keys, NO_TEXTS, zone=UTC)
    candidates = [change for change in plain if change.id in entries]
    told = entries_of(changes, keys, texts, zone=UTC)
    named = frozenset(one.id for one in candidates if one.id in told and told[one.id].source == "changelog")
    ids = [change.id for change in candidates]
    signs_off = replace(RANK_WEIGHTS, changelog=0.0)
    orders = {
        "ours": _complete([entry.change for entry in rank(entries, plain, keys, weights=signs_off, runs=False)], ids),
        "with signs": _complete([entry.change for entry in rank(told, changes, keys, runs=False)], ids),
        "size": [change.id for change in sorted(candidates, key=lambda change: (-change.lines.authored, change.id))],
        "date": ids,
    }
    return PersonMonth(named, orders)


def _complete(order: Sequence[ChangeId], ids: Sequence[ChangeId]) -> list[ChangeId]:
    """The order, and behind it what it leaves out."""
    asked = [name for name in order if name in set(ids)]
    return [*asked, *(name for name in ids if name not in set(asked))]


def by_chance(month: PersonMonth, source: random.Random) -> float:
    ids = list(month.orders["date"])
    return mean(ndcg(source.sample(ids, len(ids)), month.named) for _ in range(ORDERS))


def interval(differences: Sequence[float], source: random.Random) -> tuple[float, float]:
    """The 95 % interval of the mean, bootstrapped."""
    means = sorted(mean(source.choices(differences, k=len(differences))) for _ in range(DRAWS))
    return means[int(DRAWS * 0.025)], means[int(DRAWS * 0.975)]


def row_of(name: str, months: Sequence[PersonMonth]) -> str:
    source = random.Random(name)  # a sample, no secret

    def score(order: str) -> float:
        return mean(ndcg(one.orders[order], one.named) for one in months)

    chance = mean(by_chance(one, source) for one in months)
    differences = [ndcg(one.orders["ours"], one.named) - ndcg(one.orders["size"], one.named) for one in months]
    low, high = interval(differences, source)
    figures = [chance, score("date"), score("size"), score("ours"), mean(differences), low, high, score("with signs")]
    return f"| {name} | {len(months)} | " + " | ".join(f"{100 * figure:.1f}" for figure in figures) + " |"


def main(arguments: Sequence[str]) -> None:
    print("| history | person-months | chance | date | size | ours | ours − size | 2.5 % | 97.5 % | signs on |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    everything: list[PersonMonth] = []
    for argument in arguments:
        clone = named_clone(argument)
        months = person_months(clone)
        if months:
            print(row_of(clone.repository.full_name, months), flush=True)
            everything += months
    print(row_of("all", everything))


if __name__ == "__main__":
    main(sys.argv[1:])

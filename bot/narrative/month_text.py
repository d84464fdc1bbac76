"""What does a text say about one contributor's month? Counts, entries, the rest, and what was reverted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from bot.metrics.work import MonthWork
from bot.model.change import Change
from bot.model.profile import Layout, MonthRecord, Sentence, Text
from bot.narrative.quotes import Quotes
from bot.narrative.sentences import change_label, citations, entry_sentence, rest_sentence
from bot.narrative.timeline import Turn
from bot.narrative.turns import turn_sentences
from bot.narrative.words import capitalise, digits, join_list, number, quantity

MOST_ENTRIES = 3
_MOST_COMPONENTS = 3
_LEAST_SHARE = 5
"""a component is named from one commit in this many on"""
_MOST_HELPED = 3


def month_text(record: MonthRecord, work: MonthWork, turns: Sequence[Turn], quotes: Quotes) -> Text:
    """The month's sentences; empty only for a month without any commit."""
    if not work.commits and not work.co_authored and not work.delivered:
        return Text(())
    landed = [change for change in work.delivered if change.outcome]
    entries = quotes.lead_entries({change.id for change in landed}, MOST_ENTRIES)
    chosen = {entry.quoted for entry in entries}
    joined = {name for entry in entries for name in entry.members}
    rest = [one for one in landed if one.id not in joined and quotes.quotation_of(one.id) not in chosen]
    only_counts = not entries and len(rest) == len(landed)
    says_more = not only_counts or _holds_upkeep(rest)
    sentences = [_counts(record, work, quotes), *map(entry_sentence, entries)]
    if rest and says_more and (one := rest_sentence(rest, more=not only_counts)):
        sentences.append(one)
    sentences += turn_sentences(turns, quotes)
    return Text(tuple(sentence for sentence in (*sentences, _helped(work)) if sentence))


def _holds_upkeep(changes: Iterable[Change]) -> bool:
    """Whether the kinds say more than the numbers of features and bug fixes do."""
    return any(change.certain and change.kind not in ("feature", "bug_fix") for change in changes)


def _counts(record: MonthRecord, work: MonthWork, quotes: Quotes) -> Sentence:
    """`20 commits, 18 of them in the MTIA ATen backend; one bug fix.`"""
    items = [
        quantity(count, one, many)
        for count, one, many in ((record.features, "feature", "features"), (record.bugs, "bug fix", "bug fixes"))
        if count
    ]
    tail = f"; {join_list(items)}" if items else ""
    components = _components(work, quotes)
    ids = citations(change.id for change, _ in (work.commits or work.co_authored)) or citations(
        change.id for change in work.delivered
    )
    if not work.commits:
        text = (
            quantity(len(work.co_authored), "commit") + " by others, credited as co-author" if work.co_authored else ""
        )
        said = capitalise(text or "work counted here landed in another month") + tail + "."
        return Sentence(said, ids, layout=Layout(brief="" if text else None))
    parts, brief = _component_words(components, len(work.commits))
    text = capitalise(quantity(len(work.commits), "commit")) + parts + tail + "."
    return Sentence(text, ids, layout=Layout(brief=brief))


def _component_words(components: Sequence[tuple[str, int]], commits: int) -> tuple[str, str]:
    """Where the commits landed, after their number and on its own."""
    if not components:
        return "", ""
    if components[0][1] == commits:
        return (
            f", {'all ' if commits > 1 else ''}in {components[0][0]}",
            f"{capitalise('all in' if commits > 1 else 'in')} {components[0][0]}.",
        )
    first = f"{number(components[0][1])} of them in {components[0][0]}"
    listed = join_list([first, *(f"{number(count)} in {name}" for name, count in components[1:])])
    head = f"{digits(components[0][1], 'commit')} in {components[0][0]}"
    return f", {listed}", ", ".join([head, *(f"{count:,} in {name}" for name, count in components[1:])]) + "."


def _components(work: MonthWork, quotes: Quotes) -> list[tuple[str, int]]:
    """The parts of the product, else the repositories, with at least a fifth of the month's commits, most first.

    A commit in several parts counts in the one with most commits of the month, so that the numbers add up.
    """
    names = [[theme.name for theme in quotes.themes if change.id in theme.changes] for change, _ in work.commits]
    every = Counter(name for each in names for name in each)
    by_theme = Counter(max(each, key=lambda name: (every[name], name)) for each in names if each)
    named = _large(by_theme, len(work.commits))
    if named or len(work.repositories) < 2:
        return named
    return _large(Counter(commit.fact.repository for _, commit in work.commits), len(work.commits))


def _large(counts: Counter[str], commits: int) -> list[tuple[str, int]]:
    large = [(name, count) for name, count in counts.items() if count and count * _LEAST_SHARE >= commits]
    return sorted(large, key=lambda pair: (-pair[1], pair[0]))[:_MOST_COMPONENTS]


def _helped(work: MonthWork) -> Sentence | None:
    """Work of others that credits the contributor, named; the counts say it alone in a month without own commits."""
    changes = list({change.id: change for change, _ in work.co_authored}.values())
    if not changes or not work.commits:
        return None
    names = [change_label(change) for change in changes[:_MOST_HELPED]]
    more = len(changes) - len(names)
    listed = join_list([*names, *([quantity(more, "other")] if more else [])])
    return Sentence(f"Co-author of {listed}.", citations(change.id for change in changes), "rest")

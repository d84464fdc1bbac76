"""How is an entry, a theme or a list of the rest written as one sentence, and how is it laid out on a page?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from bot.model.change import Change
from bot.model.ids import ChangeId, Kind
from bot.model.profile import Layout, Sentence
from bot.narrative.entry import Entry, Theme
from bot.narrative.words import digits, join_list, month_name, month_span, quantity

MOST_EVIDENCE = 50
"""changes cited after a sentence about many"""
_MOST_OBJECTS = 5
NOUNS: dict[Kind, tuple[str, str]] = {
    "feature": ("feature", "features"),
    "bug_fix": ("bug fix", "bug fixes"),
    "perf": ("performance change", "performance changes"),
    "docs": ("documentation change", "documentation changes"),
    "refactor": ("refactoring", "refactorings"),
    "test": ("test change", "test changes"),
    "build": ("build change", "build changes"),
    "ci": ("CI change", "CI changes"),
    "style": ("style change", "style changes"),
    "upkeep": ("upkeep change", "upkeep changes"),
    "chore": ("maintenance change", "maintenance changes"),
    "revert": ("revert", "reverts"),
}
"""what one and several changes of each kind are called, in the order in which a list names them"""


def citations(ids: Iterable[ChangeId]) -> tuple[ChangeId, ...]:
    """Each id once, at most `MOST_EVIDENCE`."""
    return tuple(dict.fromkeys(ids))[:MOST_EVIDENCE]


def change_label(change: Change) -> str:
    """`#12`, or `0123456` for a change without a pull request."""
    return f"#{change.pull_request}" if change.pull_request else change.id.rpartition("@")[2][:7]


def entry_label(entry: Entry) -> str:
    """What the link of an entry says: the pull request's number, or the start of the commit's id."""
    if entry.number:
        return f"#{entry.number}"
    return (entry.commit or entry.change.rpartition("@")[2])[:7]


def entry_sentence(entry: Entry, *, dated: bool = False) -> Sentence:
    """`Feature: “Added client middleware support” (#12, with Ada Example, in 3.12.0).`"""
    notes = entry_notes(entry, dated=dated)
    inside = ", ".join((entry_label(entry), *notes))
    head = f"{entry.tag}: " if entry.tag else ""
    return Sentence(
        f"{head}“{entry.quoted}” ({inside}).",
        (entry.change,),
        "entry",
        entry.quoted,
        entry.source,
        entry.tag,
        Layout(label=entry_label(entry), link=entry.link, notes=notes),
    )


def entry_notes(entry: Entry, *, dated: bool = False) -> tuple[str, ...]:
    """With whom, how many changes, in which release; else, where `dated`, the month."""
    notes = []
    if entry.count > 1:
        objects = ", ".join(entry.objects[:_MOST_OBJECTS]) + (", …" if len(entry.objects) > _MOST_OBJECTS else "")
        notes.append(digits(entry.count, "change") + (f": {objects}" if objects else ""))
    if entry.people or entry.unnamed:
        unnamed = [quantity(entry.unnamed, "other")] if entry.unnamed else []
        notes.append(f"with {join_list([*entry.people, *unnamed])}")
    if entry.release:
        notes.append(f"in {entry.release}")
    elif dated:
        notes.append(month_name(entry.month))
    return tuple(notes)


def theme_sentence(theme: Theme, record: tuple[str, str]) -> Sentence:
    """`Client (src/client): 23 of its 39 changes, the first among them, between May 2019 and June 2021.`

    `record` is the first and the last month of the record: the same months are not said again.
    """
    own = len(theme.changes)
    note = f"{own:,} of its {theme.total:,} changes" if theme.total > own else f"{digits(own, 'change')}"
    if theme.first:
        note += ", the first among them" if theme.total > own > 1 else ""
    if theme.months != record:
        note += f", {month_span(*theme.months)}"
    head = f"{theme.name} ({theme.folder})" if theme.folder else theme.name
    layout = Layout(label=theme.name, folder=theme.folder or "", notes=(note,))
    return Sentence(f"{head}: {note}.", citations(theme.changes), "theme", layout=layout)


def count_kinds(changes: Iterable[Change]) -> list[str]:
    """`3 bug fixes`, `2 documentation changes`, `4 others`: by kind where that is certain."""
    listed = list(changes)
    kinds = Counter(change.kind for change in listed if change.certain)
    found = [digits(kinds[kind], *words) for kind, words in NOUNS.items() if kinds[kind]]
    unclear = len(listed) - sum(kinds.values())
    return [*found, *([digits(unclear, "other")] if unclear else [])]


def rest_sentence(changes: Sequence[Change], *, more: bool) -> Sentence | None:
    """`9 more changes: 3 bug fixes, 2 documentation changes, 4 others.`; None if there are none."""
    if not changes:
        return None
    kinds = count_kinds(changes)
    if len(kinds) == 1 and not kinds[0].endswith(("other", "others")):
        text = kinds[0].replace(" ", " more ", 1) if more else kinds[0]
    else:
        text = digits(len(changes), "more change" if more else "change")
        text += f": {', '.join(kinds)}" if len(kinds) > 1 else ""
    return Sentence(f"{text}.", citations(change.id for change in changes), "rest")

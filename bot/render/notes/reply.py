"""What does Almanac reply to a command when a reaction is not enough?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from bot.landing.identity.credit import BY_MACHINE, people_of
from bot.metrics.credit_reason import explain_credit
from bot.metrics.item_reason import explain_item
from bot.metrics.kind_reason import explain_kind
from bot.metrics.lines import LINES
from bot.metrics.metric import Metric
from bot.model.change import Change, Item
from bot.model.ids import ChangeId, PersonKey
from bot.model.profile import MonthRecord
from bot.model.profile import Part as MetricPart
from bot.narrative.explanation import Explanation
from bot.render.environment import template
from bot.render.markdown_escaping import MdText, md_join, md_text
from bot.render.text.markdown import md_cite, md_paragraphs
from bot.render.wording import change_notes, item_name, item_state, lines_of, month_name, tally, thousands

_MOST_ROWS = 25


class ReplyPart(Struct, frozen=True):
    """The answer to one command: the command, then paragraphs, then a list."""

    command: str
    lines: tuple[MdText, ...] = ()
    rows: tuple[MdText, ...] = ()


def reply_note(parts: Sequence[ReplyPart]) -> str:
    """The Markdown of a comment that answers commands."""
    views = [{"command": md_text(part.command, 200), "lines": part.lines, "rows": part.rows} for part in parts]
    return template("reply_note.md").render(parts=views).strip() + "\n"


def plain_part(command: str, *lines: str) -> ReplyPart:
    """An answer in plain text; markup in it has no effect."""
    return ReplyPart(command, tuple(md_text(line, 1000) for line in lines))


def month_part(command: str, record: MonthRecord | None, changes: Mapping[ChangeId, Change], hint: str) -> ReplyPart:
    """A person's newest month in one repository."""
    if record is None:
        return plain_part(command, "The record contains no commit by you in this repository.", hint)
    head = md_text(f"{month_name(record.month)}: {tally(record)}, {LINES.quantity(record.lines.code)} changed.")
    return ReplyPart(
        command,
        (head, md_paragraphs(record.summary, changes, heading=True), md_text(hint)),
        _items(record.items, changes),
    )


def why_change_part(command: str, changes: Sequence[Change], keys: Collection[PersonKey]) -> ReplyPart:
    """How the work of one pull request is counted, and how surely it is whose; `keys` are the asker's."""
    rows: list[MdText] = []
    for change in changes:
        lines = lines_of(change).as_dict()
        parts = ", ".join(f"{thousands(number)} {name}" for name, number in lines.items() if number)
        notes = "; ".join(change_notes(change))
        rows.append(md_text(explain_kind(change), 600))
        rows += [md_text(f"{whose}: {why}", 600) for whose, why in _credits(change, keys)]
        rows.append(md_text(f"Commits: {len(change.counted)} of {len(change.commits)} count here"))
        rows.append(md_text(f"Lines: {parts or 'none'}"))
        rows += [md_text(notes, 400)] if notes else []
        rows.append(md_text("It counts as delivered." if change.outcome else "It does not count as delivered."))
    return ReplyPart(command, (), tuple(rows[:_MOST_ROWS]))


def _credits(change: Change, keys: Collection[PersonKey]) -> Iterator[tuple[str, str]]:
    """Everybody's part in plain words, the asker's first; nobody else is named."""
    parts = [one for one in people_of(change) if one.why != BY_MACHINE]
    for one in sorted(parts, key=lambda part: (part.person not in keys, not part.authored)):
        others = "The author's part" if one.authored else "A co-author's part"
        yield "Your part" if one.person in keys else others, explain_credit(change, one)


def why_section_part(command: str, explanation: Explanation) -> ReplyPart:
    """What has its own section on a page: its definition, its value and the evidence."""
    lines = (md_text(explanation.metric.definition, 600), md_text(f"{explanation.name}: {explanation.value}", 600))
    rows = [md_text(f"{about}: {detail}", 600) for about, detail in explanation.rows[:_MOST_ROWS]]
    more = len(explanation.rows) - len(rows)
    return ReplyPart(command, lines, (*rows, *([md_text(f"{more} more")] if more else [])))


def why_number_part(
    command: str, metric: Metric, months: Sequence[MonthRecord], changes: Mapping[ChangeId, Change]
) -> ReplyPart:
    """A metric: its definition, its number by month, newest first, and the evidence of the newest month."""
    numbers = [month.numbers.get(metric.key) for month in months]
    rows = [
        md_text(f"{month_name(month.month)}: {metric.figure(number)}")
        for month, number in zip(months[:12], numbers, strict=False)
    ]
    lines = [md_text(metric.definition, 600)]
    if metric.additive:
        total = metric.figure(sum(number or 0 for number in numbers))
        lines.append(md_text(f"{metric.key}: {total} in this repository"))
    evidence = _evidence(metric, months[0], changes) if months else ()
    return ReplyPart(command, tuple(lines), (*rows, *evidence))


def _evidence(metric: Metric, month: MonthRecord, changes: Mapping[ChangeId, Change]) -> tuple[MdText, ...]:
    """What each item or change adds to the metric; beyond the limit only how many more."""
    parts = month.parts.get(metric.key, ())
    items = {item.changes: item for item in month.items}
    rows = [
        _item(items[part.changes], changes)
        if part.value == 1 and part.changes in items
        else _part(metric, part, changes)
        for part in parts[:_MOST_ROWS]
    ]
    more = len(parts) - len(rows)
    return (*rows, *([md_text(f"{more} more")] if more else []))


def _part(metric: Metric, part: MetricPart, changes: Mapping[ChangeId, Change]) -> MdText:
    titles = ", ".join(changes[key].title for key in part.changes if key in changes)
    said = md_text(f"{metric.quantity(part.value)}: {titles}", 300)
    return md_join(MdText(" "), (said, MdText("(") + md_cite(part.changes, changes) + MdText(")")))


def _items(items: Sequence[Item], changes: Mapping[ChangeId, Change]) -> tuple[MdText, ...]:
    """Each item with its changes; beyond the limit only how many more."""
    rows = [_item(item, changes) for item in items[:_MOST_ROWS]]
    more = len(items) - len(rows)
    return (*rows, *([md_text(f"{more} more")] if more else []))


def _item(item: Item, changes: Mapping[ChangeId, Change]) -> MdText:
    state = item_state(item, changes)
    text = md_text(f"{item_name(item).lower()}: {item.title}" + (f", {state}" if state else ""), 300)
    cited = MdText("(") + md_cite(item.changes, changes) + MdText(")")
    reason = [md_text(explain_item(item), 400)] if item.edges else []
    return md_join(MdText(" "), (text, cited, *reason))

"""What does GitHub show of a profile in a comment, a README or a gist? Markdown with all untrusted text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bot.metrics.definitions import SCORES
from bot.metrics.non_code_activity import combine_activity
from bot.metrics.quality_sentences import fact_text, is_rated, score_basis, summary_line
from bot.metrics.registry import metrics_on
from bot.model.change import Change, Item
from bot.model.ids import ChangeId
from bot.model.profile import MonthRecord, NonCodeActivity, Profile, Sentence, Text
from bot.render import non_code_activity, wording
from bot.render.environment import template
from bot.render.markdown_escaping import MdText, md_join, md_link, md_reference, md_text
from bot.render.plain_text import LONGEST_TEXT
from bot.render.verification import verify_commands

_CITED = 4
_COMMA = MdText(", ")
Changes = Mapping[ChangeId, Change]


def render_markdown(profile: Profile) -> str:
    """The profile as GitHub Markdown, ending with a line feed."""
    return template("profile.md").render(_view(profile))


def _view(profile: Profile) -> dict[str, Any]:
    changes = {change.id: change for change in profile.changes}
    return {
        "name": md_text(profile.contributor.display),
        "narrative": md_paragraphs(profile.narrative, changes),
        "overall": _overall(profile),
        "lines": _lines(profile),
        "non_code": _non_code_totals(profile),
        "known_since": MdText(non_code_activity.KNOWN_SINCE),
        "months": [_month(month, changes) for month in non_code_activity.history_months(profile)],
        "quality": _quality(profile),
        "quality_line": _quality_line(profile),
        "ai": list(zip(map(MdText, _AI), map(md_text, wording.percents(profile.ai_usage.shares())), strict=True)),
        "tools": _tools(profile),
        "languages": [(md_text(skill.name), _number(skill.lines)) for skill in profile.languages],
        "skills": [(md_text(skill.name), md_cite(skill.evidence, changes)) for skill in profile.technical],
        "repositories": _repositories(profile),
        "verify": [md_code(command) for command in verify_commands(profile)],
        "anonymous": md_text(wording.ANONYMOUS) if profile.contributor.naming == "anonymous" else MdText(""),
        "computed": md_text(wording.moment_name(profile.generated_at, profile.method.timezone)),
        "version": md_text(profile.method.version),
        "zone": md_text(profile.method.timezone),
        "limits": md_text(wording.limits(profile.method)),
    }


_AI = ("Declared", "Detected", "Unknown")


def md_paragraphs(text: Text, changes: Changes, *, heading: bool = False) -> MdText:
    """The sentences with links, each entry as an item of a list; `heading` if one above says who, where and when."""
    blocks: list[MdText] = []
    before = ""
    for one in text.sentences:
        words = _entry(one) if one.role == "entry" else _sentence(one, changes, heading=heading)
        if not words:
            continue
        together = one.role == before == "entry" or not {one.role, before} & {"entry", "theme"}
        mark = MdText("" if not blocks else " " if together and one.role != "entry" else "\n" if together else "\n\n")
        blocks.append(mark + words)
        before = one.role
    return md_join(MdText(""), blocks)


def _entry(one: Sentence) -> MdText:
    """`- Feature: “Added client middleware support” ([#12](…), in 3.12.0)`"""
    layout = one.layout
    head = md_text(f"{one.tag}: “{one.quoted}” (" if one.tag else f"“{one.quoted}” (", LONGEST_TEXT)
    notes = md_text("".join(f", {note}" for note in layout.notes), 1000)
    return MdText("- ") + head + md_reference(layout.label, layout.link) + notes + MdText(")")


def _sentence(one: Sentence, changes: Changes, *, heading: bool) -> MdText:
    words = wording.below_heading(one) if heading else one.text
    if not words:
        return MdText("")
    if one.role == "theme":
        folder = MdText(" (") + md_text(one.layout.folder) + MdText(")") if one.layout.folder else MdText("")
        return MdText("**") + md_text(one.layout.label) + MdText("**") + folder + md_text(f": {one.layout.notes[0]}")
    if len(one.evidence) > _CITED and one.role != "course":
        return md_text(words, LONGEST_TEXT)
    return md_text(words, LONGEST_TEXT) + MdText(" (") + md_cite(one.evidence, changes) + MdText(")")


def md_cite(ids: Iterable[ChangeId], changes: Changes) -> MdText:
    """`[api#12](…), [api#14](…), 3 more`."""
    every = list(ids)
    links = [_link(change, changes) for change in every[:_CITED]]
    more = [MdText(f"{len(every) - _CITED} more")] if len(every) > _CITED else []
    return md_join(_COMMA, links + more)


def md_code(text: str) -> MdText:
    """`text` for a fenced code block of ours: one line without backticks."""
    return MdText(text.replace("`", "'").replace("\n", " "))


def _link(key: ChangeId, changes: Changes) -> MdText:
    change = changes.get(key)
    return md_reference(wording.short_id(key), change.url if change else None)


def _number(number: int) -> MdText:
    return MdText(wording.thousands(number))


def _overall(profile: Profile) -> list[tuple[MdText, MdText]]:
    numbers = profile.overall.numbers
    return [
        (md_text(metric.heading), md_text(metric.figure(numbers.get(metric.key))))
        for metric in metrics_on("text")
        if metric.shown_at_zero or numbers.get(metric.key)
    ]


def _lines(profile: Profile) -> list[tuple[MdText, MdText]]:
    counts = profile.overall.lines.as_dict()
    rows = [(MdText(name), _number(counts[part])) for part, name in wording.PART_NAMES.items() if counts[part]]
    return [*rows, (MdText("**total**"), MdText(f"**{counts['total']:,}**"))]


def _month(month: MonthRecord, changes: Changes) -> dict[str, Any]:
    return {
        "name": MdText(wording.month_name(month.month)),
        "tally": md_text(wording.tally(month)),
        "non_code": md_non_code(month.non_code, changes),
        "summary": md_paragraphs(month.summary, changes, heading=True),
        "items": [_item(item, changes) for item in month.items],
    }


def _non_code_totals(profile: Profile) -> list[MdText]:
    total = combine_activity(month.non_code for month in non_code_activity.history_months(profile))
    return [md_text(one.words) for one in non_code_activity.non_code_lines(total)]


def md_non_code(non_code: NonCodeActivity, changes: Changes) -> MdText:
    """`reviewed 2 pull requests of others (3 reviews) ([app#12](…), [app#14](…))` for each kind, joined."""
    return md_join(MdText(" • "), (_linked_line(one, changes) for one in non_code_activity.month_lines(non_code)))


def _linked_line(one: non_code_activity.NonCodeLine, changes: Changes) -> MdText:
    links = [md_link(md_text(non_code_activity.trace_label(trace)), trace.url) for trace in one.traces[:_CITED]]
    more = [MdText(f"{len(one.traces) - _CITED} more")] if len(one.traces) > _CITED else []
    citations = md_join(_COMMA, links + more) if links else md_cite(one.changes, changes)
    return md_text(one.words) + MdText(" (") + citations + MdText(")")


def _item(item: Item, changes: Changes) -> dict[str, Any]:
    return {
        "kind": MdText(wording.item_name(item)),
        "title": md_text(item.title),
        "state": md_text(wording.item_state(item, changes)),
        "changes": md_join(_COMMA, (_change(key, changes) for key in item.changes)),
    }


def _change(key: ChangeId, changes: Changes) -> MdText:
    change = changes.get(key)
    notes = wording.change_notes(change) if change else ()
    notes_text = MdText(" (") + md_text("; ".join(notes)) + MdText(")") if notes else MdText("")
    return _link(key, changes) + notes_text


def _quality(profile: Profile) -> list[tuple[MdText, MdText, MdText]]:
    """A row for each score; none if nothing is rated."""
    rows = [(one.key, getattr(profile.quality, one.key)) for one in SCORES] if is_rated(profile.quality) else []
    return [
        (MdText(name.capitalize()), md_text(wording.score_text(score)), md_text(score_basis(name, score)))
        for name, score in rows
    ]


def _quality_line(profile: Profile) -> MdText:
    """What is said where nothing is rated, and the facts beside the scores."""
    line = [] if is_rated(profile.quality) else [summary_line(profile.quality)]
    return md_text(" ".join([*line, *(f"{fact_text(one)}." for one in profile.quality.facts)]), 2000)


def _tools(profile: Profile) -> MdText:
    tools = sorted(profile.ai_usage.tools.items(), key=lambda pair: (-pair[1], pair[0]))
    evidence = profile.ai_usage.evidence
    described = [
        f"{name} ({', '.join([wording.quantity(number, 'commit'), wording.short_ids(evidence.get(name, ()))])})"
        for name, number in tools
    ]
    return md_text("; ".join(described), 2000)


def _repositories(profile: Profile) -> list[tuple[MdText, ...]]:
    return [
        (
            md_text(record.full_name),
            md_text(wording.span(record.first_month, record.last_month)),
            _number(record.active_months),
            _number(record.commits),
            md_text(", ".join(record.languages)),
            md_text(", ".join(record.skills)),
        )
        for record in profile.repositories
    ]

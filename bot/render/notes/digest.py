"""How does a comment sum up a repository's month? By contributor, alphabetically, each sentence with its changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bot.metrics.commits import COMMITS
from bot.metrics.lines import LINES
from bot.metrics.work import sum_lines
from bot.model.change import Change
from bot.model.ids import ChangeId
from bot.model.profile import MonthRecord, Text
from bot.narrative.words import sentence_case
from bot.render.environment import template
from bot.render.markdown_escaping import md_text
from bot.render.text.markdown import md_non_code, md_sentences
from bot.render.wording import month_name, quantity, tally

LONGEST = 65_000
"""UTF-16 units of a comment, the strictest reading of GitHub's 65,536 characters, with room for the hidden marker"""
MOST_OPEN = 12
"""most people whose texts are unfolded; with more people every text is folded"""


class DigestPart(Struct, frozen=True):
    """One contributor's month in this repository."""

    name: str
    record: MonthRecord


NOTHING = Text(())


class DigestFrame(Struct, frozen=True):
    """What a digest says besides the contributors: the time zone of the month, and parts of some digests."""

    zone: str
    repository: str = ""
    """the repository, named if the digest is posted in another one"""
    preview: bool = False
    disputes: Sequence[str] = ()
    subject: str = ""
    """the only repository of the digest; empty if there are several"""
    lead: Text = NOTHING
    """summary of the month for all contributors together"""


def digest_note(parts: Sequence[DigestPart], changes: Mapping[ChangeId, Change], frame: DigestFrame) -> str:
    """The Markdown of a month's comment. `parts` are of one month; contributors are in alphabetical order, not ranked.

    If it is too long, texts are folded, then only the numbers remain, and last some contributors share one sum.
    """
    ordered = sorted(parts, key=lambda part: (part.name.casefold(), part.name))
    month = month_name(ordered[0].record.month)
    view = {**_view(ordered, frame), "lead": md_sentences(_without_heading_prefix(frame.lead, frame, month), changes)}
    texts = [md_sentences(_without_heading_prefix(part.record.summary, frame, month), changes) for part in ordered]
    people = [
        {
            "name": md_text(part.name, 200),
            "tally": md_text(tally(part.record)),
            "non_code": md_non_code(part.record.non_code, changes),
            "text": text,
        }
        for part, text in zip(ordered, texts, strict=True)
    ]
    for form in ("open", "folded", "counted"):
        if form == "open" and len(people) > MOST_OPEN:
            continue
        text = _render_form(view, people, form)
        if _units(text) <= LONGEST:
            return text
    return _with_remainder_row(view, people, ordered)


def _without_heading_prefix(text: Text, frame: DigestFrame, month: str) -> Text:
    """The text without the month and repository that the heading states already."""
    if not text.sentences or not frame.subject:
        return text
    first, prefix = text.sentences[0], f"{month}, {frame.subject}: "
    if not first.text.startswith(prefix):
        return text
    remainder = first.text.removeprefix(prefix)
    word = remainder.partition(" ")[0].rstrip(",.;")
    capitalised = sentence_case(remainder) if word.isdigit() or (word.isalpha() and word.islower()) else remainder
    return replace(text, sentences=(replace(first, text=capitalised), *text.sentences[1:]))


def _view(ordered: Sequence[DigestPart], frame: DigestFrame) -> dict[str, Any]:
    commits = sum(part.record.commits for part in ordered)
    lines = sum_lines(part.record.lines for part in ordered)
    return {
        "month": md_text(month_name(ordered[0].record.month)),
        "repository": md_text(frame.repository),
        "preview": frame.preview,
        "tally": md_text(
            f"{COMMITS.quantity(commits)} by {quantity(len(ordered), 'contributor')}, "
            f"{LINES.quantity(lines.code)} changed."
        ),
        "disputes": [md_text(dispute, 600) for dispute in frame.disputes[:20]],
        "zone": md_text(frame.zone),
    }


def _render_form(view: Mapping[str, Any], people: Sequence[Mapping[str, Any]], form: str, more: str = "") -> str:
    text = template("digest_note.md").render(**view, people=people, form=form, more=md_text(more))
    return text.strip() + "\n"


def _with_remainder_row(
    view: Mapping[str, Any], people: Sequence[Mapping[str, Any]], parts: Sequence[DigestPart]
) -> str:
    """As many contributors with their numbers as fit, and the others as one sum."""
    room = LONGEST - _units(_render_form(view, [], "counted", "0" * 80))
    listed = 0
    while listed < len(people):
        room -= len(str(people[listed]["name"])) * 2 + len(str(people[listed]["tally"])) * 2 + 8
        if room < 0:
            break
        listed += 1
    rest = parts[listed:]
    commits = COMMITS.quantity(sum(part.record.commits for part in rest))
    return _render_form(view, people[:listed], "counted", f"{quantity(len(rest), 'more contributor')}: {commits}")


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2

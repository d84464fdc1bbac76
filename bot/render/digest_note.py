"""A repository's month as one comment: who landed what, in alphabetical order, each sentence with its changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.model import Change, ChangeId, Lines, MonthRecord
from bot.render.environment import template
from bot.render.markdown import md_sentences
from bot.render.md_text import md_text
from bot.render.wording import counted, month_name, tally


@dataclass(frozen=True, slots=True)
class DigestPart:
    """One contributor's month in this repository."""

    name: str
    record: MonthRecord


def digest_note(parts: Sequence[DigestPart], changes: Mapping[ChangeId, Change], *, zone: str) -> str:
    """The Markdown of a month's comment. `parts` are of one month; nobody is ranked: names in alphabetical order."""
    ordered = sorted(parts, key=lambda part: (part.name.casefold(), part.name))
    month = ordered[0].record.month
    commits = sum(part.record.commits for part in ordered)
    lines = sum((part.record.lines for part in ordered), Lines())
    text = template("digest_note.md").render(
        month=md_text(month_name(month)),
        tally=md_text(
            f"{counted(commits, 'commit')} by {counted(len(ordered), 'contributor')}, "
            f"{counted(lines.code, 'line')} of code changed."
        ),
        people=[
            {
                "name": md_text(part.name),
                "tally": md_text(tally(part.record)),
                "text": md_sentences(part.record.summary, changes),
            }
            for part in ordered
        ],
        zone=md_text(zone),
    )
    return text.strip() + "\n"

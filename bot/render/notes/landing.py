"""What do the check run and the comment on a landing say was counted, as what, for whom, and what was left out?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct, field

from bot.landing.identity.credit import is_machine, person_key
from bot.metrics.lines import LINES
from bot.model.change import Change, CountedCommit
from bot.model.commit import Signature
from bot.model.fact import PARTS
from bot.model.ids import PersonKey
from bot.narrative.sentences import NOUNS
from bot.render.environment import template
from bot.render.markdown_escaping import MdText, md_join, md_text
from bot.render.plain_text import plain_text
from bot.render.wording import change_notes, quantity, thousands

LONGEST_TITLE = 60
_COMMA = MdText(", ")


class Note(Struct, frozen=True):
    """A note: `title` in plain text (one line, which GitHub does not render) and `summary` in Markdown."""

    title: str
    summary: str


class NoteContext(Struct, frozen=True):
    """What a note needs besides the changes: whom not to name, configuration errors and disputes."""

    unnamed: Collection[PersonKey] = ()
    problems: Sequence[str] = ()
    disputes: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """disputes by the number of the pull request"""


NO_NOTE_CONTEXT = NoteContext()


def landing_note(changes: Sequence[Change], context: NoteContext = NO_NOTE_CONTEXT) -> Note:
    """The note on what one commit or one pull request brought."""
    people = [change for change in changes if not is_machine_work(change)]
    text = template("landing_note.md").render(
        changes=[_view(change, context) for change in people],
        reason=MdText("bots and merge tools are not people" if changes else "no commit is by a person"),
        lines_of_code=md_text(LINES.note),
        problems=[md_text(problem, 400) for problem in context.problems],
    )
    return Note(_title(people, context.unnamed), text.strip() + "\n")


def is_machine_work(change: Change) -> bool:
    """Whether no person authored any commit of the change."""
    return all(is_machine(commit.fact.author) for commit in change.commits)


def _title(changes: Sequence[Change], unnamed: Collection[PersonKey]) -> str:
    """`Counted: 1 feature by Ada Example`, at most `LONGEST_TITLE` characters."""
    if not changes:
        return "Nothing counted: no person's work"
    verb = "Reverted" if all(change.state == "reverted" for change in changes) else "Counted"
    text = f"{verb}: {_what(changes[0]) if len(changes) == 1 else quantity(len(changes), 'change')}"
    signed = [commit.fact.author for change in changes for commit in change.counted or change.commits]
    people = {person_key(person): person for person in signed if not is_machine(person)}
    names = [plain_text(one.name or one.login or "") for key, one in people.items() if key not in unnamed]
    if not names or len(names) < len(people):
        return text
    by = f"{text} by {names[0]}" + (f" and {quantity(len(names) - 1, 'other')}" if len(names) > 1 else "")
    return by if len(by) <= LONGEST_TITLE else text


def _what(change: Change) -> str:
    """`1 feature`; `1 change` where the kind is not certain."""
    return quantity(1, *(NOUNS[change.kind] if change.certain else ("change", "changes")))


def _names(people: Sequence[Signature], unnamed: Collection[PersonKey]) -> MdText:
    names = dict.fromkeys(
        "somebody who is not named" if person_key(person) in unnamed else person.login or person.name or "no name given"
        for person in people
    )
    return md_join(_COMMA, (md_text(name) for name in names))


def _lines(commits: Sequence[CountedCommit]) -> MdText:
    parts: Counter[str] = Counter()
    for commit in commits:
        parts.update({part: number for part, number in commit.lines.as_dict().items() if number})
    total = parts.pop("total", 0)
    amounts = [f"{thousands(parts[part])} {part}" for part in PARTS if parts[part]]
    return md_text(f"{thousands(total)} changed" + (f": {', '.join(amounts)}" if amounts else ""))


def _view(change: Change, context: NoteContext) -> dict[str, Any]:
    commits = change.counted or change.commits
    facts = [commit.fact for commit in commits]
    authors = [fact.author for fact in facts if not is_machine(fact.author)]
    landed = datetime.fromtimestamp(change.landed_at, UTC)
    tools = sorted({mark.tool for fact in facts for mark in fact.ai})
    notes = [*change_notes(change)]
    if not change.counted:
        notes.append("already counted elsewhere, so it adds nothing here")
    if any(fact.partial for fact in facts):
        notes.append("GitHub did not show every file, so the lines are a lower bound")
    notes += [f"disputed: {text}" for text in context.disputes.get(change.pull_request or 0, ())]
    return {
        "title": md_text(change.title, 200) or MdText("(no title)"),
        "state": md_text(change.state) if change.state != "landed" else None,
        "kind": md_text(_what(change)),
        "why": md_text(change.why, 200),
        "guess": md_text(NOUNS[change.kind][0]) if not change.certain else None,
        "authors": _names(authors, context.unnamed) or MdText("no person"),
        "helpers": _names([sig for fact in facts for sig in fact.co_authors], context.unnamed),
        "commits": md_text(quantity(len(change.counted), "commit")),
        "landed": md_text(f"on {landed:%Y-%m-%d %H:%M} UTC"),
        "lines": md_text(quantity(sum(commit.lines.total for commit in commits), "line")),
        "parts": _lines(commits),
        "ai": md_join(_COMMA, (md_text(tool) for tool in tools)),
        "notes": [md_text(note, 600) for note in notes],
    }

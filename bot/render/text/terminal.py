"""What does a terminal show of a profile? Plain text that cites changes as evidence."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping

from bot.metrics.commits import COMMITS
from bot.metrics.definitions import SCORES
from bot.metrics.months import MONTHS
from bot.metrics.non_code_activity import combine_activity
from bot.metrics.quality_sentences import fact_text, is_rated, score_basis, summary_line
from bot.metrics.registry import metrics_on
from bot.model.change import Change, Credit, Item
from bot.model.ids import ChangeId
from bot.model.profile import NonCodeActivity, Profile, Text
from bot.render import non_code_activity, wording
from bot.render.plain_text import plain_lines, plain_text
from bot.render.verification import verify_commands

WIDTH = 96
_CITED = 4
"""most change ids after a sentence or a skill; the rest is a number"""


def render_text(profile: Profile) -> str:
    """The profile as text for people: 96 columns, no control characters, ending with a line feed."""
    return "\n".join(_lines(profile)) + "\n"


def _lines(profile: Profile) -> Iterator[str]:
    name = plain_text(profile.contributor.display)
    yield name
    yield "=" * max(4, min(len(name), WIDTH))
    yield ""
    yield from _text(profile.narrative)
    yield from _overall(profile)
    yield from _non_code_totals(profile)
    yield from _history(profile)
    yield from _activity(profile)
    yield from _quality(profile)
    yield from _ai_usage(profile)
    yield from _skills(profile)
    yield from _repositories(profile)
    yield from _footer(profile)


def _heading(title: str) -> Iterator[str]:
    yield title
    yield "-" * len(title)


def _text(text: Text, indent: str = "", *, heading: bool = False) -> Iterator[str]:
    """The sentences, each entry and theme on its own line; `heading` if one above says who, where and when."""
    running: list[str] = []
    for one in text.sentences:
        words = plain_lines(wording.below_heading(one) if heading else one.text)
        if one.role in ("entry", "theme"):
            yield from _wrap(" ".join(running), indent)
            running = []
            yield from _wrap(words, f"{indent}- " if one.role == "entry" else indent, "  ")
        elif words:
            few = len(one.evidence) <= _CITED or one.role == "course"
            running.append(f"{words} [{cite(one.evidence)}]" if few else words)
    yield from _wrap(" ".join(running), indent)
    if text.sentences:
        yield ""


def _wrap(text: str, indent: str, hanging: str = "") -> list[str]:
    """Lines of at most `WIDTH` columns; only the first starts with `indent`, the others are indented with spaces."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=" " * len(indent) + hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def cite(changes: Iterable[ChangeId]) -> str:
    """`api#12, api#14, 3 more`."""
    return _first([plain_text(wording.short_id(change)) for change in changes])


def _first(names: list[str]) -> str:
    more = [f"{len(names) - _CITED} more"] if len(names) > _CITED else []
    return ", ".join(names[:_CITED] + more)


def _columns(rows: Iterable[tuple[str, str]], indent: str = "  ") -> Iterator[str]:
    pairs = list(rows)
    left = max((len(label) for label, _ in pairs), default=0)
    for label, value in pairs:
        yield f"{indent}{label:<{left}}  {value}".rstrip()


def _overall(profile: Profile) -> Iterator[str]:
    overall = profile.overall
    yield from _heading("Overall")
    numbers = overall.numbers
    yield from _columns(
        (metric.heading, metric.figure(numbers.get(metric.key)))
        for metric in metrics_on("text")
        if metric.shown_at_zero or numbers.get(metric.key)
    )
    yield ""
    yield "Changed lines, each in exactly one part (additions + deletions as git counts them)"
    counts = overall.lines.as_dict()
    yield from _columns(
        [(name, wording.thousands(counts[part])) for part, name in wording.PART_NAMES.items() if counts[part]]
        + [("total", wording.thousands(counts["total"]))]
    )
    yield ""


def _non_code_totals(profile: Profile) -> Iterator[str]:
    total = combine_activity(month.non_code for month in non_code_activity.history_months(profile))
    if total:
        yield from _heading("Reviews and triage (not part of the numbers above)")
        yield from (f"  {one.words}" for one in non_code_activity.non_code_lines(total))
        yield from ("", *_wrap(non_code_activity.KNOWN_SINCE, ""), "")


def _non_code_lines(non_code: NonCodeActivity) -> Iterator[str]:
    """One line for each kind, with its evidence."""
    for one in non_code_activity.month_lines(non_code):
        citations = [plain_text(non_code_activity.trace_label(trace)) for trace in one.traces] or [
            wording.short_id(key) for key in one.changes
        ]
        yield from _wrap(f"{one.words} [{_first(citations)}]", "  ", "  ")


def _history(profile: Profile) -> Iterator[str]:
    yield from _heading("Work history")
    changes = {change.id: change for change in profile.changes}
    day = wording.day_reader(profile.method.timezone)
    for month in non_code_activity.history_months(profile):
        yield wording.month_name(month.month)
        yield from ([f"  {tally}"] if (tally := wording.tally(month)) else [])
        yield from _non_code_lines(month.non_code)
        yield from _text(month.summary, "  ", heading=True)
        for item in month.items:
            yield from _item(item, changes, profile.credits)
        days = sorted({day(changes[key].landed_at) for item in month.items for key in item.changes if key in changes})
        if days:
            yield from (f"  landed {days[0]}" if len(days) == 1 else f"  landed {days[0]} to {days[-1]}", "")


_Credits = Mapping[ChangeId, Credit]


def _item(item: Item, changes: dict[ChangeId, Change], own: _Credits) -> Iterator[str]:
    title = f"{wording.item_name(item)}: {plain_text(item.title)}"
    only = changes.get(item.changes[0]) if len(item.changes) == 1 else None
    if only is not None and only.title.startswith(item.title):
        yield from _wrap(f"{title} [{_change_notes(only, own.get(only.id))}]", "  - ", "    ")
        return
    state = wording.item_state(item, changes)
    title += f" ({plain_text(state)})" if state else ""
    yield from _wrap(title, "  - ")
    for key in item.changes:
        change = changes.get(key)
        yield from _wrap(_change(change, own.get(key)) if change else plain_text(key), "      ", "  ")


def _change(change: Change, own: Credit | None) -> str:
    return f"{plain_text(change.title)} [{_change_notes(change, own)}]"


def _change_notes(change: Change, own: Credit | None) -> str:
    notes = (wording.size_text(change, own), *map(plain_text, wording.change_notes(change, own)))
    return f"{plain_text(wording.short_id(change.id))}, {'; '.join(notes)}"


def _activity(profile: Profile) -> Iterator[str]:
    if not profile.activity:
        return
    yield from _heading("Activity")
    busiest = max(profile.activity.items(), key=lambda pair: (pair[1], pair[0]))
    peak = max(month.commits for month in profile.months) if profile.months else 0
    yield f"  {wording.quantity(len(profile.activity), 'day')} with work; most on {busiest[0]}: " + wording.quantity(
        busiest[1], "commit"
    )
    for month in profile.months:
        bar = "█" * max(1, round(40 * month.commits / peak)) if peak and month.commits else ""
        yield f"  {month.month}  {month.commits:>5}  {bar}".rstrip()
    yield ""


def _quality(profile: Profile) -> Iterator[str]:
    quality = profile.quality
    yield from _heading("Quality (what happened to the lines, from 0 to 100)")
    if not is_rated(quality):
        yield f"  {summary_line(quality)}"
    for one in SCORES if is_rated(quality) else ():
        score = getattr(quality, one.key)
        yield f"  {one.key.capitalize():<16}{wording.score_text(score):>9}  {score_basis(one.key, score)}"
    yield from (f"  {fact_text(one)}" for one in quality.facts)
    yield ""


def _ai_usage(profile: Profile) -> Iterator[str]:
    if not profile.ai_usage.tools:
        yield "AI usage: no commit discloses a tool; this does not mean that no tool was used."
        yield ""
        return
    yield from _heading("AI usage (share of commits)")
    shares = wording.percents(profile.ai_usage.shares())
    yield from _columns(zip(("declared", "detected", "unknown"), shares, strict=True))
    tools = sorted(profile.ai_usage.tools.items(), key=lambda pair: (-pair[1], pair[0]))
    for name, number in tools:
        ids = wording.short_ids(profile.ai_usage.evidence.get(name, ()))
        yield f"  {plain_text(name)} ({wording.quantity(number, 'commit')}): {ids}"
    yield "  Unknown means that nothing was disclosed; it does not mean that no tool was used."
    yield ""


def _skills(profile: Profile) -> Iterator[str]:
    if profile.languages:
        yield from _heading("Programming languages (authored and test lines)")
        yield from _columns((plain_text(skill.name), wording.thousands(skill.lines)) for skill in profile.languages)
        yield ""
    if profile.technical:
        yield from _heading("Technical skills (changes that show them)")
        yield from _columns((plain_text(skill.name), cite(skill.evidence)) for skill in profile.technical)
        yield ""


def _repositories(profile: Profile) -> Iterator[str]:
    count = wording.quantity(len(profile.repositories), "repository", "repositories")
    yield from _heading(f"Repositories contributed to: {count}")
    for record in profile.repositories:
        months = MONTHS.quantity(record.active_months)
        yield f"  {plain_text(record.full_name)}"
        yield (
            f"    {wording.span(record.first_month, record.last_month)}, {months}, {COMMITS.quantity(record.commits)}"
        )
        if record.languages:
            yield f"    Languages: {', '.join(map(plain_text, record.languages))}"
        if record.skills:
            yield f"    Skills: {', '.join(map(plain_text, record.skills))}"
    yield ""


def _footer(profile: Profile) -> Iterator[str]:
    yield from _heading("How to verify")
    yield "  Save this record in JSON format as profile.json, then run:"
    yield from (f"    {plain_lines(command)}" for command in verify_commands(profile))
    yield ""
    if profile.contributor.naming == "anonymous":
        yield from _wrap(wording.ANONYMOUS, "")
        yield ""
    yield "To dispute a count, comment `/almanac dispute TEXT` on its pull request; to leave, `/almanac opt-out`."
    when = wording.moment_name(profile.generated_at, profile.method.timezone)
    yield (
        f"Computed {when}, method {plain_text(profile.method.version)}; a month is the calendar month of landing "
        f"in {plain_text(profile.method.timezone)}{wording.limits(profile.method)}."
    )

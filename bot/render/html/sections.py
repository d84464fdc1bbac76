"""How does a page show totals, quality, AI usage, skills and repositories? As rows that a template prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from bot.metrics.definitions import SCORES
from bot.metrics.lines import LINES
from bot.metrics.metric import Metric
from bot.metrics.months import MONTHS
from bot.metrics.other import OTHER
from bot.metrics.quality_sentences import fact_text, is_rated, score_basis, summary_line
from bot.metrics.registry import metric_called, metrics_on
from bot.metrics.unclear import UNCLEAR
from bot.model.profile import AiTrace, LanguageSkill, Number, Profile, RepositoryRecord, Score, ScoreEvidence
from bot.render import wording
from bot.render.escaping import HtmlText, html_link, html_name, html_text
from bot.render.html.evidence import PageEvidence
from bot.render.images import charts
from bot.render.images.colours import language_colour
from bot.render.plain_text import LONGEST_TEXT

_QUALITY_ROWS = 8
"""most rows of evidence for a score, strongest first"""
_SKILL_CITED = 6


_HEADLINE = ("commits", "features", "bugs", "months")
_QUIET = frozenset({OTHER.key, UNCLEAR.key})
_NAMED_SKILLS = 8
_MOST_CARDS = 60
"""repositories with a card; of the others the page lists the names"""


def headline_rows(profile: Profile) -> HtmlText:
    """The four numbers of the first screen; none that is zero, and none where the sentence above says them all."""
    numbers = profile.overall.numbers
    found = [metric for key in _HEADLINE if (metric := metric_called(key)) and numbers.get(key)]
    if all(numbers.get(metric.key) == 1 for metric in found):
        return HtmlText("")
    return HtmlText(
        "".join(
            f"<div><dt>{html_text(_capitalised(metric.noun_for(number)))}</dt>"
            f"<dd>{html_text(metric.figure(number))}</dd></div>\n"
            for metric in found
            if (number := numbers[metric.key]) and (metric.key != MONTHS.key or number > 1)
        )
    )


def _capitalised(noun: str) -> str:
    return noun[:1].upper() + noun[1:]


def folded_notes(profile: Profile) -> dict[str, str]:
    """What each folded section says in a few words while it is folded."""
    usage, overall = profile.ai_usage, profile.overall
    rated = [one.key for one in SCORES if getattr(profile.quality, one.key).score is not None]
    skills = [*(one.name for one in profile.languages), *(one.name for one in profile.technical)]
    names = [record.full_name for record in profile.repositories]
    return {
        "activity": f"{wording.quantity(len(profile.activity), 'day')} with commits" if profile.activity else "",
        "overall": LINES.quantity(overall.lines.code),
        "quality": "" if rated else "not rated",
        "ai": "" if usage.declared or usage.detected else "no commit discloses a tool",
        "skills": ", ".join(skills[:_NAMED_SKILLS]),
        "repositories": names[0] if len(names) == 1 else str(len(names) or ""),
        "verify": "",
    }


def stat_rows(profile: Profile, *, monthly: bool = False) -> HtmlText:
    """The totals as a description list; `monthly` selects the metrics that apply to a single month."""
    numbers = profile.overall.numbers
    visible = [metric for metric in metrics_on("page") if metric.shown_at_zero or numbers.get(metric.key)]
    measured = [(one, numbers.get(one.key)) for one in visible if one.monthly or not monthly]
    ordered = sorted(measured, key=lambda pair: _is_quiet(*pair))
    return HtmlText("".join([_stat(one, number) for one, number in ordered]))


def _is_quiet(metric: Metric, number: Number) -> bool:
    """Whether the number weighs nothing: it is zero, unknown, or of other work."""
    return not number or metric.key in _QUIET


def _stat(metric: Metric, number: Number) -> str:
    label, figure, why = map(html_text, (metric.label, metric.figure(number), metric.note))
    mark = " class=none" if _is_quiet(metric, number) else ""
    return f"<div><dt>{label}</dt><dd{mark}>{figure}</dd><dd class=why>{why}</dd></div>\n"


def share_bar(profile: Profile) -> HtmlText:
    """Features and bug fixes as one bar of 100 units."""
    classes = ("f", "b")
    spans = charts.shares((profile.overall.features, profile.overall.bugs), 100)
    return HtmlText(
        "".join(
            f"<path class={name} d=M{start:g},0h{length:g}v1h-{length:g}z />"
            for name, (start, length) in zip(classes, spans, strict=False)
            if length
        )
    )


def line_rows(profile: Profile) -> list[tuple[str, str, str, HtmlText]]:
    """(part, lines, share, bar) for each part that has lines."""
    counts = profile.overall.lines.as_dict()
    total = counts["total"]
    return [
        (name, wording.thousands(counts[part]), f"{100 * counts[part] / total:.1f} %", _bar(counts[part] / total))
        for part, name in wording.PART_NAMES.items()
        if counts[part]
    ]


def part_rows(profile: Profile) -> HtmlText:
    """`line_rows` as rows of a table."""
    return HtmlText(
        "".join(
            [
                f"<tr><th scope=row>{part}<td>{number}<td>{share}"
                f'<td><svg viewBox="0 0 100 1" preserveAspectRatio=none aria-hidden=true><path d={path} /></svg>\n'
                for part, number, share, path in line_rows(profile)
            ]
        )
    )


def _bar(share: float) -> HtmlText:
    return HtmlText(f"M0,0h{100 * share:.1f}v1H0z")


class ScoreRow(Struct, frozen=True):
    """One of the four scores: its words, the paths of its scale, and the rows of its strongest evidence."""

    name: str
    score: str
    basis: str
    rated: bool
    dot: HtmlText
    range: HtmlText
    rows: HtmlText
    visible: int
    """number of rows in `rows`"""
    all: int


def quality_rows(profile: Profile, evidence: PageEvidence) -> list[ScoreRow]:
    """The scores, each with its interval as a line from 0 to 100 and its evidence; none if nothing is rated."""
    if not is_rated(profile.quality):
        return []
    return [_score(one.key, getattr(profile.quality, one.key), evidence) for one in SCORES]


def quality_note(profile: Profile) -> str:
    """What is said beside the scores, or in their place."""
    rated = is_rated(profile.quality)
    line = "What happened to the person's own lines." if rated else summary_line(profile.quality)
    return " ".join([line, *(f"{fact_text(one)}." for one in profile.quality.facts)])


def _score(name: str, score: Score, evidence: PageEvidence) -> ScoreRow:
    strongest = score.evidence[:_QUALITY_ROWS]
    return ScoreRow(
        name=name.capitalize(),
        score=wording.score_text(score),
        basis=score_basis(name, score),
        rated=score.score is not None,
        dot=HtmlText(f"M{score.score:.1f} 0h.01" if score.score is not None else ""),
        range=HtmlText(f"M{score.interval[0]:.1f} 0H{score.interval[1]:.1f}" if score.interval else ""),
        rows=HtmlText("".join([_effect(row, evidence) for row in strongest])),
        visible=len(strongest),
        all=len(score.evidence),
    )


def _effect(row: ScoreEvidence, evidence: PageEvidence) -> str:
    later = f" ({html_text(wording.short_id(row.by))})" if row.by else ""
    cited, signal = evidence.cite([row.change]), html_text(row.signal)
    return f"<tr><th scope=row>{cited}<td>{signal}{later}<td>{signed_number(row.effect)}"


def signed_number(effect: float) -> str:
    """`+1.5` or `−6.4`, with a true minus sign."""
    return f"{effect:+.1f}".replace("-", "−")


def ai_rows(profile: Profile, evidence: PageEvidence) -> dict[str, Any]:
    """The three parts of AI usage with a bar, and the tools."""
    usage = profile.ai_usage
    counts = (usage.declared, usage.detected, usage.unknown)
    total = sum(counts)
    parts = ("declared", "detected", "unknown")
    explained = (
        "the commit or its pull request says so",
        "the author or the tool's own notes show it",
        "nothing was disclosed; this does not mean that no tool was used",
    )
    spans = charts.shares(counts if total else (0, 0, 1), 100)
    shares = wording.percents(usage.shares())
    return {
        "parts": [
            (f"a{index}", parts[index], shares[index], wording.quantity(counts[index], "commit"), explained[index])
            for index in range(3)
        ],
        "bar": HtmlText(
            "".join(
                f"<path class=a{index} d=M{start:g},0h{length:g}v1h-{length:g}z />"
                for index, (start, length) in enumerate(spans)
                if length
            )
        ),
        "tools": [
            (name, wording.quantity(number, "commit"), _trace_links(usage.evidence.get(name, ()), evidence))
            for name, number in sorted(usage.tools.items(), key=lambda pair: (-pair[1], pair[0]))
        ],
    }


_TRACES = 20
"""most commits linked for one tool"""


def _trace_links(traces: Sequence[AiTrace], evidence: PageEvidence) -> HtmlText:
    """The newest commits that disclose a tool, each linked to its change on this page."""
    links = []
    for one in traces[:_TRACES]:
        anchor = evidence.anchors.get(one.change)
        short = html_text(one.commit[:10])
        links.append(f"<a href=#{anchor}>{short}</a>" if anchor else short)
    more = f" and {wording.quantity(len(traces) - _TRACES, 'more commit')}" if len(traces) > _TRACES else ""
    return HtmlText(", ".join(links) + more)


def language_rows(profile: Profile) -> dict[str, Any]:
    """The language bar in Linguist's colours and the rows of its table."""
    languages = profile.languages
    spans = charts.shares([skill.lines for skill in languages], 1000)
    total = sum(skill.lines for skill in languages)
    colours = [language_colour(skill.name) for skill in languages]
    return {
        "bar": HtmlText(
            "".join(
                f"<path fill={colour} d=M{start:g},0h{length:g}v1h-{length:g}z />"
                for colour, (start, length) in zip(colours, spans, strict=False)
                if length
            )
        ),
        "rows": HtmlText(
            "".join(
                [_language_row(skill, colour, total) for skill, colour in zip(languages, colours, strict=True)],
            )
        ),
    }


def _language_row(skill: LanguageSkill, colour: str, total: int) -> str:
    share = f"{100 * skill.lines / total:.1f} %" if total else ""
    return (
        f'<tr><th scope=row><svg viewBox="0 0 1 1" aria-hidden=true><path fill={colour} d=M0,0h1v1H0z /></svg>'
        f"{html_text(skill.name)}<td>{wording.thousands(skill.lines)}<td>{share}"
        f"<td>{wording.short_month(skill.first_month)}\n"
    )


def skill_rows(profile: Profile, evidence: PageEvidence) -> HtmlText:
    """Each skill with the number of changes that show it and links to the first of them."""
    return HtmlText(
        "".join(
            [
                f"<tr><th scope=row>{html_text(skill.name)}<td>{wording.quantity(len(skill.evidence), 'change')}"
                f"<td>{evidence.cite(skill.evidence, _SKILL_CITED)}\n"
                for skill in profile.technical
            ]
        )
    )


def repository_cards(
    profile: Profile, addresses: Mapping[str, str], pages: Sequence[tuple[str, str, str]] = ()
) -> HtmlText:
    """Each repository with its name, span, months, commits, languages and skills; `pages` are the repositories' own."""
    own = {name: f"<p><a href={html_text(page)}>All work of {wording.month_name(at)}</a>" for name, page, at in pages}
    cards = [
        _card(record, addresses.get(record.full_name), own.get(record.full_name, ""))
        for record in profile.repositories[:_MOST_CARDS]
    ]
    others = [html_text(record.full_name) for record in profile.repositories[_MOST_CARDS:]]
    more = [f"<li><h3>{len(others):,} more</h3><p>{', '.join(others)}"] if others else []
    return HtmlText("".join([*cards, *more]))


def _card(record: RepositoryRecord, address: str | None, own_page: str) -> str:
    languages, skills = (html_text(", ".join(names), LONGEST_TEXT) for names in (record.languages, record.skills))
    return (
        f"<li><h3>{html_link(address, html_name(record.full_name))}</h3>"
        f"<p>{wording.span(record.first_month, record.last_month)}"
        f"<p>{wording.quantity(record.active_months, 'active month')} • {wording.quantity(record.commits, 'commit')}"
        f"{languages and '<p><b>Languages</b> ' + languages}{skills and '<p><b>Skills</b> ' + skills}"
        f"{own_page}\n"
    )

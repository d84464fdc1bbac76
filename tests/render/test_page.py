"""Is the page complete, small, safe and readable without scripts?"""

from __future__ import annotations

import base64
import hashlib
import re
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import html5lib
import pytest
from msgspec.structs import replace

from bot.metrics.registry import metrics_on
from bot.model.change import Change, Item
from bot.model.ids import ChangeId
from bot.model.profile import AiUsage, Contributor, MonthRecord, Profile, Quality, Score, ScoreEvidence, Sentence, Text
from bot.render import wording
from bot.render.html.page import BUDGET, PageOptions, render_html, render_page, style, style_hash
from bot.render.html.site import restrict_to_month

from .factories import empty_profile, long_profile, small_profile
from .hostile import payloads

PROFILES = {"small": small_profile(), "empty": empty_profile(), "long": long_profile()}
_ELEMENTS = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "a",
        "header",
        "p",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "bdi",
        "nav",
        "main",
        "sup",
        "section",
        "div",
        "dl",
        "dt",
        "dd",
        "svg",
        "path",
        "span",
        "details",
        "summary",
        "table",
        "caption",
        "thead",
        "tbody",
        "tfoot",
        "tr",
        "th",
        "td",
        "i",
        "figure",
        "b",
        "article",
        "ul",
        "li",
        "small",
        "em",
        "mark",
        "pre",
        "code",
        "footer",
        "time",
        "link",
    ]
)


def parse(page: str) -> ElementTree.Element:
    """The tree; an error of HTML raises."""
    tree: ElementTree.Element = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page)
    return tree


def tag(node: ElementTree.Element) -> str:
    return str(node.tag).rpartition("}")[2]


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_the_page_is_valid_html(name: str) -> None:
    parse(render_html(PROFILES[name]))


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_every_internal_link_has_a_target_and_every_id_is_unique(name: str) -> None:
    tree = parse(render_html(PROFILES[name]))
    ids = [node.get("id") for node in tree.iter() if node.get("id")]
    assert len(ids) == len(set(ids))
    wanted = {str(node.get("href"))[1:] for node in tree.iter("a") if str(node.get("href")).startswith("#")}
    assert wanted <= set(ids)


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_the_page_loads_nothing_and_runs_nothing(name: str) -> None:
    page = render_html(PROFILES[name])
    tree = parse(page)
    assert not {"script", "img", "iframe", "object", "embed", "link", "form"} & {tag(node) for node in tree.iter()}
    assert not re.search(r"url\(|@import|\sstyle=|\son[a-z]+=", page)


def test_ten_years_fit_one_light_request() -> None:
    page = render_html(PROFILES["long"])
    assert len(page.encode()) < 150_000
    assert "<li id=c1>" in page
    assert "To keep the page small" in page


def test_the_bars_of_twenty_five_years_are_not_cut() -> None:
    """Data of a path is no running text, which is cut where it is too long."""
    page = render_html(long_profile(months=300))
    bars = re.search('<path class=m d="([^"]*)"', page)
    assert bars is not None
    assert bars[1].count("z") == 300


def test_ten_years_with_long_texts_fit_too() -> None:
    profile = PROFILES["long"]
    wordy = tuple(
        replace(month, summary=Text(tuple(replace(one, text=one.text * 2) for one in month.summary.sentences)))
        for month in profile.months
    )
    assert len(render_html(replace(profile, months=wordy)).encode()) < 150_000


@pytest.mark.parametrize(("months", "changes"), [(120, 60), (360, 12), (540, 40)])
def test_the_largest_records_fit_and_name_every_month(months: int, changes: int) -> None:
    """45 years with work in every month, and 22,000 changes."""
    profile = long_profile(months=months, changes_a_month=changes)
    page = render_html(profile)
    assert len(page.encode()) < 150_000
    assert [month.month for month in profile.months if f"id=m{month.month}" not in page] == []


def test_a_record_of_one_month_says_everything_once() -> None:
    base = small_profile()
    (month, *_) = base.months
    page = render_html(replace(restrict_to_month(base, month.month), narrative=month.summary, non_code_months=()))
    text = re.sub("<[^>]*>", "", page[page.index("<main") :])
    quoted = [one.quoted for one in month.summary.sentences if one.quoted]
    assert [said for said in (wording.tally(month), *quoted) if text.count(said) > 1] == []


def test_what_is_empty_has_no_section() -> None:
    page = render_html(empty_profile())
    assert re.findall("<section id=([a-z]+)", page) == ["overall", "verify"]
    assert re.findall("<a href=#([a-z]+)>", page) == ["overall", "verify"]


def test_nothing_large_is_zero_or_unknown() -> None:
    page = render_html(empty_profile())
    large = re.findall("<dd>([^<]*)", page)
    assert large == []


def test_a_page_of_many_long_years_shows_the_first_sentence_of_the_oldest_months() -> None:
    """However many commits a month has, each month is there."""
    profile = long_profile(months=200)
    wordy = tuple(
        replace(month, summary=Text(tuple(replace(one, text=f"{one.text} {month.month}") for one in said)))
        for month in profile.months
        for said in [month.summary.sentences * 2]
    )
    page = render_html(replace(profile, months=wordy))
    assert len(page.encode()) < 150_000
    assert "it shows only the first sentence" in page
    told = [page.count(f" {month.month}") for month in profile.months]
    assert min(told) == 1
    assert max(told) == 4
    assert told == sorted(told, reverse=True)
    assert all(f"<article id=m{month.month}>" in page for month in profile.months)


def test_a_wider_budget_shows_every_change_of_ten_years() -> None:
    page = render_page(PROFILES["long"], PageOptions(budget=1_000_000))
    assert page.count("<li id=c") == len(PROFILES["long"].changes)
    assert "To keep the page small" not in page


def test_a_short_record_shows_every_change_and_every_sentence() -> None:
    page = render_html(small_profile())
    said = "".join(parse(page).itertext())
    for month in small_profile().months:
        assert all(one.text in said for one in month.summary.sentences)
        assert all(item.title in said for item in month.items)
    assert all(change.title in said for change in small_profile().changes)


def test_a_change_cited_from_outside_the_months_has_a_row_too() -> None:
    profile = small_profile()
    page = render_html(replace(profile, months=profile.months[:1]))
    tree = parse(page)
    ids = {node.get("id"): "".join(node.itertext()) for node in tree.iter("li")}
    cited = [node for node in next(tree.iter("main")).iter("sup") for node in node.iter("a")]
    assert "Cited from elsewhere" in page
    assert all(str(node.text) in ids[str(node.get("href"))[1:]] for node in cited)


def test_a_note_shared_by_all_changes_of_an_item_is_shown_once() -> None:
    profile = small_profile()
    changes = tuple(replace(one, also_in=("harbour/mirror",)) for one in profile.changes)
    page = render_html(replace(profile, changes=changes, months=profile.months[2:]))
    assert page.split("Cited from elsewhere")[0].count("also in harbour/mirror") == 2


def test_the_numbers_of_the_page_are_those_of_the_record() -> None:
    tree = parse(render_html(small_profile()))
    stats = next(node for node in tree.iter("dl") if node.get("class") == "stats")
    shown = {row.findtext("dt"): row.findtext("dd") for row in stats}
    numbers = small_profile().overall.numbers
    visible = [metric for metric in metrics_on("page") if metric.shown_at_zero or numbers[metric.key]]
    assert shown == {metric.label: metric.figure(numbers[metric.key]) for metric in visible}
    assert (shown["Commits"], shown["Lines of code"], shown["Active months"]) == ("7", "603", "3")


def test_each_chart_has_words_and_a_table_behind_it() -> None:
    tree = parse(render_html(small_profile()))
    pictures = [node for node in tree.iter() if tag(node) == "svg"]
    assert all(node.get("aria-label") or node.get("aria-hidden") for node in pictures)
    tables = {str(node.get("id") or node.get("class")) for node in tree.iter("table")}
    assert {"parts", "months", "langs", "skills"} <= tables


def test_headings_descend_one_step_at_a_time() -> None:
    for profile in PROFILES.values():
        levels = [int(tag(node)[1]) for node in parse(render_html(profile)).iter() if re.fullmatch("h[1-6]", tag(node))]
        assert levels[0] == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))


def test_the_hash_is_that_of_the_one_style_element() -> None:
    page = render_html(small_profile())
    inside = page.split("<style>")[1].split("</style>")[0]
    assert inside == style()
    assert style_hash() == "sha256-" + base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
    assert page.count("<style") == 1


def test_only_a_public_page_speaks_to_search_engines() -> None:
    where = "https://almanac.example/mira"
    hidden = render_page(small_profile(), PageOptions(canonical=where, picture=where + ".svg"))
    shown = render_page(small_profile(), PageOptions(public=True, canonical=where, picture=where + ".svg"))
    assert "noindex" in hidden
    assert where not in hidden
    assert "noindex" not in shown
    assert shown.count(where) == 4
    assert '"@type": "ProfilePage"' in shown
    parse(shown)


def test_a_score_shows_its_lines_and_each_change_that_took_some() -> None:
    page = render_html(small_profile())
    assert "bug fixes and reverts replaced 43 of 1,200 lines within 90 days; project 95.2" in page
    assert "80 % interval 93.9 – 98.1" in page
    assert "32 lines replaced by a revert" in page
    assert "not rated: fewer than 12 changes at risk" in page


def test_where_nothing_is_rated_quality_is_one_line() -> None:
    counted = Score(None, 9, None, (), 900, 81, 90.4, "fewer than 12 changes at risk")
    page = render_html(replace(small_profile(), quality=Quality(maintainability=counted)))
    assert "Not rated. Later changes rewrote 81 of 900 lines within 180 days." in page
    assert "<div class=score>" not in page


def test_the_same_record_gives_the_same_bytes() -> None:
    assert render_html(long_profile(months=20)) == render_html(long_profile(months=20))


def hostile_profile(text: str) -> Profile:
    """The small profile with `text` wherever a stranger or a tool may have written."""
    base = small_profile()
    held, absent = ChangeId(f"{text}@{text}"), ChangeId(text)

    def spoil(words: Text) -> Text:
        return Text(tuple(Sentence(text + one.text, (held, absent, *one.evidence)) for one in words.sentences))

    def spoil_month(month: MonthRecord) -> MonthRecord:
        items = tuple(Item(one.kind, text, one.state, one.changes) for one in month.items)
        return replace(
            month, summary=spoil(month.summary), items=(Item("other", text, "landed", (held, absent)), *items)
        )

    def spoil_change(one: Change) -> Change:
        one = replace(one, reverted_by=absent, partly_reverted_by=(held, absent))
        return replace(one, title=text, also_in=(text,), url=f"https://github.com/{text}")

    def spoil_all(rows: tuple[Any, ...], **more: Any) -> tuple[Any, ...]:
        return tuple(replace(row, **more) for row in rows)

    score = base.quality.correctness
    effects = (ScoreEvidence(held, text, -9), ScoreEvidence(absent, text, -9), *score.evidence)
    stranger = replace(spoil_change(base.changes[-1]), id=held, repository=text)
    return replace(
        base,
        contributor=Contributor(text),
        narrative=spoil(base.narrative),
        months=tuple(map(spoil_month, base.months)),
        quality=replace(base.quality, correctness=replace(score, evidence=spoil_all(effects, signal=text))),
        ai_usage=AiUsage(1, 1, 5, {text: 2}),
        languages=spoil_all(base.languages, name=text),
        technical=spoil_all(base.technical, name=text),
        repositories=spoil_all(base.repositories, full_name=text, languages=(text,), skills=(text,)),
        changes=(*map(spoil_change, base.changes), stranger),
    )


@pytest.mark.parametrize(("budget", "step"), [(BUDGET, 17), (26_000, 41), (20_000, 41)])
def test_no_hostile_text_becomes_an_element_an_attribute_or_an_address(budget: int, step: int) -> None:
    for text in payloads()[::step]:
        page = render_page(
            hostile_profile(text), PageOptions(public=True, canonical="https://a.example/x", budget=budget)
        )
        for node in parse(page.encode("utf-8", "replace").decode()).iter():
            assert tag(node) in _ELEMENTS | {"script"}
            assert tag(node) != "script" or node.get("type") == "application/ld+json"
            assert not any(str(name).startswith("on") or name in ("style", "src") for name in node.attrib)
            assert str(node.get("href", "#")).startswith(("#", "https://"))

"""Does every format show the record, and match its snapshot?"""

from __future__ import annotations

import csv
import io
import json
from xml.etree import ElementTree

import jsonschema
import pytest
from msgspec.structs import replace

from bot.model.ids import Month
from bot.model.profile import (
    AiUsage,
    Contributor,
    NonCodeActivity,
    Profile,
    RepositoryRecord,
    Trace,
)
from bot.render import RENDERERS, wording
from bot.render.text.atom import render_feed
from bot.render.text.json import schema
from bot.render.verification import verify_commands

from .factories import empty_profile, long_profile, month_record, small_profile
from .hostile import payloads
from .snapshots import agreed

SNAPSHOTS = {
    "json": "profile.json",
    "text": "profile.txt",
    "markdown": "profile.md",
    "html": "profile.html",
    "svg": "card.svg",
    "svg-heatmap": "heatmap.svg",
    "svg-months": "months.svg",
    "svg-languages": "languages.svg",
    "svg-share": "share.svg",
    "svg-badge": "badge.svg",
    "csv": "changes.csv",
    "atom": "months.atom",
    "jsonresume": "resume.json",
}
_LITTLE = replace(small_profile(), months=(), changes=(), activity={})
ATOM = "{http://www.w3.org/2005/Atom}"


def tree_of(text: str) -> ElementTree.Element:
    """The tree of XML that must be well formed."""
    return ElementTree.fromstring(text.encode())  # noqa: S314 - what the renderers wrote themselves


@pytest.mark.parametrize("form", sorted(SNAPSHOTS))
def test_a_form_reads_as_agreed(form: str) -> None:
    text = RENDERERS[form](small_profile())
    assert text == agreed(SNAPSHOTS[form], text)


@pytest.mark.parametrize("form", sorted(RENDERERS))
def test_a_person_without_landed_work_breaks_no_format(form: str) -> None:
    assert RENDERERS[form](empty_profile())


@pytest.mark.parametrize("profile", [small_profile(), empty_profile(), long_profile(months=30)])
def test_the_json_satisfies_its_schema(profile: Profile) -> None:
    record = json.loads(RENDERERS["json"](profile))
    jsonschema.Draft202012Validator(schema(), format_checker=jsonschema.FormatChecker()).validate(record)


def test_every_change_that_the_json_names_is_in_its_evidence() -> None:
    record = json.loads(RENDERERS["json"](small_profile()))
    known = {change["id"] for change in record["changes"]}
    texts = [record["narrative"], *(month["summary"] for month in record["months"])]
    named = {key for text in texts for sentence in text["sentences"] for key in sentence["evidence"]}
    named |= {key for month in record["months"] for item in month["items"] for key in item["changes"]}
    assert named <= known


def test_the_parts_of_lines_sum_to_the_total() -> None:
    for lines in (record["lines"] for record in json.loads(RENDERERS["json"](small_profile()))["changes"]):
        assert sum(count for part, count in lines.items() if part != "total") == lines["total"]


def test_plurals_are_right_and_parts_that_are_zero_are_dropped() -> None:
    month = month_record("2025-07", small_profile().narrative, (), [])
    several = {"commits": 3, "features": 1, "bugs": 2}
    assert wording.tally(replace(month, numbers=several)) == "3 commits • 1 feature • 2 bug fixes"
    assert wording.tally(replace(month, numbers={"commits": 1, "features": 0, "bugs": 1})) == "1 commit • 1 bug fix"
    assert wording.tally(replace(month, numbers={"commits": 0, "co_authored": 1})) == "1 co-authored commit"


def test_a_comparison_without_months_is_not_available() -> None:
    for form in ("text", "markdown"):
        assert "too few to say" in RENDERERS[form](empty_profile())
    assert "no feature and no bug fix" in RENDERERS["html"](empty_profile())
    assert "%" not in RENDERERS["svg-share"](empty_profile())
    assert json.loads(RENDERERS["json"](empty_profile()))["overall"]["feature_share"] is None


def test_no_disclosure_is_one_line_and_a_true_zero() -> None:
    silent = replace(small_profile(), ai_usage=AiUsage(unknown=7))
    for form in ("text", "markdown"):
        text = RENDERERS[form](silent)
        assert "no commit discloses a tool" in " ".join(text.split()).lower()
        assert "100.0 %" not in text


@pytest.mark.parametrize("counts", [(1, 1, 1), (1, 2, 4), (0, 0, 9), (3, 0, 4)])
def test_the_three_shares_of_ai_usage_sum_to_a_hundred(counts: tuple[int, int, int]) -> None:
    shares = wording.percents(AiUsage(*counts).shares())
    assert sum(round(10 * float(share.split()[0])) for share in shares) == 1000


def test_a_display_name_is_shown_verbatim() -> None:
    profile = replace(small_profile(), contributor=Contributor("andy (An) vAN dE"))
    for form in ("text", "html", "svg", "atom", "jsonresume"):
        assert "andy (An) vAN dE" in RENDERERS[form](profile)


def test_a_revert_is_reported_plainly() -> None:
    assert "reverted by beacon#55" in RENDERERS["text"](small_profile())
    assert "<mark>Reverted by <a href=#c4>#55</a></mark>" in RENDERERS["html"](small_profile())
    assert "reverted by beacon&#35;\u200b55" in RENDERERS["markdown"](small_profile())


def test_the_command_to_verify_names_every_clone() -> None:
    command = "almanac verify harbour-beacon harbour-charts --profile profile.json"
    for form in ("text", "markdown", "html"):
        assert command in RENDERERS[form](small_profile())


def test_a_folder_name_cannot_inject_a_command_into_the_line_to_copy() -> None:
    record = replace(small_profile().repositories[0], full_name="x; rm -rf ~ $(id)")
    profile = replace(small_profile(), repositories=(record,))
    assert verify_commands(profile) == ("almanac verify 'x; rm -rf ~ $(id)' --profile profile.json",)


def test_a_long_title_wraps_with_an_indent_and_stays_one_entry() -> None:
    base = small_profile()
    title = "fix(sync): skip records that fail to decrypt or decode instead of failing the whole store"
    month = replace(base.months[0], items=(replace(base.months[0].items[0], title=title),))
    text = RENDERERS["text"](replace(base, months=(month,)))
    assert text.count("\n  - ") == 1
    assert "instead of failing the whole\n    store (landed again" in text


def test_a_year_with_only_credited_commits_is_not_called_active() -> None:
    base = small_profile()
    credited = replace(base.months[0], month=Month("2019-03"), numbers={"co_authored": 2}, items=())
    html = RENDERERS["html"](replace(base, months=(*base.months, credited)))
    assert "<summary><h3>2019</h3> <span>2 co-authored commits</span></summary>" in html


@pytest.mark.parametrize(
    ("since", "until", "said"),
    [
        ("2026-01", None, "Europe/Berlin; only months from January 2026 on are counted"),
        (None, "2026-02", "Europe/Berlin; only months until February 2026 are counted"),
        ("2026-01", "2026-02", "Europe/Berlin; only months from January 2026 to February 2026 are counted"),
    ],
)
def test_a_record_of_some_months_says_so(since: str | None, until: str | None, said: str) -> None:
    base = small_profile()
    method = replace(base.method, since=Month(since) if since else None, until=Month(until) if until else None)
    for form in ("text", "markdown", "html"):
        assert said in " ".join(RENDERERS[form](replace(base, method=method)).split())


def test_no_control_character_reaches_a_terminal() -> None:
    for text in payloads():
        changed = replace(_LITTLE, contributor=Contributor(text))
        assert all(character == "\n" or character.isprintable() for character in RENDERERS["text"](changed)[:400])


def test_no_cell_is_a_formula() -> None:
    base = small_profile()
    for text in payloads():
        changes = tuple(replace(one, title=text) for one in base.changes)
        rows = list(csv.reader(io.StringIO(RENDERERS["csv"](replace(base, changes=changes)))))
        assert len(rows) == 1 + len(changes)
        assert all(not cell.startswith(("=", "+", "-", "@", "\uff1d")) for row in rows for cell in row)


@pytest.mark.parametrize("form", [form for form in sorted(RENDERERS) if form.startswith("svg") or form == "atom"])
def test_hostile_names_leave_xml_well_formed(form: str) -> None:
    tags = {node.tag for node in tree_of(RENDERERS[form](_LITTLE)).iter()}
    for text in payloads():
        changed = replace(_LITTLE, contributor=Contributor(text))
        tree = tree_of(RENDERERS[form](changed))
        assert {node.tag for node in tree.iter()} == tags


@pytest.mark.parametrize("form", [form for form in sorted(RENDERERS) if form.startswith("svg")])
def test_a_picture_is_self_contained_with_title_description_and_both_themes(form: str) -> None:
    for profile in (small_profile(), empty_profile()):
        text = RENDERERS[form](profile)
        tree = tree_of(text)
        svg = "{http://www.w3.org/2000/svg}"
        assert tree.findtext(f"{svg}title")
        assert tree.find(f"{svg}desc") is not None
        assert "prefers-color-scheme:dark" in text
        assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_a_heat_map_has_at_most_one_path_a_level_and_year() -> None:
    text = RENDERERS["svg-heatmap"](long_profile(months=24))
    assert text.count('class="l2"') <= 2
    assert text.count("<path") <= 2 * 5


def test_the_feed_has_what_atom_demands() -> None:
    feed = tree_of(render_feed(small_profile(), "https://a.example/m.atom", "https://a.example/m"))
    assert [feed.findtext(f"{ATOM}{name}") for name in ("id", "title", "updated")] == [
        "https://a.example/m",
        "Mira (Mi) Okonjo: months",
        "2026-03-02T09:30:00Z",
    ]
    entries = feed.findall(f"{ATOM}entry")
    assert len(entries) == 3
    assert len({entry.findtext(f"{ATOM}id") for entry in entries}) == 3
    assert all(entry.findtext(f"{ATOM}updated") for entry in entries)


def test_the_feed_of_an_anonymous_record_names_nobody() -> None:
    who = replace(small_profile().contributor, display="A contributor", naming="anonymous")
    feed = RENDERERS["atom"](replace(small_profile(), contributor=who))
    assert "4711" not in feed
    assert "mira" not in feed.split("<entry>")[0].lower()


def test_a_span_of_one_month_names_it_once() -> None:
    assert wording.span("2025-07", "2025-07") == "Jul 2025"
    assert wording.span("2025-06", "2025-07") == "Jun 2025 – Jul 2025"


def test_a_clone_without_a_remote_is_named_by_its_folder() -> None:
    changes = tuple(replace(one, url=None) for one in small_profile().changes)
    profile = replace(small_profile(), changes=changes, repositories=(_record("local"),))
    assert verify_commands(profile) == ("almanac verify local --profile profile.json",)


def _record(name: str) -> RepositoryRecord:
    return replace(small_profile().repositories[0], full_name=name)


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_github_only_values_are_separate_from_the_month(form: str) -> None:
    profile = small_profile()
    did = ("approved", "remarked", "reviewed"), ("approved", "changes_requested", *["remarked"] * 4), ("reviewed",) * 3
    traces = (Trace("harbour/beacon", f"#{number}", None, one) for number, one in enumerate(did, 60))
    reviewed = replace(profile.months[0], non_code=NonCodeActivity(reviews=tuple(traces)))
    told = RENDERERS[form](replace(profile, months=(reviewed, *profile.months[1:])))
    depth = "4 reviews, 2 approvals, 1 request for changes, 5 remarks on lines"
    assert f"reviewed 3 pull requests of others ({depth})" in told.replace("\\", "")
    assert "GitHub alone" not in RENDERERS[form](profile)


def test_reviews_in_the_json_satisfy_its_schema_and_are_live() -> None:
    profile = small_profile()
    trace = Trace("harbour/beacon", "#60", "https://github.com/harbour/beacon/pull/60", ("approved", "reviewed"))
    reviewed = replace(profile.months[0], non_code=NonCodeActivity(reviews=(trace,)))
    found = json.loads(RENDERERS["json"](replace(profile, months=(reviewed, *profile.months[1:]))))
    jsonschema.validate(found, schema())
    told = {"pull_requests": 1, "given": 1, "approvals": 1, "rounds": 0, "remarks": 0}
    opened = {"repository": "harbour/beacon", "name": "#60", "did": ["approved", "reviewed"], "url": trace.url}
    assert found["months"][0]["live"]["reviews"] == told | {"evidence": [opened]}
    assert found["overall"]["live"] == {"reviews": told}
    assert not any("live" in month for month in found["months"][1:])


@pytest.mark.parametrize(
    "form", ["json", "text", "markdown", "html", "csv", "atom", "jsonresume", "svg", "svg-languages"]
)
def test_what_a_clone_did_not_contain_is_said(form: str) -> None:
    profile = small_profile()
    partial = replace(profile, method=replace(profile.method, not_measured=3, shallow=True))
    words = ("not_measured", "3 files", "not measured")
    assert any(word in RENDERERS[form](partial) for word in words)
    assert form == "csv" or not any(word in RENDERERS[form](profile) for word in words[:2])

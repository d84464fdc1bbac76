"""Does a metric added to METRICS appear in every output without any other change?"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from msgspec.structs import replace

from bot.cli.recomputing.offline import profile as profile_of_clone
from bot.cli.recomputing.offline import read_window
from bot.cli.recomputing.verify import examine
from bot.metrics.metric import EVERYWHERE, Metric, Surface
from bot.metrics.registry import METRICS
from bot.metrics.work import Work
from bot.model.ids import Month
from bot.model.profile import Part
from bot.narrative.commands import Command, read_commands
from bot.narrative.explanation import explain
from bot.render import RENDERERS
from bot.render.html.site import PageLocation, difference_page, month_page
from bot.render.notes.reply import month_part, reply_note, why_number_part
from bot.render.text.json import schema
from scripts.refresh_metric_docs import generated_part
from tests.history.repository import Repository
from tests.render.factories import empty_profile, small_profile

PLACE = PageLocation("/people/mira")


def value(work: Work) -> Fraction:
    return sum((part.value for part in evidence(work)), Fraction())


def evidence(work: Work) -> list[Part]:
    return [Part((change.id,), Fraction(3, 2)) for change, _ in work.commits]


def a_metric(surfaces: frozenset[Surface] = EVERYWHERE) -> Metric:
    return Metric(
        key="sails",
        version=1,
        label="Sails",
        long_label="Sails set",
        words=("sail set", "sails set"),
        unit="sails",
        note="one and a half for each commit",
        question="How many sails were set?",
        definition="A sail and a half is set for each commit.",
        formula="3 / 2 of the commits",
        basis="the changes",
        works="It is made up.",
        fails="It is made up.",
        value=value,
        evidence=evidence,
        surfaces=surfaces,
        precision=1,
    )


@pytest.fixture
def sails() -> Iterator[Metric]:
    """Registered for one test. Seven commits of the small profile are 10.5 of it, the three of its oldest month 4.5."""
    metric = a_metric()
    METRICS.append(metric)
    yield metric
    METRICS.remove(metric)


# --- forms of a profile ----------------------------------------------------------------------------------------------


def test_the_page_has_a_cell_a_column_and_the_lines_of_months_and_years(sails: Metric) -> None:
    page = RENDERERS["html"](small_profile())
    assert "<dt>Sails</dt><dd>10.5</dd><dd class=why>one and a half for each commit</dd>" in page
    assert "<th scope=col>Sails" in page
    assert "<td>134<td>4.5<td>" in page
    assert "3 commits • 1 feature • 1 bug fix • 4.5 sails set" in page
    assert "2 active months: 4 commits • 1 feature • 6.0 sails set" in page


def test_the_pages_of_one_month_and_of_two_have_it(sails: Metric) -> None:
    assert "<dt>Sails</dt><dd>4.5</dd>" in month_page(small_profile(), Month("2025-11"), PLACE)
    two = difference_page(small_profile(), (Month("2025-11"), Month("2026-01")), PLACE)
    assert "<th scope=row>Sails<td>4.5<td>3.0<td>−1.5" in two


def test_text_and_markdown_have_a_line(sails: Metric) -> None:
    text = RENDERERS["text"](small_profile())
    assert re.search(r"^  Sails set +10\.5$", text, re.MULTILINE)
    assert "3 commits • 1 feature • 1 bug fix • 4.5 sails set" in text
    markdown = RENDERERS["markdown"](small_profile())
    assert "| Sails set | 10.5 |" in markdown
    assert "4.5 sails set" in markdown


def test_the_json_has_the_value_and_its_evidence_and_satisfies_its_schema(sails: Metric) -> None:
    found = json.loads(RENDERERS["json"](small_profile()))
    jsonschema.validate(found, schema())
    assert found["overall"]["metrics"]["sails"] == {"value": 10.5, "unit": "sails"}
    oldest = found["months"][-1]["metrics"]["sails"]
    assert oldest["value"] == 4.5
    assert oldest["evidence"][0] == {"changes": ["harbour/beacon#41"], "value": 1.5}


def test_the_csv_has_a_column_for_the_metric(sails: Metric) -> None:
    head, first, *_ = csv.reader(io.StringIO(RENDERERS["csv"](small_profile())))
    assert dict(zip(head, first, strict=True))["sails"] == "1.5"


@pytest.mark.parametrize("form", ["svg", "svg-badge", "atom", "jsonresume"])
def test_cards_feeds_and_cvs_show_the_metric(sails: Metric, form: str) -> None:
    shown = RENDERERS[form](small_profile())
    assert {"atom": "4.5 sails set", "svg": ">10.5<"}.get(form, "10.5 sails set") in shown


def test_a_card_with_more_numbers_is_taller(sails: Metric) -> None:
    assert 'height="264"' in RENDERERS["svg"](small_profile())


@pytest.mark.parametrize("form", sorted(RENDERERS))
def test_a_metric_without_a_value_is_unmeasured_and_not_zero(form: str) -> None:
    metric = replace(a_metric(), value=lambda _: None, evidence=lambda _: ())
    METRICS.append(metric)
    try:
        shown = [RENDERERS[form](small_profile()), RENDERERS[form](empty_profile())]
    finally:
        METRICS.remove(metric)
    if form in ("html", "text", "markdown"):
        assert all("not measured" in one for one in shown)
    assert not any("0 sails" in one for one in shown)


# --- what explains it ------------------------------------------------------------------------------------------------


def test_explain_shows_the_evidence(sails: Metric) -> None:
    text = explain(small_profile(), "sails").text()
    assert text.startswith("sails: 10.5\nWhat it is: A sail and a half is set for each commit.\n")
    assert "  2025-11  4.5\n    harbour/beacon#41  Add a retry queue for failed uploads: 1.5\n" in text


def test_why_is_answered_in_a_comment(sails: Metric) -> None:
    assert read_commands("/almanac why sails") == (Command("why", "sails"),)
    profile = small_profile()
    changes = {change.id: change for change in profile.changes}
    said = reply_note([why_number_part("why sails", sails, profile.months, changes)])
    assert "A sail and a half is set for each commit." in said
    assert "sails: 10.5 in this repository" in said
    assert "November 2025: 4.5" in said
    assert "1.5 sails set: Draw depth contours" in said
    assert "3.0 sails set" in reply_note([month_part("me", profile.months[0], changes, "")])


def test_the_page_of_definitions_documents_it(sails: Metric) -> None:
    page = generated_part()
    assert "| Sails set | `sails` | one and a half for each commit | 3 / 2 of the commits | 1 |" in page
    assert "### sails\nHow many sails were set?" in page


# --- what recomputes it ----------------------------------------------------------------------------------------------


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    repository = Repository(tmp_path / "rocket")
    for number in (1, 2, 3):
        repository.commit(f"Add stage {number}", {f"stage{number}.py": f"value = {number}\n"})
    return [str(repository.folder)]


def _published(clone: list[str]) -> str:
    months = read_window(None, None, "UTC")
    return "".join(profile_of_clone(clone, "ada@example.org", months, form="json", anonymous=False))


def test_verify_names_a_value_or_evidence_that_differs_in_profiles_and_snapshots(
    sails: Metric, clone: list[str]
) -> None:
    text = _published(clone)
    assert examine(clone, text).differences == ()
    changed = text.replace('"sails": {"value": 4.5, "unit"', '"sails": {"value": 7.5, "unit"')
    sealed = json.dumps({"schema": "almanac.snapshot/1", "profile": changed})
    for published in (changed, sealed):
        (found,) = examine(clone, published).differences
        assert str(found) == "overall.metrics.sails.value: published 7.5, recomputed 4.5"
    (part, *_) = examine(clone, text.replace('"value": 1.5}', '"value": 2.5}', 1)).differences
    assert part.field.startswith("months[")
    assert ".metrics.sails.evidence[1].value" in part.field


def test_verify_names_github_only_values_as_the_publishers_claim(clone: list[str]) -> None:
    metric = replace(a_metric(), source="GitHub")
    METRICS.append(metric)
    try:
        text = _published(clone)
        metric_in_a_clone = replace(metric, value=lambda _: None, evidence=lambda _: ())
        METRICS[METRICS.index(metric)] = metric_in_a_clone
        found = examine(clone, text)
    finally:
        METRICS[:] = [one for one in METRICS if one.key != "sails"]
    assert found.differences == ()
    assert "overall.metrics.sails is 4.5" in found.stated

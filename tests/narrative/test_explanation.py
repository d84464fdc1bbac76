"""Is a number explained by its definition, version and evidence, and does a mistyped name get a hint?"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.metrics.item_reason import explain_item
from bot.metrics.registry import METRICS
from bot.model.change import Item
from bot.model.ids import ChangeId
from bot.model.profile import Quality, Score, ScoreEvidence
from bot.narrative.explanation import NoSuchMetricError, check_name, explain, names
from tests.render.factories import small_profile


@pytest.mark.parametrize("name", names())
def test_everything_that_is_named_can_be_explained(name: str) -> None:
    found = explain(small_profile(), name)
    text = found.text()
    assert text.startswith(f"{name}: {found.value}")
    assert f"Version {found.metric.version} of {found.metric.key}" in text
    assert found.metric.definition in text


def test_the_value_is_the_profiles_own_and_the_rows_add_up_to_it() -> None:
    profile = small_profile()
    for metric in METRICS:
        found = explain(profile, metric.key)
        assert found.value == metric.figure(profile.overall.numbers[metric.key])
        if metric.additive and metric.key != "co_authored":
            months = [int(said) for about, said in found.rows if about in {month.month for month in profile.months}]
            assert str(sum(months)) == found.value, metric.key
    assert explain(profile, "features").value == str(profile.overall.features)


def test_a_share_of_lines_is_explained_in_sentences_with_each_change_that_took_lines() -> None:
    profile = small_profile()
    row = ScoreEvidence(profile.changes[0].id, "9 lines replaced by a bug fix", -0.9, ChangeId("harbour/beacon#99"))
    score = Score(97.0, 14, (95.0, 98.5), (row,), 1000, 30, 96.0)
    text = explain(replace(profile, quality=Quality(correctness=score)), "correctness").text()
    assert "Bug fixes and reverts replaced 30 of 1,000 lines within 90 days, in 14 changes: 3.0 %." in text
    assert "Of everybody's lines in the same months it was 4.0 %." in text
    assert "The score is 97.0; in four of five cases another half lies in 95.0 to 98.5." in text
    assert f"{row.change} by harbour/beacon#99  9 lines replaced by a bug fix" in text


def test_a_share_that_is_not_rated_says_why() -> None:
    score = Score(None, 3, None, (), 40, 2, None, "fewer than 500 lines at risk")
    text = explain(replace(small_profile(), quality=Quality(correctness=score)), "correctness").text()
    assert "replaced 2 of 40 lines within 90 days, in 3 changes: 5.0 %. Not rated: fewer than 500 lines" in text


@pytest.mark.parametrize(
    ("typed", "meant"), [("featurs", "features"), ("correctnes", "correctness"), ("AI-usage", "ai_usage")]
)
def test_a_near_miss_gets_a_hint(typed: str, meant: str) -> None:
    with pytest.raises(NoSuchMetricError, match=f"did you mean {meant}"):
        check_name(typed)
    with pytest.raises(NoSuchMetricError, match="known are commits"):
        check_name("zzz")


def test_items_are_explained_in_sentences() -> None:
    found = explain(small_profile(), "items")
    assert "not sure which" in found.value
    assert all("It counts as" in said or "It was reverted" in said or "not sure" in said for _, said in found.rows)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("E1 issue:acme/rocket#3", "name acme/rocket#3"),
        ("E1 ticket:ROCKET-3", "name ticket ROCKET-3"),
        ("E2 stack:acme/rocket#3", "are in one stack"),
        ("E2 request:c0ffee", "landed by one merge request"),
        ("E2 branch:c0ffee", "landed by one merge"),
        ("E3 series:core|n", "are parts of one numbered series"),
        ("E4 [core] titles 0.60", "have similar titles under core"),
        ("E4 series: gauge use", "say the same of different things"),
        ("E5 titles 0.40 files 1.00", "have similar titles and change the same files"),
    ],
)
def test_what_joins_an_item_is_said_in_words(rule: str, said: str) -> None:
    one, other = ChangeId("acme/rocket#1"), ChangeId("acme/rocket#2")
    item = Item("bug_fix", "Mend it", "landed", (one, other), ((one, other, rule),))
    assert explain_item(item) == (
        f"It counts as a bug fix. Its 2 changes belong together: acme/rocket#1 and acme/rocket#2 {said}."
    )
    assert explain_item(replace(item, certain=False)).startswith("It is not sure which")

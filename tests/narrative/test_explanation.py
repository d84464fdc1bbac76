"""Is a number explained by its definition, version and evidence, and does a mistyped name get a hint?"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.metrics.registry import METRICS
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

"""Is a number explained by its definition, version and evidence, and does a mistyped name get a hint?"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.metrics.registry import METRICS
from bot.model.profile import LiveScore, Quality, Score, ScoreEvidence
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


def test_github_only_values_are_marked_as_such() -> None:
    profile = small_profile()
    name = profile.changes[0].id
    row = ScoreEvidence(name, "checks of its head failed", -2.5)
    score = Score(90.0, 4, (88.0, 92.0), (ScoreEvidence(name, "9 loops", -1.0),), LiveScore(87.5, (row,)))
    text = explain(replace(profile, quality=Quality(correctness=score)), "correctness").text()
    assert "90.0 over 4 items, 80 % interval 88.0 to 92.0; 87.5 with what GitHub shows" in text
    assert f"{name}  -2.50 checks of its head failed (only GitHub shows it)" in text


@pytest.mark.parametrize(
    ("typed", "meant"), [("featurs", "features"), ("correctnes", "correctness"), ("AI-usage", "ai_usage")]
)
def test_a_near_miss_gets_a_hint(typed: str, meant: str) -> None:
    with pytest.raises(NoSuchMetricError, match=f"did you mean {meant}"):
        check_name(typed)
    with pytest.raises(NoSuchMetricError, match="known are commits"):
        check_name("zzz")

"""Every metric is listed, its function is there, and what is documented is what is listed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bot.metrics.registry import BY_NAME, FACT_METHOD, METHOD_VERSION, METRICS, Metric
from scripts.refresh_metric_docs import PAGE, renewed


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_metric_says_everything_about_itself_and_its_function_is_there(metric: Metric) -> None:
    assert callable(metric.implementation())
    said = (
        metric.question,
        metric.definition,
        metric.formula,
        metric.evidence,
        metric.unit,
        metric.works,
        metric.fails,
    )
    assert all(said)
    assert metric.question.endswith("?")
    assert metric.version > 0


def test_names_are_told_apart() -> None:
    assert len(BY_NAME) == len(METRICS)


def test_the_versions_add_up() -> None:
    assert int(METHOD_VERSION) == sum(metric.version for metric in METRICS)
    assert sum(metric.version for metric in METRICS if metric.stage == "landing") == FACT_METHOD


def test_the_page_of_metrics_is_what_the_registry_says() -> None:
    page = PAGE.read_text("utf-8")
    assert renewed(page) == page, "docs/metrics.md is stale: run python -m scripts.refresh_metric_docs"


def test_the_registry_imports_no_metric() -> None:
    code = "import sys, bot.metrics; print([name for name in sys.modules if name.startswith('bot.metrics.')])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "['bot.metrics.registry']"

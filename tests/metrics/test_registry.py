"""Is every measurement declared with an existing function, and does the documentation match the declarations?"""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from importlib import import_module

import pytest

from bot.metrics.metric import Definition, Metric, decimal
from bot.metrics.registry import FACT_METHOD, METHOD_VERSION, METRICS, REVISION, definitions
from scripts.refresh_metric_docs import PAGE, refresh_page

HEAVY = ("bot.metrics.items", "bot.metrics.change_kind", "bot.metrics.skills", "bot.metrics.quality")


@pytest.mark.parametrize("one", definitions(), ids=lambda one: one.key)
def test_a_definition_says_everything_about_itself(one: Definition) -> None:
    assert all((one.question, one.definition, one.formula, one.basis, one.unit, one.works, one.fails))
    assert one.question.endswith("?")
    assert one.version > 0


@pytest.mark.parametrize("one", [one for one in definitions() if not isinstance(one, Metric)], ids=lambda one: one.key)
def test_every_named_function_exists(one: Definition) -> None:
    module, _, name = one.function.partition(":")
    assert callable(getattr(import_module(module), name))


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.key)
def test_a_metric_is_one_file_called_by_its_key(metric: Metric) -> None:
    assert metric.value.__module__ == metric.evidence.__module__ == f"bot.metrics.{metric.key}"


def test_metric_keys_are_unique() -> None:
    assert len({one.key for one in definitions()}) == len(definitions())


def test_each_wording_is_declared_once() -> None:
    said = [word for metric in METRICS for word in {metric.label, *metric.words}]
    assert len(set(said)) == len(said) - len({"features"}), "a share of features is told in features"


def test_the_method_version_is_the_sum_of_all_versions() -> None:
    assert int(METHOD_VERSION) == REVISION + sum(one.version for one in definitions())
    assert REVISION + sum(one.version for one in definitions() if one.stage == "landing") == FACT_METHOD


def test_the_page_of_metrics_is_what_is_declared() -> None:
    page = PAGE.read_text("utf-8")
    assert refresh_page(page) == page, "docs/metrics.md is stale: run python -m scripts.refresh_metric_docs"


def test_the_list_of_metrics_costs_no_model_and_no_vocabulary() -> None:
    code = "import sys, bot.metrics; print(*[name for name in sys.modules if name.startswith('bot.')])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(HEAVY) & set(found.stdout.split())
    assert not [name for name in found.stdout.split() if name.startswith("bot.landing")]


@pytest.mark.parametrize(
    ("value", "digits", "said"),
    [(12345, 0, "12,345"), (Fraction(25, 2), 1, "12.5"), (Fraction(5, 2), 0, "2"), (Fraction(-1, 3), 2, "-0.33")],
)
def test_an_exact_number_is_rounded_where_it_is_shown(value: Fraction, digits: int, said: str) -> None:
    assert decimal(value, digits) == said

"""Are the numbers at /metrics, their documents, the alerts and the dashboard one story?"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from bot.github.transport import Traffic
from bot.jobs import JOBS
from bot.store.jobs import QueueDepth
from bot.web.telemetry import ProcessState, Telemetry
from handlers import Handlers

ROOT = Path(__file__).parents[2]
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
ALERTS = ROOT / "deploy" / "alerts.yml"
RULES = [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]
OF_PROMETHEUS = {
    "up",
    *("process_open_fds", "process_max_fds", "process_resident_memory_bytes", "process_cpu_seconds_total"),
}
"""https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics"""
NOW = datetime(2031, 5, 1, 12, tzinfo=UTC)


def exposition() -> str:
    """The text of a process that has done a little of everything."""
    traffic = Traffic(wall=NOW.timestamp)
    traffic.record_answer("core", 200)
    traffic.record_answer("graphql", None)
    traffic.limits["writes"] += 1
    headers = {"x-ratelimit-limit": "5000", "x-ratelimit-reset": str(int(NOW.timestamp()) + 60)}
    traffic.record_budget("core", "1", headers | {"x-ratelimit-remaining": "4000"})
    traffic.record_budget("core", "2", headers | {"x-ratelimit-remaining": "30"})
    telemetry = Telemetry(Handlers.events, JOBS, traffic=traffic, database="sqlite")
    telemetry.record_delivery("push", 202, 0.01)
    telemetry.record_job("record_landing", "put off", 0.5)
    telemetry.record_post("check", "posted")
    depth = QueueDepth({"due": 2, "later": 1, "running": 1, "parked": 1, "dead": 0}, NOW - timedelta(minutes=3))
    sizes, dropped = {"database": 4096, "log": 0}, {"too many in all": 7}
    state = ProcessState(
        ready=True, now=NOW, queue=depth, running=1, file_bytes=sizes, dropped_connections=dropped, open_connections=3
    )
    return telemetry.text(state).decode()


def kinds() -> dict[str, str]:
    """The kind of each metric by its name in queries."""
    return dict(re.findall(r"^# TYPE (\w+) (\w+)$", exposition(), re.MULTILINE))


def named_in(expression: str) -> set[str]:
    """The metrics that a query names, without the suffixes of a histogram."""
    plain = re.sub(r"\{[^}]*\}|\[[^]]*\]|\b(?:by|without) \([^)]*\)", "", expression)
    words = re.findall(r"\b(?:almanac|process|python)_\w+|\bup\b", plain)
    return {re.sub(r"_(?:bucket|sum|count)$", "", word) for word in words} - OF_PROMETHEUS


def promtool() -> str:
    found = shutil.which("promtool")
    if found is None:
        warnings.warn("NO PROMTOOL: alerts are not checked (Debian's package prometheus has it)", stacklevel=2)
        pytest.skip("no promtool: install Debian's package prometheus")
    return found


def test_every_metric_is_documented_and_every_documented_one_exists() -> None:
    rows = set(re.findall(r"^\| `(almanac_\w+)`", OPERATIONS, re.MULTILINE))
    assert rows == {name for name in kinds() if name.startswith("almanac_")}


def test_units_are_in_the_names_and_labels_have_a_fixed_set_of_values() -> None:
    text = exposition()
    for name, kind in kinds().items():
        assert kind != "counter" or name.endswith("_total"), name
        assert kind != "histogram" or name.endswith("_seconds"), name
    labels = {label for row in re.findall(r"^almanac_\w+\{([^}]*)\}", text, re.MULTILINE) for label in row.split('",')}
    allowed = {"event", "status", "le", "task", "outcome", "kind", "state", "resource", "limit", "room", "reason"}
    assert {label.partition("=")[0] for label in labels} <= allowed | {"file", "version", "definitions", "database"}


def test_the_installation_with_the_least_left_is_shown_and_not_named() -> None:
    assert 'almanac_github_budget_remaining_requests{resource="core"} 30.0' in exposition()
    assert "almanac_queue_oldest_wait_seconds 180.0" in exposition()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_every_alert_asks_for_metrics_that_exist_and_is_explained(rule: dict[str, str]) -> None:
    assert named_in(rule["expr"]) <= set(kinds())
    assert f"| `{rule['alert']}` |" in OPERATIONS


def test_no_alert_is_explained_that_is_not_there() -> None:
    rows = set(re.findall(r"^\| `(Almanac\w+)`", OPERATIONS, re.MULTILINE))
    assert rows == {rule["alert"] for rule in RULES}


def test_the_dashboard_asks_for_metrics_that_exist() -> None:
    dashboard = json.loads((ROOT / "deploy" / "dashboard.json").read_text())
    asked = {target["expr"] for panel in dashboard["panels"] for target in panel["targets"]}
    named = {name for expression in asked for name in named_in(expression)}
    assert asked
    assert named <= set(kinds())
    ours = {name for name in kinds() if name.startswith("almanac_")} - {"almanac_build_info"}
    assert ours <= named, "what is measured is shown"


def test_promtool_accepts_the_alerts_and_the_names_of_the_metrics() -> None:
    tool = promtool()
    checked = subprocess.run([tool, "check", "rules", str(ALERTS)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert f"SUCCESS: {len(RULES)} rules found" in checked.stdout
    linted = subprocess.run([tool, "check", "metrics"], input=exposition(), capture_output=True, text=True, check=False)
    assert (linted.returncode, linted.stdout + linted.stderr) == (0, "")


def test_alerts_fire_when_they_should() -> None:
    tests = Path(__file__).with_name("alerts_test.yml")
    fired = subprocess.run([promtool(), "test", "rules", str(tests)], capture_output=True, text=True, check=False)
    assert fired.returncode == 0, fired.stdout + fired.stderr

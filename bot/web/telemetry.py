"""How busy and how healthy is the bot? Numbers in Prometheus text, with no person's or repository's name in any label.

Names follow https://prometheus.io/docs/practices/naming/; docs/operations.md explains each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from importlib.metadata import version

from msgspec import Struct, field
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from bot.configuration.logs import ERRORS, ROOMS
from bot.github.transport import Traffic
from bot.metrics import METHOD_VERSION
from bot.store.jobs import QueueDepth

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
JOB_SECONDS = (0.01, 0.05, 0.25, 1.0, 5.0, 30.0, 120.0, 600.0)
OTHER = "other"
POST_KINDS = ("check", "comment", "digest", "preview", "reaction", "reply", "suite")


class ProcessState(Struct, frozen=True):
    """What is looked up for each answer."""

    ready: bool
    now: datetime
    queue: QueueDepth | None = None
    """None if the database did not say"""
    running: int = 0
    open_connections: int = 0
    dropped_connections: Mapping[str, int] = field(default_factory=dict)
    file_bytes: Mapping[str, int] = field(default_factory=dict)
    """the sizes of SQLite's files"""


class Telemetry:
    """A separate registry, so that nothing else in the process adds to it. `events` and `tasks` bound the labels:
    unknown values become `other`."""

    def __init__(
        self,
        events: Collection[str],
        tasks: Collection[str],
        *,
        traffic: Traffic | None = None,
        database: str = "",
    ) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the library's own
        self._events, self._tasks = frozenset(events), frozenset(tasks)
        registry = self._registry = CollectorRegistry()
        self._deliveries = Counter(
            "almanac_deliveries",
            "Deliveries by event and answer's status.",
            ("event", "status"),
            registry=registry,
        )
        self._accepting = Histogram(
            "almanac_delivery_duration_seconds",
            "Seconds from the first byte of a delivery to its answer.",
            buckets=SECONDS,
            registry=registry,
        )
        self._jobs = Counter(
            "almanac_job_attempts", "Attempts of jobs by task and outcome.", ("task", "outcome"), registry=registry
        )
        self._working = Histogram(
            "almanac_job_duration_seconds",
            "Seconds for one attempt of a job.",
            ("task",),
            buckets=JOB_SECONDS,
            registry=registry,
        )
        self._posts = Counter(
            "almanac_posts", "Attempts to post at GitHub by kind and outcome.", ("kind", "outcome"), registry=registry
        )
        self._begin_at_zero()
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        self._looked_up = _LookedUp(traffic or Traffic(), database)
        registry.register(self._looked_up)

    def _begin_at_zero(self) -> None:
        """What alerts watch is 0 and not absent, so that the first one is an increase."""
        for event in self._events:
            for status in ("202", "503"):
                self._deliveries.labels(event, status)
        for kind in POST_KINDS:
            for outcome in ("posted", "given_up"):
                self._posts.labels(kind, outcome)

    def record_delivery(self, event: str, status: int, seconds: float) -> None:
        """Count one answered webhook request."""
        known = event if event in self._events else OTHER
        self._deliveries.labels(known, str(status)).inc()
        self._accepting.observe(seconds)

    def record_job(self, task: str, outcome: str, seconds: float) -> None:
        """Count one finished attempt of a job."""
        known = task if task in self._tasks else OTHER
        self._jobs.labels(known, outcome.replace(" ", "_")).inc()
        self._working.labels(known).observe(seconds)

    def record_post(self, kind: str, outcome: str) -> None:
        """Count one attempt to post."""
        self._posts.labels(kind if kind in POST_KINDS else OTHER, outcome).inc()

    def text(self, state: ProcessState) -> bytes:
        """The exposition, https://prometheus.io/docs/instrumenting/exposition_formats/"""
        self._looked_up.state = state
        return generate_latest(self._registry)


class _LookedUp(Collector):
    """What is not counted here but looked up for each answer."""

    def __init__(self, traffic: Traffic, database: str) -> None:
        program = version("contributor-almanac")
        self._traffic = traffic
        self._build = {"version": program, "definitions": METHOD_VERSION, "database": database}
        self.state: ProcessState | None = None

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        build = InfoMetricFamily("almanac_build", "The version, its metric definitions, and the database.")
        build.add_metric([], self._build)
        yield build
        yield _counters(
            "almanac_errors", "Errors in the log by room of the program.", "room", dict.fromkeys(ROOMS, 0) | ERRORS
        )
        yield from _github(self._traffic)
        if self.state is not None:
            yield from _process(self.state)


def _process(state: ProcessState) -> Iterator[Metric]:
    yield GaugeMetricFamily("almanac_ready", "1 if /readyz answers 200, else 0.", value=state.ready)
    yield GaugeMetricFamily("almanac_jobs_running", "Jobs running in this process.", value=state.running)
    yield GaugeMetricFamily(
        "almanac_open_connections", "Connections to the web server of this process.", value=state.open_connections
    )
    yield _counters(
        "almanac_dropped_connections",
        "Connections that were closed because they were too many or too slow, by reason.",
        "reason",
        state.dropped_connections,
    )
    yield _gauges("almanac_database_file_bytes", "Sizes of SQLite's database and log.", "file", state.file_bytes)
    depth = state.queue.jobs if state.queue else {}
    yield _gauges("almanac_queue_jobs", "Jobs by state, in all processes.", "state", depth)
    waiting = GaugeMetricFamily("almanac_queue_oldest_wait_seconds", "Seconds since the oldest due job became due.")
    if state.queue is not None:
        oldest = state.queue.oldest
        waiting.add_metric([], max((state.now - oldest).total_seconds(), 0.0) if oldest is not None else 0.0)
    yield waiting


def _github(traffic: Traffic) -> Iterator[Metric]:
    requests = CounterMetricFamily(
        "almanac_github_requests", "Requests to GitHub by class of the answer's status.", labels=("resource", "status")
    )
    for (resource, status), number in sorted(traffic.answers.items()):
        requests.add_metric([resource, status], number)
    yield requests
    yield _counters("almanac_github_limits", "Requests that GitHub refused for a limit.", "limit", traffic.limits)
    remaining, limit = {}, {}
    for resource, budget in sorted(traffic.lowest_budgets().items()):
        remaining[resource], limit[resource] = budget.remaining, budget.limit
    text = "of the installation that has the least left."
    yield _gauges("almanac_github_budget_remaining_requests", f"Requests left {text}", "resource", remaining)
    yield _gauges("almanac_github_budget_limit_requests", f"Requests an hour {text}", "resource", limit)


def _counters(name: str, documentation: str, label: str, values: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(name, documentation, labels=(label,))
    for key, number in sorted(values.items()):
        family.add_metric([key], number)
    return family


def _gauges(name: str, documentation: str, label: str, values: Mapping[str, int]) -> Metric:
    family = GaugeMetricFamily(name, documentation, labels=(label,))
    for key, number in sorted(values.items()):
        family.add_metric([key], number)
    return family

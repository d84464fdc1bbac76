"""How busy is the bot? Counters in Prometheus text, with no person's or repository's name in any label."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
JOB_SECONDS = (0.01, 0.05, 0.25, 1.0, 5.0, 30.0, 120.0, 600.0)
OTHER = "other"


class Telemetry:
    """A separate registry, so that nothing else in the process adds to it. `events` and `tasks` bound the labels:
    unknown values become `other`."""

    def __init__(self, events: Collection[str], tasks: Collection[str]) -> None:
        self._events, self._tasks = frozenset(events), frozenset(tasks)
        self._registry = CollectorRegistry()
        registry = self._registry
        self._deliveries = Counter(
            "almanac_deliveries", "Deliveries by event and answer.", ("event", "status"), registry=registry
        )
        self._accepting = Histogram(
            "almanac_delivery_seconds", "Seconds from the first byte to the answer.", buckets=SECONDS, registry=registry
        )
        self._jobs = Counter(
            "almanac_job_attempts", "Attempts of jobs by task and outcome.", ("task", "outcome"), registry=registry
        )
        self._working = Histogram(
            "almanac_job_seconds", "Seconds per attempt of a job.", ("task",), buckets=JOB_SECONDS, registry=registry
        )
        self._queue = Gauge("almanac_queue_jobs", "Jobs by state, in all processes.", ("state",), registry=registry)
        self._waiting = Gauge(
            "almanac_queue_wait_seconds", "Seconds that the longest overdue job has waited.", registry=registry
        )
        self._running = Gauge("almanac_jobs_running", "Jobs running in this process.", registry=registry)

    def record_delivery(self, event: str, status: int, seconds: float) -> None:
        """Count one answered webhook request."""
        known = event if event in self._events else OTHER
        self._deliveries.labels(known, str(status)).inc()
        self._accepting.observe(seconds)

    def record_job(self, task: str, outcome: str, seconds: float) -> None:
        """Count one finished attempt of a job."""
        known = task if task in self._tasks else OTHER
        self._jobs.labels(known, outcome).inc()
        self._working.labels(known).observe(seconds)

    def set_queue(self, counts: Mapping[str, int], oldest: datetime | None, now: datetime) -> None:
        """Set the queue's gauges; a state without jobs becomes 0."""
        for state in ("ready", "running", "parked", "dead"):
            self._queue.labels(state).set(counts.get(state, 0))
        self._waiting.set(max((now - oldest).total_seconds(), 0.0) if oldest is not None else 0.0)

    def set_running(self, number: int) -> None:
        self._running.set(number)

    def text(self) -> bytes:
        """The exposition, https://prometheus.io/docs/instrumenting/exposition_formats/"""
        return generate_latest(self._registry)

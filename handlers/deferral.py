"""Which jobs did the handlers ask for, and why were others not needed?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic_core import to_json

from bot.github.payloads.deliveries import InstalledRepository


class DeferredJob(NamedTuple):
    """One call of a task. Jobs with the same `serial_key` run one after the other."""

    task: str
    serial_key: str
    ref: str
    """its arguments (ids and commit ids) as one line of JSON, equal for equal arguments: the content of a job row"""
    dedupe_key: str | None = None
    """None if the arguments name the delivery, since then no other job can be equal"""


@dataclass(slots=True)
class Deferral:
    """Collects what the handlers of one delivery decide. It stores nothing: jobs are deferred with the inbox row."""

    _jobs: list[DeferredJob] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)

    def defer(self, task: str, *, serial: str, **arguments: int | str) -> None:
        """Ask for a job. Asking for the same job twice counts once."""
        ref = to_json(dict(sorted(arguments.items()))).decode()
        job = DeferredJob(task, serial, ref, None if "delivery" in arguments else f"{task}:{ref}")
        if job not in self._jobs:
            self._jobs.append(job)

    def observe(self, source: InstalledRepository, delivery: str, task: str = "observe_pull_request") -> None:
        """Ask for an observation to be stored: something that only GitHub can show. No landing waits for it."""
        self.defer(
            task,
            serial=f"observe:{source.repository}",
            installation=source.installation,
            repository=source.repository,
            delivery=delivery,
        )

    def skip(self, reason: str) -> None:
        """Record why nothing is to be done, for the log entry with the delivery's id."""
        self._notes.append(reason)

    @property
    def jobs(self) -> Sequence[DeferredJob]:
        """The jobs, in an order that does not depend on the order in which handlers ran."""
        return tuple(sorted(self._jobs))

    @property
    def notes(self) -> Sequence[str]:
        return tuple(sorted(self._notes))

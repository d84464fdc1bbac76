"""Which jobs did the handlers ask for, and why were others not needed?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.github.payloads.deliveries import Place

_one_line = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Job:
    """One call of a task. Jobs with one `serial_key` run one after the other; arguments are ids and commit ids."""

    task: str
    arguments: dict[str, int | str]
    serial_key: str

    @property
    def ref(self) -> str:
        """The arguments as one line of JSON, equal for equal arguments: what a job row carries."""
        return _one_line(self.arguments)


@dataclass(slots=True)
class Deferral:
    """Collects what the handlers of one delivery decide. It stores nothing: jobs are deferred with the inbox row."""

    _jobs: list[Job] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)

    def defer(self, task: str, *, serial: str, **arguments: int | str) -> None:
        """Ask for a job. The same job asked for twice is one."""
        job = Job(task, arguments, serial)
        if job not in self._jobs:
            self._jobs.append(job)

    def observe(self, place: Place, delivery: str, task: str = "observe_pull_request") -> None:
        """Ask that what GitHub alone shows be kept beside the record; no landing waits for it."""
        self.defer(
            task,
            serial=f"observe:{place.repository}",
            installation=place.installation,
            repository=place.repository,
            delivery=delivery,
        )

    def skip(self, reason: str) -> None:
        """Say why nothing is to be done; told in the log with the delivery's id."""
        self._notes.append(reason)

    @property
    def jobs(self) -> Sequence[Job]:
        """In an order that does not depend on the order in which handlers ran."""
        if len(self._jobs) < 2:  # as almost always; spelling the arguments is not free
            return tuple(self._jobs)
        return tuple(sorted(self._jobs, key=lambda job: (job.task, job.serial_key, job.ref)))

    @property
    def notes(self) -> Sequence[str]:
        return tuple(sorted(self._notes))

"""The record of a set of clones: their landings measured once, ready to be folded for one person or for all."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path

import bot.landing as landing_room
import bot.metrics as metrics_room
from bot.history.clone import Clone, open_clone
from bot.history.git import GitError
from bot.history.log import Arrival, arrivals, landings
from bot.history.scratch import Scratch, cache_file
from bot.landing.attributes import Attributes
from bot.landing.changes import fold
from bot.landing.families import Families
from bot.landing.identity import People, person_key
from bot.landing.repo_config import CONFIG_PATH, RepoConfig, read_config
from bot.metrics import METHOD_VERSION
from bot.metrics.hotspots import History
from bot.metrics.measure import Measure, measure
from bot.model import Change, CommitId, Fact, Person, PersonKey, Repository, Signature

_BATCH = 400
"""Commits a worker reads in one call of git: enough to hide its start, few enough to keep memory flat."""

_SHARED = 20_000
"""Newest commits held in common that are looked at to tell a fork from what it was forked from."""

Progress = Callable[[int, int], None]
"""Told (landings measured, landings to measure)."""


@dataclass(frozen=True, slots=True)
class _Batch:
    clone: Clone
    rules: Measure
    arrivals: tuple[Arrival, ...]


def _measure_batch(batch: _Batch) -> list[Fact]:
    return [measure(landing, batch.rules) for landing in landings(batch.clone, batch.arrivals)]


def rules_of(clone: Clone) -> Measure:
    """The rules at the head of the default branch: they hold for the whole history, as on the page that shows it."""
    config = read_config(clone.text(CONFIG_PATH))
    if not isinstance(config, RepoConfig):
        config = RepoConfig()
    return Measure.of(config, Attributes.parse(clone.text(".gitattributes")))


def open_clones(paths: Sequence[str | Path]) -> tuple[Clone, ...]:
    """The clones, in the order of their names: the order they were given in makes no difference.

    Raises GitError for what is no clone, for two different clones of one name, and for a clone whose history is cut.
    """
    clones = sorted((open_clone(path) for path in paths), key=lambda clone: (clone.repository.full_name, clone.head))
    for clone in clones:
        if clone.shallow:
            raise GitError(
                f"{clone.folder}: a shallow clone has only the end of its history; run: git fetch --unshallow"
            )
    unique = {clone.git_dir: clone for clone in clones}
    names: dict[str, int] = {}
    for clone in unique.values():
        names[clone.repository.full_name] = names.get(clone.repository.full_name, 0) + 1
    return tuple(_distinct(clone, names) for clone in unique.values())


def _distinct(clone: Clone, names: Mapping[str, int]) -> Clone:
    """Two folders of one name are told apart by the folder above them."""
    name = clone.repository.full_name
    if names[name] == 1:
        return clone
    folder = clone.folder.resolve()
    return replace(clone, repository=replace(clone.repository, full_name=f"{folder.parent.name}/{folder.name}"))


def _program() -> str:
    """Which program measures: facts kept by another build are not its own, whatever the method is called."""
    rooms = [Path(module.__file__ or "").parent for module in (landing_room, metrics_room)]
    stats = [(path.name, path.stat()) for room in rooms for path in sorted(room.rglob("*")) if path.suffix != ".pyc"]
    return " ".join(f"{name}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in stats)


class CloneRecord:
    """Facts of clones, refreshed from git and kept in a scratch file."""

    def __init__(self, clones: Sequence[Clone], *, cache: bool = True) -> None:
        self.clones = tuple(clones)
        self._rules = {clone.repository.full_name: rules_of(clone) for clone in self.clones}
        self._scratch = Scratch(cache_file(self._identity()) if cache else None)

    def _identity(self) -> list[str]:
        parts = [METHOD_VERSION, _program()]
        for clone in self.clones:
            rules = [clone.blob(path) for path in (".gitattributes", ".mailmap", CONFIG_PATH)]
            parts += [str(clone.git_dir), clone.repository.full_name, clone.branch, *rules]
        return parts

    def close(self) -> None:
        self._scratch.close()

    # --- measuring ------------------------------------------------------------------------------------------------

    def refresh(self, progress: Progress | None = None, workers: int | None = None) -> None:
        """Measure what landed since the last time. Raises GitError where a history cannot be read to its end."""
        if not self._scratch.begin():
            self._scratch.close()
            self._scratch = Scratch(None)
            self._scratch.begin()
        scratch = self._scratch
        for clone in self.clones:
            scratch.expect(self._expected(clone))
        scratch.forget_vanished()
        total = scratch.plan()
        done = 0
        for size, facts in self._measured(total, workers or os.cpu_count() or 1):
            scratch.add(facts)
            done += size
            if progress:
                progress(done, total)
        scratch.commit()

    def _expected(self, clone: Clone) -> Iterator[tuple[str, str, int, str]]:
        for arrival in arrivals(clone):
            if arrival.carrier is not None:
                self._scratch.keep_carrier(arrival.carrier)
            carrier = arrival.carrier.id if arrival.carrier else arrival.commit
            yield clone.repository.full_name, arrival.commit, arrival.landed_at, carrier

    def _batches(self) -> Iterator[_Batch]:
        scratch = self._scratch
        for clone in self.clones:
            name = clone.repository.full_name
            for rows in scratch.planned(name, _BATCH):
                found = [Arrival(CommitId(sha), at, scratch.carrier(carrier)) for sha, at, carrier in rows]
                yield _Batch(clone, self._rules[name], tuple(found))

    def _measured(self, total: int, workers: int) -> Iterator[tuple[int, list[Fact]]]:
        """Batches measured, in the order of the plan: (commits of the batch, their facts)."""
        batches = self._batches()
        if workers < 2 or total <= _BATCH:
            yield from ((len(batch.arrivals), _measure_batch(batch)) for batch in batches)
            return
        with ProcessPoolExecutor(workers, mp_context=get_context("forkserver")) as pool:
            waiting: deque[tuple[int, Future[list[Fact]]]] = deque()
            for batch in batches:
                waiting.append((len(batch.arrivals), pool.submit(_measure_batch, batch)))
                if len(waiting) > workers:
                    size, future = waiting.popleft()
                    yield size, future.result()
            for size, future in waiting:
                yield size, future.result()

    # --- reading --------------------------------------------------------------------------------------------------

    @cached_property
    def _signatures(self) -> list[Signature]:
        return self._scratch.signatures()

    @cached_property
    def people(self) -> People:
        return People.of(self._signatures)

    def keys_of(self, persons: Iterable[Person]) -> frozenset[PersonKey]:
        """The keys under which commits of these persons are kept: one an address."""
        wanted = {person.key for person in persons}
        return frozenset(person_key(sig) for sig in self._signatures if self.people.person(sig).key in wanted)

    @cached_property
    def repositories(self) -> Mapping[str, Repository]:
        """The repositories, told apart into forks and what they were forked from by the commits they share."""
        found = {clone.repository.full_name: clone.repository for clone in self.clones}
        if len(found) == 1:
            return found
        families = Families(self._scratch.shared(_SHARED), {})
        roots = [name for name in found if not families.is_fork(name)]
        for name in found:
            if families.is_fork(name):
                parent = next((root for root in roots if families.are_kin(root, name)), None)
                found[name] = replace(found[name], fork=True, parent=parent)
        return found

    def file_history(self) -> History:
        """What was done to each file when, for the scores that ask for a file's past."""
        return History.of(self._scratch.facts())

    def changes_of(self, persons: Sequence[Person]) -> tuple[Change, ...]:
        """Every change these persons have a part in, with what they were folded with, oldest first."""
        return fold(self._scratch.component(self.keys_of(persons)), self.repositories)

    def all_changes(self) -> tuple[Change, ...]:
        """Every change of the record, oldest first."""
        return fold(self._scratch.facts(), self.repositories)

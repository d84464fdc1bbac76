"""What do landed commits say, read and measured as rows of a cache?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bot.history.clone import Clone
from bot.history.log import Arrival, landings
from bot.history.notes import Notes
from bot.history.patches import PatchReader
from bot.history.rows import Rows
from bot.history.workers import spread
from bot.landing import linguist
from bot.metrics import kind_model, manifests, skill_index
from bot.metrics.measure import Measure, measure


@dataclass(frozen=True, slots=True)
class Batch:
    clone: Clone
    rules: Measure
    arrivals: tuple[Arrival, ...]


def measured(batches: Iterable[Batch], workers: int) -> Iterator[Rows]:
    """The rows of each batch, in no order if there is more than one worker.

    Raises GitError where a commit cannot be read.
    """
    if workers > 1:
        _load_tables()
    yield from spread(batches, workers, _measurer)


def _measurer(stack: ExitStack) -> Callable[[Batch], Rows]:
    """Measures batches, with one git for each clone that stays as long as the stack."""
    readers: dict[Path, PatchReader] = {}
    notes: dict[Path, Notes] = {}

    def rows(batch: Batch) -> Rows:
        folder = batch.clone.folder
        if folder not in readers:
            readers[folder] = stack.enter_context(PatchReader(folder))
            notes[folder] = Notes(folder, batch.clone.notes)
        ids = [arrival.commit for arrival in batch.arrivals]
        noted, read = notes[folder].of(ids), readers[folder].read(ids)
        return Rows.of(
            measure(landing, batch.rules, notes=noted.get(landing.commit.id))
            for landing in landings(batch.clone, batch.arrivals, read=read)
        )

    return rows


def _load_tables() -> None:
    """Read the tables that measuring asks for, so that the workers have them from the start."""
    kind_model.load()
    skill_index.index()
    manifests.manifests()
    linguist.tables()

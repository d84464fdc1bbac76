"""What do landed commits say, read and measured as rows of a cache?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial

from bot.history.clone import Clone
from bot.history.log import Arrival, landings
from bot.history.notes import Notes
from bot.history.patches import PatchReader
from bot.history.rows import Rows
from bot.history.workers import spread
from bot.landing import linguist
from bot.metrics import kind_model, manifests, skill_index
from bot.metrics.measure import Measure, measure_all


@dataclass(frozen=True, slots=True)
class Source:
    """A clone and the rules by which all of its history is measured."""

    clone: Clone
    rules: Measure


Batch = tuple[int, tuple[Arrival, ...]]
"""the place of a source in its list, and what arrived there"""


def measured(sources: Sequence[Source], batches: Iterable[Batch], workers: int) -> Iterator[Rows]:
    """The rows of each batch, in no order if there is more than one worker.

    Raises GitError where a commit cannot be read.
    """
    if workers > 1:
        _load_tables()
    yield from spread(batches, workers, partial(_measurer, sources))


def _measurer(sources: Sequence[Source], stack: ExitStack) -> Callable[[Batch], Rows]:
    """Measures batches, with one git for each clone that stays as long as the stack."""

    @cache
    def reading(source: int) -> tuple[PatchReader, Notes]:
        clone = sources[source].clone
        return stack.enter_context(PatchReader(clone.folder)), Notes(clone.folder, clone.notes)

    def rows(batch: Batch) -> Rows:
        source, arrivals = batch
        (reader, notes), clone, rules = reading(source), sources[source].clone, sources[source].rules
        noted = notes.of([arrival.commit for arrival in arrivals])
        return Rows.of(measure_all(landings(clone, arrivals, read=reader.read), rules, noted))

    return rows


def _load_tables() -> None:
    """Read the tables that measuring asks for, so that the workers have them from the start."""
    kind_model.load()
    skill_index.index()
    manifests.manifests()
    linguist.tables()

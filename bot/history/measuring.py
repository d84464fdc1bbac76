"""What do landed commits say, read and measured as rows of a cache?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache, partial
from typing import TYPE_CHECKING

from bot.frozen import frozen
from bot.history.clone import Clone
from bot.history.log import Arrival, landings
from bot.history.notes import Notes
from bot.history.patches import PatchReader
from bot.history.rows import Rows
from bot.history.workers import spread

if TYPE_CHECKING:
    from bot.metrics.measure import Measure


@frozen
class Source:
    """A clone, and the files that say how all of its history is measured: the id and the text of each, by path."""

    clone: Clone
    ruling: Mapping[str, tuple[str, str]]


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

    @cache
    def rules(source: int) -> Measure:
        from bot.history.rules import rules_of

        return rules_of(sources[source].clone, sources[source].ruling)

    def rows(batch: Batch) -> Rows:
        source, arrivals = batch
        reader, notes = reading(source)
        landed = landings(sources[source].clone, arrivals, read=reader.read)
        from bot.metrics.measure import measure_all  # loads every metric while git reads the first patches

        noted = notes.of([arrival.commit for arrival in arrivals])
        return Rows.of(measure_all(landed, rules(source), noted))

    return rows


def _load_tables() -> None:
    """Load the metrics, and read the tables they ask for, so that the workers have them from the start."""
    import bot.metrics.measure  # noqa: F401  # what workers do not load, each of them would
    from bot.landing import linguist
    from bot.metrics import kind_model, manifests, skill_index

    kind_model.load()
    skill_index.index()
    manifests.manifests()
    linguist.tables()

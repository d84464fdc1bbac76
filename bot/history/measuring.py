"""How are landed commits read and measured into rows of a cache?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import cache, partial
from itertools import starmap
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from bot.history.clone import Clone
from bot.history.incomplete import AnyPatchReader
from bot.history.log import landings
from bot.history.notes import Notes
from bot.history.rows import Rows
from bot.history.walk import CommitArrival
from bot.history.workers import run_in_workers
from bot.landing.repo_config.files import ATTRIBUTES_PATH, CONFIG_PATH
from bot.model.commit import Landing

if TYPE_CHECKING:
    from bot.metrics.measure import Measure

Found = TypeVar("Found")


class Source(Struct, frozen=True):
    """A clone and the files that define how its history is measured: the id and the text of each, by path."""

    clone: Clone
    ruling: Mapping[str, tuple[str, str]]


Batch = tuple[int, tuple[CommitArrival, ...]]
"""the index of a source in its list, and its arrivals"""


def measure_batches(sources: Sequence[Source], batches: Iterable[Batch], workers: int) -> Iterator[Rows]:
    """The rows of each batch, in no order if there is more than one worker.

    Raises GitError if a commit cannot be read.
    """
    if workers > 1:
        _load_tables()
    yield from run_in_workers(batches, workers, partial(_measurer, sources))


def _measurer(sources: Sequence[Source], stack: ExitStack) -> Callable[[Iterable[Batch]], Iterator[Rows]]:
    """A function that measures batches, with one git process for each clone that runs as long as the stack is open.

    Git is asked for the next batch before the current one is measured, so that neither waits for the other.
    """

    @cache
    def clone_readers(source: int) -> tuple[AnyPatchReader, Notes]:
        clone = sources[source].clone
        patches = stack.enter_context(closing(AnyPatchReader(clone)))
        return patches, Notes(clone.git_dir, clone.notes)

    @cache
    def rules(source: int) -> Measure:
        return rules_of(sources[source].clone, sources[source].ruling)

    def request(batch: Batch) -> tuple[Batch, Iterator[Landing]]:
        source, arrivals = batch
        return batch, landings(sources[source].clone, arrivals, read=clone_readers(source)[0].read)

    def rows(batch: Batch, landed: Iterator[Landing]) -> Rows:
        from bot.metrics.measure import measure_all  # loads every metric while git reads the first patches

        source, arrivals = batch
        noted = clone_readers(source)[1].of([arrival.commit for arrival in arrivals])
        return Rows.of(measure_all(landed, rules(source), noted))

    return lambda batches: starmap(rows, _read_ahead(map(request, batches)))


def rules_of(clone: Clone, files: Mapping[str, tuple[str, str]] | None = None) -> Measure:
    """The rules at the head of the default branch: they apply to the whole history, as on the page that shows it.

    `files` are the files with the rules, if already read: the id and the text of each, by path.
    """
    from bot.landing.lines.attributes import Attributes
    from bot.landing.lines.paths import Rules
    from bot.metrics.measure import Measure  # loads every metric

    files = clone.files(ATTRIBUTES_PATH, CONFIG_PATH) if files is None else files
    attributes = Attributes.parse(files[ATTRIBUTES_PATH][1] if ATTRIBUTES_PATH in files else "")
    if CONFIG_PATH not in files:
        return Measure(Rules(attributes), imports=True)
    from bot.landing.repo_config.options import RepoConfig, read_config  # most clones have no such file

    config = read_config(files[CONFIG_PATH][1])
    return replace(Measure.of(config if isinstance(config, RepoConfig) else RepoConfig(), attributes), imports=True)


def _read_ahead(found: Iterable[Found]) -> Iterator[Found]:
    """Each item in turn, once the next one has been fetched too."""
    held: list[Found] = []
    for one in found:
        yield from held
        held = [one]
    yield from held


def _load_tables() -> None:
    """Load the metrics and the tables they use, so that forked workers share them from the start."""
    import bot.metrics.measure  # noqa: F401  # otherwise each worker would load it
    from bot.landing.lines import linguist
    from bot.metrics import kind_model, manifests, skill_index

    kind_model.load()
    skill_index.index()
    manifests.manifests()
    linguist.tables()

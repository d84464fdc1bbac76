"""What do a person's changes quote: an entry each, in the order in which they lead, and the themes they belong to?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import replace

from bot.model.ids import ChangeId
from bot.narrative.entry import Entry, Theme


def _no_entries() -> Mapping[ChangeId, Entry]:
    return MappingProxyType({})


class Quotes(Struct, frozen=True, dict=True):
    """All that a text may quote. `order` lists the entries, the one that leads first."""

    entries: Mapping[ChangeId, Entry] = field(default_factory=_no_entries)
    themes: tuple[Theme, ...] = ()
    order: Sequence[Entry] = ()

    def quotation_of(self, change: ChangeId) -> str | None:
        """What the entry about the change says, if there is one."""
        entry = self.entries.get(change)
        return entry.quoted if entry else None

    def leave_out(self, changes: Collection[ChangeId]) -> Quotes:
        """The same without the entries that lead about these changes."""
        return replace(self, order=[entry for entry in self.order if entry.change not in changes]) if changes else self

    def lead_entries(self, changes: Collection[ChangeId], most: int, without: Iterable[Entry] = ()) -> list[Entry]:
        """The entries about these changes that lead, at most `most`, each once and none of `without`."""
        seen = {entry.quoted for entry in without}
        found: list[Entry] = []
        for entry in self.order:
            if len(found) < most and entry.change in changes and entry.quoted not in seen:
                seen.add(entry.quoted)
                found.append(entry)
        return found


NO_QUOTES = Quotes()

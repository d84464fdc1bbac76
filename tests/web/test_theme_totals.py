"""Does a live page tell a person's part of each theme, without reading a repository's facts for each view?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from bot.model.commit import Signature
from bot.model.ids import RepositoryId, UserId
from bot.narrative.project_texts import Move
from bot.store import backfills, ledger, touched_paths, visibility
from bot.store.backfills import Backfill
from bot.store.engine import Store
from bot.web import theme_totals
from bot.web.theme_totals import KnownTotals
from tests.databases import database_url, store
from tests.web.library import ACME, NOW, OPEN, fact, fill, keep, publish, serve

__all__ = ["database_url", "store"]

BOB = Signature("Bob Example", "bob@example.org", UserId(8), "bob-example")
NAMES = {OPEN: "acme/open"}
NO_MOVES: Mapping[str, list[Move]] = {}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """After which row number each chunk of facts was read."""
    seen: list[int] = []

    def noted(connection: Any, repository: RepositoryId, after: int) -> list[touched_paths.PathRow]:
        seen.append(after)
        return touched_paths.path_rows(connection, repository, after)

    monkeypatch.setattr(theme_totals, "path_rows", noted)
    return seen


async def _sluices(store: Store) -> None:
    """Twelve changes by Ada in the sluice, the first of all, and four by Bob; much by Bob elsewhere."""
    await fill(store)
    mine = [fact(number, "acme/open", paths=(f"sluice/gate{number}.py",)) for number in range(40, 52)]
    his = [fact(number, "acme/open", author=BOB, paths=(f"sluice/gate{number}.py",)) for number in range(52, 56)]
    more = [fact(number, "acme/open", author=BOB, paths=(f"lamp/wick{number}.py",)) for number in range(60, 70)]
    await keep(store, OPEN, [*mine, *his, *more])
    await publish(store)


async def _read_whole(store: Store) -> None:
    with store.transaction() as connection:
        backfills.begin(connection, Backfill(OPEN, ACME, NOW, state="done"))


async def _totals(known: KnownTotals, store: Store, moves: Mapping[str, list[Move]] = NO_MOVES) -> tuple[int, ...]:
    found = await known.read(store, NAMES, moves)
    parts = (found.as_of(2**40)(("acme/open", token)) for token in ("", "sluice", "weir"))
    return tuple(one.changes if one else 0 for one in parts)


async def test_a_theme_is_told_beside_everybodys_changes_once_the_whole_history_is_known(store: Store) -> None:
    await _sluices(store)
    async with serve(store) as site:
        assert "sluice (sluice): 12 changes" in await site.text("/@ada-example.txt")
    await _read_whole(store)
    async with serve(store) as site:
        assert "sluice (sluice): 12 of its 16 changes, the first among them" in await site.text("/@ada-example.txt")


async def test_what_lands_after_the_page_was_made_is_counted_the_next_day(store: Store, read: list[int]) -> None:
    await _sluices(store)
    await _read_whole(store)
    async with serve(store) as site:
        page = await site.text("/@ada-example.txt")
        await keep(store, OPEN, [fact(86, "acme/open", author=BOB, paths=("sluice/late.py",))])
        assert await site.text("/@ada-example.txt") == page
        await keep(store, OPEN, [fact(57, "acme/open", author=BOB, paths=("sluice/early.py",))])
        assert "12 of its 17 changes" in await site.text("/@ada-example.txt"), "recorded late"


async def test_facts_are_read_once_for_all_pages_and_only_new_ones_later(store: Store, read: list[int]) -> None:
    await _sluices(store)
    await _read_whole(store)
    with store.transaction() as connection:
        visibility.publish(connection, "person:u:8", public=True, now=NOW)
    async with serve(store) as site:
        for path in ("/@ada-example", "/@bob-example", "/@ada-example.json", "/@ada-example.svg", "/@ada-example"):
            await site.text(path)
        assert read == [0], "one chunk, for two people and five views"
        await keep(store, OPEN, [fact(82, "acme/open", author=BOB)])
        for path in ("/@ada-example", "/@bob-example"):
            await site.text(path)
    first, second = read
    assert first == 0 < second, "only what is new"


async def test_chunks_add_up_and_deleted_facts_and_moves_are_followed(
    store: Store, read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    await _sluices(store)
    monkeypatch.setattr(touched_paths, "AT_ONCE", 10)
    known = KnownTotals()
    assert await _totals(known, store) == (26, 16, 0)
    assert read == [0, 11, 21], "thirty facts, four of them without paths"
    gone = [fact(number, "acme/open").commit for number in (52, 53)]
    with store.transaction() as connection:
        ledger.forget_facts(connection, OPEN, gone)
    assert await _totals(known, store) == (24, 14, 0)
    moves = {"acme/open": [Move(int(NOW.timestamp()), "sluice", "weir")]}
    assert await _totals(known, store, moves) == (24, 0, 14)
    before = len(read)
    assert await _totals(known, store, moves) == (24, 0, 14)
    assert await _totals(known, store) == (24, 14, 0)
    assert len(read) == before, "both are kept"


async def test_a_measured_again_fact_is_counted_once(store: Store) -> None:
    await _sluices(store)
    known = KnownTotals()
    assert await _totals(known, store) == (26, 16, 0)
    again = fact(55, "acme/open", author=BOB, paths=("weir/gate55.py",))
    with store.transaction() as connection:
        ledger.forget_facts(connection, OPEN, [again.commit])
    await keep(store, OPEN, [again])
    assert await _totals(known, store) == (26, 15, 1)

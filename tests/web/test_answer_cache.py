"""Are cached pages served while nothing is written, and never after a write?"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeVar

import pytest
from sqlalchemy import event

from bot.model.ids import PersonKey
from bot.store import visibility
from bot.store.engine import Store, StoreUnavailableError, page_reads
from bot.store.visibility import subject_of_person
from bot.web import profiles
from tests.databases import database_url, store
from tests.web.library import NOW, OPEN, fact, fill, keep, mint, publish, revoke, serve

__all__ = ["database_url", "store"]

T = TypeVar("T")
PATHS = ("/@ada-example", "/@ada-example.json", "/@ada-example/months/2026-03", "/sitemap.xml")


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by one whenever a profile is looked for in the database."""
    seen: list[str] = []
    read = profiles.read_profile

    async def noted(desk: Any, opened: Any) -> Any:
        seen.append(opened.base)
        return await read(desk, opened)

    monkeypatch.setattr(profiles, "read_profile", noted)
    return seen


async def _undisturbed_cache(store: Store, attempt: Callable[[], Awaitable[T]]) -> T:
    """What the attempt brings while nothing is written: on PostgreSQL other tests write to the same server."""
    for _ in range(100):
        before = await store.version()
        brought = await attempt()
        if await store.version() == before:
            return brought
    raise AssertionError("the server was never quiet")


async def test_a_public_page_is_given_again_byte_for_byte_without_reading_the_record(
    store: Store, readings: list[str]
) -> None:
    await fill(store)
    await publish(store)
    async with serve(store) as site:
        first = [await site.get(path) for path in PATHS]
        tag = first[0][1]["ETag"]

        async def again() -> list[Any]:
            for path in PATHS:
                await site.get(path)
            readings.clear()
            assert [await site.get(path) for path in PATHS] == first
            fresh = await site.get("/@ada-example", If_None_Match=tag)
            return [fresh[0], fresh[2], *readings]

        assert await _undisturbed_cache(store, again) == [304, b""]
        assert (await site.get("/@ada-example", "HEAD"))[2] == b""


async def test_a_page_always_answered_with_304_is_cached_too(store: Store, readings: list[str]) -> None:
    await fill(store)
    await publish(store)
    async with serve(store) as site:
        tag = (await site.get("/@ada-example"))[1]["ETag"]
    async with serve(store) as site:

        async def twice() -> list[str]:
            first = await site.get("/@ada-example", If_None_Match=tag)
            readings.clear()
            assert await site.get("/@ada-example", If_None_Match=tag) == first
            return list(readings)

        assert await _undisturbed_cache(store, twice) == []
        assert (await site.get("/@ada-example"))[0] == 200


@pytest.mark.parametrize(
    "why", ["private", "opted out", "hidden by its person", "privatised", "removed", "anonymous", "uninstalled"]
)
async def test_no_cached_page_survives_a_revocation(store: Store, why: str) -> None:
    await fill(store)
    await publish(store)
    async with serve(store) as site:
        for path in PATHS * 2:
            assert (await site.get(path))[0] == 200
        tag = (await site.get("/@ada-example"))[1]["ETag"]
        await revoke(store, why)
        absent = await site.get("/@nobody-at-all")
        for path in PATHS[:3]:
            assert await site.get(path) == absent, path
            assert await site.get(path, If_None_Match=tag) == absent, path
        assert "ada-example" not in await site.text("/sitemap.xml")


async def test_a_page_revoked_while_it_is_rendered_is_not_cached(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(store)
    await publish(store)
    read = profiles.read_profile

    async def revoked_meanwhile(desk: Any, opened: Any) -> Any:
        reading = await read(desk, opened)
        await publish(store, public=False)
        return reading

    async with serve(store) as site:
        monkeypatch.setattr(profiles, "read_profile", revoked_meanwhile)
        await site.get("/@ada-example")
        monkeypatch.setattr(profiles, "read_profile", read)
        assert await site.get("/@ada-example") == await site.get("/@nobody-at-all")


@pytest.fixture
def asked(store: Store) -> Counter[str]:
    """What the pages ask of the database: transactions and their statements."""
    seen: Counter[str] = Counter()
    with page_reads(10), store.snapshot() as connection:
        engine = connection.engine
    event.listen(engine, "begin", lambda *_: seen.update(["transactions"]))
    event.listen(engine, "before_cursor_execute", lambda *_: seen.update(["statements"]))
    return seen


async def test_a_cached_page_costs_no_transaction(store: Store, asked: Counter[str]) -> None:
    await fill(store)
    await publish(store)
    await keep(store, OPEN, [fact(-24 * number, "acme/open") for number in range(200)])
    async with serve(store) as site:
        tag = (await site.get("/@ada-example"))[1]["ETag"]
        for path, headers, status in (
            ("/@ada-example", {}, 200),
            ("/@ada-example", {"If_None_Match": tag}, 304),
            ("/@ada-example", {"If_None_Match": '"another"'}, 200),
        ):

            async def again(path: str = path, headers: dict[str, str] = headers, status: int = status) -> Counter[str]:
                await site.get(path, **headers)
                asked.clear()
                assert (await site.get(path, **headers))[0] == status
                return +asked

            assert not await _undisturbed_cache(store, again)


async def test_after_an_unrelated_write_a_page_takes_one_transaction(store: Store, asked: Counter[str]) -> None:
    await fill(store)
    await publish(store)
    costs = []
    async with serve(store) as site:
        for count in (1, 100):
            await keep(store, OPEN, [fact(-24 * number - count, "acme/open") for number in range(count)])
            tag = (await site.get("/@ada-example"))[1]["ETag"]
            with store.transaction() as connection:
                visibility.publish(connection, subject_of_person(PersonKey("u:99")), public=True, now=NOW)
            asked.clear()
            assert (await site.get("/@ada-example", If_None_Match=tag))[0] == 304
            costs.append(dict(asked))
    assert costs[0] == costs[1]
    assert costs[0]["transactions"] == 1
    assert costs[0]["statements"] <= 5


async def test_a_link_page_is_never_cached_and_each_opening_is_logged(store: Store, readings: list[str]) -> None:
    await fill(store)
    token = await mint(store)
    async with serve(store) as site:
        for _ in range(3):
            assert (await site.get(f"/p/{token}"))[0] == 200
    assert len(readings) == 3


async def test_later_work_and_a_new_day_are_read_again(store: Store, readings: list[str]) -> None:
    await fill(store)
    await publish(store)
    moment = [NOW]
    async with serve(store, clock=lambda: moment[0]) as site:
        before = await site.get("/@ada-example")
        await keep(store, OPEN, [fact(40, "acme/open", title="Something later")])
        assert b"Something later" in (await site.get("/@ada-example"))[2]
        readings.clear()
        moment[0] += timedelta(days=1)
        assert (await site.get("/@ada-example"))[1]["ETag"] != before[1]["ETag"]
        assert readings


async def test_nothing_is_cached_while_another_process_writes(store: Store, tmp_path: Any) -> None:
    if store.dialect != "sqlite":
        pytest.skip("PostgreSQL tells of every process's writes")
    url = store.url.render_as_string(hide_password=False)
    async with await Store.open(url, read_only=True) as other:
        assert await other.version() is None


async def test_every_write_is_a_new_version(store: Store) -> None:
    seen = [await _undisturbed_cache(store, store.version)]
    for _ in range(3):
        await publish(store)
        seen.append(await store.version())
    assert len(set(seen)) == 4


async def test_many_ask_for_the_version_at_once_and_outlive_a_lost_connection(store: Store) -> None:

    async def many() -> set[str | None]:
        return set(await asyncio.gather(*(store.version() for _ in range(20))))

    assert len(await _undisturbed_cache(store, many)) == 1
    if store.dialect == "postgresql":
        with store.snapshot() as connection:
            mine = (
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND query LIKE 'SELECT pg_current_snap%%'"
            )
            connection.exec_driver_sql(mine)
        with pytest.raises(StoreUnavailableError):
            await store.version()
    assert await store.version()


async def test_a_picture_is_cached_with_its_options_and_a_wrong_one_is_refused(store: Store) -> None:
    await fill(store)
    await publish(store)
    async with serve(store) as site:
        plain = await site.get("/@ada-example.svg")
        for query in ("width=400", "theme=dark", "hide=languages"):
            asked = [await site.get(f"/@ada-example.svg?{query}") for _ in range(2)]
            assert [one[0] for one in asked] == [200, 200]
            assert asked[0][2] == asked[1][2] != plain[2]
        assert (await site.get("/@ada-example.svg?v=2"))[2] == plain[2]
        assert (await site.get("/@ada-example?width=12"))[0] == 200
        for form in ("svg", "badge.svg", "heatmap.svg", "months.svg", "languages.svg", "share.svg"):
            its_own = await site.get(f"/@ada-example.{form}")
            said = await site.get(f"/@ada-example.{form}?title=I+sign+this&TITLE=too")
            assert said[0] == 200, "a picture that is embedded already does not break"
            assert said[2] == its_own[2], "nobody puts words on somebody's picture"
        for path in ("/@ada-example.svg", "/@nobody-at-all.svg", "/@ada-example.badge.svg", "/@ada-example.months.svg"):
            for query in ("width=12", "hide=nothing-of-it", "theme=red", "width=400&width=500"):
                assert (await site.get(f"{path}?{query}"))[0] == 400


async def test_a_cached_page_is_given_only_in_the_form_that_is_accepted(store: Store) -> None:
    await fill(store)
    await publish(store)
    async with serve(store) as site:
        for _ in range(2):
            for form in ("text/html", "application/json"):
                _, headers, _ = await site.get("/@ada-example", Accept=form)
                assert headers["Content-Type"].startswith(form)


async def test_a_page_is_made_although_no_version_can_be_asked(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unavailable(_: Store) -> str:
        raise StoreUnavailableError("locked")

    await fill(store)
    await publish(store)
    monkeypatch.setattr(Store, "version", unavailable)
    async with serve(store) as site:
        assert (await site.get("/@ada-example"))[0] == 200

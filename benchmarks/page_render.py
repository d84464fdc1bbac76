"""What does a page cost, compared with the minimum: a bare template that prints the same bytes, and a bare server?

    python -m benchmarks.page_render

Prints one row per measurement; `rows()` returns the same for other programs. Rendering is CPU time, serving is wall and
CPU time, and each is measured alternately with its floor in one process, so that a busy machine slows both.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from jinja2 import Environment
from msgspec.structs import replace

from bot.model.profile import Profile
from bot.render.html.page import PageOptions, render_page
from bot.store.engine import Store
from tests.databases import fresh_database
from tests.render.factories import change, item, long_profile, small_profile
from tests.web.library import OPEN as REPOSITORY
from tests.web.library import fact, fill, keep, publish, serve

ROUNDS = 25
REQUESTS = 640
CLIENTS = (1, 16)
Row = dict[str, Any]


def rows() -> list[Row]:
    """`work`, `floor` and `ours` as text with their unit, and `ratio` of ours to the floor."""
    return [
        measure_render("ten-year page", long_profile()),
        # The profiles share no objects, as in the bot, where each landing folds a profile again.
        measure_render("ten-year page, after one more landing", long_profile(), _with_one_more(long_profile())),
        measure_render("small page", small_profile()),
        *asyncio.run(_measure_all_requests()),
    ]


# --- rendering -------------------------------------------------------------------------------------------------------


def _with_one_more(profile: Profile) -> Profile:
    """The same record with one more change in its newest month."""
    month, *older = profile.months
    more = change(month.repositories[0], 10**6, "Chart the new shoal", f"{month.month}-28")
    numbers = {**month.numbers, "commits": month.commits + 1}
    newest = replace(month, numbers=numbers, items=(*month.items, item("Chart the new shoal", more)))
    return replace(profile, months=(newest, *older), changes=(*profile.changes, more))


def measure_render(name: str, *profiles: Profile) -> Row:
    """CPU milliseconds for a page, alternating between profiles, next to a compiled template that prints its lines."""
    page = PageOptions(public=True, canonical="https://almanac.example/@somebody")
    text = render_page(profiles[0], page)
    turn = cycle(profiles)
    bare = Environment(autoescape=True).from_string("{% for line in lines %}{{ line }}\n{% endfor %}")
    lines = text.splitlines()
    floor, ours = _fastest_seconds(lambda: bare.render(lines=lines), lambda: render_page(next(turn), page))
    return {
        "work": f"{name}, {len(text.encode()) / 1000:.0f} kB",
        "floor": f"{floor * 1e3:.2f} ms",
        "ours": f"{ours * 1e3:.2f} ms",
        "ratio": ours / floor,
    }


def _fastest_seconds(*calls: Callable[[], object]) -> list[float]:
    """Seconds of CPU of each call, the best of many alternating rounds."""
    best = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for index, call in enumerate(calls):
            begun = time.process_time()
            call()
            best[index] = min(best[index], time.process_time() - begun)
    return best


# --- serving ---------------------------------------------------------------------------------------------------------


async def _measure_all_requests() -> list[Row]:
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("sqlite", "postgresql"):
            (Path(folder) / kind).mkdir()
            with ExitStack() as stack:
                url = await asyncio.to_thread(_database, kind, Path(folder) / kind, stack)
                if url:
                    found += await _measure_requests(kind, url)
    return found


def _database(kind: str, folder: Path, stack: ExitStack) -> str | None:
    """An empty database of that kind, removed with the stack; None if the machine has none, where a test would skip."""
    import pytest

    with suppress(pytest.skip.Exception):
        return stack.enter_context(fresh_database(kind, folder))
    return None


async def _measure_requests(kind: str, url: str) -> list[Row]:
    async with await Store.open(url) as store:
        await fill(store)
        await keep(
            store, REPOSITORY, [fact(-24 * number, "acme/open", pull_request=number + 100) for number in range(300)]
        )
        await publish(store)
        async with serve(store, requests_a_minute=10**9) as site:
            _, headers, body = await site.get("/@ada-example")
            async with _echo(body) as echo:
                known = {"If-None-Match": headers["ETag"]}
                page = f"{site.url}/@ada-example"
                return [
                    *await _rows(f"a public page again, {kind}", site.session, (echo, {}), (page, {})),
                    *await _rows(f"304, {kind}", site.session, (echo + "/nothing", {}), (page, known)),
                ]


@asynccontextmanager
async def _echo(body: bytes) -> Any:
    """A server with fixed answers."""

    async def full_page(_: web.Request) -> web.Response:
        return web.Response(body=body, content_type="text/html")

    async def nothing(_: web.Request) -> web.Response:
        return web.Response(status=304)

    app = web.Application()
    app.add_routes([web.get("/", full_page), web.get("/nothing", nothing)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def _rows(work: str, session: aiohttp.ClientSession, *asked: tuple[str, dict[str, str]]) -> list[Row]:
    """Requests per second and per CPU second (with the client's CPU), for one client and for several at once."""
    found = []
    for clients in CLIENTS:
        floor, ours = await _best_times(session, asked, clients)
        many = f"{work}, {clients} at once" if clients > 1 else work
        found += [
            _compare_row(many, REQUESTS / floor.wall, REQUESTS / ours.wall, "a second"),
            _compare_row(f"{many}, by CPU", REQUESTS / floor.cpu, REQUESTS / ours.cpu, "a second of CPU"),
        ]
    return found


def _compare_row(work: str, floor: float, ours: float, unit: str) -> Row:
    return {"work": work, "floor": f"{floor:.0f} {unit}", "ours": f"{ours:.0f} {unit}", "ratio": ours / floor}


@dataclass
class _Best:
    """Seconds for all requests, each the minimum of several rounds."""

    wall: float = float("inf")
    cpu: float = float("inf")


async def _best_times(
    session: aiohttp.ClientSession, asked: Sequence[tuple[str, dict[str, str]]], clients: int
) -> list[_Best]:
    async def ask(url: str, headers: dict[str, str]) -> None:
        for _ in range(REQUESTS // clients):
            async with session.get(url, headers=headers) as answer:
                await answer.read()

    best = [_Best() for _ in asked]
    for _ in range(5):
        for index, one in enumerate(asked):
            wall, cpu = time.monotonic(), time.process_time()
            await asyncio.gather(*(ask(*one) for _ in range(clients)))
            best[index].wall = min(best[index].wall, time.monotonic() - wall)
            best[index].cpu = min(best[index].cpu, time.process_time() - cpu)
    return best


if __name__ == "__main__":
    for row in rows():
        print(f"{row['work']:50} floor {row['floor']:>22}  ours {row['ours']:>22}  ratio {row['ratio']:.2f}")

"""One of several processes that write for one installation: `python -m tests.store.pace_process URL WRITES`.

It says `ready`, waits for a line, and prints the moments of its writes on a clock that passes when it is waited for.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from functools import partial

from bot.github.lane import Errand, Lane
from bot.github.limits import Clock, RequestPace
from bot.store.engine import Store
from bot.store.pace import StoredPace


@dataclass
class Passing:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


async def write(url: str, writes: int) -> None:
    time = Passing()
    async with await Store.open(url) as store:
        shared = StoredPace(store, 5, wall=time)
        lane = Lane(RequestPace(write_gap=1.0), Clock(steady=time, wall=time, sleep=time.sleep), shared)
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        turn = partial(lane.turn, Errand(write="edit"))
        for _ in range(writes):
            async with turn():
                print(time.now, flush=True)


if __name__ == "__main__":
    asyncio.run(write(sys.argv[1], int(sys.argv[2])))

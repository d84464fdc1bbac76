"""How many GitHub requests does each way of landing need, and how many tokens do many landings need?

    python -m tests.campaigns.requests [LANDINGS]

Plays each way of `tests/path/requests.py` once and compares its requests with the expected ones; then LANDINGS (100)
squashes and pushes land in one repository, and all tokens created so far are counted.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections import Counter
from pathlib import Path

from simulator.server import Simulator
from tests.path.requests import WAYS, Shop, shop

MOST_TOKENS = 3
"""one to list, one to read, one to post"""


async def _ways(there: Shop) -> bool:
    right = True
    for name, (land, expected) in WAYS.items():
        land(there)
        cost = await there.cost()
        same = cost == Counter(expected)
        right = right and same
        told = ", ".join(f"{count} {operation}" for operation, count in sorted(cost.items()))
        print(f"{name}: {told}{'' if same else f' BUT MAY {expected}'}", flush=True)
    return right


async def _tokens(there: Shop, landings: int) -> bool:
    for number in range(landings):
        if number % 2:
            there.push()
        else:
            there.merge(there.open(), "squash")
        await there.cost()
    minted = there.github.count("access_tokens")
    print(f"{landings} landings more: {minted} tokens in all", flush=True)
    return minted <= MOST_TOKENS


async def run(landings: int) -> bool:
    """Whether nothing cost more than expected."""
    with tempfile.TemporaryDirectory() as folder:
        async with Simulator() as github, shop(github, Path(folder)) as there:
            return await _ways(there) & await _tokens(there, landings)


if __name__ == "__main__":
    raise SystemExit(0 if asyncio.run(run(int(sys.argv[1]) if len(sys.argv) > 1 else 100)) else 1)

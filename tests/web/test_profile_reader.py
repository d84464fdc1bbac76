"""When is a profile folded again? When one of its inputs changed, not when others land work."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.metrics.line_hashes import FileHashes, pack
from bot.model.commit import Share, Signature
from bot.model.fact import Evidence
from bot.model.ids import UserId
from bot.store.engine import Store
from bot.web import profile_reader
from tests.databases import database_url, store
from tests.web.library import ADA, NOW, OPEN, fact, fill, keep, publish, serve

__all__ = ["database_url", "store"]

BOB = Signature("Bob Example", "bob@example.org", UserId(8), "bob-example")


def hashes(added: list[int], removed: list[int] | None = None, file: int = 7) -> bytes:
    return pack([FileHashes(file, 0, False, added, removed or [])])


GATE: dict[str, Any] = {"paths": ("src/gate.py",), "line_hashes": hashes([1, 2, 3])}
TOGETHER = Evidence(UserId(8), True, shares=(Share(ADA, 1, 5), Share(BOB, 1, 7)), pull_request=True)


@pytest.fixture
def folded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of facts of each profile that was folded."""
    seen: list[int] = []
    fold = profile_reader.fold

    def noted(facts: Any, *more: Any) -> Any:
        seen.append(len(facts))
        return fold(facts, *more)

    monkeypatch.setattr(profile_reader, "fold", noted)
    return seen


async def test_another_persons_landing_does_not_refold_the_profile(store: Store, folded: list[int]) -> None:
    await fill(store)
    await keep(store, OPEN, [fact(40, "acme/open", **GATE)])
    await publish(store)
    async with serve(store) as site:
        page = await site.text("/@ada-example")
        elsewhere = {"paths": ("src/wharf.py",), "line_hashes": hashes([4], file=8)}
        await keep(store, OPEN, [fact(50, "acme/open", author=BOB, title="fix: the wharf", **elsewhere)])
        await keep(store, OPEN, [fact(51, "acme/open", author=BOB, title="Paint the gate", **GATE)])
        assert await site.text("/@ada-example") == page
    assert folded == [5]


@pytest.mark.parametrize(
    ("what", "facts"),
    [
        ({"title": "fix: the gate", "kind": "bug_fix", "author": BOB, "line_hashes": hashes([5], [1])}, 6),
        ({"title": "Widen the gate"}, 6),
        ({"title": "Widen the gate", "author": BOB, "co_authors": (ADA,), "evidence": TOGETHER}, 6),
    ],
    ids=["a fix of their lines", "work of their own", "work they had a part in"],
)
async def test_every_input_of_a_profile_causes_a_new_fold(
    store: Store, folded: list[int], what: dict[str, Any], facts: int
) -> None:
    await fill(store)
    await keep(store, OPEN, [fact(40, "acme/open", **GATE)])
    await publish(store)
    later = {"clock": lambda: NOW + timedelta(days=120)}
    async with serve(store, **later) as site:
        page = await site.text("/@ada-example.json")
        await keep(store, OPEN, [fact(50, "acme/open", **(GATE | what))])
        again = await site.text("/@ada-example.json")
    assert folded == [5, facts]
    async with serve(store, **later) as another:
        assert await another.text("/@ada-example.json") == again != page

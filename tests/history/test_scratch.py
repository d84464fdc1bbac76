"""Are facts that must be folded together found by the keys they share, in any order of arrival?"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.history.rows import Rows
from bot.history.scratch import Scratch
from bot.model.commit import Signature
from bot.model.fact import Fact
from bot.model.ids import CommitId
from tests.landing.components import component

NAMES = [f"{number:x}" * 40 for number in range(9)]


def fact(at: int, keys: Sequence[str], reverts: Sequence[str]) -> Fact:
    ada = Signature("Ada Brook", f"ada-{at}@example.org")
    own = f"commit:{NAMES[at]}"
    return Fact(
        repository="acme/rocket",
        commit=CommitId(NAMES[at]),
        landed_at=1_735_732_800 + at,
        authored_at=1_735_732_800,
        author=ada,
        committer=ada,
        title=f"step {at}",
        how="push",
        merge_commit=CommitId(NAMES[at]),
        keys=(own, *keys),
        reverts=tuple(reverts),
    )


SHARED = st.lists(st.sampled_from(["pr:acme/rocket#1", "pr:acme/rocket#2", "title:acme/rocket:x"]), max_size=2)
TARGETS = st.lists(st.sampled_from([f"commit:{name}" for name in NAMES] + ["title:acme/rocket:x"]), max_size=2)
FACTS = st.lists(st.tuples(SHARED, TARGETS), min_size=2, max_size=len(NAMES)).map(
    lambda rows: [fact(at, keys, reverts) for at, (keys, reverts) in enumerate(rows)]
)


@contextmanager
def filled(*parts: Sequence[Fact]) -> Iterator[Scratch]:
    """A scratch that was filled and settled in these parts."""
    scratch = Scratch(None)
    scratch.begin()
    for part in parts:
        known = scratch.last_fact()
        scratch.add(Rows.of(part))
        scratch.index_keys(known)
    scratch.commit()
    yield scratch
    scratch.close()


@given(FACTS, st.data())
def test_related_facts_are_found_whichever_came_first(facts: list[Fact], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(facts)))
    with filled(facts[:cut], facts[cut:]) as scratch:
        for one in facts:
            found = {each.commit for each in scratch.component([f"e:{one.author.email}"])}
            assert found == {each.commit for each in component(one, facts)}


def test_keys_that_no_other_fact_shares_are_not_followed() -> None:
    alone = [fact(at, [f"pr:acme/rocket#{at}"], []) for at in range(9)]
    with filled(alone) as scratch, closing(sqlite3.connect(scratch.file)) as db:
        assert db.execute("select count(*) from linked").fetchone() == (0,)


def test_the_facts_of_some_months_take_as_many_statements_however_many_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    statements: list[str] = []

    class Traced(sqlite3.Connection):
        def __init__(self, *given: Any, **more: Any) -> None:
            super().__init__(*given, **more)
            self.set_trace_callback(statements.append)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Traced))
    counts = []
    for size in (2, 9):
        with filled([fact(at, ["pr:acme/rocket#1"], []) for at in range(size)]) as scratch:
            statements.clear()
            assert len(scratch.landed_between(0, 2_000_000_000)) == size
            counts.append(len(statements))
    assert counts[0] == counts[1] <= 6

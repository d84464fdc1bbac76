"""Do values reach both databases unchanged, however they are encoded?"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from hypothesis import given
from hypothesis import strategies as st

from bot.model.commit import Signature
from bot.model.fact import AiMark, Fact, Lines, fact_from_json, fact_to_json
from bot.model.ids import CommitId
from bot.store.arrays import array_text
from bot.store.border import canonical_json, clean_text, ordered_json
from tests.databases import fresh_database

TEXTS = ["", "plain", 'a "quoted" one', "back\\slash", "{a,b}", "NULL", "line\nbreak\ttab", "ünï 🌱", "'", ",", " "]
NAMES = st.text(max_size=12)
COUNTS = st.dictionaries(NAMES, st.integers(0, 2**40), max_size=4)


def test_every_value_comes_back_from_an_array(tmp_path: Path) -> None:
    moment = datetime(2031, 5, 1, 12, 0, 0, 5, tzinfo=UTC)
    lists: dict[str, list[Any]] = {
        "text": [*TEXTS, None],
        "bigint": [0, -(2**63), 2**63 - 1, None],
        "boolean": [True, False, None],
        "timestamptz": [moment, None],
        "bytea": [b"", b"\x00\xff\"'\\", None],
    }
    with fresh_database("postgresql", tmp_path) as url, psycopg.connect(url.replace("+psycopg", "")) as server:
        for kind, values in lists.items():
            for some in (values, values[:-1], values[:1], []):
                sql = f"SELECT * FROM unnest(%s::{kind}[])"  # noqa: S608  # a type's name of this test
                assert [row[0] for row in server.execute(sql, [array_text(some)]).fetchall()] == some


@given(NAMES, COUNTS, st.booleans(), st.integers(0, 2**40))
def test_a_fact_round_trips_through_canonical_json(word: str, counts: dict[str, int], certain: bool, at: int) -> None:
    who = Signature(word, "ada@example.org")
    fact = Fact(
        *("acme/app", CommitId("a" * 40), at, at, who, who, word, "squash", CommitId("a" * 40)),
        co_authors=(who,),
        keys=(word,),
        lines=Lines(authored=at),
        certain=certain,
        probability=min(at, 1000),
        languages=counts,
        ai=(AiMark(3, word, word),),
        partial=not certain,
    )
    spelt = ordered_json(fact_to_json(fact))
    assert spelt == canonical_json(fact_to_json(fact))
    assert list(json.loads(spelt)) == sorted(json.loads(spelt))
    if clean_text(word) == word and all(clean_text(name) == name for name in counts):
        assert fact_from_json(json.loads(spelt)) == fact


@given(st.text(st.characters(), max_size=8))
def test_any_text_is_encoded_alike_on_both_paths(text: str) -> None:
    """Halves of surrogate pairs and NUL among it."""
    spelt = ordered_json({"a": [text]})
    assert spelt == canonical_json({"a": [text]})
    assert json.loads(spelt) == {"a": [clean_text(text)]}
    assert clean_text(text).encode() or not text

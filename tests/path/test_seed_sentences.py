"""Is every untrue sentence of another product about a contributor's months refused, compared with what landed?"""

from __future__ import annotations

import re
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.history.opening import open_clones
from bot.history.record import CloneRecord
from bot.metrics.totals import work_by_month
from bot.model.change import Change
from bot.model.ids import ChangeId, Month
from bot.model.profile import Sentence
from bot.narrative.facts import MonthFacts, month_facts, timeline
from bot.narrative.grounding import check
from bot.narrative.narrative import month_text
from bot.narrative.profile import month_record
from tests.path.test_replay import SHARED, Replay, shared_replay, small_replay

SEED = SHARED.parent / "seeds" / "000_ff4a79ba51660b20.txt"
UTC = ZoneInfo("UTC")
UNTRUE = {
    "expansion": "In February 2025 a PARSER (Portable Analysis Runtime Service Engine Relay) was added.",
    "effect": "The parser was added, which lays the groundwork for higher throughput and reduced memory churn.",
    "pronoun": "I focused on the parser.",
    "repository": "The parser was added across acme/rocket and moss/rocket.",
    "number": "Ten commits introduced the parser.",
}
"""the manner of such sentences, about a small invented history"""


def months_of(replay: Replay) -> dict[Month, MonthFacts]:
    record = CloneRecord(open_clones(list(replay.clones.values())), cache=False)
    record.refresh()
    persons = record.people.find(replay.who)
    changes: tuple[Change, ...] = tuple(record.changes_of(persons))
    by_id: dict[ChangeId, Change] = {change.id: change for change in changes}
    work = work_by_month(changes, record.keys_of(persons), UTC)
    line = timeline(work, by_id, person=persons[0].display, zone=UTC)
    record.close()
    return {month: month_facts(month_record(done), line) for month, done in work.items()}


def kinds(text: str, facts: MonthFacts) -> set[str]:
    """Why the sentence is refused although it cites everything that landed in the month."""
    return {refusal.kind for refusal in check(Sentence(text, tuple(facts.changes)), facts)}


def test_sentences_of_that_manner_about_a_small_history_are_refused_and_named(tmp_path: Path) -> None:
    months = months_of(small_replay(tmp_path))
    facts = next(facts for facts in months.values() if any("parser" in one.title for one in facts.changes.values()))
    for kind, text in UNTRUE.items():
        assert kind in kinds(text, facts), text
    for sentence in month_text(facts).sentences:
        assert check(sentence, facts) == ()


def test_the_seeds_sentences_are_refused_against_the_replay_and_the_reasons_are_the_true_ones(tmp_path: Path) -> None:
    if not SEED.is_file():
        pytest.skip(f"NOT RUN: no seed at {SEED}; the small history above stands in for it")
    months = months_of(shared_replay(tmp_path / "clones"))
    lines = SEED.read_text("utf-8").splitlines()
    said: dict[Month, list[str]] = {}
    for month, start in ((Month("2025-07"), "July 2025 monthly"), (Month("2025-06"), "Month: 2025-06")):
        paragraph = next(line for line in lines if line.startswith(start))
        said[month] = re.split(r"(?<=[.])\s+", paragraph)
    found = {text: kinds(text, months[month]) for month, texts in said.items() for text in texts}
    assert len(found) == 7
    assert all(found.values())

    def reasons(part: str) -> set[str]:
        return next(why for text, why in found.items() if part in text)

    assert "expansion" in reasons("MTIA (Multi-Tensor Intermediate Accumulation)")
    assert "pronoun" in reasons("I focused on")
    assert "effect" in reasons("higher throughput")
    assert "effect" in reasons("improve reliability, interoperability")
    for facts in months.values():
        assert [refusal for sentence in month_text(facts).sentences for refusal in check(sentence, facts)] == []

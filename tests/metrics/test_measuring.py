"""Landings are measured some at a time; each fact is what it is by itself."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from bot.metrics.measure import Measure, measure, measure_all
from bot.model import Commit, CommitId, FileChange, Landing, Repository, Signature
from tests.metrics.skill_files import SOMEONE, a_change

BOT = Signature("dependabot[bot]", "49699333+dependabot[bot]@users.noreply.github.com")
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def a_landing(number: int, *files: FileChange, author: Signature = SOMEONE) -> Landing:
    when = BEGIN + timedelta(hours=number)
    message = f"Add part {number}\n\nCo-authored-by: Ben Castle <ben@example.org>"
    commit = Commit(CommitId(f"{number:040x}"), (), author, author, when, when, message, files)
    return Landing(Repository("acme/rocket"), commit, commit, when)


def the_landings() -> list[Landing]:
    some = [a_landing(n, a_change(f"src/part{n % 5}.py", f"import os\nif part:\n    go({n})")) for n in range(40)]
    large = a_landing(50, a_change("src/large.py", "value = 1  # one of many\n" * 45_000))
    return [*some[:7], large, *some[7:], a_landing(60, a_change("requirements.txt", "aiohttp==3"), author=BOT)]


def test_a_fact_does_not_depend_on_what_is_measured_beside_it() -> None:
    landings, rules = the_landings(), Measure()
    together = list(measure_all(landings, rules, {}))
    assert together == [measure(landing, rules) for landing in landings]
    assert [fact.commit for fact in together] == [landing.commit.id for landing in landings]


def test_line_notes_go_to_their_own_commit() -> None:
    landings = the_landings()[:3]
    tools = '{"schema_version": "authorship/3.0.0", "sessions": {"s_0123456789abcd": {"agent_id": {"tool": "claude"}}}}'
    note = f"src/part1.py\n  s_0123456789abcd::t_01 1-2\n---\n{tools}"
    facts = list(measure_all(landings, Measure(), {landings[1].commit.id: note}))
    assert [bool(fact.ai) for fact in facts] == [False, True, False]
    assert facts[1] == measure(landings[1], Measure(), notes=note)


def test_a_landing_is_asked_for_only_when_its_turn_comes() -> None:
    asked: list[Landing] = []

    def arriving() -> Iterator[Landing]:
        for landing in the_landings():
            asked.append(landing)
            yield landing

    next(measure_all(arriving(), Measure(), {}))
    assert 0 < len(asked) < len(the_landings()) / 2

"""Does measuring landings in batches give each fact as if it were measured by itself?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from bot.metrics.measure import Measure, measure, measure_all
from bot.model.commit import Commit, FileChange, Landing, PullRequest, Repository, Signature
from bot.model.ids import CommitId
from tests.metrics.skill_files import SOMEONE, a_change

BOT = Signature("dependabot[bot]", "49699333+dependabot[bot]@users.noreply.github.com")
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def a_landing(number: int, *files: FileChange, author: Signature = SOMEONE, title: str = "Add part") -> Landing:
    when = BEGIN + timedelta(hours=number)
    message = f"{title} {number}\n\nCo-authored-by: Ben Castle <ben@example.org>"
    commit = Commit(CommitId(f"{number:040x}"), (), author, author, when, when, message, files)
    return Landing(Repository("acme/rocket"), commit, commit, when)


def the_landings() -> list[Landing]:
    some = [a_landing(n, a_change(f"src/part{n % 5}.py", f"import os\nif part:\n    go({n})")) for n in range(40)]
    large = a_landing(50, a_change("src/large.py", "value = 1  # one of many\n" * 45_000))
    return [*some[:7], large, *some[7:], *the_odd_ones()]


def the_odd_ones() -> list[Landing]:
    """Landings that leave the common path at one step or another, side by side."""
    moved = "def launch(rocket):\n    rocket.fuel_up_to_the_brim()\n    rocket.leave_the_ground()"
    blanks = a_change("src/b.py", "if part:\n        go(1)\nwait()", "if part:\n    go(1)\nstop()")
    link = FileChange("current", "added", 1, 0, "@@ -0,0 +1 @@\n+src", symlink=True)
    return [
        a_landing(60, a_change("requirements.txt", "aiohttp==3"), author=BOT),
        a_landing(61, a_change("docs/guide.md", "How to launch"), title="Tell more"),
        a_landing(62, title="feat: nothing at all"),
        a_landing(63, a_change("src/a.py", moved), a_change("src/c.py", removed=moved), blanks),
        a_landing(64, link, FileChange("logo.png", "modified", 0, 0, binary=True), title="[docs] show the logo"),
        a_landing(65, a_change("src/d.py", "go(2)"), title='Revert "Add part 3"'),
        a_landing(66, a_change("notes.ipynb", '    "go(3)\\n",\n     "printed"'), blanks),
        a_landing(67, a_change("newsfragments/67.bugfix.rst", "Wait."), a_change("src/e.py", "wait()")),
    ]


def test_a_fact_does_not_depend_on_other_landings_in_the_batch() -> None:
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


def test_a_landing_is_requested_only_when_its_turn_comes() -> None:
    asked: list[Landing] = []

    def arriving() -> Iterator[Landing]:
        for landing in the_landings():
            asked.append(landing)
            yield landing

    next(measure_all(arriving(), Measure(), {}))
    assert 0 < len(asked) < len(the_landings()) / 2


def test_a_fact_says_when_its_pull_request_was_opened_if_github_said_so() -> None:
    opened = BEGIN - timedelta(days=2)
    asked = PullRequest(7, "Add part", "", SOMEONE, "main", "topic", CommitId("f" * 40), opened_at=opened)
    known = replace(a_landing(1), pull_request=asked)
    assert measure(known, Measure()).opened_at == int(opened.timestamp())
    assert measure(replace(known, pull_request=replace(asked, opened_at=None)), Measure()).opened_at is None
    assert measure(a_landing(1, title="Add part (#7)"), Measure()).opened_at is None

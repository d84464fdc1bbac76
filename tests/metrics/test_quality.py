"""Do the shares of lines count what happened to lines, whatever else somebody does to look good?"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.metrics.line_fates import OwnCommit, Taken
from bot.metrics.quality import (
    CORRECTNESS,
    MAINTAINABILITY,
    PERFORMANCE,
    TILES,
    Tile,
    interval_of,
    rate,
    read_tile,
)
from bot.model.ids import ChangeId, Month, PersonKey
from tests.metrics.made_lines import BEA, END, Work, code, commits_of, share

FILE = "app/wheel.py"
WHEEL = code("spoke", 200)
FIX = Work(40, [(FILE, code("mended", 10), WHEEL[:10])], "fix: the wheel breaks", BEA)
BASE = [Work(1, [(FILE, WHEEL, [])], "feat: a wheel"), FIX]
VALIDATED = replace(CORRECTNESS, languages=frozenset(("Python",)))


def test_lines_that_a_fix_replaced_within_ninety_days_are_lost() -> None:
    assert share(CORRECTNESS, BASE) == 95.0
    assert share(CORRECTNESS, [BASE[0], replace(FIX, day=92)]) == 100.0


def test_a_revert_counts_and_a_feature_does_not() -> None:
    feature = replace(FIX, title="feat: mend the wheel")
    assert share(CORRECTNESS, [BASE[0], feature]) == 100.0
    assert share(MAINTAINABILITY, [BASE[0], feature]) == 95.0


def test_a_fix_by_the_same_person_counts() -> None:
    assert share(CORRECTNESS, [BASE[0], replace(FIX, author=BASE[0].author)]) == 95.2  # of 210 lines


def test_lines_that_are_not_old_enough_are_not_at_risk() -> None:
    young = commits_of([Work(850, [(FILE, WHEEL, [])])])
    assert read_tile(CORRECTNESS, young, END).at_risk == 0


def test_a_deleted_feature_is_no_rewritten_line() -> None:
    removal = Work(60, [(FILE, [], WHEEL[100:])], "feat!: remove the spokes", BEA)
    assert share(MAINTAINABILITY, [*BASE, removal]) == 90.0


@pytest.mark.parametrize("tile", [CORRECTNESS, MAINTAINABILITY])
@pytest.mark.parametrize("slices", [2, 10, 50])
def test_sixty_commits_are_worth_what_one_is(tile: Tile, slices: int) -> None:
    size = len(WHEEL) // slices
    sliced = [
        Work(1 + number / 100, [(FILE, WHEEL[number * size : (number + 1) * size], [])], f"feat: spoke {number}")
        for number in range(slices)
    ]
    assert share(tile, [*sliced, FIX]) == share(tile, BASE)


@pytest.mark.parametrize("tile", [CORRECTNESS, MAINTAINABILITY])
@pytest.mark.parametrize("title", ["fix: typo", "chore: release 2.0", "Wheel", "docs: nothing at all", "perf: faster"])
def test_the_title_of_the_work_makes_no_difference(tile: Tile, title: str) -> None:
    assert share(tile, [replace(BASE[0], title=title), FIX]) == share(tile, BASE)


@pytest.mark.parametrize("tile", [CORRECTNESS, MAINTAINABILITY])
def test_the_authors_date_makes_no_difference(tile: Tile) -> None:
    for written in (-3000.0, 39.0, 600.0):
        assert share(tile, [replace(BASE[0], written=written), FIX]) == share(tile, BASE)


PADDING = {
    "constants": [(FILE, [f"LIMIT_{number} = {number}" for number in range(2000)], [])],
    "texts": [("app/words.py", [f'    "word {number}": "wheel",' for number in range(2000)], [])],
    "comments": [(FILE, [f"# the wheel turns {number} times" for number in range(2000)], [])],
    "generated": [("package-lock.json", [f'"wheel-{number}": {{"turns": true}}' for number in range(2000)], [])],
    "moved": [(FILE, [], WHEEL[100:]), ("app/spokes.py", WHEEL[100:], [])],
}


@pytest.mark.parametrize("tile", [CORRECTNESS, MAINTAINABILITY])
@pytest.mark.parametrize("kind", sorted(PADDING))
def test_padding_makes_no_difference(tile: Tile, kind: str) -> None:
    padded = [BASE[0], Work(2, PADDING[kind]), FIX]
    assert abs(share(tile, padded) - share(tile, BASE)) <= 0.5


def test_moving_ones_code_does_not_hide_it_from_fixes() -> None:
    moved = Work(2, [(FILE, [], WHEEL), ("app/spokes.py", WHEEL, [])])
    fix = replace(FIX, files=[("app/spokes.py", code("mended", 10), WHEEL[:10])])
    assert share(CORRECTNESS, [BASE[0], moved, fix]) == 95.0


def test_indenting_ones_code_does_not_hide_it_from_fixes() -> None:
    indented = ["    " + line for line in WHEEL]
    fix = replace(FIX, files=[(FILE, code("mended", 10), indented[:10])])
    assert share(CORRECTNESS, [BASE[0], Work(2, [(FILE, indented, WHEEL)], author=BEA), fix]) == 95.0


def test_somebody_elses_rewriting_of_anothers_lines_is_not_the_persons() -> None:
    assert share(CORRECTNESS, BASE, BEA) == 100.0


# --- when there is a score --------------------------------------------------------------------------------------------


def commit(number: int, *, added: int = 100, lost: int = 3) -> OwnCommit:
    change = ChangeId(f"acme/rocket#{number}")
    at = END - 400 * 86_400
    taken = (Taken(ChangeId(f"acme/rocket#{900 + number}"), at + 86_400, "fix", lost, 0, follow_up=False),)
    own = PersonKey("e:ada@example.org")
    return OwnCommit("acme/rocket", own, change, change, at, Month("2024-02"), added, taken if lost else (), "Python")


def scored(commits: list[OwnCommit], monkeypatch: pytest.MonkeyPatch) -> tuple[float | None, str]:
    monkeypatch.setattr("bot.metrics.quality.TILES", (VALIDATED, MAINTAINABILITY, PERFORMANCE))
    found = rate(commits, commits, END).correctness
    return found.score, found.unrated


def test_there_is_a_score_from_five_hundred_lines_and_twelve_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert scored([commit(number) for number in range(12)], monkeypatch) == (97.0, "")
    assert scored([commit(number) for number in range(11)], monkeypatch)[1] == "fewer than 12 changes at risk"
    assert scored([commit(number, added=20) for number in range(20)], monkeypatch)[1] == "fewer than 500 lines at risk"


def test_there_is_no_score_where_a_few_items_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    uneven = [commit(number, lost=90 if number < 2 else 0) for number in range(14)]
    assert scored(uneven, monkeypatch) == (None, "the interval is wider than 6 points")


def test_the_interval_is_the_same_each_time_and_holds_the_share() -> None:
    commits = [commit(number, lost=number) for number in range(20)]
    first, second = (interval_of(VALIDATED, read_tile(VALIDATED, some, END)) for some in (commits, commits[::-1]))
    assert first == second
    assert first[0] <= 100 - 100 * 190 / 2000 <= first[1]


def test_lines_are_counted_where_there_is_no_score() -> None:
    found = rate([commit(number) for number in range(3)], [], END).correctness
    assert (found.score, found.at_risk, found.lost, found.rated, found.project) == (None, 300, 9, 3, None)
    assert found.evidence[0].signal == "3 lines replaced by a bug fix"
    assert {tile.key for tile in TILES} == {"correctness", "maintainability", "performance"}

"""Can any dates of a history make a page large or slow?"""

from __future__ import annotations

import json
import re
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.cli.recomputing.offline import profile, read_window
from tests.history.repository import ADA, Repository

YEARS = (1970, 1971, 1980, 1999, 2004, 2015, 2020, 2026, 2038, 2106, 2242, 5000, 9998, 9999)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def history(folder: Path, moments: list[int]) -> Repository:
    """A commit at each of these times, written without asking git whether the time can be."""
    made = Repository(folder)
    stream = []
    for number, moment in enumerate(moments):
        text = f"feat(part{number % 7}): add step {number}\n"
        content = f"def step_{number}(value):\n    return value + {number}\n" * 3
        stream.append(
            f"commit refs/heads/main\nauthor {ADA[0]} <{ADA[1]}> {moment} +0000\n"
            f"committer {ADA[0]} <{ADA[1]}> {moment} +0000\ndata {len(text)}\n{text}"
            f"M 100644 inline part{number % 7}/step{number}.py\ndata {len(content)}\n{content}\n"
        )
    file = folder.parent / "stream"
    file.write_text("".join(stream))
    with file.open() as lines:
        command = ["git", "-C", str(folder), "fast-import", "--quiet", "--date-format=raw-permissive"]
        subprocess.run(command, stdin=lines, check=True)
    return made


def page(repository: Repository, form: str = "html") -> str:
    window = read_window(None, None, "UTC")
    return "".join(profile([str(repository.folder)], ADA[1], window, form=form, anonymous=False))


def moment(year: int, day: int = 0) -> int:
    return int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) + day * 86_400 + 40_000


WITHIN = [moment(2015 + number // 30, number % 30 * 12) for number in range(330)]


def test_a_history_with_dates_of_all_ages_has_a_small_page(tmp_path: Path) -> None:
    odd = [moment(year, number) for number in range(12) for year in YEARS]
    repository = history(tmp_path / "rocket", [*WITHIN[:200], *odd, *WITHIN[200:]])
    html = page(repository)
    assert len(html.encode()) < 150_000
    found = json.loads(page(repository, "json"))
    years = {int(row["month"][:4]) for row in found["months"]}
    assert years <= set(range(2015, datetime.now(UTC).year + 1))
    assert (
        sum(change.get("clamped", False) for change in found["changes"])
        == sum(year < 2015 or year > 2026 for year in YEARS) * 12
    )
    for form in ("svg", "heatmap", "months", "text", "markdown", "csv", "atom"):
        try:
            text = page(repository, form)
        except KeyError:
            continue
        assert not re.search(r"\b(19[0-9]{2}|20[3-9][0-9]|9999)-[01][0-9]", text)


def test_a_history_whose_first_commit_is_very_old_has_a_small_page_too(tmp_path: Path) -> None:
    spread = [moment(1980 + number // 8, number % 8 * 45) for number in range(len(WITHIN))]
    assert len(page(history(tmp_path / "rocket", spread)).encode()) < 150_000


def test_no_date_makes_a_page_slower_than_ten_ordinary_ones(tmp_path: Path) -> None:
    ordinary = history(tmp_path / "ordinary" / "rocket", WITHIN)
    odd = [moment(YEARS[number % len(YEARS)], number) for number in range(len(WITHIN))]
    strange = history(tmp_path / "strange" / "rocket", odd)

    def seconds(repository: Repository) -> float:
        page(repository)  # measured once
        begun = time.process_time()
        page(repository)
        return time.process_time() - begun

    assert seconds(strange) < 10 * seconds(ordinary)

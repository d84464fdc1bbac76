"""Does `--compat seed` print the facts like the captured reference pages, as a page and as text?"""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.cli import main
from tests.history.repository import Repository


def _printed(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as ended:
        main.main(arguments)
    return ended.value.code, *capfd.readouterr()


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = Repository(tmp_path / "rocket")
    made.commit("feat: add a stage (#1)", {"stage.py": "".join(f"x{n} = {n}\n" for n in range(9))})
    made.commit("Fix the valve (#2)", {"stage.py": "x1 = 2\n"})
    return str(made.folder)


def test_the_page_has_its_labels_in_their_order(clone: str, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _printed(capfd, "profile", clone, "--author", "ada@example.org", "--compat", "seed")
    assert code in (0, None)
    places = [out.index(label) for label in ("PROFILE", "100%Features", "2Total", "Activity Months1", "Work History")]
    assert places == sorted(places)
    assert "1 repo\n" in out


def test_the_text_contains_only_the_narrative_and_the_months(clone: str, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _printed(capfd, "profile", clone, "--author", "ada@example.org", "--compat", "seed-text")
    assert code in (0, None)
    assert "January 2025" in out
    assert "PROFILE" not in out


def test_an_unknown_name_is_refused_with_the_valid_ones(clone: str, capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = _printed(capfd, "profile", clone, "--author", "ada@example.org", "--compat", "sed")
    assert code == 2
    assert "none of seed, seed-text" in err

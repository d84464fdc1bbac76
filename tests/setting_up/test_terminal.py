"""`almanac setup` and `almanac doctor` as they are typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot import credentials
from bot.credentials import Credentials
from tests.test_cli import Command, almanac, assert_refused

__all__ = ["almanac"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--organisation", "fenland"], "goes with --form"),
        (["--form", "page.html", "--organisation", "a b"], "no organisation's name"),
        (["--form", "absent/page.html"], "cannot write absent/page.html"),
        (["--relay", "smee.io"], "--relay must"),
    ],
)
def test_what_cannot_be_set_up_is_told_in_one_line(almanac: Command, arguments: list[str], words: str) -> None:
    assert_refused(almanac("setup", *arguments), words)


def test_an_app_that_is_there_is_not_registered_again(almanac: Command, tmp_path: Path) -> None:
    kept = Credentials("7", "almanac", "https://github.com/apps/almanac", "https://github.com")
    credentials.keep(tmp_path / "almanac-data", kept)
    assert_refused(almanac("setup"), "App 7 is set up here already")


def test_what_is_pasted_must_be_the_answer(almanac: Command, tmp_path: Path) -> None:
    answer = almanac("setup", "--form", "page.html", stdin=b"http://127.0.0.1:8080/setup/done?code=c&state=other\n")
    assert answer.code == 2
    assert answer.err == ("almanac: that address does not answer this page: open the page that was written just now\n")
    page = (tmp_path / "page.html").read_text()
    assert 'action="https://github.com/settings/apps/new?state=' in page
    assert not credentials.path_in(tmp_path / "almanac-data").exists()


def test_the_doctor_prints_a_line_a_check_and_exits_1_where_something_is_wrong(almanac: Command) -> None:
    answer = almanac("doctor", "--no-network")
    assert (answer.code, answer.err) == (1, "")
    lines = answer.out.splitlines()
    assert {line[:6].strip() for line in lines} <= {"ok", "note", "WRONG", "?"}
    assert sum("NOT CHECKED" in line for line in lines) >= 5
    assert [line for line in lines if line.startswith("WRONG")] == [lines[0]]


def test_a_broken_file_of_credentials_is_told_in_one_line(almanac: Command, tmp_path: Path) -> None:
    (tmp_path / "almanac-data").mkdir()
    credentials.path_in(tmp_path / "almanac-data").write_text("{")
    for command in ("serve", "worker", "doctor", "setup"):
        assert_refused(almanac(command), "restore it from a backup")

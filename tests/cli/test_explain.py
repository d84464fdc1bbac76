"""Does `almanac explain` on clones agree with their profile, and exit with 2 on invalid input?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli.main import main
from tests.history.repository import Repository


def test_a_number_of_a_clone_is_explained(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    repository = Repository(tmp_path / "rocket")
    repository.commit("feat: add the gauge (#3)", {"gauge.py": "def read():\n    return 1\n"})
    repository.commit("fix: the gauge, follow-up to #3 (#4)", {"gauge.py": "def read():\n    return 2\n"})
    arguments = ["explain", "ada@example.org", "features", "--clone", str(repository.folder)]
    with pytest.raises(SystemExit, match="0"):
        main(arguments)
    text = capfd.readouterr().out
    assert text.startswith("features: 1\n")
    assert "add the gauge" in text
    with pytest.raises(SystemExit, match="0"):
        main([*arguments[:2], "correctness", *arguments[3:]])
    text = capfd.readouterr().out
    assert "Bug fixes and reverts replaced 1 of 3 lines within 90 days, in 2 changes: 33.3 %." in text
    assert "Not rated: this share was not found to repeat in Python." in text


def test_a_title_commands_no_terminal(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    repository = Repository(tmp_path / "rocket")
    acts = "\x1b[31m\x9b31m\x85\u202e"
    repository.commit(f"feat: add the gauge{acts}", {"gauge.py": "def read():\n    return 1\n"})
    folder = str(repository.folder)
    for arguments in (["explain", "ada@example.org", "features", "--clone", folder], ["changes", folder]):
        with pytest.raises(SystemExit, match="0"):
            main(arguments)
        told = capfdbinary.readouterr().out.decode()
        assert "\\u001b[31m\\u009b31m\\u0085\\u202e" in told
        assert all(character == "\n" or character.isprintable() for character in told)
    assert json.loads(told)["title"] == f"feat: add the gauge{acts}"
    with pytest.raises(SystemExit, match="2"):
        main(["config", "lint", f"{folder}/{acts}"])
    assert capfdbinary.readouterr().err.decode().rstrip("\n").isprintable()


@pytest.mark.parametrize(
    ("who", "metric", "said"), [("ada@example.org", "featurs", "did you mean features?"), ("zoe", "features", "zoe")]
)
def test_bad_input_is_one_line_and_exit_2(
    who: str, metric: str, said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    repository = Repository(tmp_path / "rocket")
    repository.commit("feat: add the gauge", {"gauge.py": "x = 1\n"})
    with pytest.raises(SystemExit, match="2"):
        main(["explain", who, metric, "--clone", str(repository.folder)])
    found = capfd.readouterr().err
    assert said in found
    assert found.count("\n") == 1

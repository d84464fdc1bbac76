"""How does the check of wheels interpret uv's answers?"""

import pytest

from scripts import check_wheels


def refuses(monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    def answer(requirements: list[str], system: str, python: str) -> str:
        return why if "slow==1" in requirements else ""

    monkeypatch.setattr(check_wheels, "refusal_of", answer)


def test_only_what_has_no_wheel_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    refuses(monkeypatch, "Wheels are required for `slow` because building from source is disabled for all packages")
    assert check_wheels.missing(["quick==1", "slow==1"], "macOS, arm64", "3.14") == ["slow==1"]
    assert check_wheels.missing(["quick==1"], "macOS, arm64", "3.14") == []


def test_an_unreachable_index_does_not_count_as_a_missing_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    refuses(monkeypatch, "error sending request")
    with pytest.raises(SystemExit):
        check_wheels.missing(["slow==1"], "macOS, arm64", "3.14")

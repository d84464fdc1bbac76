"""What do `almanac setup` and `almanac doctor` print on a terminal?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.configuration import credentials
from bot.configuration.credentials import Credentials
from bot.configuration.settings import load_settings
from simulator.administration import key_pair
from tests.databases import put_tables
from tests.test_cli import Command, almanac, assert_refused

__all__ = ["almanac"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--organisation", "fenland"], "need --form"),
        (["--name", "Acme Almanac"], "need --form"),
        (["--form", "page.html", "--name", "x" * 35], "at most 34 characters"),
        (["--form", "page.html", "--organisation", "a b"], "not the name of an organisation"),
        (["--form", "absent/page.html"], "cannot write absent/page.html"),
        (["--relay", "smee.io"], "--relay must"),
    ],
)
def test_a_failed_set_up_is_reported_in_one_line(almanac: Command, arguments: list[str], words: str) -> None:
    assert_refused(almanac("setup", *arguments), words)


def test_the_settings_of_a_registered_app_are_all_that_a_platform_without_a_disk_needs(
    almanac: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Credentials(
        "7", "almanac", "https://g.example/apps/almanac", "https://g.example", "cid", "secret", key_pair()[0], "w" * 40
    )
    credentials.save(tmp_path / "almanac-data", kept)
    written = almanac("setup", "--settings", "almanac.env", ALMANAC_PUBLIC_URL="https://almanac.example")
    assert (written.code, written.out, written.err) == (0, "", "")
    assert (tmp_path / "almanac.env").stat().st_mode & 0o777 == 0o600
    lines = dict(line.split("=", 1) for line in (tmp_path / "almanac.env").read_text().splitlines())
    with monkeypatch.context() as platform:
        for name, value in lines.items():
            platform.setenv(name, value)
        platform.setenv("ALMANAC_DATA", "elsewhere")
        found = load_settings(serving=True)
    assert (found.app_id, found.private_key, found.webhook_secrets) == ("7", kept.private_key, ("w" * 40,))
    assert (found.client_id, found.client_secret) == ("cid", "secret")
    assert (found.github.api, found.public_url) == ("https://g.example/api/v3", "https://almanac.example")
    assert found.links_keys == ((tmp_path / "almanac-data" / "links.key").read_bytes(),)
    assert found.snapshots_key == (tmp_path / "almanac-data" / "snapshots.key").read_text()
    assert_refused(almanac("setup", "--settings", "almanac.env"), "exists already")


def test_an_existing_app_is_not_registered_again(almanac: Command, tmp_path: Path) -> None:
    kept = Credentials("7", "almanac", "https://github.com/apps/almanac", "https://github.com")
    credentials.save(tmp_path / "almanac-data", kept)
    assert_refused(almanac("setup"), "App 7 is already set up here")


@pytest.mark.parametrize("name", ["links.key", "snapshots.key"])
def test_a_truncated_own_key_is_reported_at_startup_and_by_the_doctor(
    almanac: Command, tmp_path: Path, name: str
) -> None:
    given = {"ALMANAC_APP_ID": "7", "ALMANAC_PRIVATE_KEY": key_pair()[0], "ALMANAC_WEBHOOK_SECRET": "w" * 40}
    (tmp_path / "almanac-data").mkdir()
    (tmp_path / "almanac-data" / name).touch(0o600)
    assert_refused(almanac("serve", ALMANAC_LOG_LEVEL="ERROR", **given), name, "move it away to have a new one created")
    found = [line for line in almanac("doctor", "--no-network").out.splitlines() if line.startswith("WRONG")]
    assert [name in line for line in found] == [True]


@pytest.mark.parametrize("command", [["setup"], ["setup", "--form", "page.html"], ["serve"]])
def test_incomplete_app_settings_are_reported_before_another_app_is_registered(
    almanac: Command, tmp_path: Path, command: list[str]
) -> None:
    answer = almanac(*command, ALMANAC_WEBHOOK_SECRET="w" * 40)
    assert answer.code == 2
    assert [line.split(":")[1].strip() for line in answer.err.splitlines()] == ["ALMANAC_APP_ID", "ALMANAC_PRIVATE_KEY"]
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    "command", [["serve"], ["worker"], ["catch-up"], ["digest", "fenland/mill", "--month", "2026-01"]]
)
def test_an_invalid_key_is_reported_in_one_line(almanac: Command, command: list[str], tmp_path: Path) -> None:
    put_tables(tmp_path / "almanac-data", "almanac.db")
    key = "-----BEGIN RSA PRIVATE KEY-----\nTk8=\n-----END RSA PRIVATE KEY-----"
    given = {"ALMANAC_APP_ID": "7", "ALMANAC_PRIVATE_KEY": key, "ALMANAC_WEBHOOK_SECRET": "w" * 40}
    given["ALMANAC_LOG_LEVEL"] = "ERROR"  # otherwise the warning about SQLite comes before it
    assert_refused(almanac(*command, **given), "ALMANAC_PRIVATE_KEY: the private key is not a PEM key")


def test_a_pasted_address_is_requested_until_it_is_valid(almanac: Command, tmp_path: Path) -> None:
    slips = b"\xff two words\n\nhttp://[127/?code=c\nhttp://127.0.0.1:8080/setup/done?code=c&state=other\n"
    answer = almanac("setup", "--form", "page.html", stdin=slips)
    assert answer.code == 2
    assert answer.err == ("almanac: that address belongs to another page: use the page that was just written\n")
    assert answer.out.count("Not yet: ") == 4
    assert answer.out.startswith("GitHub cannot reach http://127.0.0.1:8080/webhook.")
    page = (tmp_path / "page.html").read_text()
    assert 'action="https://github.com/settings/apps/new?state=' in page
    assert not credentials.path_in(tmp_path / "almanac-data").exists()


def test_ctrl_c_ends_a_command_that_waits_for_the_pasted_address(tmp_path: Path) -> None:
    with waiting_for_a_paste(tmp_path) as command:
        command.send_signal(signal.SIGINT)
        assert command.wait(30) == 130


@contextmanager
def waiting_for_a_paste(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`almanac setup --form` in a process of its own, once it has asked."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ALMANAC_")}
    # Whoever runs the tests in the background has Ctrl-C ignored, and so would the command.
    heard = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from bot.cli.main import main; main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", heard, "setup", "--form", "page.html"],
        cwd=folder,
        env=clean,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as command:
        assert command.stdout is not None
        try:
            assert any(b"Paste" in line for line in command.stdout)
            yield command
        finally:
            command.kill()


def test_the_doctor_prints_a_line_a_check_and_exits_1_where_something_is_wrong(almanac: Command) -> None:
    answer = almanac("doctor", "--no-network")
    assert (answer.code, answer.err) == (1, "")
    lines = answer.out.splitlines()
    assert {line[:6].strip() for line in lines} <= {"ok", "note", "WRONG", "?"}
    assert sum("NOT CHECKED" in line for line in lines) >= 5
    assert [line for line in lines if line.startswith("WRONG")] == [lines[0]]


def test_a_broken_credentials_file_is_reported_in_one_line(almanac: Command, tmp_path: Path) -> None:
    (tmp_path / "almanac-data").mkdir()
    credentials.path_in(tmp_path / "almanac-data").write_text("{")
    for command in ("serve", "worker", "doctor", "setup"):
        assert_refused(almanac(command), "restore it from a back-up")

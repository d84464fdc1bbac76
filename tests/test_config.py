"""Settings: read from the environment and a file, told wrong all at once, silent about secrets."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bot.config import GitHubAddress, Settings, SettingsError, load_settings

SECRET = "a-webhook-secret-of-enough-characters"
OTHER = "the-next-secret-after-the-rotation-day"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nTk9UIEEgS0VZ\n-----END RSA PRIVATE KEY-----\n"
ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    import os

    for name in list(os.environ):
        if name.upper().startswith("ALMANAC_") or name.upper() == "PORT":
            monkeypatch.delenv(name)


def _set(monkeypatch: pytest.MonkeyPatch, **values: str) -> Settings:
    for name, value in values.items():
        monkeypatch.setenv(name if name == "PORT" else f"ALMANAC_{name}", value)
    return load_settings()


def test_nothing_set_is_a_bot_on_sqlite_in_the_data_folder() -> None:
    settings = load_settings()
    assert settings.database_url == "sqlite+aiosqlite:///almanac-data/almanac.db"
    assert settings.github == GitHubAddress(
        "https://github.com", "https://api.github.com", "https://api.github.com/graphql"
    )
    assert (settings.timezone.key, settings.writer.kind) == ("UTC", "off")
    assert len(settings.missing_to_serve) == 3


def test_the_key_is_read_as_text_as_written_out_text_as_base64_and_from_a_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "key.pem").write_text(PEM)
    spellings = [PEM, PEM.replace("\n", "\\n"), base64.b64encode(PEM.encode()).decode(), str(tmp_path / "key.pem")]
    keys = {_set(monkeypatch, PRIVATE_KEY=spelling).private_key for spelling in spellings}
    assert {key.strip() for key in keys if key} == {PEM.strip()}


@pytest.mark.parametrize("between", [",", "\n", ", ", "\\n"])
def test_several_webhook_secrets_are_valid_at_once(monkeypatch: pytest.MonkeyPatch, between: str) -> None:
    assert _set(monkeypatch, WEBHOOK_SECRET=f"{OTHER}{between}{SECRET}").webhook_secrets == (OTHER, SECRET)


def test_one_short_secret_among_long_ones_is_refused_without_being_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError) as caught:
        _set(monkeypatch, WEBHOOK_SECRET=f"{SECRET},too-short-1")
    assert "too-short-1" not in str(caught.value)
    assert "32 characters" in str(caught.value)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("postgres://u:p@db/almanac", "postgresql+psycopg://u:p@db/almanac"),
        ("postgresql://u:p@db/almanac?sslmode=require", "postgresql+psycopg://u:p@db/almanac?sslmode=require"),
        ("sqlite:////var/lib/almanac.db", "sqlite+aiosqlite:////var/lib/almanac.db"),
    ],
)
def test_a_database_url_gets_the_driver_we_use(monkeypatch: pytest.MonkeyPatch, given: str, read: str) -> None:
    assert _set(monkeypatch, DATABASE_URL=given).database_url == read


@pytest.mark.parametrize(
    ("given", "api", "graphql"),
    [
        ("https://github.com/", "https://api.github.com", "https://api.github.com/graphql"),
        ("https://git.example.com", "https://git.example.com/api/v3", "https://git.example.com/api/graphql"),
        ("https://git.example.com/api/v3", "https://git.example.com/api/v3", "https://git.example.com/api/graphql"),
        ("http://127.0.0.1:4501", "http://127.0.0.1:4501/api/v3", "http://127.0.0.1:4501/api/graphql"),
    ],
)
def test_the_github_address_gives_its_interfaces(
    monkeypatch: pytest.MonkeyPatch, given: str, api: str, graphql: str
) -> None:
    github = _set(monkeypatch, GITHUB_URL=given).github
    assert (github.api, github.graphql) == (api, graphql)


def test_the_platforms_port_is_read_and_ours_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _set(monkeypatch, PORT="5000").port == 5000
    assert _set(monkeypatch, PORT="5000", HOST="::").public_url == "http://127.0.0.1:5000"
    monkeypatch.setenv("ALMANAC_PORT", "6000")
    assert load_settings().port == 6000


def test_the_environment_wins_over_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"ALMANAC_APP_ID=11\nALMANAC_WEBHOOK_SECRET={SECRET}\nALMANAC_HOST=\nOTHER=1\n")
    settings = _set(monkeypatch, APP_ID="12")
    assert (settings.app_id, settings.webhook_secrets, settings.host) == ("12", (SECRET,), "127.0.0.1")


def test_all_errors_are_told_at_once_one_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "APP_ID": "my-app",
        "DATABASE_URL": "mysql://root:hunter2@db/x",
        "GITHUB_URL": "http://git.example.com",
        "PORT": "eighty",
        "TIMEZONE": "Mars/Olympus",
        "LLM_KIND": "oracle",
        "LOG_LEVEL": "loud",
    }.items():
        monkeypatch.setenv(f"ALMANAC_{name}", value)
    with pytest.raises(SettingsError) as caught:
        load_settings(serving=True)
    named = [re.match(r"ALMANAC_[A-Z_]+", line)[0] for line in caught.value.lines]  # type: ignore[index]  # fails loudly
    assert sorted(named) == sorted(
        f"ALMANAC_{name}"
        for name in (
            *("APP_ID", "DATABASE_URL", "GITHUB_URL", "PORT", "TIMEZONE", "LLM_KIND", "LOG_LEVEL"),
            *("PRIVATE_KEY", "WEBHOOK_SECRET"),
        )
    )
    assert "hunter2" not in str(caught.value)
    assert all("\n" not in line for line in caught.value.lines)


def test_serving_starts_with_the_three_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    _set(monkeypatch, APP_ID=" 12 ", PRIVATE_KEY=PEM, WEBHOOK_SECRET=SECRET)
    settings = load_settings(serving=True)
    assert settings.app_id == "12"
    assert settings.missing_to_serve == ()


def test_no_secret_shows_in_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = repr(
        _set(
            monkeypatch,
            PRIVATE_KEY=PEM,
            WEBHOOK_SECRET=SECRET,
            LLM_KEY="llm-key-123",
            DATABASE_URL="postgres://u:hunter2@db/x",
        )
    )
    assert not [secret for secret in ("Tk9UIEEg", SECRET, "llm-key-123", "hunter2") if secret in shown]


def test_importing_settings_does_not_import_pydantic() -> None:
    code = "import sys, bot.config; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_the_example_file_names_every_setting_and_can_be_read() -> None:
    from bot.config_environment import Environment

    text = (ROOT / ".env.example").read_text()
    named = set(re.findall(r"^(ALMANAC_[A-Z_]+)=", text, re.MULTILINE))
    special = {"webhook_secrets": "ALMANAC_WEBHOOK_SECRET", "github": "ALMANAC_GITHUB_URL"}
    assert named == {special.get(name, f"ALMANAC_{name.upper()}") for name in Environment.model_fields}
    assert load_settings(env_files=(ROOT / ".env.example",)).port == 8080

"""Are settings read from the environment and a file, with all errors reported at once and no secret shown?"""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from bot.configuration.settings import Settings, SettingsError, load_settings
from bot.configuration.signing import read_signing_key
from bot.configuration.values import GitHubAddress

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


def test_without_settings_the_bot_uses_sqlite_in_the_data_folder() -> None:
    settings = load_settings()
    assert settings.database_url == "sqlite:///almanac-data/almanac.db"
    assert settings.github == GitHubAddress(
        "https://github.com", "https://api.github.com", "https://api.github.com/graphql"
    )
    assert (settings.timezone.key, settings.writer.kind) == ("UTC", "off")
    assert len(settings.missing_to_serve) == 3


def test_the_key_is_read_as_text_as_written_out_text_as_base64_and_from_a_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "key.pem").write_text(PEM)
    (tmp_path / "key.pem").chmod(0o400)
    spellings = [PEM, PEM.replace("\n", "\\n"), base64.b64encode(PEM.encode()).decode(), str(tmp_path / "key.pem")]
    keys = {_set(monkeypatch, PRIVATE_KEY=spelling).private_key for spelling in spellings}
    assert {key.strip() for key in keys if key} == {PEM.strip()}


def _ed25519_pem() -> str:
    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def test_the_snapshot_key_is_pem_like_the_apps_and_the_link_key_hexadecimal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pem = _ed25519_pem()
    (tmp_path / "key.pem").write_text(pem)
    (tmp_path / "key.pem").chmod(0o600)
    spellings = [pem, pem.replace("\n", "\\n"), base64.b64encode(pem.encode()).decode(), str(tmp_path / "key.pem")]
    keys = {_set(monkeypatch, SNAPSHOTS_KEY=spelling).snapshots_key for spelling in spellings}
    assert {key.strip() for key in keys if key} == {pem.strip()}
    read_back = _set(monkeypatch, SNAPSHOTS_KEY=f"a note with \udcff in it\n{pem}").snapshots_key
    assert read_back is not None
    assert read_signing_key(read_back.encode()).id == read_signing_key(pem.encode()).id
    digits = bytes(range(200, 232)).hex()
    read = {_set(monkeypatch, LINKS_KEY=spelling).links_keys for spelling in (digits, f" {digits.upper()} ")}
    assert read == {(bytes(range(200, 232)),)}


def _of_another_kind() -> str:
    key = generate_private_key(SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def _behind_a_password() -> str:
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x")).decode()


def _public_half() -> str:
    key = Ed25519PrivateKey.generate().public_key()
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("LINKS_KEY", "5ec2e7" * 10, "64 hexadecimal digits"),
        ("LINKS_KEY", "5ec2e7" * 11, "64 hexadecimal digits"),
        ("LINKS_KEY", "5ec2e7 " * 9 + "5ec2e7abcd", "64 hexadecimal digits"),
        ("LINKS_KEY", "no digits at all, and some sixty-four characters, 5ec2e7 in here.", "64 hexadecimal digits"),
        ("SNAPSHOTS_KEY", "5ec2e7-is-no-key", "neither a PEM key"),
        ("SNAPSHOTS_KEY", "~5ec2e7/key.pem", "neither a PEM key"),
        ("SNAPSHOTS_KEY", PEM.replace("Tk9U", "5ec2"), "no readable private key"),
        ("SNAPSHOTS_KEY", _ed25519_pem().replace("MC4C", "\udcff"), "no readable private key"),
        ("SNAPSHOTS_KEY", _public_half(), "no readable private key"),
        ("SNAPSHOTS_KEY", _of_another_kind(), "not Ed25519"),
        ("SNAPSHOTS_KEY", _behind_a_password(), "remove the password"),
    ],
)
def test_an_invalid_page_key_is_reported_in_one_line_without_the_key(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        _set(monkeypatch, **{name: value})
    (line,) = caught.value.lines
    assert line.startswith(f"ALMANAC_{name}: ")
    assert words in line
    told = [part for part in re.split(r"[\s-]+", value) if len(part) > 9 and part in line]
    assert (told, "\n" in line, "5ec2e7" in line) == ([], False, False)


@pytest.mark.parametrize("between", [",", "\n", ", ", "\\n"])
def test_several_webhook_secrets_are_valid_at_once(monkeypatch: pytest.MonkeyPatch, between: str) -> None:
    assert _set(monkeypatch, WEBHOOK_SECRET=f"{OTHER}{between}{SECRET}").webhook_secrets == (OTHER, SECRET)


def test_one_short_secret_among_long_ones_is_refused_without_printing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError) as caught:
        _set(monkeypatch, WEBHOOK_SECRET=f"{SECRET},too-short-1")
    assert "too-short-1" not in str(caught.value)
    assert "32 characters" in str(caught.value)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("postgres://u:p@db/almanac", "postgresql+psycopg://u:p@db/almanac"),
        ("postgresql://u:p@db/almanac?sslmode=require", "postgresql+psycopg://u:p@db/almanac?sslmode=require"),
        ("sqlite:////var/lib/almanac.db", "sqlite:////var/lib/almanac.db"),
    ],
)
def test_a_database_url_gets_the_driver_we_use(monkeypatch: pytest.MonkeyPatch, given: str, read: str) -> None:
    assert _set(monkeypatch, DATABASE_URL=given).database_url == read


def test_an_invalid_database_url_is_reported_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    for given in ("postgresql://u:hunter2@db:port/almanac", "postgresql://u:hun:ter2/x@db@:port/almanac"):
        with pytest.raises(SettingsError, match=r"^ALMANAC_DATABASE_URL: cannot be parsed") as caught:
            _set(monkeypatch, DATABASE_URL=given)
        assert "ter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "api", "graphql"),
    [
        ("https://github.com/", "https://api.github.com", "https://api.github.com/graphql"),
        ("https://git.example.com", "https://git.example.com/api/v3", "https://git.example.com/api/graphql"),
        ("https://git.example.com/api/v3", "https://git.example.com/api/v3", "https://git.example.com/api/graphql"),
        ("https://fenland.ghe.com/", "https://api.fenland.ghe.com", "https://api.fenland.ghe.com/graphql"),
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
    monkeypatch.setenv("ALMANAC_PORT", "6000")
    assert load_settings().port == 6000


@pytest.mark.parametrize(
    ("host", "listens", "reached"),
    [
        ("0.0.0.0", "0.0.0.0", "127.0.0.1"),  # noqa: S104  # read, not bound
        ("::", "::", "[::1]"),  # a socket there takes no IPv4
        ("[::1]", "::1", "[::1]"),
        (" localhost ", "localhost", "localhost"),
    ],
)
def test_a_listening_process_is_reached_at_its_address(
    monkeypatch: pytest.MonkeyPatch, host: str, listens: str, reached: str
) -> None:
    settings = _set(monkeypatch, PORT="5000", HOST=host)
    assert (settings.host, settings.public_url) == (listens, f"http://{reached}:5000")


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("https://almanac.example.com/", "https://almanac.example.com"),
        ("HTTPS://Almanac.Example.com:443", "https://almanac.example.com"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("https://bücher.example:8443", "https://xn--bcher-kva.example:8443"),
    ],
)
def test_the_public_address_is_normalised_like_a_browsers_origin(
    monkeypatch: pytest.MonkeyPatch, given: str, read: str
) -> None:
    assert _set(monkeypatch, PUBLIC_URL=given).public_url == read


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("PUBLIC_URL", "https://example.com/almanac"),
        ("PUBLIC_URL", "https://almanac.example.com?x=1"),
        ("PUBLIC_URL", "https://user:word@almanac.example.com"),
        ("PUBLIC_URL", "https://almanac.example.com:99999"),
        ("PUBLIC_URL", "almanac.example.com"),
        ("GITHUB_URL", "https://git.example.com:port"),
        ("GITHUB_URL", "https://git exa.com"),
        ("GITHUB_URL", "https://git..example.com"),
        ("GITHUB_URL", "https://[::1"),
        ("RELAY", "https://smee.io:99999/channel"),
        ("RELAY", "https://smee.io/"),
    ],
)
def test_an_address_that_cannot_be_asked_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, given: str) -> None:
    with pytest.raises(SettingsError, match=f"ALMANAC_{name}: must be") as caught:
        _set(monkeypatch, **{name: given})
    assert "word" not in str(caught.value)


def test_a_folder_in_a_file_may_start_with_a_tilde(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / ".env").write_text("ALMANAC_DATA=~/almanac\n")
    assert load_settings().data == tmp_path / "home" / "almanac"
    with pytest.raises(SettingsError, match="ALMANAC_DATA: starts with the home folder of a user"):
        _set(monkeypatch, DATA="~no-such-user-here/almanac")


def test_the_environment_wins_over_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"ALMANAC_APP_ID=11\nALMANAC_WEBHOOK_SECRET={SECRET}\nALMANAC_HOST=\nOTHER=1\n")
    settings = _set(monkeypatch, APP_ID="12")
    assert (settings.app_id, settings.webhook_secrets, settings.host) == ("12", (SECRET,), "127.0.0.1")


def test_all_errors_are_reported_at_once_one_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_secrets_are_hidden_in_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = repr(
        _set(
            monkeypatch,
            PRIVATE_KEY=PEM,
            WEBHOOK_SECRET=SECRET,
            LLM_KEY="llm-key-123",
            LINKS_KEY="5ec2e7ff" * 8,
            SNAPSHOTS_KEY=(pem := _ed25519_pem()),
            DATABASE_URL="postgres://u:hunter2@db/x",
        )
    )
    hidden = ("Tk9UIEEg", SECRET, "llm-key-123", "hunter2", "5ec2e7", repr(bytes.fromhex("5ec2e7"))[2:-1])
    assert not [secret for secret in (*hidden, pem.splitlines()[1]) if secret in shown]


def test_importing_settings_does_not_import_pydantic() -> None:
    code = "import sys, bot.configuration.settings; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_the_example_file_names_every_setting_and_can_be_read() -> None:
    from bot.configuration.environment import Environment

    text = (ROOT / ".env.example").read_text()
    named = set(re.findall(r"^(ALMANAC_[A-Z_]+)=", text, re.MULTILINE))
    special = {"webhook_secrets": "ALMANAC_WEBHOOK_SECRET", "github": "ALMANAC_GITHUB_URL"}
    special["links_keys"] = "ALMANAC_LINKS_KEY"
    assert named == {special.get(name, f"ALMANAC_{name.upper()}") for name in Environment.model_fields}
    assert load_settings(env_files=(ROOT / ".env.example",)).port == 8080


def test_a_proxy_and_own_certificates_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "company.pem"
    file.write_text("-----BEGIN CERTIFICATE-----\n")
    monkeypatch.setenv("ALMANAC_HTTPS_PROXY", "http://ada:hu%40sh@proxy.example.com:3128/")
    monkeypatch.setenv("ALMANAC_CA_FILE", str(file))
    route = load_settings(env_files=()).route
    assert (route.proxy, route.ca_file) == ("http://ada:hu%40sh@proxy.example.com:3128", str(file))
    assert "hu%40sh" not in repr(load_settings(env_files=()))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALMANAC_HTTPS_PROXY", "proxy.example.com:3128"),
        ("ALMANAC_HTTPS_PROXY", "http://proxy.example.com/path"),
        ("ALMANAC_CA_FILE", "/nowhere/company.pem"),
        ("ALMANAC_CA_FILE", str(ROOT / "README.md")),
    ],
)
def test_a_wrong_proxy_or_file_of_certificates_is_one_line(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        load_settings(env_files=())
    (line,) = caught.value.lines
    assert line.startswith(f"{name}: ")

"""Do logs and tracebacks contain no secrets?"""

import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from bot.cli.doctor.findings import wrong
from bot.cli.doctor.machine import check_files
from bot.configuration import credentials
from bot.configuration.errors import UnusableInputError
from bot.configuration.keys import link_secrets, snapshot_key
from bot.configuration.logs import hide_secrets, scrub_secrets
from bot.configuration.redaction import Redacted, Secret, secrets_in
from bot.configuration.route import NetworkRoute
from bot.configuration.settings import Settings, WriterSettings
from bot.configuration.values import pem_of


class Login(Redacted, frozen=True):
    name: str
    password: Secret[str | None] = None
    tries: int = 0


def test_repr_leaves_secrets_out() -> None:
    assert repr(Login("ada", "hunter2", tries=2)) == "Login(name='ada', tries=2)"


def test_two_logins_with_other_secrets_are_not_equal() -> None:
    assert Login("ada", "a") != Login("ada", "b")
    assert Login("ada", "a") == pickle.loads(pickle.dumps(Login("ada", "a")))  # noqa: S301  # our own bytes


def test_no_setting_that_is_secret_is_printed() -> None:
    settings = Settings(
        private_key="SECRET-1",
        webhook_secrets=("SECRET-2",),
        client_secret="SECRET-3",
        relay="SECRET-4",
        database_url="SECRET-5",
        links_keys=(b"SECRET-6",),
        snapshots_key="SECRET-7",
        metrics_token="SECRET-8",
        writer=WriterSettings(key="SECRET-9"),
    )
    assert "SECRET" not in repr(settings)


@pytest.fixture
def hidden() -> Iterator[Settings]:
    """Settings whose secrets have no form that gives them away, hidden as a start does."""
    pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    settings = Settings(
        private_key=pem,
        webhook_secrets=("CANARY-webhook-one-of-two", "CANARY-webhook-two-of-two"),
        client_secret="CANARY-client-secret",
        relay="https://relay.example/CANARY-channel",
        database_url="postgresql+psycopg://almanac:CANARY%2Dpassword@db.example/almanac",
        links_keys=(b"CANARY-links-key-of-32-bytes....", b"CANARY-links-key-before-that...."),
        route=NetworkRoute(proxy="http://me:CANARY-proxy-password@proxy.example:3128"),
        metrics_token="CANARY-metrics-token",
        writer=WriterSettings(key="CANARY-writer-key"),
    )
    hide_secrets(secrets_in(settings))
    yield settings
    hide_secrets(())


def test_no_secret_of_the_settings_passes_what_is_logged_printed_or_stored(hidden: Settings) -> None:
    said = (
        *hidden.webhook_secrets,
        hidden.client_secret,
        hidden.database_url,
        "password CANARY-password",
        *(key.hex() for key in hidden.links_keys),
        "http://me:CANARY-proxy-password@proxy.example:3128",
        hidden.metrics_token,
        hidden.writer.key,
        *(hidden.private_key or "").splitlines()[1:-1],
    )
    for secret in said:
        for sink in (scrub_secrets(f"failed with {secret}"), str(wrong("database", f"cannot connect: {secret}"))):
            assert "CANARY" not in sink
            assert secret not in sink
            assert "[secret]" in sink


def test_a_secret_in_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    link_secrets(tmp_path / "links.key")
    snapshot_key(tmp_path / "snapshots.key")
    saved = credentials.Credentials("1", "almanac", "https://github.com/apps/almanac", "https://github.com")
    credentials.save(tmp_path, saved)
    readers = {
        "links.key": lambda: link_secrets(tmp_path / "links.key"),
        "snapshots.key": lambda: snapshot_key(tmp_path / "snapshots.key"),
        "app.json": lambda: credentials.read(tmp_path),
    }
    for name, read in readers.items():
        for mode in (0o600, 0o400):
            (tmp_path / name).chmod(mode)
            read()
        for mode in (0o640, 0o604, 0o644, 0o660):
            (tmp_path / name).chmod(mode)
            with pytest.raises(
                UnusableInputError, match=f"{name} can be read by other users of this machine: chmod 600"
            ):
                read()
    (tmp_path / "snapshots.key").chmod(0o644)
    assert pem_of(str(tmp_path / "snapshots.key"))  # the operator's own file, as platforms mount it: doctor warns


def test_doctor_warns_of_a_key_file_that_others_can_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "app.pem"
    file.write_text("-----BEGIN-----")
    monkeypatch.setenv("ALMANAC_PRIVATE_KEY", str(file))
    for mode, expected in ((0o600, False), (0o644, True)):
        file.chmod(mode)
        found = [str(one) for one in check_files(Settings(data=tmp_path))]
        assert any(f"chmod 600 {file}" in line for line in found) is expected

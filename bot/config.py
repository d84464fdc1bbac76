"""Which settings has the operator chosen? All are read once from the environment and `.env`, then frozen."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote
from zoneinfo import ZoneInfo

from msgspec import Struct, field
from msgspec.structs import replace

from bot import credentials
from bot.config_addresses import LOOPBACK, address_in, own_address
from bot.credentials import Credentials
from bot.errors import UnusableInputError
from bot.redaction import Redacted, Secret
from bot.signatures import read_signing_key

if TYPE_CHECKING:
    from pydantic import ValidationError

    from bot.config_environment import Environment

WriterKind = Literal["off", "openai", "anthropic"]

SHORTEST_SECRET = 32
"""characters; a shorter webhook secret could be guessed, so it is refused"""

NEEDED_TO_SERVE = {
    "app_id": "ALMANAC_APP_ID: not set; it is the number on the App's settings page",
    "private_key": "ALMANAC_PRIVATE_KEY: not set; it is the App's PEM key, as text, base64 or a path",
    "webhook_secrets": f"ALMANAC_WEBHOOK_SECRET: not set; at least {SHORTEST_SECRET} characters, the same as at GitHub",
}

_LINKS_KEY = re.compile(r"[0-9A-Fa-f]{64}")


class SettingsError(Exception):
    """Invalid or missing settings. `lines` has one plain sentence for each, and never contains a secret."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = tuple(lines)


class GitHubAddress(Struct, frozen=True):
    """The addresses of GitHub's pages, REST API and GraphQL API, without a trailing slash."""

    web: str = "https://github.com"
    api: str = "https://api.github.com"
    graphql: str = "https://api.github.com/graphql"


class WriterSettings(Redacted, frozen=True):
    """The optional LLM writer. `off` means that all texts come from templates."""

    kind: WriterKind = "off"
    url: str = ""
    model: str = ""
    key: Secret[str] = ""
    time_out: float = 30.0
    """seconds for one answer"""


class Settings(Redacted, frozen=True):
    """All settings. Secrets are left out of `repr`."""

    app_id: str | None = None
    private_key: Secret[str | None] = None
    """PEM text"""
    webhook_secrets: Secret[tuple[str, ...]] = ()
    """all that are valid now, newest first"""
    client_id: str = ""
    client_secret: Secret[str] = ""
    """the App's OAuth client; nobody can sign in unless both are set"""
    relay: Secret[str] = ""
    """a channel from which deliveries are fetched if GitHub cannot reach this machine; its address gives read access"""
    database_url: Secret[str] = ""
    """SQLAlchemy URL with its async driver; it may contain a password"""
    data: Path = Path("almanac-data")
    links_key: Secret[bytes | None] = None
    """32 bytes that sign links; None: read from the file `links.key` in the data folder"""
    snapshots_key: Secret[str | None] = None
    """PEM text of the Ed25519 key that signs snapshots; None: read from `snapshots.key` in the data folder"""
    github: GitHubAddress = GitHubAddress()
    host: str = "127.0.0.1"
    port: int = 8080
    public_url: str = "http://127.0.0.1:8080"
    """the address at which people reach the pages, without a trailing slash"""
    timezone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    write_gap: float = 1.0
    """seconds between two posts of one installation; GitHub asks for one, an Enterprise Server may need none"""
    backfill: bool = True
    """whether to read the history of a repository when the App is installed on it"""
    writer: WriterSettings = WriterSettings()
    log_level: str = "INFO"
    metrics_token: Secret[str] = ""
    """grants access to `/metrics`; if it is empty, only this machine has access"""

    @property
    def missing_to_serve(self) -> tuple[str, ...]:
        """One line for each missing setting that deliveries need; empty if the bot can serve."""
        return tuple(line for name, line in NEEDED_TO_SERVE.items() if not getattr(self, name))


def load_settings(*, serving: bool = False, env_files: Sequence[Path | str] = (".env",)) -> Settings:
    """The settings of this run; the environment overrides `env_files`, and a later file an earlier one.

    With `serving`, the App's credentials are required. Raises SettingsError, which lists all errors at once.
    """
    # Imported here: pydantic-settings takes 0.14 s to import, and most commands need no settings.
    from pydantic import ValidationError

    from bot.config_environment import Environment, ServingEnvironment

    try:
        settings = _settled(dict(Environment.read(env_files)))
    except ValidationError as error:
        raise SettingsError(_all_lines(ServingEnvironment if serving else Environment, env_files, error)) from None
    except (OSError, UnicodeError) as error:
        raise SettingsError([f"the settings file cannot be read: {error}"]) from None
    if serving and settings.missing_to_serve:
        raise SettingsError(settings.missing_to_serve)
    return settings


def _all_lines(model: type[Environment], env_files: Sequence[Path | str], error: ValidationError) -> list[str]:
    """All errors at once, including what a stricter model finds missing."""
    from pydantic import ValidationError

    try:
        model.read(env_files)
    except ValidationError as stricter:
        error = stricter
    return _lines_of(error, model.names())


def _settled(read: Mapping[str, Any]) -> Settings:
    """The settings with the defaults that depend on other settings, or on the App that was registered here."""
    values = dict(read)
    writer = WriterSettings(**{name: values.pop(f"llm_{name}") for name in ("kind", "url", "model", "key", "time_out")})
    data = Path(values.pop("data"))
    database = values.pop("database_url") or f"sqlite:///{quote(str(data / 'almanac.db'))}"
    public = values.pop("public_url") or own_address(values["host"], values["port"])
    github = values.pop("github")
    settings = Settings(
        data=data,
        database_url=database,
        public_url=public,
        writer=writer,
        github=github or GitHubAddress(),
        relay=values.pop("relay") or "",
        **values,
    )
    try:
        kept = credentials.read(data)
    except UnusableInputError as error:
        raise SettingsError([str(error)]) from None
    return settings if kept is None else with_credentials(settings, kept, moved=github is not None)


def with_credentials(settings: Settings, kept: Credentials, *, moved: bool = False) -> Settings:
    """The settings, with missing ones filled in from the App that was registered here.

    Nothing is filled in if the settings name another App. `moved`: the settings name their own GitHub server.
    """
    if settings.app_id not in {None, kept.app_id}:
        return settings
    return replace(
        settings,
        app_id=kept.app_id,
        private_key=settings.private_key or kept.private_key or None,
        webhook_secrets=settings.webhook_secrets or ((kept.webhook_secret,) if kept.webhook_secret else ()),
        client_id=settings.client_id or kept.client_id,
        client_secret=settings.client_secret or kept.client_secret,
        relay=settings.relay or kept.relay,
        github=settings.github if moved else github_address_of(kept.github),
    )


# --- one reader for each setting: text in, value out, ValueError with a sentence --------------------------------------


def pem_of(text: str) -> str:
    """PEM text from PEM text (with real or escaped line breaks), from base64 of it, or from the file it names."""
    text = text.strip()
    if "-----BEGIN" in text:
        return text.replace("\\n", "\n").replace("\r\n", "\n") + "\n"
    decoded = _pem_in_base64(text)
    if decoded:
        return decoded.strip() + "\n"
    try:
        content = Path(text).expanduser().read_text("utf-8")
    except (OSError, ValueError, RuntimeError):  # RuntimeError: `~` of an unknown user
        raise ValueError("is neither a PEM key, nor base64 of one, nor a readable file") from None
    if "-----BEGIN" not in content:
        raise ValueError("names a file without a PEM key")
    return content.strip() + "\n"


def _pem_in_base64(text: str) -> str | None:
    try:
        content = base64.b64decode("".join(text.split()), validate=True).decode()
    except (binascii.Error, UnicodeError, ValueError):
        return None
    return content if "-----BEGIN" in content else None


def snapshots_key_of(text: str) -> str:
    """PEM text of an Ed25519 private key, in any form that `pem_of` reads."""
    pem = pem_of(text).encode(errors="replace")
    read_signing_key(pem)
    return pem.decode()


def links_key_of(text: str) -> bytes:
    """32 bytes from 64 hexadecimal digits."""
    text = text.strip()
    if not _LINKS_KEY.fullmatch(text):
        raise ValueError("must be 64 hexadecimal digits, as `openssl rand -hex 32` prints them")
    return bytes.fromhex(text)


def secrets_of(text: str) -> tuple[str, ...]:
    """The valid webhook secrets: one, or several separated by commas or line breaks, so that secrets can be rotated."""
    secrets = tuple(part for part in (part.strip() for part in re.split(r"[,\n]", text.replace("\\n", "\n"))) if part)
    if any(len(secret) < SHORTEST_SECRET for secret in secrets):
        raise ValueError(f"contains a secret of fewer than {SHORTEST_SECRET} characters")
    return secrets


def github_address_of(text: str) -> GitHubAddress:
    """github.com, an enterprise on ghe.com, or an Enterprise Server by its base address.

    Plain http is accepted only for this machine.
    """
    address, origin = address_in(text, such_as="https://github.example.com")
    if address.query:
        raise ValueError("must be an address such as https://github.example.com")
    if address.scheme == "http" and address.hostname not in LOOPBACK:
        raise ValueError("must use HTTPS, except on this machine")
    if address.hostname in {"github.com", "www.github.com", "api.github.com"}:
        return GitHubAddress()
    if (address.hostname or "").endswith(".ghe.com"):  # GitHub Enterprise Cloud with data residency: api.NAME.ghe.com
        api = origin.replace("://", "://api.", 1)
        return GitHubAddress(origin, api, f"{api}/graphql")
    base = f"{origin}{address.path.rstrip('/')}".removesuffix("/api/v3")
    return GitHubAddress(base, f"{base}/api/v3", f"{base}/api/graphql")


def zone_of(text: str) -> ZoneInfo:
    """The time zone in which months are counted."""
    try:
        return ZoneInfo(text.strip())
    except (KeyError, ValueError, OSError):
        raise ValueError("is not an IANA time zone such as Europe/Vienna") from None


def folder_of(text: str) -> Path:
    """A folder; `~` is expanded here, because no shell does so for settings in a file."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise ValueError("starts with the home folder of a user unknown on this machine") from None


def _lines_of(error: ValidationError, names: Mapping[str, str]) -> list[str]:
    """One line for each setting: our own sentences and pydantic's, which do not quote the value."""
    lines = []
    for one in error.errors(include_input=False, include_url=False):
        called = str(one["loc"][0])
        name = names.get(called, called)
        text = one["msg"].removeprefix("Value error, ")
        missing = (line for line in NEEDED_TO_SERVE.values() if line.startswith(f"{name}:"))
        lines.append(next(missing) if one["type"] == "missing" else f"{name}: {text[0].lower()}{text[1:]}")
    return lines

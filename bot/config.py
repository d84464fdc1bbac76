"""What the operator has decided: every setting, read once from the environment and `.env`, then frozen."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote
from zoneinfo import ZoneInfo

from bot import credentials
from bot.config_addresses import LOOPBACK, address_in, own_address
from bot.credentials import Credentials
from bot.errors import UnusableInputError
from bot.frozen import frozen
from bot.signatures import read_signing_key

if TYPE_CHECKING:
    from pydantic import ValidationError

    from bot.config_environment import Environment

WriterKind = Literal["off", "openai", "anthropic"]

SHORTEST_SECRET = 32
"""characters; a webhook secret below that can be guessed, so it is refused"""

NEEDED_TO_SERVE = {
    "app_id": "ALMANAC_APP_ID: not set; it is the number on the App's settings page",
    "private_key": "ALMANAC_PRIVATE_KEY: not set; it is the App's PEM key, as text, base64 or a path",
    "webhook_secrets": f"ALMANAC_WEBHOOK_SECRET: not set; {SHORTEST_SECRET} characters or more, as at GitHub",
}

_LINKS_KEY = re.compile(r"[0-9A-Fa-f]{64}")


class SettingsError(Exception):
    """Settings that cannot be used. `lines` holds one plain sentence for each, and never a secret."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = tuple(lines)


@frozen
class GitHubAddress:
    """Where GitHub answers: its pages, its REST interface and its GraphQL interface, without a closing slash."""

    web: str = "https://github.com"
    api: str = "https://api.github.com"
    graphql: str = "https://api.github.com/graphql"


@frozen
class WriterSettings:
    """The optional LLM writer. `off` means that texts come from templates alone."""

    kind: WriterKind = "off"
    url: str = ""
    model: str = ""
    key: str = field(default="", repr=False)
    time_out: float = 30.0
    """seconds for one answer"""


@frozen
class Settings:
    """All settings. Whatever opens a door is left out of `repr`."""

    app_id: str | None = None
    private_key: str | None = field(default=None, repr=False)
    """PEM text"""
    webhook_secrets: tuple[str, ...] = field(default=(), repr=False)
    """all that are valid now, the newest first"""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    """the App's OAuth client; without both nobody can sign in"""
    relay: str = field(default="", repr=False)
    """a channel that deliveries are fetched from, for a machine GitHub cannot reach; whoever knows it can read them"""
    database_url: str = field(default="", repr=False)
    """SQLAlchemy URL with its async driver; it may hold a password"""
    data: Path = Path("almanac-data")
    links_key: bytes | None = field(default=None, repr=False)
    """32 bytes that sign links; None: those in the file `links.key` of the data folder"""
    snapshots_key: str | None = field(default=None, repr=False)
    """PEM text of the Ed25519 key that signs snapshots; None: the one in `snapshots.key` there"""
    github: GitHubAddress = GitHubAddress()
    host: str = "127.0.0.1"
    port: int = 8080
    public_url: str = "http://127.0.0.1:8080"
    """what people type to reach the pages, without a closing slash"""
    timezone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    write_gap: float = 1.0
    """seconds between two posts of one installation; GitHub asks for one, an Enterprise Server may need none"""
    backfill: bool = True
    """read the history of a repository when the App is installed on it"""
    writer: WriterSettings = WriterSettings()
    log_level: str = "INFO"
    metrics_token: str = field(default="", repr=False)
    """who shows it reads `/metrics`; without one only this machine may"""

    @property
    def missing_to_serve(self) -> tuple[str, ...]:
        """One line for each setting that deliveries need and that is absent; empty when the bot can serve."""
        return tuple(line for name, line in NEEDED_TO_SERVE.items() if not getattr(self, name))


def load_settings(*, serving: bool = False, env_files: Sequence[Path | str] = (".env",)) -> Settings:
    """The settings of this run; the environment wins over `env_files`, and a later file over an earlier one.

    With `serving`, the App's credentials must be there. Raises SettingsError telling everything that is wrong at once.
    """
    # Here and not above: importing pydantic-settings takes 0.14 s, and most commands never ask for settings.
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
    """What is wrong, and with a stricter model what is missing as well: everything at once."""
    from pydantic import ValidationError

    try:
        model.read(env_files)
    except ValidationError as stricter:
        error = stricter
    return _lines_of(error, model.names())


def _settled(read: Mapping[str, Any]) -> Settings:
    """The settings with the defaults that hang on other settings, or on the App that was registered here."""
    values = dict(read)
    writer = WriterSettings(**{name: values.pop(f"llm_{name}") for name in ("kind", "url", "model", "key", "time_out")})
    data = Path(values.pop("data"))
    database = values.pop("database_url") or f"sqlite+aiosqlite:///{quote(str(data / 'almanac.db'))}"
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
    """The settings with what they lack taken from the App that was registered here; what they hold wins.

    Nothing is taken where they name another App. `moved`: they name a GitHub of their own.
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


# --- one setting each: text in, value out, ValueError with a sentence ------------------------------------------------


def pem_of(text: str) -> str:
    """PEM text from PEM text (with real or written-out line ends), from base64 of it, or from the file it names."""
    text = text.strip()
    if "-----BEGIN" in text:
        return text.replace("\\n", "\n").replace("\r\n", "\n") + "\n"
    decoded = _pem_in_base64(text)
    if decoded:
        return decoded.strip() + "\n"
    try:
        content = Path(text).expanduser().read_text("utf-8")
    except (OSError, ValueError, RuntimeError):  # RuntimeError: `~` of a user whom this machine does not know
        raise ValueError("is neither a PEM key, nor base64 of one, nor a readable file") from None
    if "-----BEGIN" not in content:
        raise ValueError("names a file that holds no PEM key")
    return content.strip() + "\n"


def _pem_in_base64(text: str) -> str | None:
    try:
        content = base64.b64decode("".join(text.split()), validate=True).decode()
    except (binascii.Error, UnicodeError, ValueError):
        return None
    return content if "-----BEGIN" in content else None


def snapshots_key_of(text: str) -> str:
    """PEM text of an Ed25519 private key, spelt in any of the ways that `pem_of` reads."""
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
    """The webhook secrets in force: one, or several between commas or line ends, so that a new one can take over."""
    secrets = tuple(part for part in (part.strip() for part in re.split(r"[,\n]", text.replace("\\n", "\n"))) if part)
    if any(len(secret) < SHORTEST_SECRET for secret in secrets):
        raise ValueError(f"holds a secret of fewer than {SHORTEST_SECRET} characters")
    return secrets


def github_address_of(text: str) -> GitHubAddress:
    """github.com, an enterprise on ghe.com, or an Enterprise Server by its base address.

    Plain http is for this machine alone.
    """
    address, origin = address_in(text, such_as="https://github.example.com")
    if address.query:
        raise ValueError("must be an address such as https://github.example.com")
    if address.scheme == "http" and address.hostname not in LOOPBACK:
        raise ValueError("must use https, except on this machine")
    if address.hostname in {"github.com", "www.github.com", "api.github.com"}:
        return GitHubAddress()
    if (address.hostname or "").endswith(".ghe.com"):  # an enterprise's own part of GitHub's cloud: api.NAME.ghe.com
        api = origin.replace("://", "://api.", 1)
        return GitHubAddress(origin, api, f"{api}/graphql")
    base = f"{origin}{address.path.rstrip('/')}".removesuffix("/api/v3")
    return GitHubAddress(base, f"{base}/api/v3", f"{base}/api/graphql")


def zone_of(text: str) -> ZoneInfo:
    """The time zone whose calendar months are counted."""
    try:
        return ZoneInfo(text.strip())
    except (KeyError, ValueError, OSError):
        raise ValueError("is no time zone of the IANA list, such as Europe/Vienna") from None


def folder_of(text: str) -> Path:
    """A folder; `~` is its user's own, which no shell has put there where the setting stands in a file."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise ValueError("begins with the home of a user whom this machine does not know") from None


def _lines_of(error: ValidationError, names: Mapping[str, str]) -> list[str]:
    """One line a setting; our own sentences and pydantic's, which do not quote the value."""
    lines = []
    for one in error.errors(include_input=False, include_url=False):
        called = str(one["loc"][0])
        name = names.get(called, called)
        text = one["msg"].removeprefix("Value error, ")
        missing = (line for line in NEEDED_TO_SERVE.values() if line.startswith(f"{name}:"))
        lines.append(next(missing) if one["type"] == "missing" else f"{name}: {text[0].lower()}{text[1:]}")
    return lines

"""Which settings has the operator chosen? All are read once from the environment and `.env`, then frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

from msgspec import field
from msgspec.structs import replace

from bot.configuration import credentials
from bot.configuration.addresses import Network, own_address
from bot.configuration.credentials import Credentials
from bot.configuration.errors import UnusableInputError
from bot.configuration.redaction import Redacted, Secret
from bot.configuration.route import DIRECT, NetworkRoute
from bot.configuration.values import SHORTEST_SECRET, GitHubAddress, WriterKind, github_address_of

if TYPE_CHECKING:
    from pydantic import ValidationError

    from bot.configuration.environment import Environment
NEEDED_TO_SERVE = {
    "app_id": "ALMANAC_APP_ID: not set; it is the number on the App's settings page",
    "private_key": "ALMANAC_PRIVATE_KEY: not set; it is the App's PEM key, as text, base64 or a path",
    "webhook_secrets": f"ALMANAC_WEBHOOK_SECRET: not set; at least {SHORTEST_SECRET} characters, the same as at GitHub",
}


class SettingsError(Exception):
    """Invalid or missing settings. `lines` has one plain sentence for each, and never contains a secret."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = tuple(lines)


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
    links_keys: Secret[tuple[bytes, ...]] = ()
    """32 bytes each: the first signs links, and all open them; empty: read from `links.key` in the data folder"""
    snapshots_key: Secret[str | None] = None
    """PEM text of the Ed25519 key that signs snapshots, and public keys that did; None: read from `snapshots.key`"""
    github: GitHubAddress = GitHubAddress()
    route: NetworkRoute = DIRECT
    """how requests and git reach GitHub"""
    host: str = "127.0.0.1"
    port: int = 8080
    worker_port: int = 0
    """where `almanac worker` answers its probes; 0: nowhere"""
    trusted_proxy: tuple[Network, ...] = ()
    """the proxies in front of this bot, whose `X-Forwarded-For` names the sender"""
    public_url: str = "http://127.0.0.1:8080"
    """the address at which people reach the pages, without a trailing slash"""
    timezone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    write_gap: float = 1.0
    """seconds between two posts of one installation; GitHub asks for one, an Enterprise Server may need none"""
    backfill: bool = True
    """whether to read the history of a repository when the App is installed on it"""
    repositories_by_name: bool = False
    """whether GitHub is asked about repositories by name and not by id; noticed by itself where it has to be"""
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

    from bot.configuration.environment import Environment, ServingEnvironment

    try:
        settings = _apply_defaults(dict(Environment.read(env_files)))
    except ValidationError as error:
        raise SettingsError(
            _all_problem_lines(ServingEnvironment if serving else Environment, env_files, error)
        ) from None
    except (OSError, UnicodeError) as error:
        raise SettingsError([f"the settings file cannot be read: {error}"]) from None
    if serving and settings.missing_to_serve:
        raise SettingsError(settings.missing_to_serve)
    return settings


def _all_problem_lines(model: type[Environment], env_files: Sequence[Path | str], error: ValidationError) -> list[str]:
    """All errors at once, including what a stricter model finds missing."""
    from pydantic import ValidationError

    try:
        model.read(env_files)
    except ValidationError as stricter:
        error = stricter
    return _problem_lines(error, model.names())


def _apply_defaults(read: Mapping[str, Any]) -> Settings:
    """The settings with the defaults that depend on other settings, or on the App that was registered here."""
    values = dict(read)
    writer = WriterSettings(**{name: values.pop(f"llm_{name}") for name in ("kind", "url", "model", "key", "time_out")})
    data = Path(values.pop("data"))
    database = values.pop("database_url") or f"sqlite:///{quote(str(data / 'almanac.db'))}"
    public = values.pop("public_url") or own_address(values["host"], values["port"])
    github = values.pop("github")
    route = NetworkRoute(values.pop("https_proxy") or "", str(values.pop("ca_file") or ""))
    settings = Settings(
        data=data,
        database_url=database,
        public_url=public,
        writer=writer,
        github=github or GitHubAddress(),
        route=route,
        relay=values.pop("relay") or "",
        **values,
    )
    try:
        registered = credentials.read(data)
    except UnusableInputError as error:
        raise SettingsError([str(error)]) from None
    return settings if registered is None else with_credentials(settings, registered, moved=github is not None)


def with_credentials(settings: Settings, registered: Credentials, *, moved: bool = False) -> Settings:
    """The settings, with missing ones filled in from the App that was registered here.

    Nothing is filled in if the settings name another App. `moved`: the settings name their own GitHub server.
    """
    if settings.app_id not in {None, registered.app_id}:
        return settings
    return replace(
        settings,
        app_id=registered.app_id,
        private_key=settings.private_key or registered.private_key or None,
        webhook_secrets=settings.webhook_secrets or ((registered.webhook_secret,) if registered.webhook_secret else ()),
        client_id=settings.client_id or registered.client_id,
        client_secret=settings.client_secret or registered.client_secret,
        relay=settings.relay or registered.relay,
        github=settings.github if moved else github_address_of(registered.github),
    )


def _problem_lines(error: ValidationError, names: Mapping[str, str]) -> list[str]:
    """One line for each setting: our own sentences and pydantic's, which do not quote the value."""
    lines = []
    for one in error.errors(include_input=False, include_url=False):
        location = str(one["loc"][0])
        name = names.get(location, location)
        text = one["msg"].removeprefix("Value error, ")
        missing = (line for line in NEEDED_TO_SERVE.values() if line.startswith(f"{name}:"))
        lines.append(next(missing) if one["type"] == "missing" else f"{name}: {text[0].lower()}{text[1:]}")
    return lines

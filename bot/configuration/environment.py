"""Which environment variables are the settings read from? One pydantic-settings field for each variable, in text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Self
from zoneinfo import ZoneInfo

from pydantic import AliasChoices, BeforeValidator, Field
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from bot.configuration import addresses, values


def _strip(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


def _reads_with(reader: Callable[[str], Any]) -> BeforeValidator:
    """Convert text with one of config's readers; a value that is not text is a default and is not changed."""
    return BeforeValidator(lambda value: reader(value) if isinstance(value, str) else value)


Word = Annotated[str, BeforeValidator(_strip)]
Key = Annotated[str, _reads_with(values.pem_of)]
SnapshotsKey = Annotated[str, _reads_with(values.snapshots_key_of)]
# NoDecode: pydantic-settings would read a tuple as JSON before the validator sees it.
Secrets = Annotated[tuple[str, ...], NoDecode, _reads_with(values.secrets_of)]
LinksKeys = Annotated[tuple[bytes, ...], NoDecode, _reads_with(values.links_keys_of)]


class Environment(BaseSettings):
    """The variables `ALMANAC_*`. An empty variable counts as not set."""

    model_config = SettingsConfigDict(
        env_prefix="ALMANAC_", env_ignore_empty=True, extra="ignore", frozen=True, hide_input_in_errors=True
    )

    app_id: Word | None = Field(None, pattern=r"^[0-9]+$")
    private_key: Key | None = None
    webhook_secrets: Secrets = Field((), validation_alias="ALMANAC_WEBHOOK_SECRET")
    client_id: Word = ""
    client_secret: Word = ""
    relay: Annotated[str, _reads_with(addresses.relay_of)] | None = None
    database_url: Annotated[str, _reads_with(addresses.database_url_of)] | None = None
    data: Annotated[Path, _reads_with(values.folder_of)] = Path("almanac-data")
    links_keys: LinksKeys = Field((), validation_alias="ALMANAC_LINKS_KEY")
    snapshots_key: SnapshotsKey | None = None
    github: Annotated[Any, _reads_with(values.github_address_of)] = Field(None, validation_alias="ALMANAC_GITHUB_URL")
    https_proxy: Annotated[str, _reads_with(addresses.proxy_of)] | None = None
    ca_file: Annotated[Path, _reads_with(values.certificates_of)] | None = None
    host: Annotated[str, _reads_with(addresses.host_of)] = "127.0.0.1"
    port: int = Field(8080, ge=0, le=65535, validation_alias=AliasChoices("ALMANAC_PORT", "PORT"))
    worker_port: int = Field(8081, ge=0, le=65535)
    trusted_proxy: Annotated[tuple[Any, ...], NoDecode, _reads_with(addresses.networks_of)] = ()
    public_url: Annotated[str, _reads_with(addresses.base_url_of)] | None = None
    timezone: Annotated[Any, _reads_with(values.zone_of)] = ZoneInfo("UTC")
    write_gap: float = Field(1.0, ge=0, le=60)
    backfill: bool = True
    repositories_by_name: bool = False
    metrics_token: Word = Field("", pattern="^(.{16,})?$")
    llm_kind: values.WriterKind = "off"
    llm_url: Word = ""
    llm_model: Word = ""
    llm_key: Word = ""
    llm_time_out: float = Field(30.0, gt=0, le=600)
    log_level: Annotated[str, BeforeValidator(lambda value: str(value).strip().upper())] = Field(
        "INFO", pattern="^(DEBUG|INFO|WARNING|ERROR|CRITICAL)$"
    )

    @classmethod
    def read(cls, env_files: Sequence[Path | str]) -> Self:
        """The model filled from the environment and these files; raises pydantic's ValidationError."""
        return cls(_env_file=tuple(env_files))  # type: ignore[call-arg]  # an argument that type checkers do not know

    @classmethod
    def names(cls) -> dict[str, str]:
        """The variable's name by the name an error uses: the field's name or its alias."""
        plain = {name: f"ALMANAC_{name.upper()}" for name in cls.model_fields}
        return plain | {"PORT": "ALMANAC_PORT"}


class ServingEnvironment(Environment):
    """The same variables for receiving deliveries: the App's credentials are required."""

    app_id: Word = Field(pattern=r"^[0-9]+$")
    private_key: Key
    webhook_secrets: Secrets = Field(validation_alias="ALMANAC_WEBHOOK_SECRET")

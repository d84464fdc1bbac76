"""Which pages of the documentation site are written from the code? `PAGES` lists them; `make docs` builds them."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import typer.main
from msgspec.structs import fields
from pydantic import AliasChoices

from bot.cli.main import app
from bot.configuration.environment import Environment
from bot.jobs import JOBS
from bot.landing.repo_config.keys import KEYS, Key
from bot.landing.repo_config.options import RepoConfig
from bot.narrative.commands import COMMAND_FORMS, CommandForm
from bot.narrative.explanation import names
from bot.setup.manifest import app_manifest
from bot.web.telemetry import ProcessState, Telemetry
from handlers import ROUTERS

ROOT = Path(__file__).parents[1]


def _table(*rows: tuple[str, ...]) -> str:
    """A Markdown table; the first row is its head."""
    head, *rest = ([cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows)
    lines = (head, ["---"] * len(head), *rest)
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def _page(title: str, source: str, *parts: str) -> str:
    note = f"Written from `{source}` by `scripts/docs_reference.py`."
    return "\n\n".join([f"# {title}", note, *(part for part in parts if part)]) + "\n"


# --- the command line ------------------------------------------------------------------------------------------------


_READING = (
    "`CLONE` is the folder of a git clone, bare or not; without one, the current folder is read. Shallow and partial "
    "clones work: what could not be read is said, and nothing is fetched. `WHO` is a complete login, email address or "
    "name. `WHEN` is a month (`2025-06`), or a date or tag in it. `almanac --install-completion` completes commands in "
    "bash, zsh and fish."
)


def command_line() -> str:
    """Every command with its arguments and options."""
    sections = (_command(name, command) for name, command in _commands(typer.main.get_command(app), "almanac"))
    codes = (
        "Exit codes: 0 means done, 1 means that a check found a difference, 2 means bad input, with one line on how to "
        "fix it. Control-C exits with 130, and a reader that goes away with 141."
    )
    return _page("Command line", "bot/cli", codes, _READING, *sections)


def _commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
        return
    for word, one in inner.items():
        yield from _commands(one, f"{name} {word}")


def _command(name: str, command: Any) -> str:
    """One command: what it does, how it is written, and each parameter."""
    params = [one for one in command.params if "--help" not in one.opts]
    words = [_metavar(one) for one in params if one.param_type_name == "argument"]
    options = [one for one in params if one.param_type_name == "option"]
    usage = " ".join([name, *words, *(["[OPTION...]"] if options else [])])
    rows = [(f"`{_metavar(one)}`", _about(one)) for one in params if one.param_type_name == "argument"]
    rows += [(f"`{_option(one)}`", _about(one)) for one in options]
    table = _table(("argument or option", "meaning"), *rows) if rows else ""
    help_text = "\n\n".join(" ".join(part.split()) for part in (command.help or "").split("\n\n"))
    return "\n\n".join(part for part in (f"## {name}", help_text, f"```text\n{usage}\n```", table) if part)


def _metavar(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def _option(param: Any) -> str:
    value = "" if getattr(param, "is_flag", False) else f" {param.metavar or 'TEXT'}"
    return ", ".join([*param.opts, *param.secondary_opts]) + value


def _about(param: Any) -> str:
    default = param.default() if callable(param.default) else param.default
    shown = isinstance(default, str) and default and not getattr(param, "is_flag", False)
    return (param.help or "") + (f" Default: `{default}`." if shown else "")


# --- settings --------------------------------------------------------------------------------------------------------


def settings() -> str:
    """Every environment variable with its default and its comment in `.env.example`."""
    rows = [
        (f"`{variable}`", default, about)
        for variable, default in _variables()
        for about in [comments_of_settings().get(variable, "")]
    ]
    table = _table(("setting", "default", "meaning"), *rows)
    link = "[Operations](../operations.md#settings) explains them and says which ones are needed for what."
    return _page("Settings", "bot/configuration/environment.py and .env.example", link, table)


def _variables() -> Iterator[tuple[str, str]]:
    for name, field in Environment.model_fields.items():
        alias = field.validation_alias
        given = alias.choices if isinstance(alias, AliasChoices) else [alias or f"ALMANAC_{name.upper()}"]
        default = field.default
        shown = "" if default in (None, "", ()) else f"`{'on' if default is True else default}`"
        yield str(given[0]), shown


@cache
def comments_of_settings() -> Mapping[str, str]:
    """The comment above each variable in `.env.example`; variables in a row share one."""
    found: dict[str, str] = {}
    comment: list[str] = []
    fresh = True
    for line in (ROOT / ".env.example").read_text("utf-8").splitlines():
        variable = re.match(r"([A-Z][A-Z_]*)=", line)
        if variable:
            found[variable[1]] = " ".join(comment)
            fresh = True
        elif line.startswith("# ---") or not line:
            comment, fresh = [], True
        elif line.startswith("#"):
            comment = [*([] if fresh else comment), line.lstrip("# ").strip()]
            fresh = False
    return MappingProxyType(found)


# --- a repository's file, comments ------------------------------------------------------------------------------------


def repository_keys() -> str:
    """Every key of `.github/almanac.yml`."""
    defaults = {field.name: field.default for field in fields(RepoConfig)}
    rows = [(f"`{key.name}`", _values(key), _default(key, defaults), key.about) for key in KEYS]
    link = "[Configuration](../configuration.md) has an example, and says how it is merged with an organisation's file."
    return _page(
        ".github/almanac.yml",
        "bot/landing/repo_config/keys.py",
        link,
        _table(("key", "value", "default", "meaning"), *rows),
    )


def _values(key: Key) -> str:
    schema = key.shape.schema()
    words = schema.get("enum")
    if isinstance(words, list):
        return ", ".join(f"`{word}`" for word in words if word)
    kinds = {"array": "a list of texts", "object": "a mapping of texts to kinds"}
    return kinds.get(str(schema.get("type")), "a text")


def _default(key: Key, defaults: Mapping[str, object]) -> str:
    value = defaults.get(key.name.replace(".", "_"))
    return f"`{value}`" if isinstance(value, str) and value else "none"


def comment_commands() -> str:
    """Every command in comments on GitHub."""
    rows = [(f"`/almanac {form.usage}`", _who(form)) for form in COMMAND_FORMS]
    explained = ", ".join(f"`{name}`" for name in names())
    return _page(
        "Commands on GitHub",
        "bot/narrative/commands.py",
        "[Commands](../commands.md) describes what each does and who may use it.",
        _table(("command", "who"), *rows),
        f"`/almanac why NAME` and `almanac explain` know these names: {explained}.",
    )


def _who(form: CommandForm) -> str:
    return "maintainers" if form.maintainers else "everybody, about themselves or their own work"


# --- GitHub, telemetry, the JSON form --------------------------------------------------------------------------------


def events_and_permissions() -> str:
    """What the App may do, which events it receives, and what each is for."""
    manifest = app_manifest()
    why = dict(re.findall(r"^  (\w+): \w+(?: # (.*))?$", (ROOT / "app.yml").read_text("utf-8"), re.MULTILINE))
    permissions = [(f"`{name}`", level, why.get(name, "")) for name, level in manifest["default_permissions"].items()]
    subscribed = set(manifest["default_events"])
    events = [
        (
            f"`{event}`",
            "subscribed" if event in subscribed else "sent to every App",
            _first_sentence(f"handlers.{event}"),
        )
        for event in sorted(ROUTERS)
    ]
    return _page(
        "Events and permissions",
        "app.yml and handlers/",
        "## Permissions",
        _table(("permission", "access", "for"), *permissions),
        "## Events",
        _table(("event", "", "what it means here"), *events),
    )


def _first_sentence(module: str) -> str:
    return " ".join((importlib.import_module(module).__doc__ or "").split("\n\n")[0].split())


def telemetry() -> str:
    """Every number of `/metrics`."""
    text = Telemetry(("push",), JOBS).text(ProcessState(ready=True, now=datetime.now(UTC))).decode()
    types = dict(re.findall(r"^# TYPE (\S+) (\w+)$", text, re.MULTILINE))
    rows = [
        (f"`{name}`", types[name], about)
        for name, about in re.findall(r"^# HELP (\S+) (.*)$", text, re.MULTILINE)
        if not name.endswith("_created")
    ]
    return _page(
        "Telemetry",
        "bot/web/telemetry.py",
        "`/metrics` serves these in Prometheus' text format to this machine, or to holders of `ALMANAC_METRICS_TOKEN`.",
        _table(("name", "type", "meaning"), *rows),
    )


def json_fields() -> str:
    """Every field of a profile's JSON form."""
    schema = json.loads((ROOT / "bot/render/profile.schema.json").read_text("utf-8"))
    rows = [(f"`{path}`", _type(one), one.get("description", "")) for path, one in _fields(schema, "", schema)]
    link = "The schema itself is [profile.schema.json](../../bot/render/profile.schema.json)."
    return _page("JSON fields", "bot/render/profile.schema.json", link, _table(("field", "type", "meaning"), *rows))


def _fields(schema: dict[str, Any], path: str, root: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each field below a schema, with its path; `[]` stands for the entries of a list."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    for name, one in schema.get("properties", {}).items():
        here = f"{path}.{name}" if path else name
        target = root["$defs"][one["$ref"].rpartition("/")[2]] if "$ref" in one else one
        yield here, {**target, **one}
        yield from _fields(one, here, root)
    if "items" in schema:
        yield from _fields(schema["items"], f"{path}[]", root)


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    found = schema.get("type", "")
    return found if isinstance(found, str) else " or ".join(map(str, found))


PAGES: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "command-line.md": command_line,
        "settings.md": settings,
        "almanac-yml.md": repository_keys,
        "github-commands.md": comment_commands,
        "events.md": events_and_permissions,
        "telemetry.md": telemetry,
        "json.md": json_fields,
    }
)

COMMITTED = ("command-line.md",)
"""the pages that documents link to, so that the repository has them too"""

if __name__ == "__main__":
    for name in COMMITTED:
        (ROOT / "docs/reference" / name).write_text(PAGES[name](), "utf-8")

"""Which settings does a repository's own file, `.github/almanac.yml`, contain?

`KEYS` in `bot.landing.repo_config.keys` is the single table of keys; this reader, the published schema and
`docs/configuration.md` follow it. The `.github` repository of an organisation may contain the same file as the default
for all its repositories.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import fields, replace

from bot.configuration.errors import UnusableInputError
from bot.landing.identity.machines import StatedMachines
from bot.landing.lines.attributes import NO_ATTRIBUTES, Attributes
from bot.landing.lines.paths import Rules
from bot.landing.message.parts import LandingSettings
from bot.landing.repo_config.files import CONFIG_PATH
from bot.landing.repo_config.keys import KEYS, Key
from bot.landing.repo_config.shapes import Report, mapping_entries, suggestion
from bot.landing.repo_config.tree import LARGEST, Node, Problem, quote_text, read_tree
from bot.model.ids import Kind

__all__ = ["CONFIG_PATH", "Errors", "Problem", "RepoConfig", "json_schema", "lint", "lint_file", "merge", "read_config"]

_MOST_PROBLEMS = 50


def _no_kinds() -> Mapping[str, Kind]:
    return MappingProxyType({})


class RepoConfig(Struct, frozen=True):
    """The settings of one repository. A field is a key of the file with underscores instead of dots."""

    on_merge: Literal["check", "comment", "off"] = "check"
    digest: Literal["issue", "discussion", "off"] = "issue"
    digest_repository: str | None = None
    first_digest: Literal["preview", "post"] = "preview"
    writer: Literal["template", "llm"] | None = None
    """None: a configured model writes for public repositories, and the templates for all others"""
    timezone: str = "UTC"
    lines_authored: tuple[str, ...] = ()
    lines_generated: tuple[str, ...] = ()
    lines_vendored: tuple[str, ...] = ()
    lines_docs: tuple[str, ...] = ()
    lines_tests: tuple[str, ...] = ()
    landing_bots: tuple[str, ...] = ()
    landing_trailers: tuple[str, ...] = ()
    machines_add: tuple[str, ...] = ()
    machines_people: tuple[str, ...] = ()
    kinds_labels: Mapping[str, Kind] = field(default_factory=_no_kinds)
    """by label in lower case"""
    kinds_scopes: Mapping[str, Kind] = field(default_factory=_no_kinds)
    """by scope in lower case"""
    stated: frozenset[str] = frozenset()
    """the fields that a file sets; all others have their default"""

    def rules(self, attributes: Attributes = NO_ATTRIBUTES) -> Rules:
        """How the repository's files are read, in addition to its .gitattributes."""
        return Rules(
            attributes=attributes,
            extra_generated=self.lines_generated,
            extra_vendored=self.lines_vendored,
            extra_docs=self.lines_docs,
            extra_tests=self.lines_tests,
            extra_authored=self.lines_authored,
        )

    def landing_settings(self) -> LandingSettings:
        """The bots and trailers that land work in this repository."""
        return LandingSettings(bots=self.landing_bots, trailers=self.landing_trailers)

    def stated_machines(self) -> StatedMachines:
        """Who is a machine or a person because the file says so."""
        added, people = (frozenset(map(str.lower, names)) for names in (self.machines_add, self.machines_people))
        return StatedMachines(added, people)


class Errors(Struct, frozen=True):
    """Why a file is not applied, by line."""

    problems: tuple[Problem, ...]


def read_config(text: str) -> RepoConfig | Errors:
    """The settings in a file's text, or all its errors. Never raises."""
    tree = read_tree(text)
    if isinstance(tree, Problem):
        return Errors((tree,))
    if tree is None or tree.empty:
        return RepoConfig()
    problems: list[Problem] = []
    values: dict[str, Any] = {}
    _read_level(tree, "", values, lambda line, message: problems.append(Problem(line, message)))
    if problems:
        return Errors(tuple(sorted(problems)[:_MOST_PROBLEMS]))
    return RepoConfig(**values, stated=frozenset(values))


def _read_level(node: Node, within: str, values: dict[str, Any], report: Report) -> None:
    level = {key.name: key for key in KEYS if key.name.startswith(within)}
    if node.shape != "mapping":
        listed = ", ".join(name.removeprefix(within) for name in level)
        report(node.line, f"{within.rstrip('.') or 'the file'} needs lines of the form `key: value`, with {listed}")
        return
    sections = {name.partition(".")[0] + "." for name in level if "." in name} if not within else set()
    for name, child in mapping_entries(node, within.rstrip("."), report):
        full = within + name.text
        if full in level:
            value = level[full].shape.read(child, full, report)
            if value is not None:
                values[full.replace(".", "_")] = value
        elif full + "." in sections:
            _read_level(child, full + ".", values, report)
        else:
            report(name.line, f"{quote_text(full)} is no key{_key_suggestion(name.text, within)}")


def _key_suggestion(word: str, within: str) -> str:
    """A suggestion for a wrong key: one of this level, else the same word on another level."""
    level_names = {key.name.removeprefix(within).partition(".")[0] for key in KEYS if key.name.startswith(within)}
    elsewhere = next((key.name for key in KEYS if word in (key.name, key.name.rpartition(".")[2])), None)
    if elsewhere:
        return f"; did you mean {elsewhere.replace('.', ': ')}?"
    return suggestion(word, tuple(sorted(level_names))) or f"; known here: {', '.join(sorted(level_names))}"


def merge(default: RepoConfig, own: RepoConfig) -> RepoConfig:
    """An organisation's settings overridden by a repository's own, key by key.

    A list that the repository sets replaces the organisation's; labels and scopes are merged, entry by entry.
    """
    overrides: dict[str, Any] = {name: getattr(own, name) for name in own.stated}
    for name in ("kinds_labels", "kinds_scopes"):
        if name in overrides:
            overrides[name] = {**getattr(default, name), **overrides[name]}
    return replace(default, **overrides, stated=default.stated | own.stated)


def lint(text: str) -> list[str]:
    """The errors in a file's text, one a line; empty if it is valid."""
    found = read_config(text)
    return [str(problem) for problem in found.problems] if isinstance(found, Errors) else []


def lint_file(path: str | Path) -> str:
    """`lint` for a file on disk, each line prefixed with the file's name; empty if it is valid.

    Raises UnusableInputError if the file cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            raw = file.read(LARGEST + 4)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no such file"
        raise UnusableInputError(f"{path}: {reason}; name a configuration file such as {CONFIG_PATH}") from None
    try:
        problems = lint(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        problems = [f"line {raw[: error.start].count(10) + 1}: the file is not UTF-8"]
    return "\n".join(f"{path}: {problem}" for problem in problems)


def json_schema() -> str:
    """The JSON Schema of the file, for editors; published as docs/almanac.schema.json."""
    properties: dict[str, Any] = {}
    for key in KEYS:
        section, dot, name = key.name.rpartition(".")
        at = properties
        if dot:
            at = properties.setdefault(section, {"type": "object", "additionalProperties": False, "properties": {}})
            at = at["properties"]
        at[name] = {"description": key.about, **key.shape.schema(), **_default(key)}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Almanac's configuration of one repository",
        "description": f"{CONFIG_PATH}; the same file in an organisation's .github repository is the default for all.",
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": properties,
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _default(key: Key) -> dict[str, object]:
    given = {each.name: each.default for each in fields(RepoConfig)}.get(key.name.replace(".", "_"))
    return {"default": given} if isinstance(given, str) else {}

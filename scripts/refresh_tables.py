"""How are the tables kept current that are read as JSON, and skill_names.txt?

    python -m scripts.refresh_tables

People edit the vocabulary (`bot/metrics/vocabulary/*.toml`), `manifests.toml`, `imports.toml` and `definitions.toml`
beside it, and `bot/landing/identity/machines.toml`. Reading TOML takes twenty times as long, and would delay every
command that measures.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from bot.metrics.skill_index import SEPARATORS, normal_name, plain_name

ROOM = Path(__file__).parent.parent / "bot" / "metrics"
MACHINE_PAGE = Path(__file__).parent.parent / "docs" / "machines.md"
_LIST = "<!-- python -m scripts.refresh_tables writes the list below -->\n\n"
IDENTITY = ROOM.parent / "landing" / "identity"

_LIKE: Mapping[str, tuple[str, ...]] = {
    "python": ("pypi",),
    "java": ("maven", "clojure"),
    "elixir": ("hex",),
    "haskell": ("hackage",),
}
"""namespaces whose names are, by convention, also names in another one"""


class Skill(NamedTuple):
    """One entry of the vocabulary. `evidence` maps a namespace to the names that indicate the skill."""

    name: str
    category: str
    evidence: Mapping[str, tuple[str, ...]]
    paths: tuple[str, ...]
    tokens: Mapping[str, tuple[str, ...]]
    words: tuple[str, ...]
    """topics, labels and synonyms"""
    home: tuple[str, ...]
    """full names, in lower case, of the repositories where the technology itself is developed"""
    common: bool
    """part of nearly every project of its language, so that it says little about a person and has half weight"""


def _as_tuple(value: Any) -> tuple[str, ...]:
    return tuple(value.split()) if isinstance(value, str) else tuple(value)


def _skill(name: str, category: str, row: Mapping[str, Any]) -> Skill:
    known = {"paths", "tokens", "topics", "also", "common", "home"}
    return Skill(
        name=name,
        category=category,
        evidence={key: _as_tuple(row[key]) for key in row if key not in known},
        paths=_as_tuple(row.get("paths", "")),
        tokens={family: _as_tuple(values) for family, values in row.get("tokens", {}).items()},
        words=(*_as_tuple(row.get("topics", "")), *_as_tuple(row.get("also", ()))),
        home=_as_tuple(row.get("home", "")),
        common=bool(row.get("common")),
    )


@cache
def skills() -> tuple[Skill, ...]:
    """Every skill of the vocabulary, by file and in the order of the file."""
    found: list[Skill] = []
    for file in sorted((ROOM / "vocabulary").glob("*.toml")):
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        found += [_skill(name, table["category"], row) for name, row in table["skills"].items()]
    return tuple(found)


def _names(all_skills: Iterable[Skill]) -> Iterator[tuple[str, str, str]]:
    for skill in all_skills:
        for namespace, names in skill.evidence.items():
            for name in names:
                for space in (namespace, *_LIKE.get(namespace, ())):
                    yield space, normal_name(space, name), skill.name


Table = dict[str, list[str]]


def _with(table: Table, key: str, skill: str) -> None:
    known = table.setdefault(key, [])
    if skill not in known:
        known.append(skill)


def _by_name(*, stems: bool) -> dict[str, Table]:
    """The names of each namespace, or the stems: those that end in `*`, without it."""
    found: dict[str, Table] = {space: {} for space in SEPARATORS}
    for space, name, skill in _names(skills()):
        if name.endswith("*") is stems:
            _with(found[space], name.rstrip("*"), skill)
    return found


def names() -> str:
    """One line per namespace: its name, and its names as JSON, so that one can be read without the others."""
    tables = _by_name(stems=False).items()
    return "".join(f"{space} {json.dumps(table, ensure_ascii=False)}\n" for space, table in tables)


def index() -> dict[str, Any]:
    """The vocabulary by all other evidence of a skill, in the fields of `bot.metrics.skill_index.Index`."""
    stems = _by_name(stems=True)
    return {
        "stems": {space: sorted(table.items(), key=lambda row: -len(row[0])) for space, table in stems.items()},
        **_by_path(),
        "tokens": _tokens(),
        "words": _words(),
        "homes": _homes(),
        "common": [one.name for one in skills() if one.common],
    }


def _homes() -> Table:
    """The skills by the full name of a repository, or by `owner/` for all of an owner's, `owner/start*` for some."""
    homes: Table = {}
    for one in skills():
        for home in one.home:
            _with(homes, home.lower(), one.name)
    return homes


def _by_path() -> dict[str, Any]:
    paths: Table = {}
    folders: Table = {}
    ends: Table = {}
    for one in skills():
        for path in one.paths:
            if path.endswith("/"):
                _with(folders, f"/{path.lower()}", one.name)
            elif "/" in path:
                _with(ends, f"/{path.lower()}", one.name)
            else:
                _with(paths, path.lower(), one.name)
    return {"paths": paths, "folders": list(folders.items()), "ends": list(ends.items())}


def _tokens() -> dict[str, list[tuple[str, str]]]:
    tokens: dict[str, list[tuple[str, str]]] = {}
    for one in skills():
        for family, found in one.tokens.items():
            tokens.setdefault(family, []).extend((token, one.name) for token in found)
    return tokens


def _words() -> dict[str, str]:
    words: dict[str, str] = {}
    for one in skills():
        for word in (one.name, *one.words):
            words.setdefault(plain_name(word), one.name)
    return words


def _rows(file: Path, name: str) -> list[dict[str, Any]]:
    """The rows `[[name]]` of a table that people edit."""
    rows: list[dict[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8"))[name]
    return rows


def machines() -> list[dict[str, Any]]:
    """The rows of `machines.toml`, with every text of words as a list."""
    rows = _rows(IDENTITY / "machines.toml", "machine")
    return [{key: _machine_field(key, value) for key, value in row.items()} for row in rows]


def _machine_field(key: str, value: Any) -> Any:
    if key == "valued":
        return [line.split(": ", 1) for line in value]
    return value if key in ("name", "kind", "since", "source") or not isinstance(value, str) else value.split()


def machine_page() -> str:
    """docs/machines.md with its list of tools as the table has them."""
    head, marker, _ = MACHINE_PAGE.read_text(encoding="utf-8").partition(_LIST)
    kinds = {"agent": "agents", "reviewer": "reviewers"}
    rows = [
        f"| {row['name']} | {kinds[row['kind']]} | {_traces(row)} | {row.get('since', '')} | {row['source']} |"
        for row in machines()
        if row["kind"] in kinds
    ]
    table = "| tool | kind | recognised by | seen since | source |\n|---|---|---|---|---|\n"
    return head + marker + table + "\n".join(sorted(rows, key=str.lower)) + "\n"


def _traces(row: Mapping[str, Any]) -> str:
    """The strongest traces, at most three, in words."""
    found = [f"`{name}`" for key in ("logins", "addresses", "keys") for name in row.get(key, ())]
    found += [f"`{key}: …{part}…`" for key, part in row.get("valued", ())]
    found += [f"“{name}”" for name in row.get("names", ())] + [f"account {number}" for number in row.get("ids", ())]
    return ", ".join(found[:3] or [f"models `{name}`" for name in row.get("models", ())])


def files() -> dict[Path, str]:
    """The required content of each file."""
    tables = {"skill_index.json": index()} | {
        f"{table}.json": _rows(ROOM / f"{table}.toml", name)
        for table, name in {"manifests": "manifest", "imports": "syntax", "definitions": "definition"}.items()
    }
    found = {ROOM / name: json.dumps(table, ensure_ascii=False, indent=1) + "\n" for name, table in tables.items()}
    machine_rows = "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in machines()) + "\n]\n"
    return found | {
        ROOM / "skill_names.txt": names(),
        IDENTITY / "machines.json": machine_rows,
        MACHINE_PAGE: machine_page(),
    }


if __name__ == "__main__":
    for file, text in files().items():
        file.write_text(text, encoding="utf-8")

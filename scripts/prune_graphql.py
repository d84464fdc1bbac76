"""Which part of GitHub's GraphQL schema do our queries use? Writes that subset to simulator/graphql.json.

    npm pack @octokit/graphql-schema@15.26.1
    python scripts/prune_graphql.py octokit-graphql-schema-15.26.1.tgz

The package (https://github.com/octokit/graphql-schema, MIT) holds the schema as introspection. The subset is what the
queries of bot/github/graphql.py, discussions.py and posts.py use, with every argument of each field; a query that the
schema does not allow is refused.
"""

from __future__ import annotations

import json
import sys
import tarfile
from pathlib import Path
from typing import Any

from bot.github import discussions
from bot.github.graphql import PARTS_QUERY, glance_query, pulls_query
from bot.github.posts import NEWEST_ISSUES
from simulator.query_language import Field, Selection, parse
from simulator.query_schema import base_type, problems

PACKAGE = "@octokit/graphql-schema"
MEMBER = "package/schema.json"
TARGET = Path(__file__).parent.parent / "simulator" / "graphql.json"
QUERIES = (
    pulls_query(1, releases=True),
    pulls_query(1, pulls=False),
    glance_query(1),
    PARTS_QUERY,
    NEWEST_ISSUES,
    *discussions.QUERIES,
)


def type_text(type_: dict[str, Any]) -> str:
    """A type in the notation of the schema language."""
    if type_["kind"] == "NON_NULL":
        return type_text(type_["ofType"]) + "!"
    return f"[{type_text(type_['ofType'])}]" if type_["kind"] == "LIST" else str(type_["name"])


def read_schema(package: Path) -> dict[str, Any]:
    """Every type of the package's schema in the format that query_schema reads."""
    with tarfile.open(package, "r:gz") as stream:
        content = stream.extractfile(MEMBER)
        if content is None:
            raise SystemExit(f"{package} does not hold {MEMBER}")
        read = json.load(content)
    found = read.get("data", read)["__schema"]
    return {one["name"]: _type(one) for one in found["types"]}


def _type(one: dict[str, Any]) -> dict[str, Any]:
    fields = {
        each["name"]: {
            "type": type_text(each["type"]),
            "args": {arg["name"]: type_text(arg["type"]) for arg in each["args"]},
        }
        for each in one.get("fields") or ()
    }
    kept = {
        "kind": one["kind"],
        "fields": fields,
        "inputs": {each["name"]: type_text(each["type"]) for each in one.get("inputFields") or ()},
        "possible": sorted(each["name"] for each in one.get("possibleTypes") or ()),
        "values": [each["name"] for each in one.get("enumValues") or ()],
    }
    return {name: value for name, value in kept.items() if value}


def used_schema(given: dict[str, Any]) -> dict[str, Any]:
    """The types and fields that the queries use."""
    found: dict[str, Any] = {}

    def keep(name: str) -> dict[str, Any]:
        if name not in found:
            found[name] = given[name] | ({"fields": {}} if "fields" in given[name] else {})
        kept: dict[str, Any] = found[name]
        return kept

    def walk(selections: tuple[Selection, ...], on: str) -> None:
        for one in selections:
            if not isinstance(one, Field):
                keep(one.on)
                walk(one.selections, one.on)
            elif one.name != "__typename":
                field = given[on]["fields"][one.name]
                keep(on)["fields"][one.name] = field
                keep(base_type(field["type"]))
                for type_ in field["args"].values():
                    inner = keep(base_type(type_))
                    for each in inner.get("inputs", {}).values():
                        keep(base_type(each))
                walk(one.selections, base_type(field["type"]))

    for text in QUERIES:
        query = parse(text)
        walk(query.selections, query.root)
    return dict(sorted(found.items()))


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        raise SystemExit(__doc__)
    given = read_schema(Path(arguments[0]))
    wrong = [problem for text in QUERIES for problem in problems(parse(text), given)]
    if wrong:
        raise SystemExit("\n".join(wrong))
    subset = {
        "description": f"A subset of npm {PACKAGE} ({MEMBER}), pruned by scripts/prune_graphql.py.",
        "license": {"name": "MIT", "url": "https://github.com/octokit/graphql-schema/blob/main/LICENSE.md"},
        "types": used_schema(given),
    }
    TARGET.write_text(json.dumps(subset, separators=(",", ":"), ensure_ascii=False) + "\n")
    print(f"{TARGET.name}: {len(subset['types'])} types, {TARGET.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main(sys.argv[1:])

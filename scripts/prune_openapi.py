"""Which operations of GitHub's REST description does the bot use? Writes that subset to simulator/openapi.json.

Source: npm `@octokit/openapi`, MIT licence, https://github.com/octokit/openapi (generated/api.github.com.json). The
package unpacks to 385 MB, so it is streamed: only that file is read, and only the operations named below are written,
with the schemas they refer to.

Use: npm pack @octokit/openapi@23.0.2 && python scripts/prune_openapi.py octokit-openapi-23.0.2.tgz
"""

from __future__ import annotations

import json
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGE = "@octokit/openapi@23.0.2"
MEMBER = "package/generated/api.github.com.json"
TARGET = Path(__file__).parent.parent / "simulator" / "openapi.json"

OPERATIONS = frozenset(
    {
        "apps/create-from-manifest",
        "apps/create-installation-access-token",
        "apps/get-authenticated",
        "apps/get-installation",
        "apps/get-webhook-config-for-app",
        "apps/get-webhook-delivery",
        "apps/list-installations",
        "apps/list-repos-accessible-to-installation",
        "apps/list-webhook-deliveries",
        "apps/redeliver-webhook-delivery",
        "checks/create",
        "checks/get",
        "checks/list-for-ref",
        "checks/set-suites-preferences",
        "checks/update",
        "issues/add-labels",
        "issues/create",
        "issues/create-comment",
        "issues/create-label",
        "issues/delete-comment",
        "issues/get",
        "issues/get-comment",
        "issues/list-comments",
        "issues/list-for-repo",
        "issues/list-labels-for-repo",
        "issues/update",
        "issues/update-comment",
        "meta/get",
        "meta/get-all-versions",
        "pulls/get",
        "pulls/list",
        "pulls/list-commits",
        "pulls/list-files",
        "pulls/list-review-comments",
        "pulls/list-reviews",
        "rate-limit/get",
        "reactions/create-for-issue-comment",
        "reactions/delete-for-issue-comment",
        "reactions/list-for-issue-comment",
        "repos/compare-commits",
        "repos/get",
        "repos/get-collaborator-permission-level",
        "repos/get-commit",
        "repos/get-content",
        "repos/list-branches",
        "repos/list-collaborators",
        "repos/list-commits",
        "repos/list-pull-requests-associated-with-commit",
        "users/get-authenticated",
        "users/get-by-username",
    }
)
ANSWERS_NEVER_GIVEN = frozenset({"415", "503"})
METHODS = ("get", "post", "put", "patch", "delete")
PROSE = frozenset({"description", "summary", "externalDocs", "example", "examples", "tags", "title", "operationId"})


def read_member(package: Path) -> dict[str, Any]:
    """The description itself, streamed from the package without unpacking the rest."""
    with tarfile.open(package, "r|gz") as stream:
        for member in stream:
            if member.name == MEMBER and (content := stream.extractfile(member)):
                description: dict[str, Any] = json.load(content)
                return description
    raise SystemExit(f"{package} does not hold {MEMBER}")


def used_paths(description: dict[str, Any]) -> dict[str, Any]:
    """The paths in use, each with only the methods in use."""
    paths: dict[str, Any] = {}
    found: set[str] = set()
    for path, methods in description["paths"].items():
        kept = {
            method: methods[method] for method in METHODS if methods.get(method, {}).get("operationId") in OPERATIONS
        }
        if kept:
            found |= {operation["operationId"] for operation in kept.values()}
            paths[path] = kept
    if missing := sorted(OPERATIONS - found):
        raise SystemExit(f"operations not in the description: {', '.join(missing)}")
    return paths


def without_prose(node: Any, *, names: bool = False) -> Any:
    """The node without examples and explanations; `names` means that its keys are names, not keywords."""
    if isinstance(node, list):
        return [without_prose(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    return {
        key: without_prose(value, names=not names and key in {"properties", "responses", "schemas"})
        for key, value in node.items()
        if names or not (key in PROSE or key.startswith("x-"))
    }


def slim_operation(operation: dict[str, Any]) -> dict[str, Any]:
    """One operation: its id, parameters, body and answers (each answer must keep a description)."""
    slim: dict[str, Any] = {"operationId": operation["operationId"]}
    for part in ("parameters", "requestBody"):
        if part in operation:
            slim[part] = without_prose(operation[part])
    slim["responses"] = {
        status: answer if "$ref" in answer else {"description": answer["description"], **without_prose(answer)}
        for status, answer in operation["responses"].items()
        if status not in ANSWERS_NEVER_GIVEN
    }
    return slim


def references(node: Any) -> Iterator[str]:
    """Every `$ref` below a node."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for entry in node:
            yield from references(entry)


def used_components(description: dict[str, Any], paths: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Every component that the paths refer to, directly or through others."""
    components: dict[str, dict[str, Any]] = {}
    waiting = sorted(set(references(paths)))
    while waiting:
        _, _, family, name = waiting.pop().split("/")
        if name in components.setdefault(family, {}):
            continue
        component = without_prose(description["components"][family][name])
        if family == "responses":
            component = {"description": description["components"][family][name]["description"], **component}
        components[family][name] = component
        waiting.extend(sorted(set(references(component))))
    return {family: dict(sorted(entries.items())) for family, entries in sorted(components.items())}


def prune(description: dict[str, Any]) -> dict[str, Any]:
    """The subset, with its source and licence."""
    paths = {
        path: {method: slim_operation(operation) for method, operation in methods.items()}
        for path, methods in sorted(used_paths(description).items())
    }
    return {
        "openapi": description["openapi"],
        "info": {
            "title": description["info"]["title"],
            "version": description["info"]["version"],
            "description": f"A subset of npm {PACKAGE} ({MEMBER}), pruned by scripts/prune_openapi.py.",
            "license": {"name": "MIT", "url": "https://github.com/octokit/openapi/blob/main/LICENSE"},
        },
        "servers": [{"url": "https://api.github.com"}],
        "paths": paths,
        "components": used_components(description, paths),
    }


def main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        raise SystemExit(__doc__)
    subset = prune(read_member(Path(arguments[0])))
    TARGET.write_text(json.dumps(subset, separators=(",", ":"), sort_keys=True, ensure_ascii=False) + "\n")
    operations = sum(len(methods) for methods in subset["paths"].values())
    print(f"{TARGET.name}: {operations} operations, {TARGET.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main(sys.argv[1:])

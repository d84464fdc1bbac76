from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.github import operations
from bot.github.operations import OPERATIONS, Operation, required_permissions
from handlers import ROUTERS

ROOT = Path(__file__).parents[2]
SENT_UNASKED = {"ping", "installation", "installation_repositories", "installation_target", "github_app_authorization"}
"""events GitHub sends to every App without a subscription"""


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "app.yml").read_text())
    return loaded


def test_the_app_subscribes_to_exactly_the_events_it_handles(manifest: dict[str, Any]) -> None:
    assert manifest["default_events"] == sorted(set(ROUTERS) - SENT_UNASKED)


def test_the_app_asks_for_exactly_the_permissions_its_calls_need(manifest: dict[str, Any]) -> None:
    assert manifest["default_permissions"] == required_permissions(*OPERATIONS)


def test_the_manifest_has_what_github_requires(manifest: dict[str, Any]) -> None:
    assert {"name", "url", "hook_attributes", "redirect_url", "public"} <= set(manifest)
    assert manifest["hook_attributes"]["url"].startswith("https://")


def test_every_operation_is_in_the_list() -> None:
    named = [value for value in vars(operations).values() if isinstance(value, Operation)]
    assert sorted(map(repr, named)) == sorted(map(repr, OPERATIONS))


def test_every_operation_of_the_list_is_called_and_nothing_else_is() -> None:
    """The rooms name an operation for each call; no address is written anywhere else."""
    names = {name for name, value in vars(operations).items() if isinstance(value, Operation)}
    used: set[str] = set()
    for module in ("auth", "reads", "pushes", "posts", "registration", "discussions", "listings", "delivery_log"):
        tree = ast.parse((ROOT / "bot" / "github" / f"{module}.py").read_text())
        used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in names}
        used |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in names}
        constants = [str(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        assert not [text for text in constants if "/pulls" in text or "/commits/" in text or "/issues/" in text]
    assert used == names


def test_a_token_is_narrowed_to_what_a_task_calls() -> None:
    assert required_permissions(*operations.POSTING_CHECKS) == {"checks": "write"}
    reading = required_permissions(*operations.READING)
    assert set(reading.values()) == {"read"}
    assert "write" not in required_permissions(operations.CHECK_RUNS, operations.COMMIT).values()


def test_a_write_combined_with_a_read_is_a_write_in_either_order() -> None:
    both = (operations.CHECK_RUNS, operations.CREATE_CHECK_RUN)
    assert required_permissions(*both) == required_permissions(*reversed(both)) == {"checks": "write"}

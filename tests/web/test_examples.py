"""GitHub's own published example payloads, signed and sent."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import pytest

from handlers import ROUTERS
from tests.web.conftest import House

PACKAGE = "@octokit/webhooks-examples@7.6.1"
EXAMPLES = 329
SECONDS = 60


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The published examples by event, installed into a temporary folder."""
    folder = tmp_path_factory.mktemp("examples")
    npm = shutil.which("npm")
    found = None
    if npm:
        (folder / "package.json").write_text("{}")
        command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", PACKAGE]
        try:
            found = subprocess.run(command, cwd=folder, capture_output=True, timeout=SECONDS, env=os.environ.copy())
        except subprocess.TimeoutExpired:
            found = None
    if found is None or found.returncode:
        reason = f"NOT RUN: {EXAMPLES} published webhook payloads, because npm cannot install {PACKAGE}"
        warnings.warn(reason, stacklevel=1)
        pytest.skip(reason)
    index = next((folder / "node_modules").rglob("webhooks-examples/api.github.com/index.json"))
    loaded: list[dict[str, Any]] = json.loads(Path(index).read_text())
    return loaded


async def test_every_published_example_is_taken_in(house: House, examples: list[dict[str, Any]]) -> None:
    sent = [(event["name"], payload) for event in examples for payload in event["examples"]]
    assert len(sent) == EXAMPLES
    answers = {}
    for number, (event, payload) in enumerate(sent):
        body = json.dumps(payload).encode()
        answers[number, event] = await house.send(body, event=event, X_GitHub_Delivery=f"example-{number}")
    assert {key: status for key, status in answers.items() if status != 202} == {}
    assert {event for _, event in answers} >= set(ROUTERS) - {"public"}


async def test_examples_of_the_app_itself_lead_to_jobs(house: House, examples: list[dict[str, Any]]) -> None:
    """Most examples were taken from repository hooks and name no installation; given one, they ask for work."""
    for event in examples:
        if event["name"] in ROUTERS:
            for number, payload in enumerate(event["examples"]):
                body = json.dumps({"installation": {"id": 5}} | payload).encode()
                guid = f"{event['name']}-{number}".replace("_", "-")
                assert await house.send(body, event=event["name"], X_GitHub_Delivery=guid) == 202
    assert {task for task, _ in house.inbox.jobs} >= {"record_pull_request", "update_installation", "update_repository"}

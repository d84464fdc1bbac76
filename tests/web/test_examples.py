"""GitHub's own published example payloads, signed and sent."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bot.github.payloads.non_code_activity import Release, Triage, read_non_code
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


async def test_every_published_example_is_accepted(house: House, examples: list[dict[str, Any]]) -> None:
    sent = [(event["name"], payload) for event in examples for payload in event["examples"]]
    assert len(sent) == EXAMPLES
    answers = {}
    for number, (event, payload) in enumerate(sent):
        body = json.dumps(payload).encode()
        answers[number, event] = await house.send(body, event=event, X_GitHub_Delivery=f"example-{number}")
    assert {key: status for key, status in answers.items() if status != 202} == {}
    without_example = {"public", "installation_target"}
    assert {event for _, event in answers} >= set(ROUTERS) - without_example


async def test_examples_of_the_app_itself_lead_to_jobs(house: House, examples: list[dict[str, Any]]) -> None:
    """Most examples were taken from repository hooks and name no installation; given one, they ask for work."""
    for event in examples:
        if event["name"] in ROUTERS:
            for number, payload in enumerate(event["examples"]):
                body = json.dumps({"installation": {"id": 5}} | payload).encode()
                guid = f"{event['name']}-{number}".replace("_", "-")
                assert await house.send(body, event=event["name"], X_GitHub_Delivery=guid) == 202
    wanted = {"record_pull_request", "update_installation", "update_repository", "observe_non_code"}
    assert {task for task, _ in house.inbox.jobs} >= wanted


def test_examples_of_issues_and_releases_show_what_was_done(examples: list[dict[str, Any]]) -> None:
    """In the examples everybody sorts their own issues: somebody else opens them here."""
    given = {event["name"]: event["examples"] for event in examples if event["name"] in ("issues", "release")}
    releases = Counter(
        (payload["action"], found.tag, found.state)
        for payload in given["release"]
        if isinstance(found := read_non_code(json.dumps(payload).encode()), Release)
    )
    assert set(releases) == {
        ("deleted", "0.0.1", "gone"),
        ("prereleased", "0.0.1", "prerelease"),
        ("published", "0.0.1", "release"),
        ("released", "0.0.1", "release"),
    }
    sorted_by = set()
    for payload in given["issues"]:
        if payload["issue"]["user"]["id"] == payload["sender"]["id"]:
            assert read_non_code(json.dumps(payload).encode()) is None
        chosen = {"assignee": {"id": 1}} if payload["action"] == "assigned" else {}
        other = payload | {"issue": payload["issue"] | {"user": {"id": 1, "login": "somebody-else"}}} | chosen
        if isinstance(found := read_non_code(json.dumps(other).encode()), Triage):
            sorted_by.add((payload["action"], found.did, found.by.login))
    assert sorted_by == {
        ("assigned", "assigned", "Codertocat"),
        ("labeled", "labelled", "Codertocat"),
        ("milestoned", "milestoned", "Codertocat"),
        ("transferred", "transferred", "Codertocat"),
    }

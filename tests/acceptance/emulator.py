"""How is the emulator (npm `emulate`) started, seeded and used?"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import aiohttp

HERE = Path(__file__).parent
REPOSITORY = "harbour/pilot"
APP_ID, INSTALLATION_ID = 4711, 815
AUTHOR, REVIEWER = "rowan-ashdown", "mika-torvald"
TOKENS = {AUTHOR: "author-token", REVIEWER: "reviewer-token"}
PERMISSIONS = {"metadata": "read", "contents": "read", "pull_requests": "write", "checks": "write", "issues": "write"}
EVENTS = ["pull_request", "pull_request_review", "push", "issue_comment", "check_run", "check_suite", "repository"]


class UnusableEmulatorError(Exception):
    """The emulator cannot be installed or does not start."""


def install() -> Path:
    """The emulator's program, from the locked versions; installed on the first run."""
    program = HERE / "node_modules" / ".bin" / "emulate"
    if program.exists():
        return program
    if shutil.which("npm") is None:
        raise UnusableEmulatorError("npm is not installed: acceptance needs Node.js 20 or newer")
    print("==> installing the emulator (once)", flush=True)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    if subprocess.run(command, cwd=HERE, check=False).returncode:
        raise UnusableEmulatorError("npm ci failed in tests/acceptance/")
    return program


def seed(private_key: str, secret: str, *, webhook_url: str) -> dict[str, Any]:
    """The emulator's initial data: an organisation, two people, one repository, one installed App."""
    installation = {"installation_id": INSTALLATION_ID, "account": "harbour", "repository_selection": "all"}
    app = {
        "app_id": APP_ID,
        "slug": "almanac",
        "name": "Almanac",
        "private_key": private_key,
        "webhook_url": webhook_url,
        "webhook_secret": secret,
        "permissions": PERMISSIONS,
        "events": EVENTS,
        "installations": [installation],
    }
    people = [{"login": login, "name": login.replace("-", " ").title()} for login in TOKENS]
    members = [{"login": login, "role": "admin"} for login in TOKENS]
    repository = {"owner": "harbour", "name": "pilot", "language": "Python", "auto_init": True}
    scopes = ["repo", "user", "admin:org"]
    return {
        "tokens": {token: {"login": login, "scopes": scopes} for login, token in TOKENS.items()},
        "github": {
            "users": people,
            "orgs": [{"login": "harbour", "name": "Harbour", "members": members}],
            "repos": [repository],
            "apps": [app],
        },
    }


async def start(seeded: dict[str, Any], folder: Path, *, port: int, shown_as: str) -> asyncio.subprocess.Process:
    """Start the emulator's own process. npx would leave a child process behind when it is stopped."""
    file = folder / "seed.json"
    file.write_text(json.dumps(seeded))  # JSON is YAML
    words = ["start", "--service", "github", "--seed", str(file), "--port", str(port), "--base-url", shown_as]
    log = (folder / "emulator.log").open("wb")
    process = await asyncio.create_subprocess_exec(str(install()), *words, stdout=log, stderr=log, env=os.environ)
    if not await _answers(f"http://127.0.0.1:{port}/meta", process):
        raise UnusableEmulatorError("the emulator does not answer:\n" + (folder / "emulator.log").read_text()[-2000:])
    return process


async def _answers(url: str, process: asyncio.subprocess.Process, seconds: float = 30) -> bool:
    async with aiohttp.ClientSession() as session, asyncio.timeout(seconds):
        while process.returncode is None:
            try:
                async with session.get(url):
                    return True
            except aiohttp.ClientError:
                await asyncio.sleep(0.1)
    return False


class Person:
    """A person who works on the emulator through its API only."""

    def __init__(self, session: aiohttp.ClientSession, url: str, login: str) -> None:
        self._session, self._url, self._login = session, url, login

    async def ask(self, method: str, path: str, **body: Any) -> Any:
        """The answer's JSON. Raises AssertionError with GitHub's error message."""
        headers = {"Authorization": f"Bearer {TOKENS[self._login]}"}
        async with self._session.request(method, self._url + path, json=body or None, headers=headers) as answer:
            found = await answer.json()
            assert answer.status < 300, f"{method} {path} -> {answer.status}: {found}"
            return found

    async def write(self, path: str, content: str, *, branch: str, message: str) -> None:
        encoded = base64.b64encode(content.encode()).decode()
        await self.ask("PUT", f"/repos/{REPOSITORY}/contents/{path}", message=message, content=encoded, branch=branch)

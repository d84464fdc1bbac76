"""Plays the runner of GitHub Actions for a composite action: inputs, conditions, environment files and outputs."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
_CONDITION = re.compile(r"([\w.-]+)\s*(==|!=)\s*'([^']*)'")


@dataclass
class Run:
    """What a run did: the output of each step that ran, by id, and the actions it would have used."""

    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    printed: dict[str, str] = field(default_factory=dict)
    used: list[str] = field(default_factory=list)
    failed: str = ""
    summary: str = ""


@dataclass
class Runner:
    """A workspace in which the steps of an action run with bash, as on GitHub's machines."""

    action: Path
    workspace: Path
    temporary: Path
    environment: Mapping[str, str]
    token: str = ""

    def play(self, given: Mapping[str, str], skipped: tuple[str, ...] = ()) -> Run:
        stated = yaml.safe_load((self.action / "action.yml").read_text("utf-8"))
        unknown = given.keys() - stated["inputs"].keys()
        assert not unknown, unknown
        defaults = {name: str(one.get("default", "")) for name, one in stated["inputs"].items()}
        values = {"github.token": self.token, "runner.temp": str(self.temporary), "github.sha": "0" * 40}
        run = Run()
        values |= {f"inputs.{name}": self._text(text, values) for name, text in (defaults | dict(given)).items()}
        for step in stated["runs"]["steps"]:
            if not _holds(step.get("if"), values) or step.get("id") in skipped:
                continue
            if "uses" in step:
                run.used.append(step["uses"])
            elif not self._step(step, values, run):
                run.failed = step["id"]
                break
        summary = self.temporary / "summary"
        run.summary = summary.read_text("utf-8") if summary.exists() else ""
        return run

    def _step(self, step: Mapping[str, Any], values: dict[str, str], run: Run) -> bool:
        files = {name: self.temporary / name for name in ("output", "summary")}
        files["output"].write_text("")
        own = {name: self._text(str(text), values) for name, text in step.get("env", {}).items()}
        paths = {"GITHUB_OUTPUT": str(files["output"]), "GITHUB_STEP_SUMMARY": str(files["summary"])}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", self._text(step["run"], values)],
            cwd=self.workspace / self._text(step.get("working-directory", "."), values),
            env=os.environ | dict(self.environment) | paths | {"GITHUB_ACTION_PATH": str(self.action)} | own,
            capture_output=True,
            text=True,
            check=False,
        )
        name = step["id"]
        rows = (row.partition("=") for row in files["output"].read_text("utf-8").splitlines() if "=" in row)
        run.outputs[name] = {key: value for key, _, value in rows}
        run.printed[name] = done.stdout + done.stderr
        values |= {f"steps.{name}.outputs.{key}": value for key, value in run.outputs[name].items()}
        return done.returncode == 0

    def _text(self, text: str, values: Mapping[str, str]) -> str:
        return _EXPRESSION.sub(lambda found: values.get(found[1], ""), text)


def _holds(condition: str | None, values: Mapping[str, str]) -> bool:
    if condition is None:
        return True
    found = _CONDITION.fullmatch(condition)
    assert found, condition
    return (values.get(found[1], "") == found[3]) == (found[2] == "==")

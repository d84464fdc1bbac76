"""Does each step of action.yml do what it says, on a shallow checkout, with the simulated GitHub as its API?"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.cli.recomputing.site.ask_github import ask_github
from bot.configuration.errors import UnusableInputError
from bot.history.clone import open_clone
from bot.landing.identity.consent import OwnEntry
from bot.landing.repo_config.files import PEOPLE_PATH
from bot.model.commit import Signature
from bot.model.ids import CommitId
from simulator.git import run_git
from simulator.server import Simulator
from simulator.work import Step
from tests.simulator.calling import AT, Scene

from .runner import Run, Runner

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "site.md").read_text("utf-8")
EXAMPLES = [
    found for found in map(yaml.safe_load, re.findall(r"(?ms)^```yaml\n(.*?)^```$", DOCUMENT)) if "jobs" in found
]
NEEDED = {"issue": {"issues": "write"}, "pages": {"pages": "write", "id-token": "write"}}
MARKERS = "# Reeds\n\n<!-- almanac:start -->\nold\n<!-- almanac:end -->\n\nThe end.\n"
ADDED = "people:\n  - ada-fen\n"


def work_on(scene: Scene) -> None:
    """Ada agrees for herself, Jo for nobody; both land work; the README has markers."""
    steps = [Step("Agree to a page", {PEOPLE_PATH: ADDED}), Step("Add markers", {"README.md": MARKERS})]
    scene.github.push(scene.repo, "main", steps, by=scene.author, at=AT)
    lens = [Step(f"Add lens {at}", {f"lens{at}.py": "value = 1\n"}) for at in range(3)]
    scene.github.push(scene.repo, "main", lens, by=scene.reviewer, at=AT)


def runner_on(scene: Scene, folder: Path, token: str) -> Runner:
    """A runner with a checkout of depth one, as actions/checkout makes it."""
    workspace, temporary = folder / "workspace", folder / "temporary"
    temporary.mkdir()
    address = f"{scene.github.url}/{scene.repo.full_name}.git"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", address, workspace], check=True, capture_output=True)
    event = temporary / "event.json"
    event.write_text(json.dumps({"repository": {"default_branch": "main", "full_name": scene.repo.full_name}}))
    environment = {
        "GITHUB_API_URL": scene.github.api_url,
        "GITHUB_REPOSITORY": scene.repo.full_name,
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_WORKSPACE": str(workspace),
    }
    return Runner(ROOT, workspace, temporary, environment, token)


async def play(scene: Scene, folder: Path, **given: str) -> tuple[Runner, Run]:
    runner = await asyncio.to_thread(runner_on, scene, folder, await scene.token())
    return runner, await asyncio.to_thread(runner.play, {"cache": "false"} | given, ("install",))


async def test_a_shallow_checkout_becomes_a_site_with_a_digest_in_the_summary(
    github: Simulator, tmp_path: Path
) -> None:
    scene = Scene.on(github)
    work_on(scene)
    runner = await asyncio.to_thread(runner_on, scene, tmp_path, await scene.token())
    run = await asyncio.to_thread(runner.play, {"cache": "false"})
    assert run.outputs["install"]["program"]
    assert run.failed == "", run.printed
    assert "fetched the history of main" in run.printed["history"]
    site = runner.workspace / run.outputs["site"]["site"]
    assert [folder.name for folder in (site / "people").iterdir()] == ["ada-fen"]
    assert "April 2026" in run.summary
    assert "Jo Marsh" not in run.summary
    everything = "".join(file.read_text() for file in site.rglob("*") if file.is_file())
    assert "Jo Marsh" not in everything
    assert "Ada Fen" in everything
    assert [name.partition("@")[0] for name in run.used] == ["actions/setup-python"]


async def test_a_line_counts_only_if_github_names_the_same_author(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene.on(github)
    work_on(scene)
    monkeypatch.setenv("GITHUB_API_URL", github.api_url)
    monkeypatch.setenv("GITHUB_TOKEN", await scene.token())
    runner = await asyncio.to_thread(runner_on, scene, tmp_path, "")
    clone = await asyncio.to_thread(open_clone, runner.workspace)
    (commit,) = [one for one in scene.repo.git.history(scene.repo.git.tip) if _agrees(scene, one)]
    author = Signature(scene.author.signature.name, scene.author.signature.email)
    for entry, wrong in (("Ada-Fen", False), (author.email, False), ("jo-marsh", True)):
        reason = await asyncio.to_thread(ask_github, clone, OwnEntry(entry, CommitId(commit), author))
        assert ("GitHub names another account" in (reason or "")) is wrong
    with pytest.raises(UnusableInputError, match="GitHub answered"):
        await asyncio.to_thread(ask_github, clone, OwnEntry("ada-fen", CommitId("f" * 40), author))


def _agrees(scene: Scene, commit: str) -> bool:
    return scene.repo.git.commits[commit].draft.message.startswith("Agree")


async def test_the_digest_is_one_comment_of_one_issue_however_often_it_runs(github: Simulator, tmp_path: Path) -> None:
    scene = Scene.on(github)
    work_on(scene)
    stranger = github.account("mallory", name="Mallory")
    github.open_issue(scene.repo, "Mine", by=stranger, at=AT, body="<!-- almanac:digest -->\nmine")
    runner, run = await play(scene, tmp_path, digest="issue", month="2026-04")
    assert run.failed == "", run.printed
    again = await asyncio.to_thread(runner.play, {"cache": "false", "digest": "issue"}, ("install",))
    assert again.failed == "", again.printed
    ours = [issue for issue in scene.repo.issues.values() if issue.title == "Monthly digest"]
    assert len(ours) == 1
    assert [request for request in github.requests if request.startswith("POST") and "/comments" in request] == [
        f"POST /repos/{scene.repo.full_name}/issues/{ours[0].number}/comments"
    ]


async def test_the_readme_gets_a_card_between_its_markers_and_nothing_else_changes(
    github: Simulator, tmp_path: Path
) -> None:
    scene = Scene.on(github)
    work_on(scene)
    given = {"readme": "README.md", "person": "ada-fen", "address": "https://fenland.example/reeds", "digest": "off"}
    runner, run = await play(scene, tmp_path, **given)
    assert run.failed == "", run.printed
    text = (runner.workspace / "README.md").read_text()
    assert re.sub(r"(?s)-->.*<!--", "--><!--", text) == re.sub(r"(?s)-->.*<!--", "--><!--", MARKERS)
    assert "https://fenland.example/reeds/people/ada-fen/index.html" in text
    for scheme in ("light", "dark"):
        assert f".github/almanac/ada-fen-{scheme}.svg" in text
        assert (runner.workspace / f".github/almanac/ada-fen-{scheme}.svg").is_file()


async def test_what_was_written_is_committed_and_pushed_once(github: Simulator, tmp_path: Path) -> None:
    scene = Scene.on(github)
    work_on(scene)
    runner = await asyncio.to_thread(runner_on, scene, tmp_path, await scene.token())
    bare = tmp_path / "bare.git"
    for command in (
        ["git", "-C", str(runner.workspace), "fetch", "--quiet", "--unshallow"],
        ["git", "clone", "--quiet", "--bare", str(runner.workspace), str(bare)],
        ["git", "-C", str(runner.workspace), "remote", "set-url", "--push", "origin", str(bare)],
    ):
        await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True)
    given = {"cache": "false", "readme": "README.md", "commit": "true", "digest": "off"}
    first = await asyncio.to_thread(runner.play, given, ("install",))
    second = await asyncio.to_thread(runner.play, given, ("install",))
    assert (first.failed, second.failed) == ("", ""), (first.printed, second.printed)
    assert "nothing to commit" in second.printed["commit"]
    pushed = run_git(bare, "show", "--stat", "main").decode()
    assert "Update the almanac [skip ci]" in pushed
    assert "README.md" in pushed


@pytest.mark.parametrize(
    ("given", "step", "words"),
    [
        ({"digest": "mail"}, "digest", "none of summary, issue, off"),
        ({"month": "1999-01"}, "digest", "nothing landed in 1999-01"),
        ({"readme": "lens0.py"}, "readme", "needs one line"),
        ({"readme": "../outside"}, "readme", "is no file of the repository"),
        ({"readme": "README.md", "person": "nobody"}, "readme", "has no page"),
        ({"timezone": "Mars"}, "site", "--timezone"),
    ],
)
async def test_bad_input_ends_its_step_with_one_line(
    github: Simulator, tmp_path: Path, given: dict[str, str], step: str, words: str
) -> None:
    scene = Scene.on(github)
    work_on(scene)
    _, run = await play(scene, tmp_path, **given)
    assert run.failed == step
    assert words in run.printed[step]
    assert "Traceback" not in run.printed[step]


def test_a_history_that_cannot_be_fetched_names_the_line_to_add(tmp_path: Path) -> None:
    origin, workspace = tmp_path / "origin", tmp_path / "workspace"
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    commit = ["git", "-C", str(origin), *who, "commit", "--allow-empty"]
    for command in (
        ["git", "init", "--quiet", "-b", "main", str(origin)],
        [*commit, "-qm1"],
        [*commit, "-qm2"],
        ["git", "clone", "--quiet", "--depth", "1", origin.as_uri(), str(workspace)],
        ["git", "-C", str(workspace), "remote", "set-url", "origin", str(tmp_path / "gone")],
    ):
        subprocess.run(command, check=True, capture_output=True)
    run = Runner(ROOT, workspace, tmp_path, {}).play({"cache": "false"}, ("install",))
    assert run.failed == "history"
    assert "fetch-depth: 0" in run.printed["history"]
    assert run.printed["history"].count("\n") == 1


def test_every_input_is_described_and_no_step_puts_an_input_into_its_script() -> None:
    stated = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    assert all(one["description"] and "default" in one for one in stated["inputs"].values())
    scripts = [step["run"] for step in stated["runs"]["steps"] if "run" in step]
    assert [script for script in scripts if "${{" in script] == []
    assert [name for name in stated["inputs"] if f"`{name}`" not in DOCUMENT] == []


# --- the worked examples of docs/site.md -----------------------------------------------------------------------------


def steps_of(example: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(example["jobs"]["almanac"]["steps"])


def inputs_of(example: Mapping[str, Any]) -> dict[str, str]:
    """What the example gives to our action."""
    (found,) = [step["with"] for step in steps_of(example) if step.get("uses", "").startswith("OWNER/almanac@")]
    return {name: str(value).replace("ada-example", "ada-fen") for name, value in found.items()}


def test_each_example_has_the_permissions_that_it_needs_and_no_others() -> None:
    assert len(EXAMPLES) == 3
    for example in EXAMPLES:
        text = json.dumps(steps_of(example))
        needed = {"contents": "write" if '"commit": "true"' in text else "read"}
        needed |= NEEDED["issue"] if '"digest": "issue"' in text else {}
        needed |= NEEDED["pages"] if "pages" in text else {}
        assert example["permissions"] == needed


async def test_the_example_of_a_person_puts_a_card_into_a_readme_and_commits_it(
    github: Simulator, tmp_path: Path
) -> None:
    scene = Scene.on(github)
    work_on(scene)
    runner = await asyncio.to_thread(runner_on, scene, tmp_path, await scene.token())
    bare = tmp_path / "bare.git"
    for command in (
        ["git", "-C", str(runner.workspace), "fetch", "--quiet", "--unshallow"],
        ["git", "clone", "--quiet", "--bare", str(runner.workspace), str(bare)],
        ["git", "-C", str(runner.workspace), "remote", "set-url", "--push", "origin", str(bare)],
    ):
        await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True)
    run = await asyncio.to_thread(runner.play, inputs_of(EXAMPLES[0]) | {"cache": "false"}, ("install",))
    assert run.failed == "", run.printed
    assert ".github/almanac/ada-fen-dark.svg" in run_git(bare, "show", "main:README.md").decode()
    assert run_git(bare, "show", "main:.github/almanac/ada-fen-dark.svg").startswith(b"<svg")


async def test_the_example_of_a_project_posts_its_digest_and_publishes_its_site(
    github: Simulator, tmp_path: Path
) -> None:
    scene = Scene.on(github)
    work_on(scene)
    runner, run = await play(scene, tmp_path, **inputs_of(EXAMPLES[1]))
    assert run.failed == "", run.printed
    assert "Monthly digest" in {issue.title for issue in scene.repo.issues.values()}
    assert [name.partition("@")[0] for name in run.used][1:] == [
        "actions/upload-pages-artifact",
        "actions/deploy-pages",
    ]
    assert (runner.workspace / run.outputs["site"]["site"] / "index.html").is_file()


async def test_the_example_of_an_organisation_makes_one_site_of_its_repositories(
    github: Simulator, tmp_path: Path
) -> None:
    scene = Scene.on(github)
    work_on(scene)
    runner = await asyncio.to_thread(runner_on, scene, tmp_path, await scene.token())
    checked_out = [step["with"]["path"] for step in steps_of(EXAMPLES[2]) if "path" in step.get("with", {})]
    (script,) = [step["run"] for step in steps_of(EXAMPLES[2]) if "run" in step]
    workspace = tmp_path / "several"
    workspace.mkdir()
    (workspace / "almanac").symlink_to(ROOT)
    (workspace / "rocket").symlink_to(runner.workspace)
    await asyncio.to_thread(_probe, workspace / "probe")
    environment = {**os.environ, **runner.environment, "GITHUB_TOKEN": runner.token}
    await asyncio.to_thread(
        subprocess.run, ["bash", "-eo", "pipefail", "-c", script], cwd=workspace, env=environment, check=True
    )
    known = json.loads((workspace / "site" / "site.json").read_text())["repositories"]
    assert [one["name"] for one in known] == ["acme/probe", scene.repo.full_name]
    assert {"rocket", "probe", "almanac", "site"} == set(checked_out)


def _probe(folder: Path) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    git = ["git", "-C", str(folder)]
    for command in (
        ["git", "init", "--quiet", "-b", "main", str(folder)],
        [*git, *who, "commit", "--allow-empty", "-qm", "Begin"],
        [*git, "remote", "add", "origin", "https://github.com/acme/probe.git"],
    ):
        subprocess.run(command, check=True, capture_output=True)

"""Are requests answered as GitHub answers them? (The fixture checks each answer against GitHub's description.)"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from openapi_core import OpenAPI

from simulator.server import Simulator
from simulator.web_host import web
from simulator.work import NewPullRequest, Step
from tests.contract import Contract, description
from tests.simulator.calling import AT, Scene, app_token

REPO = "/repos/fenland/reeds"


def test_the_openapi_description_is_valid() -> None:
    OpenAPI.from_dict(description())


async def test_a_squash_merged_pull_request_reads_as_one_commit(github: Simulator) -> None:
    scene = Scene.on(github)
    pull = scene.pull()
    github.review(scene.repo, pull, ("APPROVED", "Good."), by=scene.reviewer, at=AT)
    (landed,) = github.merge(scene.repo, pull, "squash", by=scene.reviewer, at=AT)
    token = await scene.token()
    _, shown, _ = await scene.ask("GET", f"{REPO}/pulls/1", token)
    names = ("merged", "merge_commit_sha", "changed_files", "additions")
    assert tuple(shown[name] for name in names) == (True, landed, 1, 1)
    _, commit, _ = await scene.ask("GET", f"{REPO}/commits/{landed}", token)
    assert commit["commit"]["message"] == "Add one (#1)\n\nBecause."
    assert (commit["author"]["login"], commit["committer"]["login"]) == ("ada-fen", "web-flow")
    assert commit["files"][0]["patch"] == "@@ -0,0 +1 @@\n+print(1)"


async def test_every_read_operation_matches_the_description(github: Simulator) -> None:
    scene = Scene.on(github)
    pull = scene.pull()
    review = github.review(scene.repo, pull, ("COMMENTED", "Hm."), by=scene.reviewer, at=AT)
    github.remark(pull, review, "src/one.py", body="Why?")
    github.merge(scene.repo, pull, "merge", by=scene.reviewer, at=AT)
    back = github.revert(scene.repo, pull, by=scene.reviewer, at=AT)
    github.merge(scene.repo, back, "rebase", by=scene.author, at=AT)
    token, tip = await scene.token(), scene.repo.git.tip
    paths = (
        "",
        "/branches",
        "/commits",
        "/commits/main",
        f"/commits/{tip}/pulls",
        "/commits/main/check-runs?filter=all",
        "/compare/main...main",
        "/contents/README.md",
        "/collaborators/ada-fen/permission",
        "/pulls?state=all",
        "/pulls/1",
        "/pulls/1/files",
        "/pulls/1/commits",
        "/pulls/1/reviews",
        "/pulls/1/comments",
        "/labels",
        "/issues?state=all",
        "/issues/1",
        "/issues/1/comments",
    )
    for path in paths:
        assert (await scene.ask("GET", REPO + path, token))[0] == 200, path
    for path in ("/installation/repositories", "/meta", "/versions", "/rate_limit", "/users/ada-fen"):
        assert (await scene.ask("GET", path, token))[0] == 200, path
    for path in ("/app", "/app/installations", f"/app/installations/{scene.installation.id}", "/app/hook/deliveries"):
        assert (await scene.ask("GET", path, app_token(scene.app)))[0] == 200, path


async def test_a_check_run_is_created_once_and_then_edited(github: Simulator) -> None:
    scene = Scene.on(github)
    token = await scene.token(permissions={"checks": "write"})
    output = {"title": "Counted", "summary": "One commit."}
    run = {"name": "almanac", "head_sha": scene.repo.git.tip, "conclusion": "neutral", "output": output}
    status, made, _ = await scene.ask("POST", f"{REPO}/check-runs", token, json=run)
    assert (status, made["status"], made["conclusion"]) == (201, "completed", "neutral")
    changed = {"output": output | {"summary": "Two."}}
    assert (await scene.ask("PATCH", f"{REPO}/check-runs/{made['id']}", token, json=changed))[0] == 200
    _, listed, _ = await scene.ask("GET", f"{REPO}/commits/main/check-runs?check_name=almanac", token)
    assert [entry["output"]["summary"] for entry in listed["check_runs"]] == ["Two."]


async def test_issues_comments_labels_and_reactions_are_kept(github: Simulator) -> None:
    scene = Scene.on(github)
    token = await scene.token(permissions={"issues": "write"})
    _, issue, _ = await scene.ask("POST", f"{REPO}/issues", token, json={"title": "Digest", "labels": ["almanac"]})
    here = f"{REPO}/issues/{issue['number']}"
    assert (await scene.ask("PATCH", here, token, json={"body": "New."}))[1]["body"] == "New."
    _, comment, _ = await scene.ask("POST", f"{here}/comments", token, json={"body": "March"})
    assert comment["performed_via_github_app"]["slug"] == "almanac"
    there = f"{REPO}/issues/comments/{comment['id']}"
    assert (await scene.ask("PATCH", there, token, json={"body": "April"}))[1]["body"] == "April"
    assert (await scene.ask("POST", f"{there}/reactions", token, json={"content": "eyes"}))[0] == 201
    assert (await scene.ask("POST", f"{there}/reactions", token, json={"content": "eyes"}))[0] == 200
    assert (await scene.ask("DELETE", there, token))[0] == 204
    assert (await scene.ask("GET", f"{here}/comments", token))[1] == []


async def test_texts_beyond_githubs_limits_are_refused(github: Simulator) -> None:
    scene = Scene.on(github)
    token = await scene.token()
    long = {"title": "x", "body": "x" * 65_537}
    assert (await scene.ask("POST", f"{REPO}/issues", token, json=long))[0] == 422
    run = {"name": "a", "head_sha": scene.repo.git.tip, "output": {"title": "t", "summary": "x" * 65_536}}
    assert (await scene.ask("POST", f"{REPO}/check-runs", token, json=run))[0] == 422


async def test_lists_come_in_pages_with_links(github: Simulator) -> None:
    scene = Scene.on(github)
    steps = [Step(f"Change {n}", {"a": f"{n}\n"}) for n in range(7)]
    github.open_pull(scene.repo, NewPullRequest("Many", scene.author, steps, "many"), at=AT)
    token = await scene.token()
    url, titles = f"{github.api_url}{REPO}/pulls/1/commits?per_page=3", []
    for _ in range(3):
        _, page, headers = await scene.ask("GET", url, token)
        titles += [entry["commit"]["message"] for entry in page]
        links = {part.split('rel="')[1][:-1]: part.split("<")[1].split(">")[0] for part in headers["Link"].split(", ")}
        url = links.get("next", url)
    assert titles == [f"Change {n}" for n in range(7)]


async def test_a_large_commit_shows_300_files_a_page_and_3000_in_all(github: Simulator) -> None:
    scene = Scene.on(github)
    files = {f"d/{n:04d}": f"{n}\n" for n in range(3100)}
    (tip,) = github.push(scene.repo, "main", [Step("Many files", files)], by=scene.author, at=AT)
    token = await scene.token()
    _, first, headers = await scene.ask("GET", f"{REPO}/commits/{tip}", token)
    assert (len(first["files"]), first["stats"]["additions"]) == (300, 3100)
    assert 'page=10>; rel="last"' in headers["Link"]


async def test_a_renamed_repository_redirects_to_its_id(github: Simulator) -> None:
    scene = Scene.on(github)
    github.rename(scene.repo, "rushes", by=scene.author)
    token = await scene.token()
    status, _, headers = await scene.ask("GET", f"{REPO}/pulls", token)
    assert status == 301
    assert headers["Location"] == f"{github.api_url}/repositories/{scene.repo.id}/pulls"
    assert (await scene.ask("GET", headers["Location"], token))[0] == 200


async def test_an_unchanged_response_is_304_and_free(github: Simulator) -> None:
    scene = Scene.on(github)
    token = await scene.token()
    _, _, first = await scene.ask("GET", REPO, token)
    tagged = {"If-None-Match": first["ETag"]}
    status, _, second = await scene.ask("GET", REPO, token, headers=tagged)
    assert (status, second["X-RateLimit-Used"]) == (304, first["X-RateLimit-Used"])


async def test_a_merge_bot_closes_unmerged_and_leaves_its_trailers(github: Simulator) -> None:
    scene = Scene.on(github)
    landed = github.land_by_bot(scene.repo, scene.pull(), bot=github.bot("mergebot[bot]"), at=AT)
    _, pull, _ = await scene.ask("GET", f"{REPO}/pulls/1", await scene.token())
    assert (pull["state"], pull["merged"], pull["merge_commit_sha"]) == ("closed", False, None)
    message = scene.repo.git.commits[landed].draft.message
    assert f"Pull Request resolved: {web()}/fenland/reeds/pull/1" in message


async def test_git_can_clone_with_a_token_and_not_without(github: Simulator, tmp_path: Path) -> None:
    scene = Scene.on(github)
    scene.repo.private = True

    async def clone(url: str, name: str) -> int:
        quiet = {"GIT_TERMINAL_PROMPT": "0", "PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull}
        started = await asyncio.create_subprocess_exec(
            "git", "clone", "-q", url, str(tmp_path / name), stderr=asyncio.subprocess.DEVNULL, env=quiet
        )
        return await started.wait()

    host = github.url.removeprefix("http://")
    token = await scene.token(permissions={"contents": "read"})
    assert await clone(f"http://x-access-token:{token}@{host}/fenland/reeds.git", "with") == 0
    assert (tmp_path / "with" / "README.md").read_text() == "# Reeds\n"
    assert await clone(f"http://{host}/fenland/reeds.git", "without") != 0


@pytest.mark.parametrize(
    "path", [f"{REPO}/nonsense", f"{REPO}/pulls?frobnicate=1", f"{REPO}/issues/comments/1/nonsense"]
)
async def test_requests_outside_the_description_are_reported(path: str) -> None:
    contract = Contract()
    async with Simulator(observer=contract) as github:
        scene = Scene.on(github)
        await scene.ask("GET", path, None)
    assert len(contract.violations) == 1


async def test_a_body_outside_the_description_is_reported() -> None:
    contract = Contract()
    async with Simulator(observer=contract) as github:
        scene = Scene.on(github)
        run = {"name": "a", "head_sha": scene.repo.git.tip, "conclusion": "splendid"}
        await scene.ask("POST", f"{REPO}/check-runs", await scene.token(), json=run)
    assert any("request" in violation for violation in contract.violations)

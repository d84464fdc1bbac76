"""How does GitHub represent a check run in JSON?"""

from __future__ import annotations

from simulator.shapes.accounts import app
from simulator.shapes.conversations import pull
from simulator.state import Json, SimCheckRun, SimRepository
from simulator.web_host import web


def check_run(api: str, repo: SimRepository, found: SimCheckRun) -> Json:
    url = f"{api}/repos/{repo.full_name}/check-runs/{found.id}"
    output = found.fields.get("output") or {}
    head = found.fields["head_sha"]
    output_shape = {
        "title": output.get("title"),
        "summary": output.get("summary"),
        "text": output.get("text"),
        "annotations_count": len(output.get("annotations", [])),
        "annotations_url": f"{url}/annotations",
    }
    page = f"{web()}/{repo.full_name}/runs/{found.id}"
    requests = [pull(api, repo, entry) for entry in repo.pulls if entry.head == head and entry.head_repository is repo]
    return {
        "id": found.id,
        "node_id": f"CR_{found.id}",
        "head_sha": head,
        "external_id": found.fields.get("external_id", ""),
        "url": url,
        "html_url": page,
        "details_url": found.fields.get("details_url") or page,
        "status": found.fields.get("status", "queued"),
        "conclusion": found.fields.get("conclusion"),
        "started_at": found.fields.get("started_at"),
        "completed_at": found.fields.get("completed_at"),
        "output": output_shape,
        "name": found.fields["name"],
        "check_suite": {"id": found.app.id},
        "app": app(api, found.app),
        "pull_requests": [_minimal_pull(repo, entry) for entry in requests],
    }


def _minimal_pull(repo: SimRepository, shape: Json) -> Json:
    target = {"id": repo.id, "url": shape["base"]["repo"]["url"], "name": repo.name}
    ends = {side: {"ref": shape[side]["ref"], "sha": shape[side]["sha"], "repo": target} for side in ("head", "base")}
    return {"id": shape["id"], "number": shape["number"], "url": shape["url"], **ends}

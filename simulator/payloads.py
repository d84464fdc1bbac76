"""What does a webhook delivery contain? The payload of each event that the simulator sends."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.shapes.accounts import app, installation, maybe_user, user
from simulator.shapes.checks import check_run
from simulator.shapes.conversations import comment, full_pull, issue, review
from simulator.shapes.discussions import discussion, discussion_reply
from simulator.shapes.repositories import full_repository
from simulator.state import (
    Comment,
    Discussion,
    DiscussionComment,
    Issue,
    Json,
    SimAccount,
    SimApp,
    SimCheckRun,
    SimInstallation,
    SimPullRequest,
    SimRepository,
    SimReview,
)
from simulator.web_host import web


def pull_request(api: str, repo: SimRepository, action: str, *, pull: SimPullRequest) -> Json:
    shape = full_pull(api, repo, pull)
    return {"action": action, "number": pull.number, "pull_request": shape}


def pull_request_review(api: str, repo: SimRepository, pull: SimPullRequest, *, entry: SimReview) -> Json:
    shape = review(api, repo, (pull, entry))
    return {
        "action": "submitted",
        "pull_request": full_pull(api, repo, pull),
        "review": shape | {"state": entry.state.lower()},
    }


def issues(api: str, repo: SimRepository, action: str, *, found: Issue) -> Json:
    return {"action": action, "issue": issue(api, repo, found)}


def issue_comment(api: str, repo: SimRepository, action: str, *, found: Comment) -> Json:
    return {"action": action, "issue": issue(api, repo, found.issue), "comment": comment(api, repo, found)}


def discussion_comment(api: str, repo: SimRepository, found_in: Discussion, *, found: DiscussionComment) -> Json:
    return {
        "action": "created",
        "discussion": discussion(api, repo, found_in),
        "comment": discussion_reply(api, repo, found_in, found=found),
    }


def checks(api: str, repo: SimRepository, action: str, *, found: SimCheckRun) -> Json:
    return {"action": action, "check_run": check_run(api, repo, found)}


def check_suite(api: str, repo: SimRepository, action: str, *, suite: tuple[int, SimApp, str]) -> Json:
    number, found, head = suite
    shape = {"id": number, "head_sha": head, "status": "queued", "conclusion": None, "app": app(api, found)}
    return {"action": action, "check_suite": shape}


def push(api: str, repo: SimRepository, moved: tuple[str, str | None, str], *, sender: SimAccount) -> Json:
    """`moved` is (ref, before, after). Lists at most 2,048 commits, like GitHub."""
    ref, before, after = moved
    known = repo.git.reachable(before) if before else frozenset()
    ids = repo.git.history(after, without=known)[::-1]
    commits = [_pushed_commit(repo, id_) for id_ in ids[:2048]]
    return {
        "ref": ref,
        "before": before or "0" * 40,
        "after": after,
        "base_ref": None,
        "created": before is None,
        "deleted": False,
        "forced": before is not None and before not in repo.git.reachable(after),
        "compare": f"{web()}/{repo.full_name}/compare/{(before or after)[:12]}...{after[:12]}",
        "commits": commits,
        "head_commit": _pushed_commit(repo, after),
        "pusher": {"name": sender.login, "email": sender.signature.email},
    }


def _pushed_commit(repo: SimRepository, id_: str) -> Json:
    found = repo.git.commits[id_]
    draft = found.draft
    before, after = (repo.git.commits[found.parents[0]].tree if found.parents else {}), found.tree
    named = {
        "added": sorted(after.keys() - before.keys()),
        "removed": sorted(before.keys() - after.keys()),
        "modified": sorted(path for path in after.keys() & before.keys() if after[path] != before[path]),
    }
    people = {"author": draft.author, "committer": draft.committer}
    return {
        "id": id_,
        "tree_id": found.tree_id,
        "distinct": True,
        "message": draft.message.removesuffix("\n"),
        "timestamp": draft.committed_at.isoformat(),
        "url": f"{web()}/{repo.full_name}/commit/{id_}",
        **{role: {"name": person.name, "email": person.email} for role, person in people.items()},
        **named,
    }


def installation_event(api: str, found: SimInstallation, action: str, *, repositories: Sequence[SimRepository]) -> Json:
    return {
        "action": action,
        "installation": installation(api, found),
        "repositories": [_repository_summary(r) for r in repositories],
    }


def selection_event(
    api: str, found: SimInstallation, change: tuple[Sequence[SimRepository], Sequence[SimRepository]]
) -> Json:
    """An installation_repositories payload; `change` is (added, removed)."""
    added, removed = change
    return {
        "action": "added" if added else "removed",
        "installation": installation(api, found),
        "repository_selection": "all" if found.selection is None else "selected",
        "repositories_added": [_repository_summary(entry) for entry in added],
        "repositories_removed": [_repository_summary(entry) for entry in removed],
        "requester": None,
    }


def _repository_summary(repo: SimRepository) -> Json:
    ids = {"id": repo.id, "node_id": f"R_{repo.id}", "name": repo.name}
    return {**ids, "full_name": repo.full_name, "private": repo.private}


def event_context(api: str, repo: SimRepository | None, sender: SimAccount | None) -> Json:
    """The fields that every repository event also carries."""
    context: Json = {"sender": maybe_user(api, sender)}
    if repo:
        context["repository"] = full_repository(api, repo)
        if repo.owner.type == "Organization":
            context["organization"] = {"login": repo.owner.login, "id": repo.owner.id, **_links(api, repo.owner)}
    return context


def _links(api: str, owner: SimAccount) -> Json:
    shape = user(api, owner)
    return {"node_id": shape["node_id"], "url": f"{api}/orgs/{owner.login}", "avatar_url": shape["avatar_url"]}

"""How are requests about issues, comments, labels and reactions answered?"""

from __future__ import annotations

from simulator.access import RefusedError
from simulator.calls import ApiResponse, Call, list_page
from simulator.shapes import conversations as shapes
from simulator.state import Comment, Reaction, SimLabel

LONGEST_BODY = 65_536
"""characters of a comment or issue body; a longer one is a 422"""


def _body(call: Call) -> str:
    text = call.text("body")
    _check_length(text)
    return text


def _check_length(text: str) -> None:
    if len(text) > LONGEST_BODY:
        message = f"body is too long (maximum is {LONGEST_BODY} characters)"
        raise RefusedError(422, "Validation Failed", errors=[{"code": "custom", "field": "body", "message": message}])


def list_issues(call: Call) -> ApiResponse:
    """Filtered by `state`, `labels`, `creator` and `since`; includes pull requests, as on GitHub."""
    wanted = call.query.get("state", "open")
    names = set(filter(None, call.query.get("labels", "").split(",")))
    creator = call.query.get("creator")
    found = [entry for entry in call.repo.issues.values() if wanted in {"all", entry.state}]
    found = [entry for entry in found if names <= {label.name for label in entry.labels}]
    found = [entry for entry in found if creator is None or (entry.user and entry.user.login == creator)]
    found.sort(key=lambda entry: entry.number, reverse=call.query.get("direction", "desc") == "desc")
    return list_page(call, found, lambda entry: shapes.issue(call.api, call.repo, entry))


def create_issue(call: Call) -> ApiResponse:
    title, body = call.text("title"), call.body.get("body") or ""
    _check_length(body)
    app = call.caller.acting_app
    issue = call.github.open_issue(call.repo, title, by=app.account, at=call.state.clock(), body=body)
    issue.app = app
    issue.labels = _labels(call)
    return ApiResponse(shapes.issue(call.api, call.repo, issue), status=201)


def _labels(call: Call) -> list[SimLabel]:
    wanted = call.body.get("labels") or []
    return [call.github.label(call.repo, entry if isinstance(entry, str) else entry["name"]) for entry in wanted]


def get_issue(call: Call) -> ApiResponse:
    return ApiResponse(shapes.issue(call.api, call.repo, call.issue))


def update_issue(call: Call) -> ApiResponse:
    call.caller.acting_app  # noqa: B018  # refuses a caller without a token
    issue, now = call.issue, call.state.clock()
    _check_length(call.body.get("body") or "")
    issue.revisions.append(issue.body)
    issue.title, issue.body = call.body.get("title", issue.title), call.body.get("body", issue.body)
    if "labels" in call.body:
        issue.labels = _labels(call)
    if "state" in call.body:
        issue.closed_at = now if call.body["state"] == "closed" else None
    issue.updated_at = now
    return get_issue(call)


def add_labels(call: Call) -> ApiResponse:
    present = {entry.name for entry in call.issue.labels}
    call.issue.labels += [entry for entry in _labels(call) if entry.name not in present]
    return ApiResponse([shapes.label(call.api, call.repo, entry) for entry in call.issue.labels])


def list_labels(call: Call) -> ApiResponse:
    return list_page(call, list(call.repo.labels.values()), lambda entry: shapes.label(call.api, call.repo, entry))


def create_label(call: Call) -> ApiResponse:
    name = call.text("name")
    if name in call.repo.labels:
        raise RefusedError(
            422, "Validation Failed", errors=[{"code": "already_exists", "field": "name", "resource": "Label"}]
        )
    label = call.github.label(call.repo, name, color=call.body.get("color", "ededed"))
    label.description = call.body.get("description") or ""
    return ApiResponse(shapes.label(call.api, call.repo, label), status=201)


def list_comments(call: Call) -> ApiResponse:
    return list_page(call, call.issue.comments, lambda entry: shapes.comment(call.api, call.repo, entry))


def create_comment(call: Call) -> ApiResponse:
    body, app = _body(call), call.caller.acting_app
    comment = call.github.comment(call.repo, call.issue, body, by=app.account, at=call.state.clock())
    comment.app = app
    return ApiResponse(shapes.comment(call.api, call.repo, comment), status=201)


def _comment(call: Call) -> Comment:
    number = int(call.names["number"])
    for issue in call.repo.issues.values():
        for entry in issue.comments:
            if entry.id == number:
                return entry
    raise RefusedError(404, "Not Found")


def _own_comment(call: Call) -> Comment:
    found = _comment(call)
    if found.app is not call.caller.acting_app:
        raise RefusedError(403, "Resource not accessible by integration")
    return found


def get_comment(call: Call) -> ApiResponse:
    return ApiResponse(shapes.comment(call.api, call.repo, _comment(call)))


def update_comment(call: Call) -> ApiResponse:
    found = _own_comment(call)
    found.revisions.append(found.body)
    found.body, found.updated_at = _body(call), call.state.clock()
    call.github.send_comment(call.repo, "edited", found)
    return get_comment(call)


def delete_comment(call: Call) -> ApiResponse:
    found = _own_comment(call)
    found.issue.comments.remove(found)
    call.github.send_comment(call.repo, "deleted", found)
    return ApiResponse(status=204)


def list_reactions(call: Call) -> ApiResponse:
    return list_page(call, _comment(call).reactions, lambda entry: shapes.reaction(call.api, entry))


def create_reaction(call: Call) -> ApiResponse:
    """Answer 201, or 200 if the same reaction exists already."""
    found, content, who = _comment(call), call.text("content"), call.caller.acting_app.account
    for entry in found.reactions:
        if entry.content == content and entry.user is who:
            return ApiResponse(shapes.reaction(call.api, entry))
    made = Reaction(call.state.new_id(), who, content, call.state.clock())
    found.reactions.append(made)
    return ApiResponse(shapes.reaction(call.api, made), status=201)


def delete_reaction(call: Call) -> ApiResponse:
    found = _comment(call)
    found.reactions = [entry for entry in found.reactions if str(entry.id) != call.names["reaction"]]
    return ApiResponse(status=204)

"""How are requests about check runs answered?"""

from __future__ import annotations

from simulator import payloads
from simulator.access import RefusedError
from simulator.calls import ApiResponse, Call, list_page
from simulator.shapes.accounts import stamp
from simulator.shapes.checks import check_run
from simulator.shapes.repositories import full_repository
from simulator.state import Json, SimCheckRun

LONGEST_TEXT = 65_535
MOST_ANNOTATIONS = 50
MOST_ACTIONS = 3
FIELDS = (
    "name",
    "head_sha",
    "status",
    "conclusion",
    "started_at",
    "completed_at",
    "details_url",
    "external_id",
    "output",
)


def _validated_fields(call: Call) -> Json:
    """The validated fields of a check run. Raises RefusedError 422 where GitHub would."""
    output = call.body.get("output") or {}
    too_long = [name for name in ("summary", "text") if len(output.get(name) or "") > LONGEST_TEXT]
    if too_long:
        raise RefusedError(
            422,
            f"Invalid request.\n\nOnly {LONGEST_TEXT} characters are allowed for {too_long[0]}.",
        )
    if len(output.get("annotations") or []) > MOST_ANNOTATIONS or len(call.body.get("actions") or []) > MOST_ACTIONS:
        raise RefusedError(422, "Invalid request.\n\nNo more than 50 annotations and 3 actions are allowed.")
    fields = {name: call.body[name] for name in FIELDS if name in call.body}
    if fields.get("conclusion"):
        fields["status"] = "completed"
        fields.setdefault("completed_at", stamp(call.state.clock()))
    return fields


def create(call: Call) -> ApiResponse:
    call.text("name")
    head, app = call.text("head_sha"), call.caller.acting_app
    if head not in call.repo.git.commits:
        raise RefusedError(422, f"No commit found for SHA: {head}")
    begun = {"status": "queued", "started_at": stamp(call.state.clock())}
    found = SimCheckRun(call.state.new_id(), app, begun | _validated_fields(call))
    call.repo.checks[found.id] = found
    _send(call, "created", found)
    return ApiResponse(check_run(call.api, call.repo, found), status=201)


def _send(call: Call, action: str, found: SimCheckRun) -> None:
    payload = payloads.checks(call.api, call.repo, action, found=found)
    call.github.send_event(call.repo, "check_run", payload, sender=found.app.account)


def _find_run(call: Call) -> SimCheckRun:
    found = call.repo.checks.get(int(call.names["number"]))
    if found is None:
        raise RefusedError(404, "Not Found")
    return found


def get(call: Call) -> ApiResponse:
    return ApiResponse(check_run(call.api, call.repo, _find_run(call)))


def update(call: Call) -> ApiResponse:
    found = _find_run(call)
    if found.app is not call.caller.acting_app:
        raise RefusedError(
            403, "Invalid app_id `{app_id}` - check run can only be modified by the GitHub App that created it."
        )
    found.fields |= _validated_fields(call)
    _send(call, "completed" if found.fields.get("conclusion") else "created", found)
    return get(call)


def set_suite_preferences(call: Call) -> ApiResponse:
    """Whether GitHub opens check suites by itself, for each App that is named."""
    chosen = call.body.get("auto_trigger_checks") or []
    for one in chosen:
        (call.repo.no_suites_for.discard if one["setting"] else call.repo.no_suites_for.add)(one["app_id"])
    shape = full_repository(call.api, call.repo)
    return ApiResponse({"preferences": {"auto_trigger_checks": chosen}, "repository": shape})


def list_for_ref(call: Call) -> ApiResponse:
    """Filtered by `check_name`, `status`, `app_id`; newest first, only the latest of a name unless `filter` is all."""
    commit = call.repo.git.resolve(call.names["ref"])
    runs = [entry for entry in call.repo.checks.values() if commit and entry.fields["head_sha"] == commit.id]
    for field in ("name", "status"):
        wanted = call.query.get("check_name" if field == "name" else field)
        runs = [entry for entry in runs if wanted is None or entry.fields[field] == wanted]
    if app_id := call.query.get("app_id"):
        runs = [entry for entry in runs if str(entry.app.id) == app_id]
    if call.query.get("filter", "latest") == "latest":
        runs = list({(entry.app.id, entry.fields["name"]): entry for entry in runs}.values())
    return list_page(call, runs[::-1], lambda entry: check_run(call.api, call.repo, entry), key="check_runs")

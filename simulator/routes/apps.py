"""How are an App's requests about itself answered: installations, tokens, deliveries, versions, limits?"""

from __future__ import annotations

from simulator import deliveries
from simulator.access import RefusedError, mint
from simulator.calls import ApiResponse, Call, list_page, page_of
from simulator.shapes.accounts import app, installation, public_user, token
from simulator.shapes.repositories import repository
from simulator.state import SimInstallation

VERSIONS = ("2026-03-10", "2022-11-28")
RESOURCES = ("core", "search", "graphql")


def meta(call: Call) -> ApiResponse:
    return ApiResponse({"verifiable_password_authentication": False, "hooks": ["127.0.0.0/8"]})


def versions(call: Call) -> ApiResponse:
    return ApiResponse(list(VERSIONS))


def rate_limit(call: Call) -> ApiResponse:
    limits = {name: {"limit": 5000, "remaining": 5000, "reset": 0, "used": 0} for name in RESOURCES}
    return ApiResponse({"resources": limits, "rate": limits["core"]})


def get_app(call: Call) -> ApiResponse:
    return ApiResponse(app(call.api, call.app))


def _installation(call: Call) -> SimInstallation:
    found = call.state.installations.get(int(call.names["number"]))
    if found is None or found.app is not call.app:
        raise RefusedError(404, "Not Found")
    return found


def list_installations(call: Call) -> ApiResponse:
    mine = [found for found in call.state.installations.values() if found.app is call.app]
    return list_page(call, mine, lambda found: installation(call.api, found))


def get_installation(call: Call) -> ApiResponse:
    return ApiResponse(installation(call.api, _installation(call)))


def create_token(call: Call) -> ApiResponse:
    return ApiResponse(token(mint(call.state, _installation(call), call.body)), status=201)


def list_repositories(call: Call) -> ApiResponse:
    if call.caller.token is None:
        raise RefusedError(403, "You must authenticate with an installation access token.")
    chosen = call.caller.token.repositories
    visible = [
        found for found in call.state.visible_to(call.caller.token.installation) if chosen is None or found.id in chosen
    ]
    answer = list_page(call, visible, lambda found: repository(call.api, found), key="repositories")
    return ApiResponse({**answer.body, "repository_selection": "selected" if chosen else "all"}, headers=answer.headers)


def get_user(call: Call) -> ApiResponse:
    found = call.state.accounts.get(call.names["username"])
    if found is None:
        raise RefusedError(404, "Not Found")
    return ApiResponse(public_user(call.api, found))


def list_deliveries(call: Call) -> ApiResponse:
    """The delivery log, newest first; `cursor` is the id to continue from."""
    wanted = call.query.get("status")
    log = call.github.deliveries.attempts_of(call.app)
    log = [found for found in log if wanted is None or (wanted == "success") == (found.status == "OK")]
    log.sort(key=lambda found: found.id, reverse=True)
    if cursor := call.query.get("cursor", ""):
        log = [found for found in log if str(found.id) == cursor or (cursor.isdecimal() and found.id < int(cursor))]
    part, _ = page_of(call, log)
    headers = {}
    if len(part) < len(log):
        size = call.query.get("per_page", "30")
        more = f"&status={wanted}" if wanted else ""
        headers["Link"] = f'<{call.api}{call.path}?per_page={size}{more}&cursor={log[len(part)].id}>; rel="next"'
    return ApiResponse([deliveries.log_row(found) for found in part], headers=headers)


def get_delivery(call: Call) -> ApiResponse:
    log = call.github.deliveries.attempts_of(call.app)
    found = next((entry for entry in log if entry.id == int(call.names["number"])), None)
    if found is None:
        raise RefusedError(404, "Not Found")
    return ApiResponse(deliveries.full_log_row(found))


def redeliver(call: Call) -> ApiResponse:
    get_delivery(call)
    call.github.deliveries.redeliver(int(call.names["number"]))
    return ApiResponse({}, status=202)

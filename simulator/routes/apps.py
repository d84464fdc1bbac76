"""How are an App's requests about itself answered: installations, tokens, deliveries, versions, limits?"""

from __future__ import annotations

from simulator import deliveries
from simulator.access import RefusedError, mint
from simulator.calls import Answer, Call, page_of, paged
from simulator.shapes.accounts import app, installation, public_user, token
from simulator.shapes.repositories import repository
from simulator.state import Installation

VERSIONS = ("2026-03-10", "2022-11-28")
RESOURCES = ("core", "search", "graphql")


def meta(call: Call) -> Answer:
    return Answer({"verifiable_password_authentication": False, "hooks": ["127.0.0.0/8"]})


def versions(call: Call) -> Answer:
    return Answer(list(VERSIONS))


def rate_limit(call: Call) -> Answer:
    limits = {name: {"limit": 5000, "remaining": 5000, "reset": 0, "used": 0} for name in RESOURCES}
    return Answer({"resources": limits, "rate": limits["core"]})


def get_app(call: Call) -> Answer:
    return Answer(app(call.api, call.app))


def _installation(call: Call) -> Installation:
    found = call.state.installations.get(int(call.names["number"]))
    if found is None or found.app is not call.app:
        raise RefusedError(404, "Not Found")
    return found


def list_installations(call: Call) -> Answer:
    mine = [found for found in call.state.installations.values() if found.app is call.app]
    return paged(call, mine, lambda found: installation(call.api, found))


def get_installation(call: Call) -> Answer:
    return Answer(installation(call.api, _installation(call)))


def create_token(call: Call) -> Answer:
    return Answer(token(mint(call.state, _installation(call), call.body)), status=201)


def list_repositories(call: Call) -> Answer:
    if call.caller.token is None:
        raise RefusedError(403, "You must authenticate with an installation access token.")
    chosen = call.caller.token.repositories
    visible = [
        found for found in call.state.visible_to(call.caller.token.installation) if chosen is None or found.id in chosen
    ]
    answer = paged(call, visible, lambda found: repository(call.api, found), key="repositories")
    return Answer({**answer.body, "repository_selection": "selected" if chosen else "all"}, headers=answer.headers)


def get_user(call: Call) -> Answer:
    found = call.state.accounts.get(call.names["username"])
    if found is None:
        raise RefusedError(404, "Not Found")
    return Answer(public_user(call.api, found))


def list_deliveries(call: Call) -> Answer:
    """The delivery log, newest first; `cursor` is the id to continue from."""
    wanted = call.query.get("status")
    log = call.github.deliveries.kept(call.app)
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
    return Answer([deliveries.item(found) for found in part], headers=headers)


def get_delivery(call: Call) -> Answer:
    log = call.github.deliveries.kept(call.app)
    found = next((entry for entry in log if entry.id == int(call.names["number"])), None)
    if found is None:
        raise RefusedError(404, "Not Found")
    return Answer(deliveries.full(found))


def redeliver(call: Call) -> Answer:
    get_delivery(call)
    call.github.deliveries.redeliver(int(call.names["number"]))
    return Answer({}, status=202)

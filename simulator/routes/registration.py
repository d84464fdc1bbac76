"""How does an App get its secrets and its webhook's address, and find out who a user is?"""

from __future__ import annotations

from simulator.access import RefusedError
from simulator.calls import ApiResponse, Call
from simulator.shapes.accounts import app, public_user


def convert_manifest(call: Call) -> ApiResponse:
    """The App behind a code; each code works once."""
    code = call.state.codes.pop(call.names["code"], None)
    if code is None or code.person is not None or code.expires_at <= call.state.clock():
        raise RefusedError(404, "Not Found")
    secrets = {
        "client_id": code.app.client_id,
        "client_secret": code.app.client_secret,
        "webhook_secret": code.app.webhook_secret,
        "pem": code.app.private_key,
    }
    page = f"{call.api.partition('/api/')[0]}/apps/{code.app.slug}"
    return ApiResponse(app(call.api, code.app) | secrets | {"html_url": page}, status=201)


def hook_config(call: Call) -> ApiResponse:
    kind, address = call.state.hook_content_type, call.app.webhook_url or ""
    return ApiResponse({"content_type": kind, "insecure_ssl": "0", "secret": "********", "url": address})


def get_authenticated_user(call: Call) -> ApiResponse:
    if call.caller.person is None:
        raise RefusedError(401, "Requires authentication")
    return ApiResponse(public_user(call.api, call.caller.person))

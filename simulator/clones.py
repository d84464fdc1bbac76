"""How does a clone over HTTP work? Through `git http-backend`, read-only; private repositories require a token."""

from __future__ import annotations

import asyncio
import base64
import binascii
import os

from aiohttp import web

from simulator.access import Caller, RefusedError, identify
from simulator.git import QUIET
from simulator.state import SimRepository, State

DENIED = {"WWW-Authenticate": 'Basic realm="GitHub"'}


def _caller(state: State, authorization: str) -> Caller:
    """git sends the token as the password of `x-access-token`."""
    scheme, _, value = authorization.partition(" ")
    if scheme.lower() != "basic":
        return identify(state, authorization)
    try:
        _, _, token = base64.b64decode(value).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError) as problem:
        raise RefusedError(401, "Bad credentials") from problem
    return identify(state, f"token {token}")


async def serve_clone(state: State, repo: SimRepository, request: web.Request) -> web.Response:
    """One request of git's smart protocol for a repository."""
    try:
        caller = _caller(state, request.headers.get("Authorization", ""))
        if not caller.sees(state, repo):
            return web.Response(status=401 if caller.token is None else 404, headers=DENIED)
    except RefusedError as refused:
        return web.Response(status=refused.status, headers=DENIED)
    rest = request.path.partition(".git")[2]
    environment = {
        **os.environ,
        **QUIET,
        "GIT_PROJECT_ROOT": str(state.folder),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{repo.git.path.name}{rest}",
        "REQUEST_METHOD": request.method,
        "QUERY_STRING": request.query_string,
        "CONTENT_TYPE": request.headers.get("Content-Type", ""),
        "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        "REMOTE_ADDR": "127.0.0.1",
    }
    pipe = asyncio.subprocess.PIPE
    backend = await asyncio.create_subprocess_exec("git", "http-backend", stdin=pipe, stdout=pipe, env=environment)
    output, _ = await backend.communicate(await request.read())
    head, _, body = output.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
    status = int(headers.pop("Status", "200").split()[0])
    return web.Response(status=status, headers=headers, body=body)

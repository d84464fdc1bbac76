"""What is served of an organisation: sums over at least five people, its repositories, and a repository's month."""

from __future__ import annotations

from aiohttp import web

from bot.web.responses import problem
from bot.web.subjects import OpenOrganisation


async def show_organisation(request: web.Request, opened: OpenOrganisation) -> web.Response:
    return problem(request, 404)


async def show_repository_month(request: web.Request, opened: OpenOrganisation) -> web.Response:
    return problem(request, 404)

"""The dashboard as one ASGI application: login, REST API, screens, and the security middleware around them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from thresher_ui.dashboard.api.events import Announcer
from thresher_ui.dashboard.api.routes import api_routes
from thresher_ui.dashboard.guard import Guard
from thresher_ui.dashboard.login import login_route
from thresher_ui.dashboard.screens import routes as screen_routes
from thresher_ui.dashboard.security import SecurityMiddleware
from thresher_ui.dashboard.service import CrawlService

_WORDS = {404: "there is nothing here", 405: "this address takes another method"}


def make_app(service: CrawlService, guard: Guard) -> Starlette:
    """Build the application; its lifespan opens and closes the service."""
    announcer = Announcer(service)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await service.open()
        try:
            yield
        finally:
            await announcer.close()
            await service.close()

    return Starlette(
        routes=[login_route(guard), *api_routes(service, announcer), *screen_routes(service)],
        middleware=[Middleware(SecurityMiddleware, guard=guard)],
        exception_handlers={HTTPException: _refused},
        lifespan=lifespan,
    )


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": _WORDS.get(error.status_code, error.detail)}, error.status_code, error.headers)

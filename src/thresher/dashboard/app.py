"""The dashboard as one application: the API, the screens, and the guard around both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from thresher.dashboard.api.events import Announcer
from thresher.dashboard.api.routes import api_routes
from thresher.dashboard.desk import Desk
from thresher.dashboard.guard import Guard
from thresher.dashboard.login import login_route
from thresher.dashboard.posture import Posture
from thresher.dashboard.screens import routes as screen_routes

_WORDS = {404: "there is nothing here", 405: "this address takes another method"}


def make_app(desk: Desk, guard: Guard) -> Starlette:
    """Put the dashboard together; it opens and closes the desk."""
    announcer = Announcer(desk)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await desk.open()
        try:
            yield
        finally:
            await announcer.close()
            await desk.close()

    return Starlette(
        routes=[login_route(guard), *api_routes(desk, announcer), *screen_routes(desk)],
        middleware=[Middleware(Posture, guard=guard)],
        exception_handlers={HTTPException: _refused},
        lifespan=lifespan,
    )


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": _WORDS.get(error.status_code, error.detail)}, error.status_code, error.headers)

"""The routes of the API: validate the request, run its operation, return JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from thresher_ui.dashboard.api.description import describe
from thresher_ui.dashboard.api.events import Announcer
from thresher_ui.dashboard.api.operations import DESCRIPTION, EVENTS, OPERATIONS, Call, Operation
from thresher_ui.dashboard.errors import Refused
from thresher_ui.dashboard.service import CrawlService

M = TypeVar("M", bound=BaseModel)

_JSON = "application/json"


def api_routes(service: CrawlService, announcer: Announcer) -> list[Route]:
    """Return all routes of the API."""
    routes = [
        Route(operation.path, _endpoint(service, operation), methods=[operation.method], name=f"api.{operation.name}")
        for operation in OPERATIONS
    ]
    routes.append(Route(EVENTS, _events(service, announcer), methods=["GET"], name="api.events"))
    description = describe(service.names())
    return [*routes, Route(DESCRIPTION, lambda _: JSONResponse(description), methods=["GET"], name="api.description")]


def _endpoint(service: CrawlService, operation: Operation) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    async def answer(request: Request) -> Response:
        call = Call(
            path=dict(request.path_params),
            query=_query(operation.query, request),
            body=await _body(operation.body, request) if operation.body else None,
        )
        return JSONResponse(await operation.run(service, call))

    return answer


def _events(service: CrawlService, announcer: Announcer) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    async def listen(request: Request) -> Response:
        crawl = request.path_params["crawl"]
        first = await service.status(crawl)  # refuses a crawl that is not there
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        mailbox = announcer.subscribe(first["name"])
        return StreamingResponse(announcer.stream(crawl, mailbox), media_type="text/event-stream")

    return listen


def _query(model: type[M], request: Request) -> M:
    given = request.query_params.multi_items()
    names = [name for name, _ in given]
    if twice := {name for name in names if names.count(name) > 1}:
        raise Refused(400, f"{', '.join(sorted(twice))}: given more than once")
    return _checked(model, dict(given))


async def _body(model: type[M], request: Request) -> M:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _JSON:
        raise Refused(415, f"the body must be {_JSON}")
    try:
        read = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise Refused(400, "the body is not JSON") from error
    return _checked(model, read)


def _checked(model: type[M], given: object) -> M:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise Refused(400, "; ".join(map(_message, error.errors(include_url=False)[:5]))) from error


def _message(wrong: Any) -> str:
    place = ".".join(map(str, wrong["loc"])) or "the body"
    return f"{place[:100]}: {wrong['msg']}"

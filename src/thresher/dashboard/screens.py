"""The screens: what the desk knows, as pages that need no script to be read.

Each screen gathers the same plain values that the REST API returns and renders one template with them. What is live on
it is marked in the template; the script asks for the page again and swaps those parts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Any
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from thresher.dashboard.desk import Desk
from thresher.dashboard.errors import status_of
from thresher.dashboard.moves import moves
from thresher.dashboard.rendering import render
from thresher.dashboard.texts import COOKIE, LANGUAGES, Texts, choose
from thresher.errors import ThresherError

PAGES = 50
"""Rows of the list of pages."""
SPARK_POINTS = 40
SKIPPED = 30
"""So many questions are kept out of the way; older ones come back."""
STATIC = {"thresher.js": "text/javascript", "thresher.css": "text/css", "thresher.svg": "image/svg+xml"}
YEAR_SECONDS = 365 * 86_400
PACE = {"overview": 1000, "pages": 3000, "frontier": 3000, "hosts": 3000, "workers": 3000}
"""The screens that are live, and how many milliseconds at least lie between two looks."""

Values = dict[str, Any]


Gather = Callable[[Desk, str, Request], Awaitable[Values]]


class Answer(BaseModel):
    """What a person says of a page; None takes it back."""

    model_config = ConfigDict(strict=True, extra="forbid")

    url: str
    relevant: bool | None


def routes(desk: Desk) -> list[Route]:
    """Return all screens over a desk."""
    return [
        Route("/", _all_crawls(desk), name="screen crawls"),
        Route("/static/{name}", _static, name="static"),
        Route("/language", _language, methods=["POST"], name="language"),
        Route("/{crawl}/label", _answer(desk), methods=["POST"], name="answer"),
        *(Route(f"/{{crawl}}/{path}", _screen(desk, path, gather)) for path, gather in SCREENS.items()),
    ]


async def _overview(desk: Desk, name: str, _: Request) -> Values:
    return {"harvest": await desk.harvest(name)}


async def _pages(desk: Desk, name: str, request: Request) -> Values:
    order = "relevance" if request.query_params.get("order") == "relevance" else "newest"
    relevant = request.query_params.get("relevant") == "true"
    offset = _number(request, "offset")
    listed = await desk.pages(name, order=order, limit=PAGES, offset=offset, relevant=relevant)
    return {"listed": listed, "order": order, "relevant": relevant, "offset": offset, "step": PAGES}


async def _page(desk: Desk, name: str, request: Request) -> Values:
    return {"page": await desk.page(name, url=request.query_params.get("url", ""))}


async def _frontier(desk: Desk, name: str, _: Request) -> Values:
    return {"queue": await desk.frontier(name)}


async def _hosts(desk: Desk, name: str, request: Request) -> Values:
    parked = request.query_params.get("parked") == "true"
    return {"listed": await desk.hosts(name, parked=parked), "parked": parked}


async def _label(desk: Desk, name: str, request: Request) -> Values:
    skipped, boundary = request.query_params.getlist("skip")[-SKIPPED:], _at_boundary(request)
    asked = await desk.questions(name, limit=len(skipped) + 1, boundary=boundary)
    left = [question for question in asked["questions"] if question["url"] not in skipped]
    question = left[0] if left else None
    return {
        "question": question,
        "told": asked["told"],
        "boundary": boundary,
        "skipped": bool(skipped),
        "kept": _with_skips(skipped, boundary),
        "skip": _with_skips([*skipped, question["url"]], boundary) if question else "",
        "taught": None,
        "answered": None,
    }


def _at_boundary(request: Request) -> bool:
    return request.query_params.get("mode") == "boundary"


def _with_skips(skipped: list[str], boundary: bool) -> str:
    kept = [*([("mode", "boundary")] if boundary else []), *(("skip", url) for url in skipped)]
    return f"?{urlencode(kept, errors='replace')}" if kept else ""


async def _search(desk: Desk, name: str, request: Request) -> Values:
    asked = {key: request.query_params.get(key, "").strip() for key in ("q", "language", "host")}
    found = await desk.search(name, limit=30, **asked) if asked["q"] else None
    return {"asked": asked, "found": found}


async def _workers(desk: Desk, name: str, _: Request) -> Values:
    return {"listed": await desk.workers(name)}


SCREENS: dict[str, Gather] = {
    "": _overview,
    "pages": _pages,
    "page": _page,
    "frontier": _frontier,
    "hosts": _hosts,
    "label": _label,
    "search": _search,
    "workers": _workers,
}
"""By the last part of their address."""


def _number(request: Request, key: str) -> int:
    text = request.query_params.get(key, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _screen(desk: Desk, path: str, gather: Gather) -> Callable[[Request], Awaitable[Response]]:
    async def show(request: Request) -> Response:
        try:
            values = await gather(desk, request.path_params["crawl"], request)
            return await _shown(desk, path, request, values)
        except ThresherError as error:
            return _refused(desk, request, error)

    return show


async def _shown(desk: Desk, path: str, request: Request, values: Values) -> Response:
    name = request.path_params["crawl"]
    screen = path or "overview"
    context = {"crawl": name, "status": await desk.status(name), "screen": screen, **values}
    return _html(desk, request, f"{screen}.html", context)


def _all_crawls(desk: Desk) -> Callable[[Request], Awaitable[Response]]:
    async def show(request: Request) -> Response:
        crawls = [await _card(desk, name) for name in desk.names()]
        return _html(desk, request, "crawls.html", {"crawl": None, "screen": "crawls", "crawls": crawls})

    return show


async def _card(desk: Desk, name: str) -> Values:
    """Gather a crawl for the list; one that cannot be read does not hide the others."""
    try:
        return {
            "name": name,
            "status": await desk.status(name),
            "harvest": await desk.harvest(name, points=SPARK_POINTS),
        }
    except ThresherError as error:
        return {"name": name, "status": None, "error": str(error)}


def _answer(desk: Desk) -> Callable[[Request], Awaitable[Response]]:
    async def take(request: Request) -> Response:
        name = request.path_params["crawl"]
        try:
            answer = Answer.model_validate_json(await request.body())
            taught = await desk.tell(name, {answer.url: answer.relevant}, boundary=_at_boundary(request))
            values = await _label(desk, name, request)
            changed = {"taught": taught, "answered": answer, "moves": _moves(taught)}
            return await _shown(desk, "label", request, {**values, **changed})
        except ValidationError:
            return JSONResponse({"error": "an answer is a url and relevant: true, false or null"}, 400)
        except ThresherError as error:
            return _refused(desk, request, error)

    return take


def _moves(taught: Values) -> list[Any]:
    return moves(taught["before"]["queue"], taught["after"]["queue"])


async def _static(request: Request) -> Response:
    kind = STATIC.get(request.path_params["name"])
    if kind is None:
        return JSONResponse({"error": "there is no such file"}, 404)
    file = resources.files("thresher.dashboard") / "static" / request.path_params["name"]
    return Response(file.read_bytes(), media_type=kind, headers={"Cache-Control": "private, max-age=300"})


async def _language(request: Request) -> Response:
    """Remember a language in the browser, and go back to where it was chosen."""
    back = request.query_params.get("back", "/")
    if not back.startswith("/") or back.startswith(("//", "/\\")):
        back = "/"
    response = RedirectResponse(back, status_code=303)
    wished = request.query_params.get("to", "")
    if wished in LANGUAGES:
        response.set_cookie(COOKIE, wished, max_age=YEAR_SECONDS, httponly=True, samesite="strict")
    return response


def _refused(desk: Desk, request: Request, error: ThresherError) -> Response:
    context = {"crawl": None, "screen": "error", "words": str(error)}
    return _html(desk, request, "error.html", context, status=status_of(error))


def _html(desk: Desk, request: Request, template: str, context: Values, *, status: int = 200) -> Response:
    texts = _texts(request)
    here = request.url.path + (f"?{request.url.query}" if request.url.query and request.method == "GET" else "")
    return HTMLResponse(render(template, texts, {"names": desk.names(), "here": here, "pace": PACE, **context}), status)


def _texts(request: Request) -> Texts:
    return choose(request.cookies.get(COOKIE, ""), request.headers.get("accept-language", ""))

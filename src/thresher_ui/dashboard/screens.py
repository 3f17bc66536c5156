"""The screens: server-rendered pages that can be read without JavaScript.

Each screen gathers the same plain values that the REST API returns and renders one template with them. Live parts are
marked in the template; the script requests the page again and replaces those parts.

How the head of the queue changed: URLs that rose, fell, are new, or left.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from thresher.errors import ThresherError
from thresher_ui.dashboard.errors import status_of
from thresher_ui.dashboard.rendering import render
from thresher_ui.dashboard.service import CrawlService
from thresher_ui.dashboard.translations import COOKIE, LANGUAGES, Texts, choose
from thresher_ui.dashboard.views import label
from thresher_ui.dashboard.views.frontier import frontier
from thresher_ui.dashboard.views.harvest import harvest
from thresher_ui.dashboard.views.hosts import hosts
from thresher_ui.dashboard.views.page import page
from thresher_ui.dashboard.views.pages import pages
from thresher_ui.dashboard.views.search import search
from thresher_ui.dashboard.views.workers import workers


@dataclass(frozen=True, kw_only=True)
class RankChange:
    """A URL at the head of the queue.

    Args:
        now: Its rank now, from 1; None when it left the head.
        was: Its rank before; None when it was not there.
    """

    url: str
    score: float
    now: int | None
    was: int | None

    @property
    def rose(self) -> int:
        """The ranks it rose; negative when it fell, 0 when it stayed, is new or left."""
        return self.was - self.now if self.was is not None and self.now is not None else 0


def rank_changes(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> list[RankChange]:
    """Compare two heads of the queue: the URLs of now in their order, then those that left."""
    was = {entry["url"]: place for place, entry in enumerate(before, start=1)}
    now = {entry["url"]: place for place, entry in enumerate(after, start=1)}
    stay = [RankChange(url=e["url"], score=e["score"], now=now[e["url"]], was=was.get(e["url"])) for e in after]
    left = [
        RankChange(url=e["url"], score=e["score"], now=None, was=was[e["url"]]) for e in before if e["url"] not in now
    ]
    return stay + left


PAGES = 50
"""Rows per list of pages."""
SPARK_POINTS = 40
SKIPPED = 30
"""Number of skipped pages to remember; pages skipped earlier are asked about again."""
STATIC = {"thresher.js": "text/javascript", "thresher.css": "text/css", "thresher.svg": "image/svg+xml"}
YEAR_SECONDS = 365 * 86_400
PACE = {"overview": 1000, "pages": 3000, "frontier": 3000, "hosts": 3000, "workers": 3000}
"""The live screens, with the minimum milliseconds between two updates."""

Values = dict[str, Any]


Gather = Callable[[CrawlService, str, Request], Awaitable[Values]]


class LabelForm(BaseModel):
    """A label for a page; None removes it."""

    model_config = ConfigDict(strict=True, extra="forbid")

    url: str
    relevant: bool | None


def routes(service: CrawlService) -> list[Route]:
    """Return the routes of all screens."""
    return [
        Route("/", _all_crawls(service), name="screen crawls"),
        Route("/static/{name}", _static, name="static"),
        Route("/language", _language, methods=["POST"], name="language"),
        Route("/{crawl}/label", _answer(service), methods=["POST"], name="answer"),
        *(Route(f"/{{crawl}}/{path}", _screen(service, path, gather)) for path, gather in SCREENS.items()),
    ]


async def _overview(service: CrawlService, name: str, _: Request) -> Values:
    return {"harvest": await service.view(name, harvest)}


async def _pages(service: CrawlService, name: str, request: Request) -> Values:
    order = "relevance" if request.query_params.get("order") == "relevance" else "newest"
    relevant = request.query_params.get("relevant") == "true"
    offset = _number(request, "offset")
    topic = request.query_params.get("topic", "")
    listed = await service.view(name, pages, order=order, limit=PAGES, offset=offset, relevant=relevant, topic=topic)
    return {
        "listed": listed,
        "order": order,
        "relevant": relevant,
        "topic": topic,
        "offset": offset,
        "step": PAGES,
    }


async def _page(service: CrawlService, name: str, request: Request) -> Values:
    return {"page": await service.view(name, page, url=request.query_params.get("url", ""))}


async def _frontier(service: CrawlService, name: str, _: Request) -> Values:
    return {"queue": await service.view(name, frontier)}


async def _hosts(service: CrawlService, name: str, request: Request) -> Values:
    parked = request.query_params.get("parked") == "true"
    return {
        "listed": await service.view(name, hosts, parked=parked, language=_texts(request).language),
        "parked": parked,
    }


async def _label(service: CrawlService, name: str, request: Request) -> Values:
    skipped = request.query_params.getlist("skip")[-SKIPPED:]
    found = await service.view(name, label.questions, limit=1, without=tuple(skipped))
    question = next(iter(found["questions"]), None)
    return {
        "question": question,
        "label_counts": found["label_counts"],
        "skipped": bool(skipped),
        "kept": _with_skips(skipped),
        "skip": _with_skips([*skipped, question["url"]]) if question else "",
        "result": None,
        "answered": None,
    }


def _with_skips(skipped: list[str]) -> str:
    return f"?{urlencode([('skip', url) for url in skipped], errors='replace')}" if skipped else ""


async def _search(service: CrawlService, name: str, request: Request) -> Values:
    query = {key: request.query_params.get(key, "").strip() for key in ("q", "language", "host")}
    found = await service.view(name, search, limit=30, **query) if query["q"] else None
    return {"query": query, "found": found}


async def _workers(service: CrawlService, name: str, _: Request) -> Values:
    return {"listed": await service.view(name, workers)}


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
"""By the last segment of their path."""


def _number(request: Request, key: str) -> int:
    text = request.query_params.get(key, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _screen(service: CrawlService, path: str, gather: Gather) -> Callable[[Request], Awaitable[Response]]:
    async def show(request: Request) -> Response:
        try:
            values = await gather(service, request.path_params["crawl"], request)
            return await _shown(service, path, request, values)
        except ThresherError as error:
            return _refused(service, request, error)

    return show


async def _shown(service: CrawlService, path: str, request: Request, values: Values) -> Response:
    name = request.path_params["crawl"]
    screen = path or "overview"
    context = {"crawl": name, "status": await service.status(name), "screen": screen, **values}
    return _html(service, request, f"{screen}.html", context)


def _all_crawls(service: CrawlService) -> Callable[[Request], Awaitable[Response]]:
    async def show(request: Request) -> Response:
        crawls = [await _card(service, name) for name in service.names()]
        return _html(service, request, "crawls.html", {"crawl": None, "screen": "crawls", "crawls": crawls})

    return show


async def _card(service: CrawlService, name: str) -> Values:
    """Gather a crawl for the list; an error of one crawl does not hide the others."""
    try:
        return {
            "name": name,
            "status": await service.status(name),
            "harvest": await service.view(name, harvest, points=SPARK_POINTS),
        }
    except ThresherError as error:
        return {"name": name, "status": None, "error": str(error)}


def _answer(service: CrawlService) -> Callable[[Request], Awaitable[Response]]:
    async def answer_question(request: Request) -> Response:
        name = request.path_params["crawl"]
        try:
            answer = LabelForm.model_validate_json(await request.body())
            result = await service.view(name, label.add_labels, labels={answer.url: answer.relevant})
            values = await _label(service, name, request)
            changed = {"result": result, "answered": answer, "moves": _moves(result)}
            return await _shown(service, "label", request, {**values, **changed})
        except ValidationError:
            return JSONResponse({"error": "an answer is a url and relevant: true, false or null"}, 400)
        except ThresherError as error:
            return _refused(service, request, error)

    return answer_question


def _moves(result: Values) -> list[Any]:
    return rank_changes(result["before"]["queue"], result["after"]["queue"])


async def _static(request: Request) -> Response:
    kind = STATIC.get(request.path_params["name"])
    if kind is None:
        return JSONResponse({"error": "there is no such file"}, 404)
    file = resources.files("thresher_ui.dashboard") / "static" / request.path_params["name"]
    return Response(file.read_bytes(), media_type=kind, headers={"Cache-Control": "private, max-age=300"})


async def _language(request: Request) -> Response:
    """Store the language in a cookie, and redirect back; only to a path of the dashboard itself."""
    back = request.query_params.get("back", "/")
    if not back.startswith("/") or back.startswith(("//", "/\\")):
        back = "/"
    response = RedirectResponse(back, status_code=303)
    preferred = request.query_params.get("to", "")
    if preferred in LANGUAGES:
        response.set_cookie(COOKIE, preferred, max_age=YEAR_SECONDS, httponly=True, samesite="strict")
    return response


def _refused(service: CrawlService, request: Request, error: ThresherError) -> Response:
    context = {"crawl": None, "screen": "error", "words": str(error)}
    return _html(service, request, "error.html", context, status=status_of(error))


def _html(service: CrawlService, request: Request, template: str, context: Values, *, status: int = 200) -> Response:
    texts = _texts(request)
    here = request.url.path + (f"?{request.url.query}" if request.url.query and request.method == "GET" else "")
    return HTMLResponse(
        render(template, texts, {"names": service.names(), "here": here, "pace": PACE, **context}), status
    )


def _texts(request: Request) -> Texts:
    return choose(request.cookies.get(COOKIE, ""), request.headers.get("accept-language", ""))

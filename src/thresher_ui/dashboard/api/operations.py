"""The operations of the API: path, request and response classes, and the call that serves it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from thresher_ui.dashboard import control
from thresher_ui.dashboard.api import requests, responses
from thresher_ui.dashboard.service import CrawlService, View
from thresher_ui.dashboard.views import frontier, harvest, hosts, label, page, pages, search, workers

BASE = "/api"
CRAWL = f"{BASE}/crawls/{{crawl}}"
EVENTS = f"{CRAWL}/events"
DESCRIPTION = f"{BASE}/openapi.json"


@dataclass(frozen=True, kw_only=True)
class Call:
    """A validated request."""

    path: dict[str, str]
    query: Any = None
    body: Any = None

    @property
    def crawl(self) -> str:
        return self.path["crawl"]


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One operation of the API."""

    method: str
    path: str
    name: str
    summary: str
    answer: type[BaseModel]
    run: Callable[[CrawlService, Call], Awaitable[dict[str, Any]]]
    query: type[requests.QueryRequest] = requests.QueryRequest
    body: type[requests.BodyRequest] | None = None


def _view(view: View) -> Callable[[CrawlService, Call], Awaitable[dict[str, Any]]]:
    return lambda service, call: service.view(call.crawl, view, **call.query.model_dump())


OPERATIONS = (
    Operation(
        method="GET",
        path=f"{BASE}/crawls",
        name="crawls",
        summary="Status of all crawls.",
        answer=responses.CrawlsResponse,
        run=lambda service, call: service.crawls(),
    ),
    Operation(
        method="GET",
        path=CRAWL,
        name="status",
        summary="Status of a crawl: state, counts, what limits its speed, and when it ends.",
        answer=responses.StatusResponse,
        run=lambda service, call: service.status(call.crawl),
    ),
    Operation(
        method="GET",
        path=f"{CRAWL}/harvest",
        name="harvest",
        summary="The harvest curve: relevant pages over fetched pages.",
        answer=responses.HarvestResponse,
        query=requests.HarvestRequest,
        run=_view(harvest.harvest),
    ),
    Operation(
        method="GET",
        path=f"{CRAWL}/pages",
        name="pages",
        summary="List of pages, the newest or the most relevant first.",
        answer=responses.PageRowsResponse,
        query=requests.PageListRequest,
        run=_view(pages.pages),
    ),
    Operation(
        method="GET",
        path=f"{CRAWL}/page",
        name="page",
        summary="One page: how it was found, its judgement and the terms behind it, and its links.",
        answer=responses.PageResponse,
        query=requests.PageRequest,
        run=_view(page.page),
    ),
    Operation(
        method="GET",
        path=f"{CRAWL}/frontier",
        name="frontier",
        summary="The frontier: histogram of scores, and the next URLs with the parts of their scores.",
        answer=responses.FrontierResponse,
        query=requests.FrontierRequest,
        run=_view(frontier.frontier),
    ),
    Operation(
        method="GET",
        path=f"{CRAWL}/hosts",
        name="hosts",
        summary="List of hosts: pages, relevant pages, why they are parked, and the state of their robots.txt.",
        answer=responses.HostsResponse,
        query=requests.HostListRequest,
        run=_view(hosts.hosts),
    ),
    Operation(
        method="POST",
        path=f"{CRAWL}/hosts/{{host}}/release",
        name="release",
        summary="Unpark a host, with a new budget.",
        answer=responses.StatusResponse,
        run=lambda service, call: service.change(call.crawl, control.release, host=call.path["host"]),
    ),
    Operation(
        method="POST",
        path=f"{CRAWL}/hosts/{{host}}/block",
        name="block",
        summary="Park a host until it is released.",
        answer=responses.StatusResponse,
        body=requests.BlockRequest,
        run=lambda service, call: service.change(
            call.crawl, control.block, host=call.path["host"], reason=call.body.reason
        ),
    ),
    Operation(
        method="GET",
        path=f"{CRAWL}/questions",
        name="questions",
        summary="Pages to label: those nearest to the judge's cut, the nearest first.",
        answer=responses.QuestionsResponse,
        query=requests.QuestionListRequest,
        run=_view(label.questions),
    ),
    Operation(
        method="GET",
        path=f"{CRAWL}/labels",
        name="labels",
        summary="All labels of users.",
        answer=responses.LabelsResponse,
        run=_view(label.labels),
    ),
    Operation(
        method="POST",
        path=f"{CRAWL}/labels",
        name="addLabels",
        summary="Label pages as relevant or not; the response shows what that changed.",
        answer=responses.LabellingResultResponse,
        body=requests.NewLabelsRequest,
        run=lambda service, call: service.view(
            call.crawl, label.add_labels, labels={each.url: each.relevant for each in call.body.labels}
        ),
    ),
    Operation(
        method="GET",
        path=f"{CRAWL}/search",
        name="search",
        summary="Full-text search in the stored pages, in English and Chinese.",
        answer=responses.HitsResponse,
        query=requests.SearchRequest,
        run=_view(search.search),
    ),
    Operation(
        method="GET",
        path=f"{CRAWL}/workers",
        name="workers",
        summary="Workers of the crawl.",
        answer=responses.WorkersResponse,
        run=_view(workers.workers),
    ),
    Operation(
        method="POST",
        path=f"{CRAWL}/control",
        name="control",
        summary="Start, pause, resume or stop the crawl.",
        answer=responses.StatusResponse,
        body=requests.ControlRequest,
        run=lambda service, call: service.change(call.crawl, control.control, **call.body.model_dump()),
    ),
    Operation(
        method="PUT",
        path=f"{CRAWL}/budgets",
        name="budgets",
        summary="Set the limits of the run; they replace earlier ones.",
        answer=responses.StatusResponse,
        body=requests.BudgetsRequest,
        run=lambda service, call: service.change(call.crawl, control.set_budgets, **call.body.model_dump()),
    ),
)

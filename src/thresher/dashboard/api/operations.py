"""Every operation of the API: its address, what it takes and what it answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from thresher.dashboard.api import answers, asked
from thresher.dashboard.desk import Desk

BASE = "/api"
CRAWL = f"{BASE}/crawls/{{crawl}}"
EVENTS = f"{CRAWL}/events"
DESCRIPTION = f"{BASE}/openapi.json"


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request that was read and found right."""

    path: dict[str, str]
    query: Any = None
    body: Any = None

    @property
    def crawl(self) -> str:
        """The crawl that is meant."""
        return self.path["crawl"]


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One thing that the API does."""

    method: str
    path: str
    name: str
    summary: str
    answer: type[BaseModel]
    run: Callable[[Desk, Call], Awaitable[dict[str, Any]]]
    query: type[asked.Query] = asked.Query
    body: type[asked.Body] | None = None


OPERATIONS = (
    Operation(
        method="GET",
        path=f"{BASE}/crawls",
        name="crawls",
        summary="All crawls in numbers.",
        answer=answers.Crawls,
        run=lambda desk, call: desk.crawls(),
    ),
    Operation(
        method="GET",
        path=CRAWL,
        name="status",
        summary="A crawl in numbers: how it stands, what limits it, and when it ends.",
        answer=answers.Status,
        run=lambda desk, call: desk.status(call.crawl),
    ),
    Operation(
        method="GET",
        path=f"{CRAWL}/harvest",
        name="harvest",
        summary="The harvest curve: relevant pages against all that were fetched.",
        answer=answers.Harvest,
        query=asked.Points,
        run=lambda desk, call: desk.harvest(call.crawl, **call.query.model_dump()),
    ),
    Operation(
        method="GET",
        path=f"{CRAWL}/pages",
        name="pages",
        summary="Pages, the newest or the most relevant first.",
        answer=answers.PageRows,
        query=asked.PageList,
        run=lambda desk, call: desk.pages(call.crawl, **call.query.model_dump()),
    ),
    Operation(
        method="GET",
        path=f"{CRAWL}/page",
        name="page",
        summary="One page: why it is here, what was thought of it and by which words, and where it leads.",
        answer=answers.Page,
        query=asked.OnePage,
        run=lambda desk, call: desk.page(call.crawl, **call.query.model_dump()),
    ),
    Operation(
        method="GET",
        path=f"{CRAWL}/frontier",
        name="frontier",
        summary="What waits: how its scores are spread, and what comes next with the reasons.",
        answer=answers.Frontier,
        query=asked.Waiting,
        run=lambda desk, call: desk.frontier(call.crawl, **call.query.model_dump()),
    ),
    Operation(
        method="GET",
        path=f"{CRAWL}/hosts",
        name="hosts",
        summary="Hosts: what they gave, who is parked and why, and what their robots.txt said.",
        answer=answers.Hosts,
        query=asked.HostList,
        run=lambda desk, call: desk.hosts(call.crawl, **call.query.model_dump()),
    ),
    Operation(
        method="POST",
        path=f"{CRAWL}/hosts/{{host}}/release",
        name="release",
        summary="Let a parked host be asked again, with a fresh budget.",
        answer=answers.Status,
        run=lambda desk, call: desk.release(call.crawl, call.path["host"]),
    ),
    Operation(
        method="POST",
        path=f"{CRAWL}/hosts/{{host}}/block",
        name="block",
        summary="Ask a host no more, until it is released.",
        answer=answers.Status,
        body=asked.Block,
        run=lambda desk, call: desk.block(call.crawl, call.path["host"], call.body.reason),
    ),
    Operation(
        method="GET",
        path=f"{CRAWL}/questions",
        name="questions",
        summary="The pages whose labels teach most, or those near the threshold.",
        answer=answers.Questions,
        query=asked.QuestionList,
        run=lambda desk, call: desk.questions(call.crawl, **call.query.model_dump()),
    ),
    Operation(
        method="GET",
        path=f"{CRAWL}/labels",
        name="labels",
        summary="What people said of pages.",
        answer=answers.Labels,
        run=lambda desk, call: desk.labels(call.crawl),
    ),
    Operation(
        method="POST",
        path=f"{CRAWL}/labels",
        name="tell",
        summary="Say of pages whether they are about the topic; the answer tells what that changed.",
        answer=answers.Taught,
        body=asked.NewLabels,
        run=lambda desk, call: desk.tell(
            call.crawl, {said.url: said.relevant for said in call.body.labels}, boundary=call.body.boundary
        ),
    ),
    Operation(
        method="GET",
        path=f"{CRAWL}/search",
        name="search",
        summary="Full text over the collection, in English and Chinese.",
        answer=answers.Hits,
        query=asked.Search,
        run=lambda desk, call: desk.search(call.crawl, **call.query.model_dump()),
    ),
    Operation(
        method="GET",
        path=f"{CRAWL}/workers",
        name="workers",
        summary="Who works for the crawl.",
        answer=answers.Workers,
        run=lambda desk, call: desk.workers(call.crawl),
    ),
    Operation(
        method="POST",
        path=f"{CRAWL}/control",
        name="control",
        summary="Start, pause, resume or stop the crawl.",
        answer=answers.Status,
        body=asked.Order,
        run=lambda desk, call: desk.control(call.crawl, **_order(call.body)),
    ),
    Operation(
        method="PUT",
        path=f"{CRAWL}/budgets",
        name="budgets",
        summary="Say when the run ends, in the place of what it was told before.",
        answer=answers.Status,
        body=asked.Budgets,
        run=lambda desk, call: desk.set_budgets(call.crawl, call.body.model_dump()),
    ),
)


def _order(order: asked.Order) -> dict[str, Any]:
    """Leave out what only a start takes."""
    return order.model_dump() if order.do == "start" else {"do": order.do}

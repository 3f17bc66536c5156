"""Responses of the API as typed classes: the OpenAPI document is generated from them, and tests check all views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from thresher.coordination.last_run import RunEnd
from thresher.feedback.topic_counts import TopicStatus
from thresher.frontier.base import Counts
from thresher.status import CrawlStatus, descriptions

Parts = dict[str, float]
Model = TypeVar("Model", bound=BaseModel)


class ApiResponse(BaseModel):
    """An object with these keys and no others."""

    model_config = ConfigDict(extra="forbid")


def _with_descriptions_of(shown: type) -> Callable[[type[Model]], type[Model]]:
    """Give the keys of a response the descriptions of the fields that they show."""

    def fill(model: type[Model]) -> type[Model]:
        for name, meaning in descriptions(shown).items():
            if name in model.model_fields:
                model.model_fields[name].description = meaning
        model.model_rebuild(force=True)
        return model

    return fill


class ErrorResponse(ApiResponse):
    """Error message."""

    error: str


class OpenApiResponse(BaseModel):
    """An OpenAPI document."""

    model_config = ConfigDict(extra="allow")

    openapi: str
    paths: dict[str, Any]


@_with_descriptions_of(Counts)
class CountsResponse(ApiResponse):
    """Counts of pages, URLs and hosts."""

    pages: int
    duplicates: int
    relevant: int
    expected: float | None
    waiting: int
    leased: int
    done: int
    failed: int
    dropped: int
    hosts: int
    ready: int
    delayed: int
    parked: int
    pause_seconds: int


class LimitResponse(ApiResponse):
    """What limits the speed of a crawl, with a related number."""

    code: Literal[
        "starting", "busy", "delay", "answers", "parked", "nothing", "stopped", "paused", "store_restarted", "no_answer"
    ]  # fmt: skip
    number: int


class BudgetResponse(ApiResponse):
    """A limit of a run, and how much of it is used."""

    limit: float | None
    used: float | None


class BudgetListResponse(ApiResponse):
    """All limits of a run."""

    pages: BudgetResponse
    relevant: BudgetResponse
    minutes: BudgetResponse
    harvest_below: BudgetResponse


class RelevantRangeResponse(ApiResponse):
    """A 90 % interval for the relevant pages among the waiting URLs, computed when the crawl had `pages` pages."""

    pages: int
    least: int
    most: int


class LabelCountsResponse(ApiResponse):
    """Numbers of positive and negative labels."""

    yes: int
    no: int


@_with_descriptions_of(RunEnd)
class EndedResponse(ApiResponse):
    """How the last run ended."""

    code: str
    words: str
    exit_code: int | None
    fetched: int
    at: float


class FailureResponse(ApiResponse):
    """URLs that gave no page, for one reason."""

    reason: str
    cause: Literal["unreachable", "busy", "blocked", "rules", "page"]
    urls: int
    failed: int
    waiting: int = Field(description="URLs that wait because their host is parked.")
    hosts: int
    examples: list[str] = Field(description="Examples of hosts.")
    retry_seconds: float | None
    words: str


@_with_descriptions_of(TopicStatus)
class TopicResponse(ApiResponse):
    """One of several topics of a crawl."""

    name: str
    relevant: int
    wanted: int | None
    complete: bool
    forecast: RelevantRangeResponse | None


class CollectionResponse(ApiResponse):
    """How much of a crawl is in its collection, and how much waits for its upload."""

    url: str
    segments: int = Field(description="Segments with pages that the manifest lists.")
    rows: int = Field(description="Rows in them, revisions included.")
    waiting_segments: int = Field(description="Segments of this machine that are not uploaded yet.")
    waiting_rows: int
    not_uploaded: int | None = Field(
        description="Settled URLs of all machines whose pages are not uploaded; null for a crawl on one machine."
    )
    error: str = Field(description="Why the collection does not answer; then the numbers are those of the last answer.")


@_with_descriptions_of(CrawlStatus)
class StatusResponse(ApiResponse):
    """Status of a crawl."""

    name: str
    title: dict[str, str]
    strategy: str
    judge: str
    shared: bool
    state: Literal["running", "paused", "stopped"]
    counts: CountsResponse
    harvest_rate: float
    provisional: bool
    pages_per_second: float
    limit: LimitResponse
    budgets: BudgetListResponse
    forecast: RelevantRangeResponse | None
    topics: list[TopicResponse]
    labels: LabelCountsResponse
    ended: EndedResponse | None
    blocked: dict[str, int]
    failures: list[FailureResponse]
    collection: CollectionResponse | None
    can: list[Literal["start", "pause", "resume", "stop", "budgets"]]


class CrawlsResponse(ApiResponse):
    """Status of all crawls."""

    crawls: list[StatusResponse]


class PointResponse(ApiResponse):
    """A point of the harvest curve; the rate is that of the pages since the previous point."""

    pages: int
    relevant: int
    rate: float


class HarvestResponse(ApiResponse):
    """The harvest curve: relevant pages over fetched pages."""

    points: list[PointResponse]
    pages: int
    relevant: int


class WorkerResponse(ApiResponse):
    """A worker."""

    name: str
    machine: str
    process: int
    pages: int
    since: float
    state: Literal["working", "waiting", "leaving", "silent", "stopped"]
    silent_seconds: float


class WorkersResponse(ApiResponse):
    """Workers of a crawl."""

    workers: list[WorkerResponse]


class UrlEntryResponse(ApiResponse):
    """A URL of the frontier."""

    url: str
    host: str
    state: Literal["waiting", "leased", "done", "failed"]
    score: float
    hops: int
    depth_left: int
    parent: int
    tries: int
    reason: str


class BucketResponse(ApiResponse):
    """Number of waiting URLs with a score in a range."""

    low: float
    high: float
    count: int


class NextUrlResponse(ApiResponse):
    """One of the next URLs, and where it was found."""

    url: str
    host: str
    score: float
    hops: int
    tries: int
    anchor: str
    parts: Parts
    parent: str
    parent_title: str


class FrontierResponse(ApiResponse):
    """The waiting URLs."""

    histogram: list[BucketResponse]
    waiting: int
    sampled: bool = Field(description="Whether the histogram was made from a sample.")
    next: list[NextUrlResponse]


class RobotsResponse(ApiResponse):
    """State of a host's robots.txt."""

    state: Literal["unknown", "read", "none", "unreadable", "elsewhere", "ignored"]
    status: int | None
    reason: str
    tries: int
    target: str


class HostSignalResponse(ApiResponse):
    """A statement of a host on the uses of its pages."""

    source: str = Field(description="Where it was read: robots.txt or tdmrep.json.")
    statement: str
    value: str
    path: str = Field(description="The path that it is about, as in robots.txt; empty for all.")


class HostResponse(ApiResponse):
    """A host."""

    host: str
    waiting: int
    leased: int
    pages: int
    relevant: int
    failed: int
    harvest_rate: float
    delay_seconds: float
    next_seconds: float
    best: float | None
    parked: str
    left_alone: dict[str, str]
    blocked: dict[str, int] = Field(description="URLs that gave a block page, by its kind.")
    robots: RobotsResponse
    signals: list[HostSignalResponse] = Field(description="Usage signals in files of the host, as they were read last.")


class HostsResponse(ApiResponse):
    """Hosts."""

    hosts: list[HostResponse]


class PageRowResponse(ApiResponse):
    """A page in a list."""

    url: str
    title: str
    language: str
    relevance: float
    relevant: bool
    depth: int
    fetched_at: float
    host: str
    topics: dict[str, float] = Field(default={}, description="The relevance for each topic, in a crawl of several.")


class PageRowsResponse(ApiResponse):
    """Pages, and whether there are more."""

    pages: list[PageRowResponse]
    more: bool


class SignalResponse(ApiResponse):
    """A statement of a site on the uses of a page."""

    source: str = Field(description="Where it was read: robots.txt, tdmrep.json, header or markup.")
    statement: str
    value: str


class SettlementResponse(ApiResponse):
    """One settlement of a URL."""

    url: str
    status: int
    outcome: str
    reason: str
    title: str
    language: str
    relevance: float
    relevant: bool
    relevance_parts: Parts
    depth: int
    fetched_at: float
    blocked: str = Field(default="", description="The kind of block page that came in place of the page.")
    opt_outs: list[str] = Field(default=[], description="The uses that the site opts out of.")
    signals: list[SignalResponse] = Field(default=[], description="Usage signals, with where each was read.")
    topics: dict[str, float] = Field(default={}, description="The relevance for each topic, in a crawl of several.")


class HopResponse(SettlementResponse):
    """One step of the path from a seed, with the link that led there."""

    anchor: str
    score: float
    score_parts: Parts


class WordShareResponse(ApiResponse):
    """A word of the judgement."""

    word: str
    share: float = Field(description="Its share of the weight of all words that the judge reports, from 0 to 1.")


class NearestPageResponse(ApiResponse):
    """The seed or labelled page that a page is most similar to."""

    url: str
    title: str
    similarity: float
    kind: Literal["seed", "labelled yes", "labelled no"]


class PathPageResponse(ApiResponse):
    """A page of the path from a seed."""

    url: str
    title: str
    anchor: str = Field(description="The words of the link that led there; empty for a seed or a redirect.")


class CountedWordResponse(ApiResponse):
    """A word with its weight: positive for the topic, negative against it."""

    written: str
    weight: float
    share: float


class LinkResponse(ApiResponse):
    """A link that was added to the frontier."""

    url: str
    anchor: str
    score: float
    parts: Parts


class PageDetailsResponse(ApiResponse):
    """The numbers behind an explanation."""

    trouble: str = Field(
        description="Why a waiting URL was not fetched yet, in plain words; empty when it only waits in the queue."
    )
    parked: str = Field(description="Why its host is parked; empty when it is not.")
    tries: int = Field(description="Failed requests of it, or of the robots.txt of its host.")
    last_try: float | None
    next_try_seconds: float | None
    frontier: UrlEntryResponse | None
    found_on: str = Field(description="The page whose link gave it its score; empty for a seed.")
    link: LinkResponse | None = Field(description="That link, with its score when it was found.")
    words: list[CountedWordResponse]
    path: list[HopResponse]
    history: list[SettlementResponse]


class PageResponse(ApiResponse):
    """Everything known about a URL."""

    url: str
    title: str
    state: Literal["unknown", "waiting", "leased", "done", "failed"]
    summary: str = Field(description="The verdict or the state, and how it was found, in plain sentences.")
    reason: str
    relevance: float | None = Field(description="Null without a page, as the next seven.")
    relevant: bool | None
    threshold: float | None = Field(description="The cut: the relevance from which on a page is relevant.")
    rank: int | None = Field(description="Its place by relevance; null for a copy of another page.")
    pages: int | None = Field(description="Number of pages that are ranked.")
    words_for: list[WordShareResponse] | None = Field(description="The five words that speak most for the topic.")
    words_against: list[WordShareResponse] | None = Field(description="The five that speak most against it.")
    nearest: NearestPageResponse | None
    score: float | None = Field(description="Its score when it was fetched, or in the queue.")
    queue_rank: int | None = Field(description="The place of a waiting URL in the queue; null beyond the first 1,000.")
    anchor: str = Field(description="The words of the last link of the path.")
    path: list[PathPageResponse] = Field(description="The shortest known path from a seed.")
    details: PageDetailsResponse
    text: str = Field(description="Main text, with its paragraphs; the first 200,000 characters.")
    markdown: str = Field(description="Main content as Markdown; the first 200,000 characters.")
    author: str = Field(description="As the page states it; empty when it does not.")
    published: str = Field(description="Date of publication, as the page states it; empty when it does not.")
    license: str = Field(description="URL or name of the licence, as the page states it; empty when it does not.")
    links: list[LinkResponse]
    label: bool | None


class HitResponse(PageRowResponse):
    """A search result."""

    snippet: str
    all_words: bool
    match: float
    alike: int


class HitsResponse(ApiResponse):
    """Search results."""

    hits: list[HitResponse]
    total: int
    indexed: int = Field(description="Number of indexed pages.")
    growing: bool = Field(description="Whether new pages are being indexed.")


class QuestionResponse(ApiResponse):
    """A page to label."""

    url: str
    title: str
    language: str
    relevance: float
    rank: int = Field(description="Place by relevance, 1 for the most relevant page.")
    pages: int = Field(description="Number of ranked pages.")
    excerpt: str


class QuestionsResponse(ApiResponse):
    """Pages to label, and the labels so far."""

    questions: list[QuestionResponse]
    label_counts: LabelCountsResponse


class LabelResponse(ApiResponse):
    """A label; null for one that was removed."""

    url: str
    relevant: bool | None
    at: float
    topic: str = Field(description="The topic that it is about, of several; empty for all.")
    model: str = Field(description="The language model that gave it; empty for a person.")
    probability: float = Field(description="Of a label by a model: that the page is about the topic.")


class LabelsResponse(ApiResponse):
    """All labels, in the order in which they were given."""

    labels: list[LabelResponse]


class LabellingStatusResponse(ApiResponse):
    """Labels, relevant pages and next URLs of a crawl."""

    labelled: int = Field(description="URLs with a label of a person.")
    relevant: int
    queue: list[UrlEntryResponse]


class LabelledUrlResponse(ApiResponse):
    """A labelled URL, and its state in the crawl."""

    url: str
    relevant: bool | None
    status: Literal["fetched", "no page", "waiting", "queued", "unknown"]
    reason: str


class ChangedPageResponse(ApiResponse):
    """A page whose verdict changed."""

    url: str
    title: str


class LabellingResultResponse(ApiResponse):
    """Effect of new labels."""

    labels: int
    applied: bool
    before: LabellingStatusResponse
    after: LabellingStatusResponse
    now_relevant: list[ChangedPageResponse] = Field(
        description="Pages that became relevant, three at most, without those that were labelled."
    )
    no_longer: list[ChangedPageResponse] = Field(description="Pages that are no longer relevant, likewise.")
    urls: list[LabelledUrlResponse]

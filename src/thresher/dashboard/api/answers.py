"""What is answered, as typed classes: the description of the API is made from them, and every view is held to them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Parts = dict[str, float]


class Answer(BaseModel):
    """An object with these keys and no others."""

    model_config = ConfigDict(extra="forbid")


class Counts(Answer):
    """The queue in numbers."""

    pages: int
    relevant: int
    waiting: int
    leased: int
    done: int
    failed: int
    dropped: int
    hosts: int
    ready: int
    delayed: int
    parked: int


class Limit(Answer):
    """What limits the speed, and a number that belongs to it."""

    code: Literal["starting", "busy", "delay", "answers", "parked", "nothing", "stopped", "paused", "no_answer"]
    number: int


class Budget(Answer):
    """When a run ends, and how far it is."""

    limit: float | None
    used: float | None


class BudgetList(Answer):
    """Every rule that may end a run."""

    pages: Budget
    relevant: Budget
    minutes: Budget
    harvest_below: Budget


class Ahead(Answer):
    """What the strategy expects of the rest."""

    left: float
    share_found: float
    next_yield: float


class Told(Answer):
    """How often people said yes and no."""

    yes: int
    no: int


class Status(Answer):
    """A crawl in numbers."""

    name: str
    title: dict[str, str]
    strategy: str
    judge: str
    shared: bool
    state: Literal["running", "paused", "stopped"]
    counts: Counts
    harvest_rate: float
    pages_per_second: float
    limit: Limit
    budgets: BudgetList
    forecast: Ahead | None
    labels: Told
    can: list[Literal["start", "pause", "resume", "stop", "budgets"]]


class Crawls(Answer):
    """All crawls that are shown."""

    crawls: list[Status]


class Point(Answer):
    """A point of the harvest curve; the rate is that of the pages since the point before."""

    pages: int
    relevant: int
    rate: float


class Harvest(Answer):
    """Relevant pages against all that were fetched."""

    points: list[Point]
    pages: int
    relevant: int


class PageRow(Answer):
    """A page in a list."""

    url: str
    title: str
    language: str
    relevance: float
    relevant: bool
    probability: float | None
    depth: int
    fetched_at: float
    host: str


class PageRows(Answer):
    """Pages, and whether there are more."""

    pages: list[PageRow]
    more: bool


class Settled(Answer):
    """One time that a URL was settled."""

    url: str
    status: int
    outcome: str
    reason: str
    title: str
    language: str
    relevance: float
    relevant: bool
    probability: float | None
    relevance_parts: Parts
    depth: int
    fetched_at: float


class Hop(Settled):
    """One step of the way from a seed, and the link that led there."""

    anchor: str
    score: float
    score_parts: Parts


class UrlEntry(Answer):
    """A URL in the queue."""

    url: str
    host: str
    state: Literal["waiting", "leased", "done", "failed"]
    score: float
    hops: int
    depth_left: int
    parent: int
    tries: int
    reason: str


class Word(Answer):
    """A word that counted: for the topic when its weight is positive, against it when negative."""

    term: str
    weight: float


class Link(Answer):
    """A link that was put into the queue."""

    url: str
    anchor: str
    score: float
    parts: Parts


class Page(Answer):
    """All that is known of a URL."""

    url: str
    state: Literal["unknown", "waiting", "leased", "done", "failed"]
    reason: str
    frontier: UrlEntry | None
    path: list[Hop]
    history: list[Settled]
    title: str
    words: list[Word]
    text: str
    links: list[Link]
    label: bool | None


class Bucket(Answer):
    """How many waiting URLs have a score between two."""

    low: float
    high: float
    count: int


class NextUrl(Answer):
    """A URL that comes next, and where it was found."""

    url: str
    host: str
    score: float
    hops: int
    tries: int
    anchor: str
    parts: Parts
    parent: str
    parent_title: str


class Frontier(Answer):
    """What waits."""

    histogram: list[Bucket]
    waiting: int
    sampled: bool = Field(description="Whether the histogram was made from a part of what waits.")
    next: list[NextUrl]


class Robots(Answer):
    """What a host's robots.txt said."""

    state: Literal["unknown", "read", "none", "unreadable", "elsewhere", "ignored"]
    status: int | None
    reason: str
    tries: int
    target: str


class Host(Answer):
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
    robots: Robots


class Hosts(Answer):
    """Hosts."""

    hosts: list[Host]


class Question(Answer):
    """A page to say yes or no to."""

    url: str
    title: str
    language: str
    relevance: float
    probability: float | None
    why: Literal["likely", "unsure", "spread"]
    excerpt: str


class Questions(Answer):
    """The pages whose answers teach most."""

    questions: list[Question]
    told: Told


class Label(Answer):
    """One word on a page."""

    url: str
    relevant: bool | None
    at: float


class Labels(Answer):
    """Every word that was said, in their order."""

    labels: list[Label]


class Standing(Answer):
    """How a crawl stands, as far as labels show it."""

    labelled: int
    precision: float | None
    queue: list[UrlEntry]


class Taught(Answer):
    """What some labels changed."""

    labels: int
    heard: bool
    before: Standing
    after: Standing


class Hit(PageRow):
    """A page that answers a search."""

    snippet: str
    all_words: bool
    match: float
    alike: int


class Hits(Answer):
    """The pages that answer a search."""

    hits: list[Hit]
    total: int
    indexed: int = Field(description="Pages that can be found so far.")
    growing: bool = Field(description="Whether new pages are on their way into the index.")


class Worker(Answer):
    """Who works for a crawl."""

    name: str
    machine: str
    process: int
    pages: int
    since: float
    state: Literal["working", "waiting", "leaving", "silent", "stopped"]
    silent_seconds: float


class Workers(Answer):
    """All who work for a crawl."""

    workers: list[Worker]


class Wrong(Answer):
    """Why it was not done."""

    error: str


class Description(BaseModel):
    """An OpenAPI document."""

    model_config = ConfigDict(extra="allow")

    openapi: str
    paths: dict[str, Any]

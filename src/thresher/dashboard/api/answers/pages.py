"""Pages: in lists, one by one, and found by a search."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from thresher.dashboard.api.answers.base import Answer, Parts
from thresher.dashboard.api.answers.queue import UrlEntry


class PageRow(Answer):
    """A page in a list."""

    url: str
    title: str
    language: str
    relevance: float
    relevant: bool
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
    relevance_parts: Parts
    depth: int
    fetched_at: float


class Hop(Settled):
    """One step of the way from a seed, and the link that led there."""

    anchor: str
    score: float
    score_parts: Parts


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
    summary: str = Field(description="Where the URL stands and how it was found, in plain sentences.")
    state: Literal["unknown", "waiting", "leased", "done", "failed"]
    reason: str
    trouble: str = Field(
        description="Why a waiting URL was not fetched yet, in plain words; empty when its turn has not come."
    )
    anchor: str = Field(description="The words of the link by which a URL that was not fetched yet was found.")
    parked: str = Field(description="Why its host is parked; empty when it is not.")
    tries: int = Field(description="How often it, or the robots.txt of its host, was asked for in vain.")
    last_try: float | None
    next_try_seconds: float | None
    threshold: float | None
    frontier: UrlEntry | None
    path: list[Hop]
    history: list[Settled]
    title: str
    words: list[Word]
    text: str
    links: list[Link]
    label: bool | None


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

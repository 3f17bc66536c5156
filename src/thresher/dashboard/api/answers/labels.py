"""What people are asked, what they said, and what that changed."""

from __future__ import annotations

from typing import Literal

from thresher.dashboard.api.answers.base import Answer
from thresher.dashboard.api.answers.crawl import Told
from thresher.dashboard.api.answers.queue import UrlEntry


class Question(Answer):
    """A page to say yes or no to."""

    url: str
    title: str
    language: str
    relevance: float
    why: Literal["likely", "unsure", "spread", "boundary"]
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


class LabelledUrl(Answer):
    """A URL that was labelled, and what the crawl knows of it."""

    url: str
    relevant: bool | None
    status: Literal["fetched", "no page", "waiting", "queued", "unknown"]
    reason: str


class Boundary(Answer):
    """Labelled pages on both sides of the threshold, and the threshold and relevant pages before and after."""

    below: int
    below_yes: int
    above: int
    above_yes: int
    threshold: float
    now: float
    relevant: int
    relevant_now: int


class Taught(Answer):
    """What some labels changed."""

    labels: int
    heard: bool
    before: Standing
    after: Standing
    urls: list[LabelledUrl]
    boundary: Boundary | None

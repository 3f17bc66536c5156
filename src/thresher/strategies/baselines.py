"""Baselines: breadth-first, random order, and links scored by their anchor, their context, or page and anchor."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage
from thresher.strategies.base import BaseStrategy
from thresher.topics.profile import TopicProfile


class BreadthFirst(BaseStrategy):
    """Follow links in the order in which they were found."""

    source = "Breadth-first: first in, first out; what every focused crawler must beat."
    merge = Merge.FIRST
    seed_score = 0.0
    """As all links; the frontier hands out equal scores by age, and the seeds are the oldest."""

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        return (Candidate(url=link.url, score=0.0) for link in page.links)


class RandomOrder(BaseStrategy):
    """Follow links in random order.

    No state is saved: every worker, and every restart, restarts the sequence of random numbers.

    Args:
        random_state: The same number gives the same order.
    """

    source = "Random order: the baseline that knows nothing, not even which link came first."
    merge = Merge.FIRST

    def __init__(self, *, random_state: int = 0) -> None:
        self._random = Random(random_state)  # noqa: S311 - no secret

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        return (Candidate(url=link.url, score=self._random.random()) for link in page.links)


class _SimilarityBaseline(BaseStrategy):
    def __init__(self, topic_profile: TopicProfile) -> None:
        self._sim = topic_profile.similarity


class AnchorOnly(_SimilarityBaseline):
    """Follow links by the similarity of their anchors to the topic, whatever page they are on.

    Args:
        topic_profile: The topic.
    """

    source = "Anchor text only: a baseline of LPE, section 6."

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        for link in page.links:
            sim_anchor = self._sim(link.anchor, page.language)
            yield Candidate(url=link.url, score=sim_anchor, breakdown={"anchor": sim_anchor})


class ContextOnly(_SimilarityBaseline):
    """Follow links by the similarity of the words around them to the topic; their anchors do not count.

    Args:
        topic_profile: The topic.
    """

    source = "Link context only: a baseline of LPE, section 6."

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        for link in page.links:
            sim_context = self._sim(link.context, page.language)
            yield Candidate(url=link.url, score=sim_context, breakdown={"context": sim_context})


class PageAnchor(_SimilarityBaseline):
    """Follow links by the similarity of all pages they are on, and of their own anchors, to the topic.

    Args:
        topic_profile: The topic.
    """

    source = "Page and anchor in equal parts: the priority that LPE starts from, equation 1."
    merge = Merge.MEAN
    """The equation takes the mean over all pages that hold the link; the frontier keeps it."""

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        sim_page = self._sim(page.text, page.language)
        for link in page.links:
            sim_anchor = self._sim(link.anchor, page.language)
            priority = 0.5 * sim_page + 0.5 * sim_anchor
            yield Candidate(url=link.url, score=priority, breakdown={"page": sim_page, "anchor": sim_anchor})

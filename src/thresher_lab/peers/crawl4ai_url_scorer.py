"""Crawl4AI's best-first crawl with its scorer of keywords in URLs, as its documentation shows it.

Classes of Crawl4AI: BestFirstCrawlingStrategy and KeywordRelevanceScorer. The score of a URL is the share of the
keywords that it contains, times a weight. Ten of the best are fetched at a time; among equal ones the shallower go
first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from thresher.records import Candidate, Judgement, Lease, ParsedPage
from thresher.strategies.base import BaseStrategy
from thresher.strategies.batches import Batches
from thresher.text.stopwords import stop_words
from thresher.topics.profile import TopicProfile

BATCH_SIZE = 10
DEPTH_SHARE = 0.001
"""Share of the score: depth only breaks ties, as long as there are fewer than 500 keywords."""


class Crawl4aiUrlScorer(BaseStrategy):
    """Follow first the URLs that contain the most keywords; the text of pages is ignored.

    Nothing is learned, so a restart and other workers score alike.

    Args:
        topic_profile: The topic; the words of its phrases are the keywords.
        weight: Factor of the share of keywords; it does not change the order by itself.
        case_sensitive: Whether keywords must be written as in the topic.
        max_depth: No link is followed further away from the seeds; 0 for no limit. Crawl4AI requires one.
    """

    def __init__(
        self, topic_profile: TopicProfile, *, weight: float = 1.0, case_sensitive: bool = False, max_depth: int = 0
    ) -> None:
        if not 0 < weight <= 1:
            raise ValueError(f"weight must lie above 0 and be at most 1, got {weight}")
        if max_depth < 0:
            raise ValueError(f"max_depth must be at least 0, got {max_depth}")
        flags = 0 if case_sensitive else re.IGNORECASE
        self._patterns = [re.compile(re.escape(keyword), flags) for keyword in keywords_of(topic_profile.phrases)]
        self._weight = weight
        self._max_depth = max_depth
        self._batches = Batches(BATCH_SIZE)
        self.batch_size = self._batches.size

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Score each link by its URL alone."""
        depth = lease.hops + 1
        if self._max_depth and depth > self._max_depth:
            return
        for link in page.links:
            keyword_score = self._weight * self._matches(link.url)
            score = (1 - DEPTH_SHARE) * keyword_score + DEPTH_SHARE / (1 + depth)
            breakdown = {"keywords in URL": keyword_score, "depth": float(depth)}
            yield Candidate(url=link.url, score=self._batches.place(score, {}), breakdown=breakdown)

    def _matches(self, url: str) -> float:
        """Return the share of the keywords that a URL contains."""
        decoded_url = unquote(url)
        total_matches = sum(1 for pattern in self._patterns if pattern.search(decoded_url))
        return total_matches / len(self._patterns) if self._patterns else 0.0


def keywords_of(phrases: Iterable[str]) -> list[str]:
    """Return the words of phrases, each once: a URL cannot contain a phrase with blanks."""
    words = (word for phrase in phrases for word in re.findall(r"\w+", phrase))
    return list(dict.fromkeys(word for word in words if word.lower() not in stop_words("en")))

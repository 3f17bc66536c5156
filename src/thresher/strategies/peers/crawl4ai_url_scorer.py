"""Crawl4AI's best-first crawl with its scorer of keywords in URLs, as its documentation shows it.

Classes of Crawl4AI: BestFirstCrawlingStrategy and KeywordRelevanceScorer. A URL is worth the share of the keywords that
stand in it, times a weight. Ten of the best are fetched at a time; of equal ones the shallower go first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage
from thresher.strategies.aim import Aim
from thresher.strategies.batches import Batches
from thresher.text.stopwords import stop_words

BATCH_SIZE = 10
DEPTH_SHARE = 0.001
"""Of the score: depth only parts equal ones, as long as there are fewer than 500 keywords."""


class Crawl4aiUrlScorer:
    """Follow first the URLs that hold the most keywords; what stands on the pages does not matter.

    Nothing is learned, so a restart and other workers score alike.

    Args:
        aim: The topic; the words of its phrases are the keywords.
        weight: What the share of keywords is multiplied with; alone it changes nothing in the order.
        case_sensitive: Whether keywords must be written as in the topic.
        max_depth: No link is followed further away from the seeds; 0 for no bound. Crawl4AI asks its user for one.
    """

    merge = Merge.MAX

    def __init__(self, aim: Aim, *, weight: float = 1.0, case_sensitive: bool = False, max_depth: int = 0) -> None:
        if not 0 < weight <= 1:
            raise ValueError(f"weight must lie above 0 and be at most 1, got {weight}")
        if max_depth < 0:
            raise ValueError(f"max_depth must be at least 0, got {max_depth}")
        flags = 0 if case_sensitive else re.IGNORECASE
        self._patterns = [re.compile(re.escape(keyword), flags) for keyword in keywords_of(aim.phrases)]
        self._weight = weight
        self._max_depth = max_depth
        self._batches = Batches(BATCH_SIZE)
        self.batch_size = self._batches.size

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds are the first batch."""
        return (Candidate(url=url, score=1.0) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Score each link by its URL alone."""
        depth = lease.hops + 1
        if self._max_depth and depth > self._max_depth:
            return
        for link in page.links:
            keyword_score = self._weight * self._matches(link.url)
            score = (1 - DEPTH_SHARE) * keyword_score + DEPTH_SHARE / (1 + depth)
            parts = {"keywords in URL": keyword_score, "depth": float(depth)}
            yield Candidate(url=link.url, score=self._batches.place(score, {}), parts=parts)

    def _matches(self, url: str) -> float:
        """Give the share of the keywords that stand in a URL."""
        decoded_url = unquote(url)
        total_matches = sum(1 for pattern in self._patterns if pattern.search(decoded_url))
        return total_matches / len(self._patterns) if self._patterns else 0.0


def keywords_of(phrases: Iterable[str]) -> list[str]:
    """Give the words of phrases, each once: nobody finds a phrase with blanks in a URL."""
    words = (word for phrase in phrases for word in re.findall(r"\w+", phrase))
    return list(dict.fromkeys(word for word in words if word.lower() not in stop_words("en")))

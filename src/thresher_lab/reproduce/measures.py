"""The measures of the papers for a crawl."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from thresher.topics.profile import UrlEvidence
from thresher_lab.simulation.simulator import SimulatedCrawl
from thresher_lab.statistics import metrics
from thresher_lab.statistics.result_rows import Row

PORTIONS = 20
"""FCMRPS splits every crawl into this many parts of equal length."""


def portions(values: Sequence[float], budget: int, number: int = PORTIONS) -> list[float]:
    """Add up the values of all fetches until the end of each portion of the budget."""
    sums = metrics.running_sum(values, budget)
    ends = (max(budget * part // number, 1) for part in range(1, number + 1))
    return [round(float(sums[end - 1]), 4) for end in ends]


def url_counts(evidence: UrlEvidence, urls: Iterable[str]) -> dict[str, int]:
    """Count URLs of relevant pages by what they spell.

    Returns:
        ``relevant`` counts all, ``own`` those with the topic's own label, ``context`` those with a label above it, and
        ``only_context`` those with such a label and not the topic's own.
    """
    counts = {"relevant": 0, "own": 0, "only_context": 0, "context": 0}
    for url in urls:
        is_own = [match.level == match.depth for match in evidence.matches(url)]
        own, context = any(is_own), not all(is_own)
        counts["relevant"] += 1
        counts["own"] += own
        counts["context"] += context
        counts["only_context"] += context and not own
    return counts


def costs(crawl: SimulatedCrawl) -> Row:
    """Return the cost of a page in total, and that of judge and strategy."""
    fetched = max(len(crawl.fetches), 1)
    return {
        "ms_per_page": 1000 * crawl.seconds / fetched,
        "scoring_ms_per_page": 1000 * crawl.scoring_seconds / fetched,
    }

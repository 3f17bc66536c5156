"""Active learning: choose the pages whose labels inform the judge most.

People are asked about one page at a time, the nearest to the threshold; the judge is refitted after each answer.

Models are asked about several pages at once, and there three aims conflict. Likely pages give most of the positive
labels that a judge can learn from; but labels of the likeliest alone confirm what is known. Pages at the boundary show
where the topic ends; but almost all of their labels are negative. And labels of similar pages are redundant.

So the sample is spread evenly over the ranks of the better part of the crawled pages: from the best page down to twice
the number of pages that the judge finds relevant, however close or far apart the scores are. On dev topics this was
better than the best pages, than those nearest to one half, and than a mix of both, if not by much. Label a few pages at
a time: after each few labels the judge ranks the pages again, and the next sample is spread over the new ranking.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

REACH = 2.0
"""Ranks that are sampled, as a multiple of the number of pages that seem relevant."""
MIN_REACH = 40
"""Ranks that are sampled at least."""
HALF = 0.5
NEIGHBOURS = 2
"""Of this many neighbours on each side, the page is chosen whose host was chosen least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCandidate:
    """A stored page that could be labelled.

    Args:
        relevance: As judged now.
    """

    url: str
    relevance: float
    language: str = ""
    host: str = ""
    title: str = ""


def most_informative(pages: Sequence[LabelCandidate], count: int) -> list[str]:
    """Choose the pages whose labels inform most, several at once; return their URLs.

    Args:
        pages: Crawled pages without labels, without seeds: all of them, or some hundreds that include the best, the
            undecided and a random sample.
    """
    ranked = sorted(pages, key=lambda page: (-page.relevance, page.url))
    seem_relevant = sum(page.relevance >= HALF for page in ranked)
    reach = min(len(ranked), max(MIN_REACH, count, int(REACH * seem_relevant)))
    return [page.url for page in _spread(ranked[:reach], count)]


def nearest_to_threshold(pages: Sequence[LabelCandidate], count: int, *, threshold: float) -> list[LabelCandidate]:
    """Choose the pages whose labels inform most about where the threshold belongs: the nearest ones, by their odds."""
    return sorted(pages, key=lambda page: (abs(_logit(page.relevance) - _logit(threshold)), page.url))[:count]


def _logit(chance: float) -> float:
    bounded = min(max(chance, 1e-6), 1 - 1e-6)
    return log(bounded / (1 - bounded))


def _spread(ranked: Sequence[LabelCandidate], count: int) -> list[LabelCandidate]:
    """Choose pages at even distances, including the first and the last; among neighbours prefer hosts chosen least."""
    if count >= len(ranked):
        return list(ranked)
    chosen: dict[int, LabelCandidate] = {}
    hosts: Counter[str] = Counter()
    for step in range(count):
        middle = round(step * (len(ranked) - 1) / max(count - 1, 1))
        near = range(max(middle - NEIGHBOURS, 0), min(middle + NEIGHBOURS + 1, len(ranked)))
        free = [place for place in near if place not in chosen] or [p for p in range(len(ranked)) if p not in chosen]
        place = min(free, key=lambda place: (hosts[ranked[place].host], abs(place - middle), place))
        chosen[place] = ranked[place]
        hosts[ranked[place].host] += 1
    return [chosen[place] for place in sorted(chosen)]

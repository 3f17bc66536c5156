"""Which pages to ask a person about, so that each answer teaches most.

Three wishes are at odds. Likely pages bring most of the yes that a judge can learn from; but asked about the likeliest
alone, a person confirms what is known. Pages on the edge say where the topic ends; but asked about those alone, a
person almost always says no. And answers about pages that are alike say the same thing twice.

So questions are spread evenly over the better part of what was crawled: from the best page down to twice as far as
the judge thinks that the topic goes, wherever the scores lie close together or far apart. On dev topics this came out
ahead of the best pages, of those nearest to one half, and of a mix of both, if not by much
(`docs/explanation/labels.md`). Ask a few questions at a time: after each few answers the judge ranks anew, and the
next questions are spread over what it thinks then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

LIKELY, UNSURE, SPREAD = "likely", "unsure", "spread"
SURE, POSSIBLE = 0.7, 0.2
"""The probability from which a page is likely, and that below which it is asked about only to spread."""
REACH = 2.0
"""Questions go so many times as far down as there are pages that seem to be about the topic."""
LEAST_REACH = 40
"""And so far at least."""
HALF = 0.5
NEIGHBOURS = 2
"""Of so many neighbours on each side, the one is asked about whose host was asked about least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A page that a person could be asked about, as the archive knows it.

    Args:
        relevance: As the judge has it.
    """

    url: str
    relevance: float
    language: str = ""
    host: str = ""
    title: str = ""


def most_telling(pages: Sequence[Asked], count: int) -> list[tuple[str, str]]:
    """Choose the pages whose answers teach most; return their URLs, and why: ``likely``, ``unsure`` or ``spread``.

    Args:
        pages: Crawled pages that nobody has spoken about, without seeds: all of them, or some hundreds that hold the
            best, the undecided and a random part.
    """
    ranked = sorted(pages, key=lambda page: (-page.relevance, page.url))
    seem_relevant = sum(page.relevance >= HALF for page in ranked)
    reach = min(len(ranked), max(LEAST_REACH, count, int(REACH * seem_relevant)))
    return [(page.url, _why(page)) for page in _spread(ranked[:reach], count)]


def nearest_to_threshold(pages: Sequence[Asked], count: int, *, threshold: float) -> list[Asked]:
    """Choose the pages whose labels say most about where the threshold belongs: half from each side, the nearest ones.

    Where one side has too few, the other gives more. The likeliest page comes first.
    """
    near = sorted(pages, key=lambda page: (abs(_logit(page.relevance) - _logit(threshold)), page.url))
    above = [page for page in near if page.relevance >= threshold]
    below = [page for page in near if page.relevance < threshold]
    wanted = max(count // 2, count - len(below))
    chosen = above[:wanted] + below[: max(count - min(wanted, len(above)), 0)]
    return sorted(chosen, key=lambda page: (-page.relevance, page.url))


def _logit(chance: float) -> float:
    bounded = min(max(chance, 1e-6), 1 - 1e-6)
    return log(bounded / (1 - bounded))


def _spread(ranked: Sequence[Asked], count: int) -> list[Asked]:
    """Take pages at even distances, first and last among them; of close neighbours one from a host that is new."""
    if count >= len(ranked):
        return list(ranked)
    chosen: dict[int, Asked] = {}
    hosts: Counter[str] = Counter()
    for step in range(count):
        middle = round(step * (len(ranked) - 1) / max(count - 1, 1))
        near = range(max(middle - NEIGHBOURS, 0), min(middle + NEIGHBOURS + 1, len(ranked)))
        free = [place for place in near if place not in chosen] or [p for p in range(len(ranked)) if p not in chosen]
        place = min(free, key=lambda place: (hosts[ranked[place].host], abs(place - middle), place))
        chosen[place] = ranked[place]
        hosts[ranked[place].host] += 1
    return [chosen[place] for place in sorted(chosen)]


def _why(page: Asked) -> str:
    if page.relevance >= SURE:
        return LIKELY
    return UNSURE if page.relevance >= POSSIBLE else SPREAD

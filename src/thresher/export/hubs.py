"""Good hubs of a collection: relevant pages that lead to many others, on many hosts.

They are good seeds for a later crawl of the same topic. Only relevant pages count as hubs, because the seeds of a crawl
define its topic, too.
"""

from __future__ import annotations

import heapq
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from math import sqrt

from thresher.storage.page_set import PageSet
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import fingerprint, host_key

MAX_PER_HOST = 2
"""Hubs of one host are similar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    """A page and what it leads to.

    Args:
        worth: The sum over hosts of the square root of the number of relevant pages it leads to there.
        relevant: Number of relevant pages it leads to.
        hosts: Number of hosts of these pages.
    """

    record: PageRecord
    worth: float
    relevant: int
    hosts: int


def hubs(collection: PageStoreReader, number: int, topic: str = "") -> list[Hub]:
    """Return the best hubs, of the crawl or of one of its topics, few of each host; memory grows with the hosts."""
    with closing(PageSet(collection, collection.ranked(relevant=True, topic=topic))) as relevant:
        best: dict[str, list[tuple[float, int, Hub]]] = {}
        for place, record in enumerate(collection.ranked(relevant=True, topic=topic)):
            hub = _hub(collection, record, relevant)
            if hub.relevant:
                of_host = best.setdefault(host_key(record.url), [])
                heapq.heappush(of_host, (hub.worth, -place, hub))
                if len(of_host) > MAX_PER_HOST:
                    heapq.heappop(of_host)
    ranked = sorted((entry for of_host in best.values() for entry in of_host), reverse=True)
    return [hub for _, _, hub in ranked[:number]]


def _hub(collection: PageStoreReader, record: PageRecord, relevant: PageSet) -> Hub:
    found = Counter(
        host_key(link.url) for link in collection.links(record.fingerprint) if fingerprint(link.url) in relevant
    )
    worth = sum(map(sqrt, found.values()))
    return Hub(record=record, worth=worth, relevant=found.total(), hosts=len(found))

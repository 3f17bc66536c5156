"""Cache of links that this worker sent recently, so that a site's menu is not sent again with every page.

Correctness does not depend on it. A link is skipped only when sending it again would change nothing: it waits with at
least this score, or it has been leased. The cost: a URL that other workers evicted from a full host, released, or
rescored lower is not updated until it is found again after its cache entry has expired.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from thresher.records import Candidate, Merge

MAX_LINKS = 50_000
SECONDS = 600.0


class _Sent(NamedTuple):
    score: float
    depth_left: int
    hops: int
    kind: int
    until: float


class RecentLinks:
    """Recently sent links, by host.

    Args:
        merge: With the mean of scores every link counts, so none is skipped.
        clock: Returns the time in seconds.
    """

    def __init__(self, merge: Merge, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._merge = merge
        self._clock = clock
        self._hosts: OrderedDict[str, dict[str, _Sent]] = OrderedDict()
        self._links = 0

    def should_send(self, link: Candidate, host: str) -> bool:
        """Return whether a link must be sent to the store."""
        sent = self._hosts.get(host, {}).get(link.url)
        if sent is None:
            return True
        better = link.score > sent.score and self._merge is Merge.MAX
        better = better or link.depth_left > sent.depth_left or link.hops < sent.hops or link.kind > sent.kind
        return better or self._clock() >= sent.until

    def add(self, link: Candidate, host: str) -> None:
        """Remember a link that was sent."""
        if self._merge is Merge.MEAN:
            return
        links = self._hosts.setdefault(host, {})
        known = links.get(link.url)
        self._links += known is None
        sent = _Sent(link.score, link.depth_left, link.hops, link.kind, self._clock() + SECONDS)
        if known:
            sent = sent._replace(
                score=max(sent.score, known.score),
                depth_left=max(sent.depth_left, known.depth_left),
                hops=min(sent.hops, known.hops),
                kind=max(sent.kind, known.kind),
            )
        links[link.url] = sent
        self._hosts.move_to_end(host)
        while self._links > MAX_LINKS and len(self._hosts) > 1:
            self.forget_host(next(iter(self._hosts)))

    def forget(self, url: str, host: str) -> None:
        """Forget a URL: its score was changed."""
        if self._hosts.get(host, {}).pop(url, None):
            self._links -= 1

    def forget_host(self, host: str) -> None:
        """Forget all URLs of a host: one of them was evicted, or waits again."""
        self._links -= len(self._hosts.pop(host, {}))

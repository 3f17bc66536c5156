"""Limit the slots that slow servers occupy; there is no other limit on how long a worker waits for them.

A fetch is slow when it has taken ten times as long as the median. Slow fetches may occupy a fifth of the slots; beyond
that, the oldest are aborted. Their hosts are remembered, and wait for a slot of that fifth.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable
from statistics import median

SLOW_SHARE = 0.2
SLOW_TIMES = 10.0
MIN_SECONDS = 0.3
"""A faster fetch is never slow."""
FIRST_SECONDS = 5.0
"""Threshold while there are too few fetches for a median."""
WAIT_SECONDS = 30.0
"""How long a slow host waits when there is no slot for it."""

_SAMPLE = 100
_MIN_SAMPLE = 10
_REMEMBERED = 10_000


class SlowHostLimiter:
    """Tracks the open fetches of a worker, and which hosts were slow."""

    def __init__(self, slots: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._slow_slots = max(1, int(slots * SLOW_SHARE))
        self._real_clock = clock
        self._excluded_seconds = 0.0
        self._open: dict[Hashable, tuple[str, float]] = {}  # in the order of their starts
        self._usual: deque[float] = deque(maxlen=_SAMPLE)
        self._slow_hosts: dict[str, None] = {}
        self.slow_seconds = FIRST_SECONDS

    def _clock(self) -> float:
        return self._real_clock() - self._excluded_seconds

    def exclude_seconds(self, seconds: float) -> None:
        """Do not count time in which this worker was too busy to read what had arrived."""
        self._excluded_seconds += seconds

    def may_begin(self, host: str) -> bool:
        """Return whether a fetch from a host may use a slot; only a host that was slow may have to wait."""
        return host not in self._slow_hosts or len(self._slow()) < self._slow_slots

    def begins(self, fetch: Hashable, host: str) -> None:
        self._open[fetch] = (host, self._clock())

    def ends(self, fetch: Hashable, *, answered: bool) -> None:
        host, start = self._open.pop(fetch)
        seconds = self._clock() - start
        if answered:
            self._usual.append(seconds)
        if seconds >= self.slow_seconds:
            self._slow_hosts[host] = None
            if len(self._slow_hosts) > _REMEMBERED:
                del self._slow_hosts[next(iter(self._slow_hosts))]
        elif answered:
            self._slow_hosts.pop(host, None)

    def too_many(self) -> list[Hashable]:
        """Return the fetches to abort, so that slow ones occupy no more than their share; call often."""
        if len(self._usual) >= _MIN_SAMPLE:
            self.slow_seconds = max(MIN_SECONDS, SLOW_TIMES * median(self._usual))
        slow = self._slow()
        return [
            fetch for fetch in slow[: max(0, len(slow) - self._slow_slots)] if self._seconds(fetch) >= self.slow_seconds
        ]

    def _slow(self) -> list[Hashable]:
        """Return the open fetches that are slow or from a slow host, oldest first."""
        latest = self._clock() - self.slow_seconds
        return [fetch for fetch, (host, start) in self._open.items() if start <= latest or host in self._slow_hosts]

    def _seconds(self, fetch: Hashable) -> float:
        return self._clock() - self._open[fetch][1]

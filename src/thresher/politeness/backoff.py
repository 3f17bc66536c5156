"""Backoff for hosts that answer 429 or 503.

The pause doubles with every such response in a row, over all URLs of the host and all workers; a page in between resets
it. After five in a row the host is parked, for an hour and then longer. A Retry-After is obeyed in full up to a day; a
host with a longer one is parked for good. A pause that is longer than a run waits parks the host for that time too, so
that the reason why its URLs wait is shown.
"""

from __future__ import annotations

import json

from thresher.frontier.base import CrawlStore
from thresher.parsing.response import ResponseClass
from thresher.records import Lease

FIRST_PAUSE_SECONDS = 10.0
FIRST_PARK_SECONDS = 3600.0
LONGEST_PARK_SECONDS = 24 * 3600.0
ANSWERS_BEFORE_PARK = 5
SHOWN_SECONDS = 180.0
"""A run does not wait for a longer pause."""

_BUSY = frozenset({"http 429", "http 503"})
_STATE_KIND = "busy answers"


class Backoff:
    """Counts busy responses of a host in a row, in the state that all workers share."""

    def __init__(self, frontier: CrawlStore) -> None:
        self._frontier = frontier

    async def pause_host(self, lease: Lease, response: ResponseClass) -> float:
        """Return the pause of a busy host in seconds; park the host if that is long."""
        times = await self._in_a_row(lease) if response.reason in _BUSY else 1
        pause: float = max(FIRST_PAUSE_SECONDS * 2 ** min(times - 1, 20), response.wait_seconds)
        requested = f"{response.reason}, asks for {_length(response.wait_seconds)} of rest"
        if response.wait_seconds > LONGEST_PARK_SECONDS:
            await self._frontier.park(lease.host, requested)
        elif times >= ANSWERS_BEFORE_PARK:
            longer = FIRST_PARK_SECONDS * 2 ** min(times - ANSWERS_BEFORE_PARK, 20)
            pause = min(max(longer, response.wait_seconds), LONGEST_PARK_SECONDS)
            await self._frontier.park(lease.host, f"{response.reason}, {times} times in a row", seconds=pause)
        elif response.wait_seconds > SHOWN_SECONDS:
            await self._frontier.park(lease.host, requested, seconds=response.wait_seconds)
        return pause

    async def _in_a_row(self, lease: Lease) -> int:
        """Count one more busy response; those before the host's last page do not count."""
        stored = await self._frontier.get_state(lease.host, _STATE_KIND)
        times, pages = json.loads(stored) if stored else (0, lease.host_pages)
        times = times + 1 if pages == lease.host_pages else 1
        stored = json.dumps([times, lease.host_pages])
        await self._frontier.put_state(lease.host, _STATE_KIND, stored, seconds=2 * LONGEST_PARK_SECONDS)
        return int(times)


def _length(seconds: float) -> str:
    if seconds < 2 * FIRST_PARK_SECONDS:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.0f} hours" if seconds < 2 * LONGEST_PARK_SECONDS else f"{seconds / 86400:.0f} days"

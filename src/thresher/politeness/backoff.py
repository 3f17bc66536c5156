"""Backoff for hosts that answer 429 or 503, and for hosts that send block pages.

The pause doubles with every such response in a row, over all URLs of the host and all workers; a page in between resets
it. After five in a row the host is parked, for an hour and then longer. A Retry-After is obeyed in full up to a day; a
host with a longer one is parked for good. A pause that is longer than a run waits parks the host for that time too, so
that the reason why its URLs wait is shown.

After a block page the host's own delay is doubled, and doubled again with every further block page in a row; after
five in a row the host is parked as above. A page in between resets it.
"""

from __future__ import annotations

import json

from thresher.config.event_log import log_event
from thresher.frontier.base import CrawlStore
from thresher.parsing.response import ResponseClass
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import BlockKind, Lease

FIRST_PAUSE_SECONDS = 10.0
FIRST_PARK_SECONDS = 3600.0
MAX_PARK_SECONDS = 24 * 3600.0
ANSWERS_BEFORE_PARK = 5
SHOWN_SECONDS = 180.0
"""A run does not wait for a longer pause."""

_BUSY = frozenset({Reason.of(ReasonKind.HTTP, 429), Reason.of(ReasonKind.HTTP, 503)})
_BUSY_STATE = "busy answers"
_BLOCKED_STATE = "block pages"


class Backoff:
    """Counts busy responses of a host in a row, in the state that all workers share."""

    def __init__(self, frontier: CrawlStore) -> None:
        self._frontier = frontier

    async def pause_host(self, lease: Lease, response: ResponseClass) -> float:
        """Return the pause of a busy host in seconds; park the host if that is long."""
        times = await self._in_a_row(lease, _BUSY_STATE) if response.reason in _BUSY else 1
        pause: float = max(FIRST_PAUSE_SECONDS * 2 ** min(times - 1, 20), response.wait_seconds)
        requested = Reason.around(ReasonKind.RETRY_AFTER, response.wait_seconds, response.reason)
        if response.wait_seconds > MAX_PARK_SECONDS:
            await self._park(lease, requested)
        elif times >= ANSWERS_BEFORE_PARK:
            pause = min(max(_park_seconds(times), response.wait_seconds), MAX_PARK_SECONDS)
            await self._park(lease, Reason.around(ReasonKind.REPEATED, times, response.reason), seconds=pause)
        elif response.wait_seconds > SHOWN_SECONDS:
            await self._park(lease, requested, seconds=response.wait_seconds)
        return pause

    async def pause_blocking_host(self, lease: Lease, kind: BlockKind, delay_seconds: float) -> float:
        """Return the pause of a host that sent a block page, in seconds; park the host after several in a row.

        Args:
            delay_seconds: The usual delay of the host.
        """
        times = await self._in_a_row(lease, _BLOCKED_STATE)
        if times < ANSWERS_BEFORE_PARK:
            return delay_seconds * float(2**times)
        seconds = min(_park_seconds(times), MAX_PARK_SECONDS)
        await self._park(lease, Reason.around(ReasonKind.REPEATED, times, kind.reason), seconds=seconds)
        return seconds

    async def _park(self, lease: Lease, reason: Reason, *, seconds: float | None = None) -> None:
        await self._frontier.park(lease.host, reason, seconds=seconds)
        log_event("host parked", host=lease.host, reason=str(reason), seconds=seconds)

    async def _in_a_row(self, lease: Lease, state_kind: str) -> int:
        """Count one more such response; those before the host's last page do not count."""
        stored = await self._frontier.get_state(lease.host, state_kind)
        times, pages = json.loads(stored) if stored else (0, lease.host_pages)
        times = times + 1 if pages == lease.host_pages else 1
        stored = json.dumps([times, lease.host_pages])
        await self._frontier.put_state(lease.host, state_kind, stored, seconds=2 * MAX_PARK_SECONDS)
        return int(times)


def _park_seconds(times: int) -> float:
    """Return how long a host is parked after this many responses in a row: an hour, then twice as long each time."""
    return float(FIRST_PARK_SECONDS * 2 ** min(times - ANSWERS_BEFORE_PARK, 20))

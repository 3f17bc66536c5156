"""How long a host rests that says it is asked too often, or that it is not well: 429 and 503.

The pause doubles with every such answer in a row, over all URLs of the host and all workers; a page in between
starts it anew. After five in a row the host is parked, for an hour and then longer. What Retry-After asks for is
kept whole up to a day; a host that asks for more is left alone. A host that rests for longer than a run waits is parked
for that time too, so that everybody can see why its URLs wait.
"""

from __future__ import annotations

import json

from thresher.frontier.base import Frontier
from thresher.parse.answers import Answer
from thresher.records import Lease

FIRST_PAUSE_SECONDS = 10.0
FIRST_PARK_SECONDS = 3600.0
LONGEST_PARK_SECONDS = 24 * 3600.0
ANSWERS_BEFORE_PARK = 5
SHOWN_SECONDS = 180.0
"""A run does not wait for a longer rest."""

_STORM = frozenset({"http 429", "http 503"})
_NOTE = "busy answers"


class Backoff:
    """Counts the refusals of a host in a row, in the notes that all workers share."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier

    async def rest(self, lease: Lease, answer: Answer) -> float:
        """Return for how many seconds a busy host is to be left alone; park it when it must be for long."""
        answers = await self._in_a_row(lease) if answer.reason in _STORM else 1
        pause: float = max(FIRST_PAUSE_SECONDS * 2 ** min(answers - 1, 20), answer.wait_seconds)
        if answer.wait_seconds > LONGEST_PARK_SECONDS:
            await self._frontier.park(lease.host, f"{answer.reason}, asks for {_length(answer.wait_seconds)} of rest")
        elif answers >= ANSWERS_BEFORE_PARK:
            longer = FIRST_PARK_SECONDS * 2 ** min(answers - ANSWERS_BEFORE_PARK, 20)
            pause = min(max(longer, answer.wait_seconds), LONGEST_PARK_SECONDS)
            await self._frontier.park(lease.host, f"{answer.reason}, {answers} times in a row", seconds=pause)
        elif answer.wait_seconds > SHOWN_SECONDS:
            reason = f"{answer.reason}, asks for {_length(answer.wait_seconds)} of rest"
            await self._frontier.park(lease.host, reason, seconds=answer.wait_seconds)
        return pause

    async def _in_a_row(self, lease: Lease) -> int:
        """Count one more answer of the kind; those before the host's last page are forgotten."""
        note = await self._frontier.recall(lease.host, _NOTE)
        answers, pages = json.loads(note) if note else (0, lease.host_pages)
        answers = answers + 1 if pages == lease.host_pages else 1
        note = json.dumps([answers, lease.host_pages])
        await self._frontier.remember(lease.host, _NOTE, note, seconds=2 * LONGEST_PARK_SECONDS)
        return int(answers)


def _length(seconds: float) -> str:
    if seconds < 2 * FIRST_PARK_SECONDS:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.0f} hours" if seconds < 2 * LONGEST_PARK_SECONDS else f"{seconds / 86400:.0f} days"

"""How many pages a host may give: few at first, more with every relevant one, and never more than the most.

What is counted comes with the lease, so all workers count together, and a restart forgets nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from thresher.frontier.base import Frontier
from thresher.records import Lease

RELEASED = "released"
"""The note on a host that somebody released: its pages and relevant pages at that moment."""
RELEASED_SECONDS = 10 * 365 * 24 * 3600.0


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What one host may give.

    Args:
        most: Pages after which a host is parked whatever it gave.
        first: Pages that a host may give before any of them was relevant; None for as many as `most`.
        per_relevant: How many pages more each relevant one allows.
    """

    most: int = 1000
    first: int | None = None
    per_relevant: int = 20

    def spent(self, pages: int, relevant: int) -> str:
        """Say why a host that gave so much should be asked no more; empty when it may go on."""
        if pages >= self.most:
            return f"gave {pages} pages, its budget"
        if self.first is not None and pages >= self.first + self.per_relevant * relevant:
            return f"gave {pages} pages, {relevant or 'none'} of them relevant"
        return ""


async def over_budget(budget: Budget, lease: Lease, *, relevant: bool, frontier: Frontier) -> str:
    """Say why the host of a lease that brought a page should be asked no more; empty when it may go on."""
    pages, good = lease.host_pages + 1, lease.host_relevant + relevant
    reason = budget.spent(pages, good)
    if reason and (note := await frontier.recall(lease.host, RELEASED)):
        pages_then, good_then = json.loads(note)
        return budget.spent(pages - pages_then, good - good_then) and reason
    return reason


async def release(frontier: Frontier, host: str) -> bool:
    """Let a parked host be asked again, with a fresh budget; False when it was not parked."""
    entry = next((entry for entry in await frontier.hosts(_ALL_HOSTS) if entry.host == host), None)
    if entry is None or not entry.parked:
        return False
    note = json.dumps([entry.pages, entry.relevant])
    await frontier.remember(host, RELEASED, note, seconds=RELEASED_SECONDS)
    await frontier.unpark(host)
    return True


_ALL_HOSTS = 2**31

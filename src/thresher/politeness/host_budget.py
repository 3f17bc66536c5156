"""Page budget of a host: small at first, larger with every relevant page, up to a maximum.

The counts come with the lease, so they are those of all workers and survive a restart.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from thresher.frontier.base import CrawlStore
from thresher.reasons.reason import NO_REASON, Reason, ReasonKind
from thresher.records import Lease

RELEASED = "released"
"""State of a host that a user released: its pages and relevant pages at that moment."""
RELEASED_SECONDS = 10 * 365 * 24 * 3600.0


@dataclass(frozen=True, kw_only=True)
class HostBudget:
    """The budget of one host.

    Args:
        most: Pages after which a host is parked in any case.
        first: Pages that a host may have before any of them is relevant; None for as many as `most`.
        per_relevant: Further pages that each relevant one allows.
    """

    most: int = 1000
    first: int | None = None
    per_relevant: int = 20

    def exhausted_reason(self, pages: int, relevant: int) -> Reason:
        """Return why a host with these counts should be parked; none when it should not."""
        if pages >= self.most:
            return Reason.of(ReasonKind.BUDGET, pages)
        if self.first is not None and pages >= self.first + self.per_relevant * relevant:
            return Reason.of(ReasonKind.LOW_HARVEST, pages, relevant)
        return NO_REASON


async def over_budget(budget: HostBudget, lease: Lease, *, relevant: bool, frontier: CrawlStore) -> Reason:
    """Return why the host of a lease that returned a page should be parked; none when it should not."""
    pages, good = lease.host_pages + 1, lease.host_relevant + relevant
    reason = budget.exhausted_reason(pages, good)
    if reason and (stored := await frontier.get_state(lease.host, RELEASED)):
        pages_then, good_then = json.loads(stored)
        return reason if budget.exhausted_reason(pages - pages_then, good - good_then) else NO_REASON
    return reason


async def release(frontier: CrawlStore, host: str) -> bool:
    """Unpark a host, with a new budget; False when it was not parked."""
    entry = await frontier.find_host(host)
    if entry is None or not entry.parked:
        return False
    stored = json.dumps([entry.pages, entry.relevant])
    await frontier.put_state(host, RELEASED, stored, seconds=RELEASED_SECONDS)
    await frontier.unpark(host)
    return True

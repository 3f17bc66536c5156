"""An audit of a virtual crawl: were delays kept, was the best URL leased, how fast could it have been?

It sees only what every worker sees, leases and outcomes, and periodically reads the hosts of the frontier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from thresher.frontier.base import Frontier
from thresher.records import Lease

ROUNDING_SECONDS = 0.002
"""A store may round to milliseconds."""
EVERYTHING = 1 << 30


@dataclass
class _Host:
    open: dict[int, float] = field(default_factory=dict)
    ended: float | None = None


@dataclass(kw_only=True)
class PolitenessAudit:
    """The audit of a crawl.

    Args:
        delay_seconds: The delay of a host after a lease.
        look_seconds: Time between two samples of all hosts.
        leases: Number of leases.
        crowded: Leases of a host that had one open already.
        hasty: Leases of a host before its delay was over.
        expired: Leases that were not settled in time.
        least_gap: The shortest time from the end of a lease to the next one of its host.
        looked: Leases that were compared with all hosts that were ready at that time.
        best: How many of them were the best available; in a batch, the second best after it, and so on.
        near_best: How many had fewer better ones than there are workers.
        busy_hosts: Hosts with waiting URLs at each sample, and the time since the previous one.
    """

    delay_seconds: float
    workers: int
    look_seconds: float = 1.0
    leases: int = 0
    crowded: int = 0
    hasty: int = 0
    expired: int = 0
    least_gap: float = float("inf")
    looked: int = 0
    best: int = 0
    near_best: int = 0
    busy_hosts: list[tuple[float, int]] = field(default_factory=list)
    _hosts: dict[str, _Host] = field(default_factory=dict)
    _look_at: float = 0.0

    async def scores(self, frontier: Frontier, now: float) -> list[float] | None:
        """Before a lease, periodically: return the best score of every ready host, the best first."""
        if now < self._look_at:
            return None
        self._look_at = now + self.look_seconds
        hosts = await frontier.hosts(EVERYTHING)
        self.busy_hosts.append((now, sum(host.waiting > 0 or host.leased > 0 for host in hosts)))
        free = [host for host in hosts if not host.parked and not host.leased and host.next_seconds <= 0]
        return sorted((host.best for host in free if host.best is not None), reverse=True)

    def leased(self, leases: Sequence[Lease], now: float, scores: list[float] | None) -> None:
        """Record leases."""
        for place, lease in enumerate(leases):
            self._record_lease(lease, now)
            if scores is not None:
                better = sum(score > lease.score + 1e-4 for score in scores)  # a store may round scores
                self.looked += 1
                self.best += better <= place
                self.near_best += better < self.workers

    def _record_lease(self, lease: Lease, now: float) -> None:
        self.leases += 1
        host = self._hosts.setdefault(lease.host, _Host())
        for fence in [fence for fence, until in host.open.items() if until <= now]:
            host.ended = max(host.ended or 0.0, host.open.pop(fence))
            self.expired += 1
        self.crowded += bool(host.open)
        if host.ended is not None:
            gap = now - host.ended
            self.least_gap = min(self.least_gap, gap)
            self.hasty += gap < self.delay_seconds - ROUNDING_SECONDS
        host.open[lease.fence] = lease.until

    def settled(self, lease: Lease, now: float) -> None:
        """Record that a worker settled a lease."""
        host = self._hosts[lease.host]
        if host.open.get(lease.fence, now) > now:
            host.open.pop(lease.fence, None)
            host.ended = now

    def mean_busy_hosts(self) -> float:
        """Return the mean number of hosts with waiting URLs over time."""
        spans = [
            (later - now, hosts) for (now, hosts), (later, _) in zip(self.busy_hosts, self.busy_hosts[1:], strict=False)
        ]
        seconds = sum(span for span, _ in spans)
        return sum(span * hosts for span, hosts in spans) / seconds if seconds else 0.0

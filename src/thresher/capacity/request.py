"""The parameters of a crawl to plan."""

from __future__ import annotations

from dataclasses import dataclass, field

from thresher.errors import ConfigError

WAITING_PER_HOST = 10_000
"""Default limit of waiting URLs per host."""


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Rough monthly prices, in any currency; the defaults are of the order of a large cloud's list prices in dollars.

    Args:
        core: One core with its share of RAM, for a worker.
        ram_gb: One GB of RAM in a machine for the store.
        disk_gb: One GB of disk.
        traffic_gb: One GB of incoming traffic; mostly free.
    """

    core: float = 25.0
    ram_gb: float = 4.0
    disk_gb: float = 0.05
    traffic_gb: float = 0.0


@dataclass(frozen=True, kw_only=True)
class CapacityRequest:
    """A crawl to plan.

    Args:
        pages: Number of fetches; a redirect or an error counts like a page.
        hosts: Hosts with waiting URLs, on average over the crawl.
        delay_seconds: Delay between two requests to a host.
        days: Requested duration, if the hosts allow it.
        links: Links per page.
        new_share: Share of these links that lead to a URL not seen before, over the whole crawl.
        page_kb: Transferred KB per page.
        waiting: URLs that wait at the end; computed from links and new_share when not given.
        waiting_per_host: Limit of waiting URLs per host; further ones are evicted.
        note_kb: KB stored per host, above all its robots.txt.
        node_ram_gb: RAM of one machine of the store.
        replicas: Replicas of each store node.
        line_mbit: Bandwidth of the Internet connection; 0 for no limit.
        tiered: Whether a shared store keeps the worse waiting URLs in a cold storage.
    """

    pages: int
    hosts: int
    delay_seconds: float
    days: float = 30.0
    links: int = 60
    new_share: float = 0.1
    page_kb: float = 30.0
    waiting: int | None = None
    waiting_per_host: int = WAITING_PER_HOST
    note_kb: float = 1.0
    node_ram_gb: float = 32.0
    replicas: int = 0
    line_mbit: float = 0.0
    tiered: bool = False
    prices: Prices = field(default_factory=Prices)

    def __post_init__(self) -> None:
        if self.waiting is None and self.new_per_page < 1:
            raise ConfigError(
                f"{self.links} links with a share of {self.new_share:g} new ones bring {self.new_per_page:g} new URLs "
                "per page: such a crawl runs out of URLs; it needs 1 or more"
            )

    @property
    def new_per_page(self) -> float:
        return self.links * self.new_share

    @property
    def waiting_at_end(self) -> int:
        """URLs that wait after the last page: found and not fetched, within the limit per host."""
        if self.waiting is not None:
            return self.waiting
        return round(min(self.pages * (self.new_per_page - 1), self.hosts * self.waiting_per_host))

    @property
    def seen_at_end(self) -> int:
        """URLs in the store after the last page, without evicted ones."""
        return self.pages + self.waiting_at_end

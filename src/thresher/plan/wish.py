"""The crawl that somebody has in mind, in numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

from thresher.errors import ConfigError

WAITING_PER_HOST = 10_000
"""How many URLs of one host a frontier keeps when nobody says otherwise."""


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Rough monthly prices, in whatever money; the defaults are of the order of a large cloud's list prices in dollars.

    Args:
        core: One core with its share of RAM, for a worker.
        ram_gb: One GB of RAM in a machine for the store.
        disk_gb: One GB of disk.
        traffic_gb: One GB that comes in; mostly free.
    """

    core: float = 25.0
    ram_gb: float = 4.0
    disk_gb: float = 0.05
    traffic_gb: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Wish:
    """A crawl to be planned.

    Args:
        pages: Fetches in all; a redirect or an error counts like a page.
        hosts: Hosts that have something waiting, on average over the crawl.
        delay_seconds: How long a host is left alone between two pages.
        days: When it should be done, if the hosts allow it.
        links: Links per page.
        new_share: Share of these links that lead to a URL not seen before, over the whole crawl.
        page_kb: KB per page, as it comes over the line.
        waiting: URLs that wait at the end; computed from links and new_share when not given.
        waiting_per_host: URLs of one host that may wait; the rest is pushed out and forgotten.
        note_kb: KB that are remembered per host, above all its robots.txt.
        node_ram_gb: RAM of one machine of the store.
        replicas: Copies of each store node.
        line_mbit: What the connection to the Internet carries; 0 when it is no limit.
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
    prices: Prices = field(default_factory=Prices)

    def __post_init__(self) -> None:
        if self.waiting is None and self.new_per_page < 1:
            raise ConfigError(
                f"{self.links} links with a share of {self.new_share:g} new ones bring {self.new_per_page:g} new URLs "
                "per page: such a crawl runs dry; it needs 1 or more"
            )

    @property
    def new_per_page(self) -> float:
        """URLs that one page brings for the first time."""
        return self.links * self.new_share

    @property
    def waiting_at_end(self) -> int:
        """URLs that wait when the last page is taken: what was found and not fetched, as far as hosts keep it."""
        if self.waiting is not None:
            return self.waiting
        return round(min(self.pages * (self.new_per_page - 1), self.hosts * self.waiting_per_host))

    @property
    def seen_at_end(self) -> int:
        """URLs that the store knows when the last page is taken; those that were pushed out are forgotten."""
        return self.pages + self.waiting_at_end

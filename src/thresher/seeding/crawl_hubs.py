"""Earlier crawls as a source of seeds: relevant pages that lead to many relevant pages."""

from __future__ import annotations

from pathlib import Path

from thresher.config.folder import CrawlFolder
from thresher.config.schema import CrawlConfig
from thresher.errors import ConfigError
from thresher.export.hubs import hubs
from thresher.seeding.base import MAX_PER_SOURCE, SeedCandidate, SeedQuery, SourceFailed
from thresher.storage.reader import PageStoreReader


class CrawlHubs:
    """The hubs of one earlier crawl.

    Args:
        address: The folder of the crawl.
        config: The crawl that seeds are sought for.
    """

    def __init__(self, address: str, config: CrawlConfig) -> None:
        if not address:
            raise ConfigError("the source hubs needs the folder of an earlier crawl: hubs=DIR")
        self._folder = CrawlFolder(Path(address).expanduser()).existing()

    def find(self, query: SeedQuery) -> list[SeedCandidate]:
        """Return the best hubs; they are judged by the new topic when they are fetched."""
        with PageStoreReader(self._folder.pages) as collection:
            found = hubs(collection, MAX_PER_SOURCE)
        if not found:
            raise SourceFailed(f"{self._folder.root} has no relevant page yet that leads to others")
        return [
            SeedCandidate(
                url=hub.record.url,
                title=hub.record.title,
                source="hubs",
                reason=f"leads to {hub.relevant} relevant pages on {hub.hosts} hosts in {self._folder.root.name}",
            )
            for hub in found
        ]

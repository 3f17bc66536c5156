"""Crawlee's ParselCrawler, its queue in memory, links enqueued by its own method. Options: seed, pages."""

import asyncio
import logging
import sys
from datetime import timedelta

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

SEED, PAGES = sys.argv[1], int(sys.argv[2])


async def main() -> None:
    """Crawl from the seed."""
    crawler = ParselCrawler(
        max_requests_per_crawl=PAGES,
        concurrency_settings=ConcurrencySettings(min_concurrency=32, max_concurrency=32, desired_concurrency=32),
        storage_client=MemoryStorageClient(),
        request_handler_timeout=timedelta(seconds=60),
        configure_logging=False,
    )

    @crawler.router.default_handler
    async def follow(context: ParselCrawlingContext) -> None:
        await context.enqueue_links(strategy="all")

    await crawler.run([SEED])


if __name__ == "__main__":
    logging.disable(logging.ERROR)
    asyncio.run(main())

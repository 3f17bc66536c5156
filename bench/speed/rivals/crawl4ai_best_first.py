"""Crawl4AI's best-first crawl, scored by the words of URLs, in HTTP mode. Options: seed, pages, words."""

import asyncio
import sys

from crawl4ai import AsyncWebCrawler, CacheMode, CrawlerRunConfig
from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy
from crawl4ai.deep_crawling import BestFirstCrawlingStrategy
from crawl4ai.deep_crawling.scorers import KeywordRelevanceScorer

SEED, PAGES, WORDS = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(",")


async def main() -> None:
    """Crawl from the seed."""
    strategy = BestFirstCrawlingStrategy(
        max_depth=50, include_external=True, max_pages=PAGES, url_scorer=KeywordRelevanceScorer(keywords=WORDS)
    )
    config = CrawlerRunConfig(
        deep_crawl_strategy=strategy, cache_mode=CacheMode.BYPASS, stream=True, verbose=False, log_console=False
    )
    async with AsyncWebCrawler(crawler_strategy=AsyncHTTPCrawlerStrategy(), verbose=False) as crawler:
        async for _ in await crawler.arun(SEED, config=config):
            pass


if __name__ == "__main__":
    asyncio.run(main())

"""scrapy-redis: bare Scrapy, its queue and its seen set in Redis. Options: port, pages, address of the store."""

import sys

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

SEED, PAGES, STORE = sys.argv[1], int(sys.argv[2]), sys.argv[3]


class Follow(Spider):
    """Follow every link."""

    name = "follow"
    links = LinkExtractor()

    async def start(self):
        """Begin at the seed; two workers begin there both, and the seen set lets one of them."""
        yield Request(SEED)

    def parse(self, response):
        """Ask for all links."""
        for link in self.links.extract_links(response):
            yield Request(link.url)


if __name__ == "__main__":
    process = CrawlerProcess(
        {
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "REDIS_URL": STORE,
            "SCHEDULER_IDLE_BEFORE_CLOSE": 3,
            "CONCURRENT_REQUESTS": 32,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
            "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": False,
            "LOG_LEVEL": "ERROR",
            "TELNETCONSOLE_ENABLED": False,
            "CLOSESPIDER_PAGECOUNT": PAGES,
        }
    )
    process.crawl(Follow)
    process.start()

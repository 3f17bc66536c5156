"""A Scrapy add-on: an existing project crawls in topical order, durably, and politely over all its requests.

    ADDONS = {"thresher.engine.addon.TopicalAddon": 300}
    THRESHER_TOPIC = "topic.yaml"

Spiders, items and pipelines stay as they are. What a project sets itself stays too; what must not work past the
frontier (redirects, retries, robots.txt and queues of Scrapy's own) is taken over, see docs/howto/use-in-scrapy.md.
"""

from __future__ import annotations

import logging
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware, RedirectMiddleware
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.settings import BaseSettings

from thresher.config import CrawlConfig
from thresher.engine.addon_crawl import load_topic
from thresher.engine.addon_middlewares import TopicalDownloaderMiddleware, TopicalSpiderMiddleware
from thresher.engine.addon_office import Office
from thresher.engine.settings import user_agent

logger = logging.getLogger(__name__)

SPIDER_PLACE, DOWNLOADER_PLACE = 10, 545
"""Next to the engine; and after answers are unpacked, in the place of Scrapy's own retries."""
_TAKEN_OVER = (RedirectMiddleware, MetaRefreshMiddleware, RetryMiddleware, RobotsTxtMiddleware)
_NO_HANDLERS = dict.fromkeys(("file", "data", "ftp", "s3"))


class TopicalAddon:
    """Puts a frontier between a project's spiders and the web."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self.office: Office | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it as Scrapy asks."""
        return cls(crawler)

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Guard the addresses that are dialled, before anything is."""
        _, config = load_topic(settings)
        for name, value in guard_settings(config).items():
            settings.set(name, value, priority="addon")

    def update_settings(self, settings: BaseSettings) -> None:
        """Put the middlewares in their places, and set what the project does not set itself.

        Raises:
            ConfigError: topic.yaml is missing or not right.
        """
        path, config = load_topic(settings)
        for name, value in {**guard_settings(config), **default_settings(config)}.items():
            settings.set(name, value, priority="addon")
        for taken_over in _TAKEN_OVER:
            settings.set_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", taken_over, None)
        settings.set_in_component_priority_dict("SPIDER_MIDDLEWARES", TopicalSpiderMiddleware, SPIDER_PLACE)
        settings.set_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", TopicalDownloaderMiddleware, DOWNLOADER_PLACE)
        if settings.get("JOBDIR"):
            logger.warning("JOBDIR is not used: a crawl goes on from the frontier beside %s", path)
            settings.set("JOBDIR", None, priority=max(settings.getpriority("JOBDIR") or 0, 0))
        self.office = Office(self._crawler, path, config)


def guard_settings(config: CrawlConfig) -> dict[str, Any]:
    """Return the settings of the address guard."""
    return {
        "TWISTED_DNS_RESOLVER": "thresher.engine.resolver.GuardedResolver",
        "THRESHER_NETWORK_ALLOW": list(config.network.allow),
        "THRESHER_NAME_SERVERS": list(config.network.name_servers),
        "THRESHER_CONNECT_TO": dict(config.network.connect_to),
    }


def default_settings(config: CrawlConfig) -> dict[str, Any]:
    """Return what is set where a project sets nothing."""
    return {
        "USER_AGENT": user_agent(config.manners.contact),
        "CONCURRENT_REQUESTS": config.engine.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": config.manners.delay_seconds,
        "DOWNLOAD_DELAY_JITTER": 0,
        "DOWNLOAD_TIMEOUT": config.engine.timeout_seconds,
        "DOWNLOAD_MAXSIZE": config.engine.max_bytes,
        "DOWNLOAD_HANDLERS": _NO_HANDLERS,
        "DNS_TIMEOUT": 10,
        "HTTPPROXY_ENABLED": False,  # a proxy would resolve names past the address guard
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
    }

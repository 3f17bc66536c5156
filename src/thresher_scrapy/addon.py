"""Scrapy add-on: an existing project crawls in topical order, durably, and politely over all its requests.

    ADDONS = {"thresher_scrapy.addon.TopicalAddon": 300}
    THRESHER_TOPIC = "topic.yaml"

Spiders, items and pipelines are not changed, and neither are settings of the project. What must not bypass the frontier
(Scrapy's redirects, retries, robots.txt and queues) is replaced, see docs/tutorial/use-in-scrapy.md.
"""

from __future__ import annotations

import logging
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware, RedirectMiddleware
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.settings import BaseSettings

from thresher.config.schema import CrawlConfig
from thresher.engine.download.request import user_agent
from thresher_scrapy.middlewares import TopicalDownloaderMiddleware, TopicalSpiderMiddleware
from thresher_scrapy.project import load_topic
from thresher_scrapy.session import AddonSession

logger = logging.getLogger(__name__)

SPIDER_PRIORITY, DOWNLOADER_PRIORITY = 10, 545
"""Next to the engine; and after responses are decompressed, in the place of Scrapy's own retries."""
_REPLACED = (RedirectMiddleware, MetaRefreshMiddleware, RetryMiddleware, RobotsTxtMiddleware)
_NO_HANDLERS = dict.fromkeys(("file", "data", "ftp", "s3"))


class TopicalAddon:
    """Puts a frontier between a project's spiders and the web."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self.session: AddonSession | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Install the address guard before the first connection."""
        _, config = load_topic(settings)
        for name, value in guard_settings(config).items():
            settings.set(name, value, priority="addon")

    def update_settings(self, settings: BaseSettings) -> None:
        """Install the middlewares, and set defaults for what the project does not set.

        Raises:
            ConfigError: topic.yaml is missing or invalid.
        """
        path, config = load_topic(settings)
        for name, value in {**guard_settings(config), **default_settings(config)}.items():
            settings.set(name, value, priority="addon")
        for replaced in _REPLACED:
            settings.set_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", replaced, None)
        settings.set_in_component_priority_dict("SPIDER_MIDDLEWARES", TopicalSpiderMiddleware, SPIDER_PRIORITY)
        settings.set_in_component_priority_dict(
            "DOWNLOADER_MIDDLEWARES", TopicalDownloaderMiddleware, DOWNLOADER_PRIORITY
        )
        if settings.get("JOBDIR"):
            logger.warning("JOBDIR is not used: a crawl resumes from the frontier beside %s", path)
            settings.set("JOBDIR", None, priority=max(settings.getpriority("JOBDIR") or 0, 0))
        self.session = AddonSession(self._crawler, path, config)


def guard_settings(config: CrawlConfig) -> dict[str, Any]:
    """Return the settings of the address guard."""
    return {
        "TWISTED_DNS_RESOLVER": "thresher_scrapy.twisted_adapter.ReactorResolver",
        "THRESHER_NETWORK_ALLOW": list(config.network.allow),
        "THRESHER_NAME_SERVERS": list(config.network.name_servers),
        "THRESHER_CONNECT_TO": dict(config.network.connect_to),
    }


def default_settings(config: CrawlConfig) -> dict[str, Any]:
    """Return defaults for settings that a project does not set."""
    return {
        "USER_AGENT": user_agent(config.politeness.contact),
        "CONCURRENT_REQUESTS": config.engine.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": config.politeness.delay_seconds,
        "DOWNLOAD_DELAY_JITTER": 0,
        "DOWNLOAD_TIMEOUT": config.engine.timeout_seconds,
        "DOWNLOAD_MAXSIZE": config.engine.max_bytes,
        "DOWNLOAD_HANDLERS": _NO_HANDLERS,
        "DNS_TIMEOUT": 10,
        "HTTPPROXY_ENABLED": False,  # a proxy would bypass the address guard
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
    }

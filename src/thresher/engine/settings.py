"""Scrapy's settings: nothing follows links, retries, caches or opens a port besides the frontier."""

from __future__ import annotations

from typing import Any

from thresher import __version__
from thresher.config.schema import CrawlConfig
from thresher.engine.download.decompression import ACCEPTED

ROBOTS_TOKEN = "Thresher"  # noqa: S105 - the product token of RFC 9309, not a secret

MAX_WAIT_SECONDS = 180.0
"""A run does not wait for hosts that are due later than this; the next run will fetch them."""

_OFF = (
    "offsite.OffsiteMiddleware",  # scope is ours
    "robotstxt.RobotsTxtMiddleware",  # politeness.robots implements RFC 9309
    "httpauth.HttpAuthMiddleware",
    "downloadtimeout.DownloadTimeoutMiddleware",  # each request carries its own limit
    "retry.RetryMiddleware",  # retries belong to the durable frontier
    "redirect.MetaRefreshMiddleware",
    "redirect.RedirectMiddleware",  # a redirect is a frontier entry of its own
    "cookies.CookiesMiddleware",
    "httpproxy.HttpProxyMiddleware",  # a proxy would resolve names past the address guard
    "stats.DownloaderStats",
    "httpcache.HttpCacheMiddleware",
    "httpcompression.HttpCompressionMiddleware",  # engine.download decompresses bodies while they arrive
)

_ALWAYS: dict[str, Any] = {
    "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
    "DOWNLOAD_HANDLERS": {
        "http": "thresher.engine.download.handler.BoundedDownload",
        "https": "thresher.engine.download.handler.BoundedDownload",
        **dict.fromkeys(("file", "data", "ftp", "s3")),
    },
    "TWISTED_DNS_RESOLVER": "thresher.engine.dns.resolver.GuardedResolver",
    "DNS_TIMEOUT": 10,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "EXTENSIONS_BASE": {},
    "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
    "DOWNLOADER_MIDDLEWARES": {f"scrapy.downloadermiddlewares.{name}": None for name in _OFF},
    "SPIDER_MIDDLEWARES_BASE": {},
    "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
    "COOKIES_ENABLED": False,
    "REFERER_ENABLED": False,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 32 << 20,  # a few of the largest pages may be parsed while others are fetched
    "CONCURRENT_ITEMS": 1,  # Scrapy starts this many tasks per response, and we never yield items
    "DOWNLOAD_DELAY": 0,  # the frontier enforces the delay, over all workers
    "DOWNLOAD_DELAY_JITTER": 0,
    "DOWNLOAD_VERIFY_CERTIFICATES": False,
    "URLLENGTH_LIMIT": 0,  # canonical URLs are shorter than any limit
    "LOG_ENABLED": False,  # the worker sets up its own logging
    "LOG_INSTALL_ROOT_HANDLER": False,
    "WARN_ON_GENERATOR_RETURN_VALUE": False,
}


def user_agent(contact: str) -> str:
    """Return the User-Agent header, with the contact address."""
    return f"Thresher/{__version__} (+{contact})" if contact else f"Thresher/{__version__}"


def hardened(config: CrawlConfig) -> dict[str, Any]:
    """Return the settings of one worker."""
    languages = [f"{code};q={1 - 0.1 * place:.1f}" for place, code in enumerate(config.languages[:9])]
    return {
        **_ALWAYS,
        "THRESHER_NETWORK_ALLOW": list(config.network.allow),
        "THRESHER_NAME_SERVERS": list(config.network.name_servers),
        "THRESHER_CONNECT_TO": dict(config.network.connect_to),
        "CONCURRENT_REQUESTS": config.engine.concurrency,
        "DOWNLOAD_TIMEOUT": config.engine.timeout_seconds,
        "DOWNLOAD_MAXSIZE": config.engine.max_bytes,
        "USER_AGENT": user_agent(config.manners.contact),
        "DEFAULT_REQUEST_HEADERS": {
            "Accept": "text/html,application/xhtml+xml;q=0.9,text/plain;q=0.5",
            "Accept-Encoding": ACCEPTED,
            "Accept-Language": ", ".join([*languages, "*;q=0.1"]),
        },
    }

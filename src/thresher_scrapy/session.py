"""The components of the add-on: opened when a spider starts, closed when it is closed."""

from __future__ import annotations

import asyncio
import re
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from thresher.assembly import build_judge, build_label_feed, build_pipeline, build_strategy, build_worker
from thresher.config.schema import CrawlConfig
from thresher.coordination.model_exchange import StateStores
from thresher.engine.dns.refused_urls import reopen_refused
from thresher.engine.download.request import ROBOTS_TOKEN
from thresher.engine.lease_loop import WorkerContext
from thresher.errors import ConfigError
from thresher.pipeline.pipeline import Pipeline
from thresher.politeness.robots import RobotsCache
from thresher.runner.shutdown import run_with_timeout
from thresher.storage.page_store import PageStoreWriter
from thresher.strategies.base import Strategy
from thresher_scrapy.bridge import SpiderBridge, only_requested
from thresher_scrapy.intake import RequestIntake
from thresher_scrapy.pages import SpiderPages
from thresher_scrapy.policies import RequestPolicy
from thresher_scrapy.project import SpiderCrawl, open_spider_crawl
from thresher_scrapy.requests import InMemoryRequests
from thresher_scrapy.twisted_adapter import installed_resolver

SAVE_STATE_SECONDS, NO_TIME_SECONDS = 2.0, 0.1
LEASE_SECONDS_MORE = 6.0
"""A lease lasts at least this much longer than its fetch, for the callback and the item pipelines."""


class AddonSession:
    """The components between a crawler's spider and its frontier."""

    strategy: Strategy
    """Scores start requests; set by `open`."""

    def __init__(self, crawler: Crawler, path: Path, config: CrawlConfig) -> None:
        self._crawler = crawler
        self._path = path
        self._config = config
        self._held = ExitStack()
        self._crawl: SpiderCrawl | None = None
        self._pipeline: Pipeline | None = None
        self._pages: SpiderPages | None = None
        self._state_stores: StateStores | None = None
        self.bridge: SpiderBridge | None = None
        """Used by the middlewares; None before the spider starts."""

    @classmethod
    def of(cls, crawler: Crawler) -> AddonSession:
        """Return the session that the add-on of a crawler has created.

        Raises:
            ConfigError: The add-on is not enabled.
        """
        assert crawler.addons is not None
        sessions = (getattr(addon, "session", None) for addon in crawler.addons.addons)
        found = next((session for session in sessions if isinstance(session, cls)), None)
        if found is None:
            raise ConfigError('this middleware needs ADDONS = {"thresher_scrapy.addon.TopicalAddon": 300}')
        return found

    def open(self) -> SpiderBridge:
        """Open the frontier, the page store and the saved models.

        Raises:
            ConfigError: The topic has no words, or is not usable for another reason.
            CrawlBusy: Another process runs this spider in this folder.
        """
        spider = self._crawler.spider
        assert spider is not None
        crawl = open_spider_crawl(
            self._path, self._config, spider=spider.name, start=getattr(spider, "start_urls", None) or ()
        )
        self._crawl = crawl
        self._held.enter_context(crawl.folder.only_one_run())
        [worker] = crawl.backend.worker_names(1)
        self._state_stores = crawl.backend.state_stores(worker)
        archive = PageStoreWriter(crawl.folder.pages / f"{worker}.db")
        judge, self.strategy = build_judge(crawl, self._state_stores), build_strategy(crawl, self._state_stores)
        self._pipeline = build_pipeline(
            crawl,
            None,
            state_stores=self._state_stores,
            around=only_requested,
            archive=archive,
            judge=judge,
            strategy=self.strategy,
        )
        self._pages = SpiderPages(
            self._pipeline,
            archive=archive,
            judge=judge,
            strategy=self.strategy,
            keep_irrelevant=self._config.output.keep_irrelevant,
        )
        self.bridge = self._bridge(crawl, worker, self._pipeline, self._pages)
        return self.bridge

    async def reopen_refused(self) -> None:
        """Queue URLs again that were refused before network.allow was changed."""
        assert self._crawl is not None
        assert self._pipeline is not None
        await reopen_refused(self._crawl.folder.pages, self._config.network.allow, self._pipeline.frontier)

    def _bridge(self, crawl: SpiderCrawl, worker: str, pipeline: Pipeline, pages: SpiderPages) -> SpiderBridge:
        spider, settings, in_memory_requests = self._crawler.spider, self._crawler.settings, InMemoryRequests()
        assert spider is not None
        assert self._crawler.stats is not None
        assert self._crawler.request_fingerprinter is not None
        intake = RequestIntake(
            spider,
            scope=crawl.rules().scope,
            in_memory_requests=in_memory_requests,
            stats=self._crawler.stats,
            fingerprint_of=self._crawler.request_fingerprinter.fingerprint,
        )
        follows, retries = settings.getbool("REDIRECT_ENABLED"), settings.getbool("RETRY_ENABLED")
        return SpiderBridge(
            context=self._context(crawl, worker, pipeline),
            pipeline=pipeline,
            spider=spider,
            pages=pages,
            intake=intake,
            in_memory_requests=in_memory_requests,
            request_policy=RequestPolicy(follows_redirects=follows, retries=retries),
        )

    def _context(self, crawl: SpiderCrawl, worker: str, pipeline: Pipeline) -> WorkerContext:
        """Build the worker of the crawl, with the limits of Scrapy's downloader; the stricter politeness holds."""
        settings, politeness = self._crawler.settings, crawl.politeness
        timeout, installed = settings.getfloat("DOWNLOAD_TIMEOUT"), installed_resolver()
        politeness = replace(
            politeness,
            delay_seconds=max(politeness.delay_seconds, settings.getfloat("DOWNLOAD_DELAY")),
            obey_robots=politeness.obey_robots or settings.getbool("ROBOTSTXT_OBEY"),
        )
        label_feed = build_label_feed(crawl, pipeline.updater, worker)
        robots = RobotsCache(pipeline.frontier, token=robots_token(settings)) if politeness.obey_robots else None
        return replace(
            build_worker(crawl, worker, pipeline, pages=crawl.config.stop.pages, label_feed=label_feed),
            politeness=politeness,
            robots=robots,
            resolver=installed.resolver if installed else None,
            concurrency=settings.getint("CONCURRENT_REQUESTS"),
            lease_seconds=max(crawl.config.engine.lease_seconds, timeout + LEASE_SECONDS_MORE),
            timeout_seconds=timeout,
        )

    async def close(self) -> None:
        """Release open leases, and save the models."""
        if self.bridge is None or self._pipeline is None or self._pages is None:
            return
        released = False
        try:
            released = self.bridge.loop.fatal is None and await run_with_timeout(self.bridge.loop.release_all())
            if self.bridge.label_feed:
                await run_with_timeout(self.bridge.label_feed.close())
            self._pages.close()
            await run_with_timeout(self._pipeline.close())
        finally:  # a thread that saves models would keep the process alive
            if self._state_stores:
                await asyncio.to_thread(self._state_stores.close, SAVE_STATE_SECONDS if released else NO_TIME_SECONDS)
            self._held.close()


def robots_token(settings: BaseSettings) -> str:
    """Return the robots.txt product token: that of the project's user agent, or ours."""
    agent = settings.get("ROBOTSTXT_USER_AGENT") or settings.get("USER_AGENT") or ""
    named = re.match(r"[A-Za-z_-]+", str(agent))
    return named.group() if named else ROBOTS_TOKEN

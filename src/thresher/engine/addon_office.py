"""The parts behind the add-on: opened when a spider starts, closed when it is."""

from __future__ import annotations

import asyncio
import re
from contextlib import ExitStack
from pathlib import Path

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from thresher.archive.pages import PageWriter
from thresher.config import CrawlConfig
from thresher.engine.addon_crawl import SpiderCrawl, open_spider_crawl
from thresher.engine.addon_customs import Customs
from thresher.engine.addon_desk import Desk
from thresher.engine.addon_intake import Intake
from thresher.engine.addon_pages import SpiderPages
from thresher.engine.addon_requested import only_requested
from thresher.engine.addon_requests import Tickets
from thresher.engine.leaving import in_time
from thresher.engine.refused import reopen_refused
from thresher.engine.robots import RobotsKeeper
from thresher.engine.run import names_for
from thresher.engine.settings import ROBOTS_TOKEN
from thresher.engine.spider import Work
from thresher.errors import ConfigError
from thresher.fleet.notebooks import Notebooks
from thresher.line import Line
from thresher.strategies.base import Strategy

NOTES_SECONDS, NO_TIME_SECONDS = 2.0, 0.1
LEASE_SECONDS_MORE = 6.0
"""A lease outlives its fetch by so much at least, for the callback and the pipelines."""


class Office:
    """Everything between one crawler's spider and its frontier."""

    strategy: Strategy
    """By which start requests are ranked; there once the office is open."""

    def __init__(self, crawler: Crawler, path: Path, config: CrawlConfig) -> None:
        self._crawler = crawler
        self._path = path
        self._config = config
        self._held = ExitStack()
        self._crawl: SpiderCrawl | None = None
        self._line: Line | None = None
        self._pages: SpiderPages | None = None
        self._notebooks: Notebooks | None = None
        self.desk: Desk | None = None
        """What the middlewares work at; None before the spider starts."""

    @classmethod
    def of(cls, crawler: Crawler) -> Office:
        """Return the office that the add-on of a crawler has set up.

        Raises:
            ConfigError: The add-on is not enabled.
        """
        assert crawler.addons is not None
        offices = (getattr(addon, "office", None) for addon in crawler.addons.addons)
        found = next((office for office in offices if isinstance(office, cls)), None)
        if found is None:
            raise ConfigError('this middleware needs ADDONS = {"thresher.engine.addon.TopicalAddon": 300}')
        return found

    def open(self) -> Desk:
        """Open the frontier, the page store and what was learned.

        Raises:
            ConfigError: The topic has no words, or cannot be used otherwise.
            CrawlBusy: Another process crawls with this spider in this folder.
        """
        spider = self._crawler.spider
        assert spider is not None
        crawl = open_spider_crawl(
            self._path, self._config, spider=spider.name, start=getattr(spider, "start_urls", None) or ()
        )
        self._crawl = crawl
        self._held.enter_context(crawl.folder.only_one_run())
        [worker] = names_for(crawl, 1)
        self._notebooks = crawl.notebooks(worker)
        archive = PageWriter(crawl.folder.pages / f"{worker}.db")
        judge, self.strategy = crawl.judge(self._notebooks), crawl.strategy(self._notebooks)
        self._line = Line(
            frontier=only_requested(crawl.frontier(patience_seconds=None)),
            archive=archive,
            judge=judge,
            strategy=self.strategy,
            rules=crawl.rules(),
        )
        self._pages = SpiderPages(
            self._line,
            archive=archive,
            judge=judge,
            strategy=self.strategy,
            keep_irrelevant=self._config.output.keep_irrelevant,
        )
        self.desk = self._desk(crawl, worker, self._line, self._pages)
        return self.desk

    async def reopen_refused(self) -> None:
        """Let URLs wait again that were refused before network.allow was changed."""
        assert self._crawl is not None
        assert self._line is not None
        await reopen_refused(self._crawl.folder.pages, self._config.network.allow, self._line.frontier)

    def _desk(self, crawl: SpiderCrawl, worker: str, line: Line, pages: SpiderPages) -> Desk:
        spider, settings, tickets = self._crawler.spider, self._crawler.settings, Tickets()
        assert spider is not None
        assert self._crawler.stats is not None
        assert self._crawler.request_fingerprinter is not None
        intake = Intake(
            spider,
            scope=crawl.rules().scope,
            tickets=tickets,
            stats=self._crawler.stats,
            fingerprint_of=self._crawler.request_fingerprinter.fingerprint,
        )
        follows, retries = settings.getbool("REDIRECT_ENABLED"), settings.getbool("RETRY_ENABLED")
        return Desk(
            work=self._work(crawl, worker, line),
            spider=spider,
            pages=pages,
            intake=intake,
            tickets=tickets,
            customs=Customs(follows_redirects=follows, retries=retries),
        )

    def _work(self, crawl: SpiderCrawl, worker: str, line: Line) -> Work:
        config, settings = crawl.config, self._crawler.settings
        timeout = settings.getfloat("DOWNLOAD_TIMEOUT")
        obeys = config.manners.robots == "obey" or settings.getbool("ROBOTSTXT_OBEY")
        return Work(
            line=line,
            robots=RobotsKeeper(line.frontier, token=robots_token(settings)) if obeys else None,
            worker=worker,
            scope=crawl.rules().scope,
            concurrency=settings.getint("CONCURRENT_REQUESTS"),
            lease_seconds=max(config.engine.lease_seconds, timeout + LEASE_SECONDS_MORE),
            timeout_seconds=timeout,
            delay_seconds=max(config.manners.delay_seconds, settings.getfloat("DOWNLOAD_DELAY")),
            longest_crawl_delay_seconds=config.manners.crawl_delay_up_to_seconds,
            pages=config.stop.pages,
            per_address=config.manners.one_at_a_time_per == "address",
            hearing=crawl.hearing(line.rethink, worker),
        )

    async def close(self) -> None:
        """Give back what was not fetched, and write down what was learned."""
        if self.desk is None or self._line is None or self._pages is None:
            return
        told = False
        try:
            told = self.desk.fatal is None and await in_time(self.desk.give_back())
            if self.desk.hearing:
                await in_time(self.desk.hearing.close())
            self._pages.close()
            await in_time(self._line.close())
        finally:  # a thread that writes notes would keep the process alive
            if self._notebooks:
                await asyncio.to_thread(self._notebooks.close, NOTES_SECONDS if told else NO_TIME_SECONDS)
            self._held.close()


def robots_token(settings: BaseSettings) -> str:
    """Return the name that robots.txt may call us by: that of the user agent, ours unless the project has its own."""
    agent = settings.get("ROBOTSTXT_USER_AGENT") or settings.get("USER_AGENT") or ""
    named = re.match(r"[A-Za-z_-]+", str(agent))
    return named.group() if named else ROBOTS_TOKEN

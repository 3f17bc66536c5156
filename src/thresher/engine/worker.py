"""One worker: a process that leases, fetches and settles until nothing is left or somebody tells it to stop.

Run by the supervisor as ``python -m thresher.engine.worker DIR NAME ORDER``. SIGTERM once: drain what is open, then
leave. Twice: leave at once. Either way unused leases go back. When the supervisor dies, its end of our standard input
closes, and the worker drains as after SIGTERM.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import json
import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path

from scrapy.crawler import AsyncCrawlerProcess
from twisted.internet.task import LoopingCall

from thresher.build import Crawl
from thresher.engine import alive
from thresher.engine.robots import RobotsKeeper
from thresher.engine.settings import ROBOTS_TOKEN, hardened
from thresher.engine.spider import LeaseSpider, Work
from thresher.errors import DiskFull, StoreError, ThresherError
from thresher.line import Parse
from thresher.parse.html import parse as parse_html
from thresher.text.printable import printable, printable_json

logger = logging.getLogger(__name__)


class JsonLines(logging.Formatter):
    """A log record as one JSON object per line."""

    def __init__(self, worker: str) -> None:
        super().__init__()
        self._worker = worker

    def format(self, record: logging.LogRecord) -> str:
        """Write one line."""
        entry = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "worker": self._worker,
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return printable_json(entry)


def log_to(path: Path, worker: str) -> None:
    """Send warnings and worse to the crawl's log."""
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(JsonLines(worker))
    root = logging.getLogger()
    root.setLevel(logging.WARNING)
    root.handlers[:] = [handler]


def work_for(crawl: Crawl, worker: str, *, pages: int | None, parse: Parse = parse_html) -> Work:
    """Put together what a worker needs."""
    config, line = crawl.config, crawl.line(worker, parse)
    robots = RobotsKeeper(line.frontier, token=ROBOTS_TOKEN) if config.manners.robots == "obey" else None
    return Work(
        line=line,
        robots=robots,
        worker=worker,
        scope=crawl.rules().scope,
        concurrency=config.engine.concurrency,
        lease_seconds=config.engine.lease_seconds,
        timeout_seconds=config.engine.timeout_seconds,
        delay_seconds=config.manners.delay_seconds,
        longest_crawl_delay_seconds=config.manners.crawl_delay_up_to_seconds,
        pages=pages,
        warden=line.warden,
    )


def run_worker(crawl: Crawl, work: Work) -> None:
    """Crawl in this process until the frontier is empty, a limit is reached or a signal comes."""
    gc.freeze()  # what is imported stays
    gc.set_threshold(20_000, 20, 20)  # a page makes thousands of objects and hardly ever a cycle
    process = AsyncCrawlerProcess(hardened(crawl.config))
    logging.getLogger("scrapy").setLevel(logging.WARNING)  # a line per page is what the page store is for
    crawler = process.create_crawler(LeaseSpider)
    process.crawl(crawler, work=work)
    LoopingCall(alive.beat).start(alive.BEAT_SECONDS)
    process.start()
    alive.rest()
    spider = crawler.spider
    assert isinstance(spider, LeaseSpider)
    asyncio.run(_leave(spider, work))
    if spider.fatal is not None:
        raise store_error(spider.fatal)


async def _leave(spider: LeaseSpider, work: Work) -> None:
    if spider.fatal is None:
        await spider.give_back()
    await work.line.close()


def store_error(error: Exception) -> StoreError:
    """Say what a failed store means to the user."""
    if "disk is full" in str(error) or getattr(error, "errno", None) == errno.ENOSPC:
        return DiskFull()
    return StoreError(f"the store failed: {error}")


def drain_when_orphaned() -> None:
    """Send ourselves SIGTERM when standard input ends: whoever started us is gone."""

    def wait_for_end() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait_for_end, daemon=True).start()


def main(arguments: list[str]) -> int:
    """Run one worker: DIR, NAME and, as JSON, the supervisor's order."""
    folder, worker, order = Path(arguments[0]), arguments[1], json.loads(arguments[2])
    try:
        crawl = Crawl.open(folder, changes=order["changes"])
        log_to(crawl.folder.log, worker)
        drain_when_orphaned()
        parse = alive.Note(order["note"]).noting(parse_html)
        run_worker(crawl, work_for(crawl, worker, pages=order["pages"], parse=parse))
    except ThresherError as error:
        print(printable(str(error)), file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

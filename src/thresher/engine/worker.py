"""One worker: a process that leases, fetches and settles until nothing is left or somebody tells it to stop.

Run by the supervisor as ``python -m thresher.engine.worker DIR NAME``; its order is the first line of standard input,
since a command line can be read by everybody. SIGTERM once: drain what is open, then leave. Twice: leave at once.
Either way unused leases go back. When the supervisor dies, its end of our standard input closes, and the worker drains
as after SIGTERM.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from twisted.internet.task import LoopingCall

from thresher.build import Crawl
from thresher.config import CrawlConfig
from thresher.engine import alive
from thresher.engine.endpoint import Endpoint
from thresher.engine.figures import Figures
from thresher.engine.leaving import Leaving, in_time
from thresher.engine.pulse import Pulse
from thresher.engine.robots import RobotsKeeper
from thresher.engine.settings import ROBOTS_TOKEN, hardened
from thresher.engine.spider import LeaseSpider, Work
from thresher.errors import StoreError, ThresherError, disk_full, is_disk_full, system_error
from thresher.fleet.names import machine_mark
from thresher.frontier.base import Frontier
from thresher.line import Line
from thresher.parse.html import parse as parse_html
from thresher.text.printable import printable, printable_json

if TYPE_CHECKING:
    from thresher.engine.browser.rendering import Rendering

logger = logging.getLogger(__name__)

NOTES_SECONDS, NO_TIME_SECONDS = 2.0, 0.1
"""How long a worker that leaves waits until what it learned last is written down; and when the store is away."""


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


def work_for(crawl: Crawl, worker: str, line: Line, *, pages: int | None) -> Work:
    """Put together what a worker needs."""
    config = crawl.config
    robots = RobotsKeeper(line.frontier, token=ROBOTS_TOKEN) if config.manners.robots == "obey" else None
    return Work(
        line=line,
        robots=robots,
        browser=_rendering(crawl.config, line.frontier, robots) if config.browser.is_wanted else None,
        worker=worker,
        scope=crawl.rules().scope,
        concurrency=config.engine.concurrency,
        lease_seconds=config.engine.lease_seconds,
        timeout_seconds=config.engine.timeout_seconds,
        delay_seconds=config.manners.delay_seconds,
        longest_crawl_delay_seconds=config.manners.crawl_delay_up_to_seconds,
        pages=pages,
        warden=line.warden,
        per_address=config.manners.one_at_a_time_per == "address",
        hearing=None if crawl.is_refresh else crawl.hearing(line.rethink, worker),
    )


def _rendering(config: CrawlConfig, frontier: Frontier, robots: RobotsKeeper | None) -> Rendering:
    from thresher.engine.browser.rendering import Rendering

    return Rendering(config, frontier, robots)


def run_worker(crawl: Crawl, work: Work, *, pulse: Pulse | None = None, endpoint: Endpoint | None = None) -> bool:
    """Crawl in this process until the frontier is empty, a limit is reached or a signal comes.

    Returns:
        Whether the store could be told of everything that goes back.
    """
    gc.freeze()  # what is imported stays
    gc.set_threshold(20_000, 20, 20)  # a page makes thousands of objects and hardly ever a cycle
    process = AsyncCrawlerProcess(hardened(crawl.config))
    logging.getLogger("scrapy").setLevel(logging.WARNING)  # a line per page is what the page store is for
    crawler = process.create_crawler(LeaseSpider)
    process.crawl(crawler, work=work)
    LoopingCall(alive.beat).start(alive.BEAT_SECONDS)
    crawler.signals.connect(lambda: _watch(crawler, pulse), signals.spider_opened, weak=False)
    if work.browser:
        crawler.signals.connect(work.browser.close, signals.spider_closed)
    if endpoint:
        endpoint.serve_in_reactor()
    process.start()
    alive.rest()
    spider = crawler.spider
    assert isinstance(spider, LeaseSpider)
    try:
        told = asyncio.run(_leave(spider, work, pulse))
    except OSError as error:  # on a full disk not even what was learned can be written down
        raise store_error(spider.fatal or error) from error
    if spider.fatal is not None:
        raise store_error(spider.fatal)
    return told


def _watch(crawler: Crawler, pulse: Pulse | None) -> None:
    """See to it that the worker leaves in time, and say how it is."""
    from twisted.internet import reactor

    def stop() -> None:
        with suppress(RuntimeError):  # it is being stopped already
            reactor.stop()  # type: ignore[misc]

    def state() -> tuple[int, str]:
        spider = crawler.spider
        assert isinstance(spider, LeaseSpider)
        return spider.pages, "leaving" if leaving.has_begun else "working" if spider.open else "waiting"

    leaving = Leaving(is_running=lambda: crawler.engine.running, stop=stop)
    LoopingCall(leaving.look).start(alive.BEAT_SECONDS)
    if pulse:
        pulse.start(state)
        crawler.signals.connect(pulse.stop, signals.spider_closed)


async def _leave(spider: LeaseSpider, work: Work, pulse: Pulse | None) -> bool:
    told = spider.fatal is None and (not spider.open or await in_time(spider.give_back()))
    if pulse:
        await pulse.leave(told=told)
    if work.hearing:
        await work.hearing.close()
    await work.line.close()
    return told


def store_error(error: Exception) -> ThresherError:
    """Say what a failed store means to the user, or whatever else a crawl cannot go on without."""
    if isinstance(error, ThresherError):
        return error
    if is_disk_full(error):
        return disk_full()
    return StoreError(f"the store failed: {error}")


def drain_when_orphaned() -> None:
    """Send ourselves SIGTERM when standard input ends: whoever started us is gone."""

    def wait_for_end() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait_for_end, daemon=True).start()


def main(arguments: list[str]) -> int:
    """Run one worker: DIR and NAME; the supervisor's order is one line of JSON on standard input."""
    folder, worker, line = Path(arguments[0]), arguments[1], _first_line()
    if not line:
        return 0  # whoever started us is gone already
    try:
        order = json.loads(line)
        crawl = Crawl.open(folder, changes=order["changes"])
        log_to(crawl.folder.log, worker)
        drain_when_orphaned()
        _work(crawl, worker, order)
    except (ThresherError, OSError, sqlite3.Error) as error:
        known = error if isinstance(error, ThresherError) else system_error(error)
        print(printable(str(known)), file=sys.stderr)
        return known.exit_code
    return 0


def _first_line() -> bytes:
    """Read a line byte by byte: what comes after it is not ours to take."""
    line = b""
    while (byte := os.read(0, 1)) not in (b"", b"\n"):
        line += byte
    return line


def _work(crawl: Crawl, worker: str, order: Mapping[str, Any]) -> None:
    pulse, endpoint = _pulse(crawl, worker), _endpoint(crawl, worker, order["metrics"])
    parse = alive.Note(order["note"]).noting(parse_html)
    around: Callable[[Frontier], Frontier] = endpoint.around if endpoint else lambda frontier: frontier
    notebooks, told = crawl.notebooks(worker), False
    try:
        line = crawl.line(worker, parse, notebooks=notebooks, around=around)
        work = work_for(crawl, worker, line, pages=order["pages"])
        told = run_worker(crawl, work, pulse=pulse, endpoint=endpoint)
    finally:
        notebooks.close(NOTES_SECONDS if told else NO_TIME_SECONDS)


def _pulse(crawl: Crawl, worker: str) -> Pulse | None:
    if not crawl.is_shared:
        return None
    return Pulse(crawl.link(patience_seconds=0.0), crawl.name, worker, mark=machine_mark(crawl.folder))


def _endpoint(crawl: Crawl, worker: str, place: Sequence[Any] | None) -> Endpoint | None:
    if place is None:
        return None
    address, port = place
    figures = Figures(crawl=crawl.name, worker=worker)
    return Endpoint(figures, address=address, port=port, pages=crawl.counted_pages)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

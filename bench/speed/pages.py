"""Pages per second on loopback: one Thresher worker beside bare Scrapy, ``python -m bench.speed.pages``.

Thresher is what a user gets: the wheel is built and installed into a new environment. Five legs take the same number of
pages from the same recording server (30 KB pages, 60 links each, 200 hosts, no delay):

- ``thresher``: ``thresher run DIR --workers 1``, with frontier, judge and collection as they are by default.
- ``thresher, pure wheel``: the same, from the wheel without compiled loops.
- ``breadth-first``: bare Scrapy, `LinkExtractor`, every link a `Request`, first in first out.
- ``download``: bare Scrapy, the URLs given, nothing parsed.
- ``fetch``: Thresher's downloader alone, the URLs given, nothing parsed.

Every leg is a process of its own, in every round one after the other. Pages and seconds are those of the recording
server, from the first request to the last response. CPU is that of all threads of the process and of all processes that
it started, less what the same leg needs for a handful of pages, so that imports do not count. The recording server runs
in a third process; what it can give at most is measured first.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.speed.full_speed import CONCURRENCY, SITE, full_speed
from testing.building import build_wheel, install
from testing.crawl_process import REPOSITORY, Crawl
from testing.machine import machine
from testing.processes import kill_family
from testing.recording_server import report
from testing.recording_server.load import max_pages_per_second
from testing.recording_server.process import Recorder, running

START_PAGES = 10
LEG_SECONDS = 600.0
DONE, PAGE_LIMIT_REACHED = 0, 14
BARE_SCRAPY = {
    "CONCURRENT_REQUESTS": CONCURRENCY,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    "DOWNLOAD_DELAY": 0,
    "ROBOTSTXT_OBEY": False,
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
}
BREADTH_FIRST = {  # as Scrapy's own FAQ tells
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}


@dataclass(frozen=True)
class Sample:
    """What one process needed for its pages."""

    pages: int
    pages_per_second: float
    cpu_seconds: float
    peak_mib: float


Leg = Callable[[Recorder, int], Sample]


UNSET = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "THRESHER_NATIVE")
"""Variables that a new user has not set."""
EXTRAS = "redis,warc"


def installed(folder: Path, *, native: str = "require") -> str:
    """Build the wheel, install it into a new environment in a folder, and return its Python.

    Args:
        native: ``0`` for the wheel without compiled loops.
    """
    wheel = build_wheel(folder / "wheel", THRESHER_NATIVE=native)
    return str(install(wheel, folder / "environment", "--compile", extras=EXTRAS))


def as_a_user() -> dict[str, str]:
    """Return the environment variables of a new user."""
    return {name: value for name, value in os.environ.items() if name not in UNSET}


def measure(recorder: Recorder, command: Sequence[str], variables: Mapping[str, str] = os.environ) -> Sample:
    """Run a crawler to its end and ask the recording server what it did.

    Raises:
        RuntimeError: It ended with an error.
    """
    began_ns = time.monotonic_ns()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            cwd=REPOSITORY,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            exit_code, cpu_seconds, peak_mib = _wait(process)
        finally:
            if process.returncode is None:
                kill_family(process.pid)
        output.seek(0)
        if exit_code not in {DONE, PAGE_LIMIT_REACHED}:
            raise RuntimeError(f"{' '.join(command)} ended with {exit_code}: {output.read().decode()[-2000:]}")
    hits = [hit for hit in recorder.hits() if hit.start_ns >= began_ns]
    return Sample(len(report.pages(hits)), report.pages_per_second(hits), cpu_seconds, peak_mib)


def _wait(process: subprocess.Popen[bytes]) -> tuple[int, float, float]:
    """Return the exit code, the CPU time of a process with its children, and the memory of the largest of them."""
    deadline = time.monotonic() + LEG_SECONDS
    while time.monotonic() < deadline:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
        time.sleep(0.02)
    raise RuntimeError(f"a leg was not done after {LEG_SECONDS:.0f} s")


def thresher(
    python: str, strategy: str = "thresher", *, store: str = "sqlite", workers: int = 1, warc: bool = False
) -> Leg:
    """Return the leg of the Thresher that an environment has, in a new folder."""
    settings = full_speed(strategy={"name": strategy}, output={"warc": warc}, store=store)
    command = [python, "-m", "thresher"]

    def leg(recorder: Recorder, pages: int) -> Sample:
        with tempfile.TemporaryDirectory() as folder:
            crawl = Crawl(Path(folder) / f"crawl{time.monotonic_ns()}", command)  # a store knows crawls by their names
            crawl.create(recorder.seed_url, settings)
            options = ["--pages", str(pages), "--workers", str(workers)]
            return measure(recorder, [*command, "run", str(crawl.folder), *options], as_a_user())

    return leg


def bare(spider: str) -> Leg:
    """Return the leg of a bare Scrapy spider."""

    def leg(recorder: Recorder, pages: int) -> Sample:
        options = [f"--spider={spider}", f"--port={recorder.port}", f"--pages={pages}"]
        return measure(recorder, [sys.executable, "-m", "bench.speed.pages", *options])

    return leg


BARE = ("breadth-first", "download", "fetch")
NAMES = ("thresher", "thresher, pure wheel", *BARE)


def legs_of(names: Sequence[str], folder: Path) -> dict[str, Leg]:
    """Return legs by their names; what they need is installed into a folder."""
    legs = {name: bare(name) for name in BARE}
    if "thresher" in names:
        legs["thresher"] = thresher(installed(folder / "compiled"))
    if "thresher, pure wheel" in names:
        legs["thresher, pure wheel"] = thresher(installed(folder / "pure", native="0"))
    return {name: legs[name] for name in names}


def fetch_with_downloader(port: int, pages: int) -> None:
    """Be the process of the fetch leg."""
    import uvloop

    uvloop.run(_fetch([SITE.url(page, port) for page in range(pages)]))


async def _fetch(urls: Sequence[str]) -> None:
    from thresher.config.schema import CrawlConfig
    from thresher.engine.dns.resolver import GuardedResolver
    from thresher.engine.download.downloader import Downloader
    from thresher.engine.download.request import FetchRequest, usual_headers
    from thresher.engine.download.slow_hosts import SlowHostLimiter
    from thresher.records import Lease

    config = CrawlConfig.model_validate(full_speed())
    resolver = GuardedResolver.of(config.network)
    downloader = Downloader(resolver, SlowHostLimiter(CONCURRENCY), headers=usual_headers(config), max_bytes=10 << 20)
    waiting, start_by = iter(urls), time.monotonic() + LEG_SECONDS

    async def fetch_in_turn() -> None:
        for url in waiting:
            lease = Lease(url=url, host="", score=0.0, fence=0, until=0.0)
            async with downloader.fetch(FetchRequest(url=url, lease=lease, timeout_seconds=30.0, start_by=start_by)):
                pass

    await asyncio.gather(*(fetch_in_turn() for _ in range(CONCURRENCY)))
    downloader.close()


def crawl_with_bare_scrapy(name: str, port: int, pages: int) -> None:
    """Be the process of a bare leg."""
    from scrapy.crawler import AsyncCrawlerProcess

    spider, settings = _breadth_first(port, pages) if name == "breadth-first" else _download(port, pages)
    process = AsyncCrawlerProcess({**BARE_SCRAPY, **settings})
    process.crawl(spider)
    process.start()


def _breadth_first(port: int, pages: int) -> tuple[type[Any], dict[str, Any]]:
    from scrapy import Request, Spider
    from scrapy.http import Response
    from scrapy.linkextractors import LinkExtractor

    class BreadthFirst(Spider):
        name = "breadth-first"
        start_urls = [SITE.url(0, port)]  # noqa: RUF012 - Scrapy's way
        links = LinkExtractor()

        def parse(self, response: Response) -> Iterator[Request]:
            for link in self.links.extract_links(response):
                yield Request(link.url)

    return BreadthFirst, {**BREADTH_FIRST, "CLOSESPIDER_PAGECOUNT": pages}


def _download(port: int, pages: int) -> tuple[type[Any], dict[str, Any]]:
    from scrapy import Spider
    from scrapy.http import Response

    class Download(Spider):
        name = "download"
        start_urls = [SITE.url(page, port) for page in range(pages)]  # noqa: RUF012 - Scrapy's way

        def parse(self, response: Response) -> None:
            """Do nothing."""

    return Download, {}


@dataclass(frozen=True)
class Result:
    """A leg over all rounds; CPU counts from the first handful of pages on."""

    name: str
    start: Sample
    rounds: Sequence[Sample]

    @property
    def pages_per_second(self) -> float:
        """The median rate."""
        return median(sample.pages_per_second for sample in self.rounds)

    @property
    def peak_mib(self) -> float:
        """The most memory that a process of it had in any round."""
        return max(sample.peak_mib for sample in self.rounds)

    @property
    def cpu_milliseconds(self) -> float:
        """The median CPU time per page."""
        return median(
            1000 * (sample.cpu_seconds - self.start.cpu_seconds) / (sample.pages - self.start.pages)
            for sample in self.rounds
        )

    def line(self, base: Result) -> str:
        """Return the result as a line of the table."""
        rates = [sample.pages_per_second for sample in self.rounds]
        ratio, spread = self.pages_per_second / base.pages_per_second, f"{min(rates):.0f}-{max(rates):.0f}"
        cpu_ratio = base.cpu_milliseconds / self.cpu_milliseconds
        return (
            f"| {self.name} | {self.pages_per_second:.0f} | {spread} | {ratio:.2f} | "
            f"{self.cpu_milliseconds:.2f} | {cpu_ratio:.2f} | {self.peak_mib:.0f} | {self.start.cpu_seconds:.1f} |"
        )


def compare(recorder: Recorder, legs: Mapping[str, Leg], pages: int, rounds: int) -> list[Result]:
    """Run the legs in turns, round after round."""
    starts = {name: leg(recorder, START_PAGES) for name, leg in legs.items()}
    samples: dict[str, list[Sample]] = {name: [] for name in legs}
    for number in range(rounds):
        for name, leg in legs.items():
            sample = leg(recorder, pages)
            samples[name].append(sample)
            _say(f"round {number + 1}: {name}: {sample.pages} pages, {sample.pages_per_second:.0f} per second")
    return [Result(name, starts[name], samples[name]) for name in legs]


def table(results: Sequence[Result]) -> str:
    """Return the results side by side; ratios are against bare breadth-first, more is better."""
    base = next((result for result in results if result.name == "breadth-first"), results[0])
    head = f"| leg | pages/s | lowest-highest | × {base.name} | CPU ms/page | × {base.name} | MiB | CPU s to start |"
    return "\n".join([head, "|---|---|---|---|---|---|---|---|", *(result.line(base) for result in results)])


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def bench(names: Sequence[str], pages: int, rounds: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder, running(SITE, Path(folder) / "hits.csv", "--robots=404") as recorder:
        legs = legs_of(names, Path(folder))
        first, again = (max_pages_per_second(recorder, count=pages) for _ in range(2))
        results = compare(recorder, legs, pages, rounds)
    print(f"{machine()}; {pages} pages a round, median of {rounds} rounds; ", end="")
    print(f"the server alone gives {first:.0f} pages/s while it makes the pages, {again:.0f} when it has them.\n")
    print(table(results))


def arguments() -> argparse.ArgumentParser:
    """Return the options of the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed.pages", description="Pages per second on loopback.")
    parser.add_argument("--pages", type=int, default=2000, help="pages per leg and round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--legs", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--spider", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    options = arguments().parse_args()
    if options.spider == "fetch":
        fetch_with_downloader(options.port, options.pages)
    elif options.spider:
        crawl_with_bare_scrapy(options.spider, options.port, options.pages)
    else:
        bench(options.legs, options.pages, options.rounds)

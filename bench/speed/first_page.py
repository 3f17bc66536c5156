"""Seconds and keystrokes from `pip install` to the first relevant page: ``python -m bench.speed.first_page``.

Thresher, Scrapy and Crawl4AI start in a new virtual environment and do the same task on a generated web on loopback:
begin at a seed, fetch 20 pages, list those about a topic. The steps are those of each project's introduction; they are
printed. pip installs from a folder of wheels, which ``pip download`` fills once. Crawl4AI uses the Chromium of this
machine; its own setup would download one, and that is left out. The crawlers take turns.

Seconds count while commands run, until three events: pip has finished; the server has sent a relevant page that is not
the seed; the last command, which lists relevant pages, has finished. Keystrokes are the characters of all commands and
files, with Enter. The indentation of files is not counted, because editors insert it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from itertools import product
from pathlib import Path
from statistics import median

from testing.machine import machine
from testing.recording_server.process import Recorder, running
from testing.recording_server.site import Site
from testing.screens.browser import CHROMIUM

ROOT = Path(__file__).parents[2]
ROWS = ROOT / "bench" / "results" / "first-page.jsonl"
SITE = Site(pages=2_000, hosts=40, page_bytes=8 * 1024, links=20, topic_share=0.1)
COMMAND_SECONDS = 600.0


@dataclass(frozen=True)
class File:
    """A file that the user writes."""

    path: str
    text: str

    @property
    def keystrokes(self) -> int:
        return len(self.path) + 1 + sum(len(line.strip()) + 1 for line in self.text.splitlines())

    def __str__(self) -> str:
        return f"{self.path}:\n" + "".join(f"    {line}".rstrip() + "\n" for line in self.text.splitlines())


@dataclass(frozen=True)
class Command:
    """A line that the user types into a shell."""

    line: str

    @property
    def keystrokes(self) -> int:
        return len(self.line) + 1

    def __str__(self) -> str:
        return f"$ {self.line}"


@dataclass(frozen=True)
class Introduction:
    """What a user of a crawler does; the first step installs it, the last one prints the relevant pages."""

    crawler: str
    steps: tuple[File | Command, ...]
    needs_browser: bool = False

    @property
    def keystrokes(self) -> int:
        return sum(step.keystrokes for step in self.steps)


@dataclass(frozen=True)
class Times:
    """Seconds from the start of the first command."""

    installed: float
    first_page: float
    listed: float


@dataclass(frozen=True)
class Result:
    """What one newcomer needed."""

    crawler: str
    keystrokes: int
    seconds: Times
    machine: str


SPIDER = """\
import scrapy


class PagesSpider(scrapy.Spider):
    name = "pages"
    start_urls = ["{seed}"]

    def parse(self, response):
        if "perovskite" in response.text:
            yield {{"url": response.url}}
        yield from response.follow_all(css="a")
"""

SCRIPT = """\
import asyncio

from crawl4ai import AsyncWebCrawler, CrawlerRunConfig
from crawl4ai.deep_crawling import BFSDeepCrawlStrategy


async def main():
    deep = BFSDeepCrawlStrategy(max_depth=3, max_pages=20, include_external=True)
    async with AsyncWebCrawler() as crawler:
        for page in await crawler.arun("{seed}", config=CrawlerRunConfig(deep_crawl_strategy=deep)):
            if "perovskite" in page.html:
                print(page.url)


asyncio.run(main())
"""


def introductions(seed: str) -> list[Introduction]:
    """Return what the users of each crawler type to crawl from a seed."""
    return [
        Introduction(
            "Thresher",
            (
                Command('pip install "thresher-crawler[ui]"'),
                Command(f'thresher new solar --topic "perovskite solar cells" --seed {seed} --contact me@example.org'),
                Command("thresher run solar --pages 20"),
                Command("thresher export solar -f csv --relevant"),
            ),
        ),
        *_scrapy(seed),
        Introduction(
            "Crawl4AI",
            (
                Command("pip install crawl4ai"),
                Command("crawl4ai-setup"),
                File("pages.py", SCRIPT.format(seed=seed)),
                Command("python pages.py"),
            ),
            needs_browser=True,
        ),
    ]


def _scrapy(seed: str) -> list[Introduction]:
    return [
        Introduction(
            "Scrapy, project",
            (
                Command("pip install scrapy"),
                Command("scrapy startproject solar"),
                Command("cd solar"),
                File("solar/spiders/pages.py", SPIDER.format(seed=seed)),
                Command("scrapy crawl pages -O pages.csv -s CLOSESPIDER_PAGECOUNT=20"),
                Command("cat pages.csv"),
            ),
        ),
        Introduction(
            "Scrapy, one file",
            (
                Command("pip install scrapy"),
                File("pages.py", SPIDER.format(seed=seed)),
                Command("scrapy runspider pages.py -O pages.csv -s CLOSESPIDER_PAGECOUNT=20"),
                Command("cat pages.csv"),
            ),
        ),
    ]


class Newcomer:
    """Follows an introduction in a new environment and a new home folder, and reads the clock."""

    def __init__(self, scratch: Path, wheels: Path) -> None:
        self._environment_folder = scratch / "environment"
        self._folder = scratch / "home"
        self._folder.mkdir()
        subprocess.run([sys.executable, "-m", "venv", self._environment_folder], check=True)
        self._environment = {
            "PATH": f"{self._environment_folder / 'bin'}:/usr/bin:/bin",
            "HOME": str(self._folder),
            "LANG": "C.UTF-8",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(wheels),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "CRAWL4AI_MODE": "api",  # its setup must not download a browser
        }

    def follow(self, introduction: Introduction, site: Recorder) -> Times:
        """Do all steps; return when each event happened.

        Raises:
            SystemExit: A command failed, or the last one named no relevant page.
        """
        seconds = installed = first_page = 0.0
        printed = ""
        for step in introduction.steps:
            began_ns = time.monotonic_ns()
            printed = self._do(step)
            spent = (time.monotonic_ns() - began_ns) / 1e9
            if not installed:
                installed = spent
                if introduction.needs_browser:
                    self._link_browser()
            if not first_page and (sent_ns := _first_sent_ns(site)):
                first_page = seconds + (sent_ns - began_ns) / 1e9
            seconds += spent
        if not any(url in printed for url in _relevant_urls(site)):
            raise SystemExit(f"{introduction.crawler} listed no relevant page:\n{printed}")
        return Times(round(installed, 2), round(first_page, 2), round(seconds, 2))

    def _do(self, step: File | Command) -> str:
        if isinstance(step, File):
            (self._folder / step.path).write_text(step.text, encoding="utf-8")
            return ""
        if step.line.startswith("cd "):
            self._folder /= step.line.removeprefix("cd ")
            return ""
        return self._run(["bash", "-c", step.line])

    def _run(self, command: list[str]) -> str:
        done = subprocess.run(
            command,
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
        )
        if done.returncode:
            raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout

    def _link_browser(self) -> None:
        """Put the Chromium of this machine where Playwright looks for those that it downloads."""
        assert CHROMIUM, "Crawl4AI needs Chromium: apt-get install chromium"
        ask = "from playwright.sync_api import sync_playwright as s\nwith s() as p: print(p.chromium.executable_path)"
        path = Path(self._run([str(self._environment_folder / "bin" / "python"), "-c", ask]).strip())
        number = path.parents[1].name.removeprefix("chromium-")
        shell = path.parents[2] / f"chromium_headless_shell-{number}" / "chrome-headless-shell-linux64"
        for link in (path, shell / "chrome-headless-shell"):
            link.parent.mkdir(parents=True)
            link.symlink_to(CHROMIUM)


def _relevant_urls(site: Recorder) -> list[str]:
    return [SITE.url(page, site.port) for page in range(1, SITE.pages) if SITE.on_topic[page]]


def _first_sent_ns(site: Recorder) -> int:
    """Return when the first relevant page other than the seed was sent; 0 if none was."""
    pages = [(hit.sent_ns, SITE.page_numbers.get(hit.key, 0)) for hit in site.hits() if hit.status == 200]
    return min((sent_ns for sent_ns, page in pages if page and SITE.on_topic[page]), default=0)


def fill(wheels: Path) -> None:
    """Put our wheel, the other crawlers and all dependencies into a folder."""
    wheels.mkdir(parents=True, exist_ok=True)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [own] = wheels.glob("thresher_crawler-*.whl")
    for requirement in (f"{own}[ui]", "scrapy", "crawl4ai"):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--prefer-binary", "-d", str(wheels)]
        subprocess.run([*command, requirement], check=True, capture_output=True)


def measure(number: int, turn: int, wheels: Path) -> Result:
    """Let a newcomer follow one of the introductions; print it in the first turn."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        running(SITE, Path(folder) / "hits.csv", "--robots=404") as site,
    ):
        introduction = introductions(site.seed_url)[number]
        if turn == 0:
            print(f"{introduction.crawler}, {introduction.keystrokes} keystrokes")
            print(*introduction.steps, "", sep="\n", flush=True)
        times = Newcomer(Path(folder), wheels).follow(introduction, site)
        return Result(introduction.crawler, introduction.keystrokes, times, machine())


def report(results: Sequence[Result]) -> None:
    """Print the medians of each crawler, and their ratios to those of the first one."""
    first: list[float] = []
    for crawler in dict.fromkeys(result.crawler for result in results):
        own = [result for result in results if result.crawler == crawler]
        times = zip(*(astuple(result.seconds) for result in own), strict=True)
        figures = [*(median(values) for values in times), own[0].keystrokes]
        first = first or figures
        cells = (f"{value:.4g} ({value / one:.2f})" for value, one in zip(figures, first, strict=True))
        print(f"| {crawler} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.speed.first_page", description=__doc__)
    parser.add_argument("--wheels", type=Path, required=True, help="folder of wheels; filled by pip if it has none")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path, default=ROWS)
    options = parser.parse_args()
    if not any(options.wheels.glob("*.whl")):
        fill(options.wheels)
    turns = product(range(options.rounds), range(len(introductions(""))))
    results = [measure(number, turn, options.wheels.resolve()) for turn, number in turns]
    options.output.write_text("".join(json.dumps(asdict(result)) + "\n" for result in results), encoding="utf-8")
    print(f"{machine()}; medians of {options.rounds} rounds, in brackets the ratio to the first line")
    print("| crawler | installed | first relevant page | listed | keystrokes |\n|---|---|---|---|---|")
    report(results)


if __name__ == "__main__":
    main()

"""Do the engine and the simulator fetch the same pages in the same order? ``python -m bench.effectiveness.parity``.

One worker, one request at a time, no delay; the engine crawls a frozen web over real sockets, the simulator crawls it
in process. What is compared is what the web's server was asked for.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path
from random import Random

from thresher.assembly import build_judge, build_strategy
from thresher.crawl import CrawlSetup
from thresher_lab.simulation.simulator import Simulator
from thresher_lab.simulation.tasks import topic_phrase
from thresher_lab.webs.open_web import open_web
from thresher_lab.webs.parsed_pages import ParsedPages
from thresher_lab.webs.server import WebServer
from thresher_lab.webs.virtualweb import Web

STRATEGIES = ("breadth-first", "best-first")


async def orders(web: Web, topic: str, strategy: str, pages: int, folder: Path) -> tuple[list[str], list[str]]:
    """Crawl both ways; return the URLs that each asked for, in order."""
    asked: list[str] = []
    server = WebServer(web, asked=asked.append)
    places = await server.start()
    _write_crawl(web, topic, strategy, places, folder)
    crawl = _write_crawl(web, topic, strategy, places, folder.with_name("simulated"))  # each learns for itself
    command = [sys.executable, "-m", "thresher", "run", str(folder), "--pages", str(pages)]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
    await process.wait()
    await server.close()
    parsed = ParsedPages(web, keep=False)
    simulator = Simulator(web, parsed, judge=build_judge(crawl), strategy=build_strategy(crawl), rules=crawl.rules())
    simulated = await simulator.run(crawl.seeds(), len(asked))
    return asked, [fetch.url for fetch in simulated.fetches]


def _write_crawl(web: Web, topic: str, strategy: str, places: dict[str, str], folder: Path) -> CrawlSetup:
    seeds = Random(1).sample(sorted(web.targets(topic)), 5)
    folder.mkdir(parents=True)
    (folder / "seeds.txt").write_text("\n".join(map(web.url_of, seeds)), encoding="utf-8")
    config = {
        "title": {"en": topic_phrase(topic)},
        "strategy": {"name": strategy},
        "scope": {"max_pages_per_host": len(web), "first_pages_per_host": None, "traps": "follow"},
        "politeness": {"delay_seconds": 0, "robots": "ignore"},
        "engine": {"concurrency": 1},
        "network": {"allow": ["127.0.0.0/8"], "tls": "record", "connect_to": places},
    }
    (folder / "topic.yaml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
    return CrawlSetup.open(folder)


def equal_share(first: list[str], second: list[str]) -> float:
    """Return the share of positions at which both orders agree."""
    equal = sum(one == other for one, other in zip(first, second, strict=False))
    return equal / max(len(first), len(second), 1)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.effectiveness.parity", description="Engine against simulator."
    )
    parser.add_argument("--web", default="wikispeedia")
    parser.add_argument("--topic", default="Music")
    parser.add_argument("--pages", type=int, default=1000)
    options = parser.parse_args()
    web = open_web(options.web)
    for strategy in STRATEGIES:
        with tempfile.TemporaryDirectory() as folder:
            crawl = orders(web, options.topic, strategy, options.pages, Path(folder) / "crawl")
            live, simulated = asyncio.run(crawl)
        share = equal_share(live, simulated)
        print(f"{options.web} {options.topic} {strategy}: {share:.2%} of {len(live)} positions equal")


if __name__ == "__main__":
    main()

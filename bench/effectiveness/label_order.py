"""Do one or two labels keep the order of the queue?

``python -m bench.effectiveness.label_order`` (needs THRESHER_WEBS; 10 minutes).

Crawls of 50 pages from two seeds stop; a person labels two pages; compared is the share of on-topic pages among the
first 20 and 50 waiting URLs before and after. Wrong labels are an arm too. Dev topics alone: nothing is chosen here.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import mean
from tempfile import TemporaryDirectory

from thresher.assembly import build_pipeline
from thresher.crawl import CrawlSetup
from thresher.operations.labelling import add_labels
from thresher.storage.reader import PageStoreReader
from thresher_lab.simulation.simulator import WebResponder
from thresher_lab.simulation.tasks import Task, TaskRunner, topic_phrase
from thresher_lab.simulation.topic_splits import split

WEB = "wikispeedia"
FIRST = (20, 50)
WORKER = "w1"
NOWHERE = {"*:80": "127.0.0.1:1", "*:443": "127.0.0.1:1"}
"""No host has an address: pages come from the frozen web."""

Shares = tuple[float, ...]


def write_topic(folder: Path, phrase: str, seeds: Sequence[str]) -> None:
    """Write a crawl folder."""
    config = {
        "title": {"en": phrase},
        "seeds": list(seeds),
        "politeness": {"delay_seconds": 0, "robots": "ignore"},
        "sitemaps": "off",
        "network": {"allow": ["127.0.0.0/8"], "connect_to": NOWHERE},
    }
    folder.mkdir(parents=True)
    (folder / "topic.yaml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML


async def crawl_pages(folder: Path, bench: TaskRunner, pages: int) -> None:
    """Crawl as one worker does, without sockets."""
    crawl, answers = CrawlSetup.open(folder), WebResponder(bench.web, bench.pages)
    pipeline = build_pipeline(crawl, WORKER, parse=answers.parse)
    await pipeline.seed(crawl.seeds())
    for number in range(pages):
        if not (leases := await pipeline.frontier.lease(1, seconds=60)):
            break
        await pipeline.process(leases[0], answers.answer(leases[0].url, at=float(number)))
    await pipeline.close()


async def shares(crawl: CrawlSetup, bench: TaskRunner, targets: frozenset[int]) -> Shares:
    """Return the share of on-topic pages among the first of the queue."""
    frontier = crawl.backend.frontier()
    try:
        found = [bench.web.page_id(entry.url) in targets for entry in await frontier.peek(max(FIRST))]
    finally:
        await frontier.close()
    return tuple(sum(found[:first]) / first for first in FIRST)


def arms(crawl: CrawlSetup, bench: TaskRunner, topic: str, targets: frozenset[int]) -> dict[str, dict[str, bool]]:
    """Draw pages to label: on-topic ones, and off-topic ones among the best."""
    with PageStoreReader(crawl.folder.pages) as collection:
        urls = [record.url for record in collection.ranked() if record.url not in crawl.seeds()]
    on = [url for url in urls if bench.web.page_id(url) in targets]
    off = [url for url in urls if url not in on]
    draw = Random(topic)
    if len(on) < 2 or len(off) < 2:
        return {}
    yes, no = draw.sample(on, 2), draw.sample(off[: max(20, len(off) // 5)], 2)
    return {
        "yes + no": {yes[0]: True, no[0]: False},
        "two yes": dict.fromkeys(yes, True),
        "two no": dict.fromkeys(no, False),
        "wrong yes + no": {no[0]: True, yes[0]: False},
    }


async def measure(bench: TaskRunner, topic: str, folder: Path, pages: int) -> Mapping[str, Shares]:
    """Crawl a topic, and label copies of the crawl."""
    task = Task(web=WEB, topic=topic, strategy="thresher", seed_set=0, judge="adaptive", seeds=2)
    targets, root = bench.web.targets(topic), folder / "crawl"
    write_topic(root, topic_phrase(topic), [bench.web.url_of(seed) for seed in bench.seeds(task)])
    await crawl_pages(root, bench, pages)
    crawl = CrawlSetup.open(root)
    found = {"before": await shares(crawl, bench, targets)}
    for name, labels in arms(crawl, bench, topic, targets).items():
        copy = folder / name
        shutil.copytree(root, copy)
        await add_labels(CrawlSetup.open(copy), labels)
        found[name] = await shares(CrawlSetup.open(copy), bench, targets)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.effectiveness.label_order", description=__doc__)
    parser.add_argument("--topics", type=int, default=12)
    parser.add_argument("--pages", type=int, default=50)
    options = parser.parse_args()
    bench, rows = TaskRunner.open(WEB), []
    for topic in split(WEB, "dev")[: options.topics]:
        with TemporaryDirectory() as folder:
            row = asyncio.run(measure(bench, topic, Path(folder), options.pages))
        print(topic, row, flush=True)
        if len(row) > 1:
            rows.append(row)
    for name in rows[0]:
        each = [mean(row[name][place] for row in rows) for place in range(len(FIRST))]
        print(f"{name:16}", *(f"first {first}: {value:.3f}" for first, value in zip(FIRST, each, strict=True)))


if __name__ == "__main__":
    main()

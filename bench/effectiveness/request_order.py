"""The order in which a crawl requests URLs, as rows to compare.

``python -m bench.effectiveness.request_order RESULT [--compare EARLIER]``.

Default strategy and default judge on three webs, two topics each: two frozen webs of THRESHER_WEBS and a generated one.
A change that must not alter behaviour must leave every row as it was. A row holds a digest of all URLs in order, and
one of every tenth of the crawl, which tells how far two orders agree. ``--parameters`` changes the strategy.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any

from thresher_lab.simulation.tasks import Task, TaskRunner
from thresher_lab.webs.generator import generate

WEBS = ("wikispeedia", "mdn_zh", "generated")
FROZEN_TOPICS = 2
GENERATED_TOPICS = ("Arts/Music", "Science/Astronomy")
PAGES, SEEDS, PARTS = 500, 3, 10


def topics_of(web: str, bench: TaskRunner) -> list[str]:
    if web == "generated":
        return [topic for topic in GENERATED_TOPICS if topic in bench.web.topics()]
    sizes = bench.web.topics()
    return sorted(topic for topic, count in sizes.items() if 40 <= count <= 400)[:FROZEN_TOPICS]


def open_bench(web: str) -> TaskRunner:
    return TaskRunner(generate(7, pages=20_000, hosts=200)) if web == "generated" else TaskRunner.open(web)


def digest(urls: list[str]) -> str:
    return hashlib.sha256("\n".join(urls).encode()).hexdigest()[:16]


def row(bench: TaskRunner, web: str, topic: str, parameters: dict[str, Any]) -> dict[str, Any]:
    task = Task(
        web=web, topic=topic, strategy="thresher", judge="adaptive", seed_set=0, pages=PAGES, seeds=SEEDS,
        parameters=parameters,
    )  # fmt: skip
    seeds = bench.seeds(task)
    starts = [bench.web.url_of(seed) for seed in seeds]
    crawl = asyncio.run(bench.simulator(task, seeds).run(starts, PAGES))
    urls = [fetch.url for fetch in crawl.fetches]
    step = max(len(urls) // PARTS, 1)
    parts = [digest(urls[: end + step]) for end in range(0, len(urls), step)]
    return {"web": web, "topic": topic, "requests": len(urls), "order": digest(urls), "parts": parts}


def rows(parameters: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for web in WEBS:
        bench = open_bench(web)
        found += [row(bench, web, topic, parameters) for topic in topics_of(web, bench)]
        bench.flush()
    return found


def compare(earlier: list[dict[str, Any]], later: list[dict[str, Any]]) -> bool:
    """Print a line per crawl; return whether all orders are the same."""
    for old, new in zip(earlier, later, strict=True):
        same = sum(one == other for one, other in zip(old["parts"], new["parts"], strict=False))
        verdict = "identical" if old["order"] == new["order"] else f"different after {same * 10} %"
        print(f"{new['web']:12} {new['topic']:40} {new['requests']} requests: {verdict}")
    return [row["order"] for row in earlier] == [row["order"] for row in later]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.effectiveness.request_order", description="The order of requests."
    )
    parser.add_argument("result", type=Path, help="where the rows are written, one JSON object per line")
    parser.add_argument("--compare", type=Path, metavar="EARLIER", help="rows of an earlier version")
    parser.add_argument("--parameters", type=json.loads, default={}, metavar="JSON", help="of the strategy")
    options = parser.parse_args()
    found = rows(options.parameters)
    options.result.write_text("".join(json.dumps(one) + "\n" for one in found), encoding="utf-8")
    if options.compare:
        earlier = [json.loads(line) for line in options.compare.read_text(encoding="utf-8").splitlines()]
        raise SystemExit(0 if compare(earlier, found) else 1)
    for one in found:
        print(f"{one['web']:12} {one['topic']:40} {one['requests']} requests, order {one['order']}")


if __name__ == "__main__":
    main()

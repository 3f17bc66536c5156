"""A generated web behind real sockets, and crawls of it through the live engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from thresher.assembly import check_crawl
from thresher.crawl import CrawlSetup
from thresher.runner.limits import Limits
from thresher.runner.supervisor import RunResult, Supervisor, SupervisorOptions
from thresher_lab.simulation.tasks import topic_phrase
from thresher_lab.webs.server import WebServer
from thresher_lab.webs.virtualweb import Web


@asynccontextmanager
async def served(web: Web):
    """Serve a web on loopback; gives what network.connect_to must say."""
    server = WebServer(web)
    try:
        yield await server.start()
    finally:
        await server.close()


def write_crawl(
    folder: Path, web: Web, topic: str, places: Mapping[str, str], strategy: Mapping[str, Any], **more: Any
) -> Path:
    """Write a crawl folder that starts from five pages of a topic and never waits."""
    seeds = Random(1).sample(sorted(web.targets(topic)), 5)
    config = {
        "title": {"en": topic_phrase(topic)},
        "seeds": [web.url_of(seed) for seed in seeds],
        "strategy": strategy,
        "politeness": {"delay_seconds": 0, "robots": "ignore"},
        "engine": {"concurrency": 4},
        "network": {"allow": ["127.0.0.0/8"], "tls": "record", "connect_to": places},
        **more,
    }
    folder.mkdir(parents=True)
    (folder / "topic.yaml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
    return folder


async def run(folder: Path, pages: int) -> RunResult:
    """Crawl as `thresher run` does, with one worker process."""
    crawl = CrawlSetup.open(folder)
    check_crawl(crawl)
    limits = Limits(pages=pages)
    return await Supervisor(crawl, SupervisorOptions(limits=limits, handles_signals=False)).run()

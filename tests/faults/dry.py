"""A crawl without sockets: the script answers in this process, everything behind the engine is as in a live crawl.

For scenarios of many pages whose figures do not depend on time; requests are logged as they are made.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlsplit

from testing.crawl_process import merge
from testing.recording_server import Answer, Recorder, Request, Script
from testing.recording_server.script import Router
from tests.faults.live import topic
from thresher.assembly import build_judge, build_strategy
from thresher.crawl import CrawlSetup
from thresher.frontier.base import HostEntry
from thresher.pipeline.pipeline import Pipeline
from thresher.records import FetchedPage, Lease
from thresher.storage.page_store import PageRecord
from thresher.traps.detector import left_alone
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier


@dataclass
class DryRun:
    """What a crawl asked for, and what it kept.

    Args:
        asked: Every URL that was requested, in order.
        hosts: What is known of each host.
        left: The parts of hosts that were left alone, with the reasons.
    """

    asked: list[str] = field(default_factory=list)
    records: list[PageRecord] = field(default_factory=list)
    hosts: dict[str, HostEntry] = field(default_factory=dict)
    left: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def kept(self) -> set[str]:
        """The URLs of the pages, copies excluded."""
        return {record.url for record in self.records if record.page and not record.duplicate_of}

    async def append(self, records: Sequence[PageRecord]) -> None:
        """Stand where a crawl has its page store."""
        self.records += records

    async def revise(self, revisions: object) -> None:
        """Revisions change nothing here."""

    def close(self) -> None:
        """There is no file."""


def dry_run(script: Script, seeds: Sequence[str], settings: Mapping[str, Any], *, fetches: int = 100_000) -> DryRun:
    """Crawl from the seeds until nothing is left, or `fetches` requests were made."""
    nowhere = cast(Recorder, SimpleNamespace(connect_to={}))
    with tempfile.TemporaryDirectory() as folder:
        config = merge(topic(nowhere, seeds), settings)
        Path(folder, "topic.yaml").write_text(json.dumps(config), encoding="utf-8")
        return asyncio.run(_run(CrawlSetup.open(Path(folder)), Router(script), fetches))


async def _run(crawl: CrawlSetup, router: Router, fetches: int) -> DryRun:
    run, frontier = DryRun(), MemoryFrontier(merge=build_strategy(crawl).merge)
    pipeline = Pipeline(
        frontier=frontier, archive=run, judge=build_judge(crawl), strategy=build_strategy(crawl), rules=crawl.rules()
    )
    await pipeline.seed(crawl.seeds())
    while len(run.asked) < fetches and (leases := await frontier.lease(1, seconds=60)):
        [lease] = leases
        if why := pipeline.host_policy.skip_reason(lease.url):
            await pipeline.fail(lease, why, at=0.0)
        else:
            run.asked.append(lease.url)
            await pipeline.process(lease, _answer(router, lease))
    run.hosts = {entry.host: entry for entry in await frontier.hosts(100_000)}
    run.left = {host: await left_alone(frontier, host) for host in run.hosts}
    return run


def _answer(router: Router, lease: Lease) -> FetchedPage:
    parts = urlsplit(lease.url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    request = Request(
        method="GET",
        host=parts.netloc,
        address="127.0.0.1",
        target=target,
        headers=(),
        number=router.count(parts.netloc, target),
    )
    answer = router.find(request) or Answer(status=404)
    body = answer.body.encode() if isinstance(answer.body, str) else answer.body
    assert isinstance(body, bytes)
    headers = {name.lower(): value for name, value in dict(answer.headers).items()}
    headers |= {"content-type": answer.content_type} if answer.content_type else {}
    return FetchedPage(url=lease.url, status=answer.status, headers=headers, body=body, fetched_at=1e9)

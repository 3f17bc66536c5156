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

from tests.faults.crawl import merge
from tests.faults.live import topic
from tests.witness import Answer, Request, Script, Witness
from tests.witness.script import Router
from thresher.archive.pages import PageRecord
from thresher.build import Crawl
from thresher.frontier.base import HostEntry
from thresher.frontier.memory import MemoryFrontier
from thresher.line import Line
from thresher.records import FetchedPage, Lease
from thresher.traps.watch import left_alone


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

    async def keep(self, records: Sequence[PageRecord]) -> None:
        """Stand where a crawl has its page store."""
        self.records += records

    async def revise(self, revisions: object) -> None:
        """Second thoughts change nothing here."""

    def close(self) -> None:
        """There is no file."""


def dry_run(script: Script, seeds: Sequence[str], settings: Mapping[str, Any], *, fetches: int = 100_000) -> DryRun:
    """Crawl from the seeds until nothing is left, or so many requests were made."""
    nowhere = cast(Witness, SimpleNamespace(connect_to={}))
    with tempfile.TemporaryDirectory() as folder:
        config = merge(topic(nowhere, seeds), settings)
        Path(folder, "topic.yaml").write_text(json.dumps(config), encoding="utf-8")
        return asyncio.run(_run(Crawl.open(Path(folder)), Router(script), fetches))


async def _run(crawl: Crawl, router: Router, fetches: int) -> DryRun:
    run, frontier = DryRun(), MemoryFrontier(merge=crawl.strategy().merge)
    line = Line(frontier=frontier, archive=run, judge=crawl.judge(), strategy=crawl.strategy(), rules=crawl.rules())
    await line.seed(crawl.seeds())
    while len(run.asked) < fetches and (leases := await frontier.lease(1, seconds=60)):
        [lease] = leases
        if why := line.warden.leaves(lease.url):
            await line.fail(lease, why, at=0.0)
        else:
            run.asked.append(lease.url)
            await line.process(lease, _answer(router, lease))
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

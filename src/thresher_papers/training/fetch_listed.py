"""Fetch listed URLs into a folder: the fetcher and the politeness of a crawl, and no link is followed.

Pages are stored with their text and links, whatever they are about. Of links, only targets of redirects enter the
queue, so robots.txt, scope, the address guard and the delay apply to every hop. Queue and pages are SQLite files: after
a crash, the same call fetches what is missing, once the leases of the lost process have expired.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from thresher.assembly import build_pipeline, build_worker
from thresher.config.event_log import log_to
from thresher.config.folder import CrawlFolder
from thresher.crawl import CrawlSetup
from thresher.engine.lease_loop import MAX_WAIT_SECONDS
from thresher.frontier.base import async_closing
from thresher.frontier.sqlite.frontier import SqliteFrontier
from thresher.monitoring.failures import FailureReport, failure_report
from thresher.pipeline.host_policy import HostPolicyConfig
from thresher.pipeline.pipeline import Pipeline
from thresher.politeness.host_budget import HostBudget
from thresher.records import Candidate, Judgement, Merge, ParsedPage, RequestKind, Settlement, TermWeight
from thresher.runner.fetch_once import Interrupted
from thresher.runner.worker import run_worker
from thresher.runner.worker_pool import check_open_files
from thresher.storage.page_store import PageRecord, PageStoreWriter
from thresher.strategies.baselines import BreadthFirst

WORKER = "collect"
"""The name of the one worker, and of its segment."""


class _ListedFrontier(SqliteFrontier):
    """A frontier that the links of pages do not enter."""

    async def commit(self, settlements: Sequence[Settlement]) -> list[bool]:
        return await super().commit([replace(each, links=()) if each.page else each for each in settlements])


class _ReportingStore(PageStoreWriter):
    """A page store that reports the number of new pages."""

    def __init__(self, path: Path, report: Callable[[int], None]) -> None:
        super().__init__(path)
        self._report = report

    async def append(self, records: Sequence[PageRecord]) -> None:
        await super().append(records)
        self._report(sum(record.page for record in records))


class _NoVerdict:
    """A judge that finds no page relevant: the listed pages are not judged."""

    def judge(self, page: ParsedPage) -> Judgement:
        return Judgement(relevance=0.0, relevant=False)

    def words(self, page: ParsedPage) -> Sequence[TermWeight]:
        return ()


def fetch_listed(
    crawl: CrawlSetup, folder: CrawlFolder, urls: Sequence[str], *, report: Callable[[int], None] = lambda _: None
) -> FailureReport:
    """Fetch canonical URLs as the crawl would, in this process; those that were settled before are not fetched again.

    Args:
        crawl: Its politeness, scope and network apply.
        folder: The folder of queue, pages and log.
        report: Called with the number of pages that were just stored.

    Returns:
        Why URLs failed or wait, in this call and before.

    Raises:
        Interrupted: It was stopped by a signal.
    """
    check_open_files(crawl.config.engine.concurrency)
    folder.root.mkdir(parents=True, exist_ok=True)
    if not asyncio.run(_enqueue(crawl, folder, urls)):
        return asyncio.run(_failures(crawl, folder))
    log_to(folder.log, WORKER)
    pipeline = _pipeline(crawl, folder, report)  # without a label feed: labels are not about these pages
    run_worker(crawl, build_worker(crawl, WORKER, pipeline, renders=True))
    if asyncio.run(_is_unfinished(crawl, folder)):
        raise Interrupted("the fetched pages are kept; the same command continues")
    return asyncio.run(_failures(crawl, folder))


def _frontier(crawl: CrawlSetup, folder: CrawlFolder) -> SqliteFrontier:
    return _ListedFrontier(folder.frontier, merge=Merge.FIRST, delay_seconds=crawl.politeness.delay_seconds)


async def _enqueue(crawl: CrawlSetup, folder: CrawlFolder, urls: Sequence[str]) -> bool:
    """Add the URLs; return whether any URL waits or is leased."""
    async with async_closing(_frontier(crawl, folder)) as frontier:
        await frontier.add([Candidate(url=url, score=0.0, kind=RequestKind.SEED) for url in urls])
        counts = await frontier.counts()
    return bool(counts.waiting or counts.leased)


async def _is_unfinished(crawl: CrawlSetup, folder: CrawlFolder) -> bool:
    """Return whether a URL waits that a worker would have waited for."""
    async with async_closing(_frontier(crawl, folder)) as frontier:
        seconds = await frontier.seconds_to_next()
    return seconds is not None and seconds <= MAX_WAIT_SECONDS


async def _failures(crawl: CrawlSetup, folder: CrawlFolder) -> FailureReport:
    async with async_closing(_frontier(crawl, folder)) as frontier:
        return await failure_report(frontier)


def _pipeline(crawl: CrawlSetup, folder: CrawlFolder, report: Callable[[int], None]) -> Pipeline:
    rules = replace(
        crawl.rules(),
        scope=replace(crawl.scope(), max_depth=None),  # the listed pages are fetched as seeds, their links only stored
        host_limits=HostPolicyConfig(budget=HostBudget(most=crawl.config.scope.max_pages_per_host)),
        keep_irrelevant=True,
    )
    return build_pipeline(
        crawl,
        None,
        frontier=_frontier(crawl, folder),
        archive=_ReportingStore(folder.pages / f"{WORKER}.db", report),
        judge=_NoVerdict(),
        strategy=BreadthFirst(),
        rules=rules,
    )

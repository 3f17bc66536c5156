"""Fetch some URLs once and store nothing: the fetcher and the politeness of a crawl, with a frontier of its own.

The fetcher passes responses to `ResponseCollector` instead of the pipeline. Of links, only targets of redirects enter
the frontier, so robots.txt, scope, the address guard and the delay apply to every hop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from thresher.assembly import build_document_converter, build_worker
from thresher.crawl import CrawlSetup
from thresher.errors import ThresherError
from thresher.frontier.base import UrlState
from thresher.frontier.sqlite.temporary import TemporaryFrontier
from thresher.parsing.documents.conversion import DocumentConverter
from thresher.parsing.isolated import Unparsable
from thresher.parsing.response import ResponseClass, ResponseKind, classify_response
from thresher.pipeline.outcomes import MAX_REDIRECTS, PipelineRules
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import Candidate, FetchedPage, Lease, Outcome, RequestKind, Settlement
from thresher.runner.limits import StopReason
from thresher.runner.worker import run_worker
from thresher.traps.detector import trap
from thresher.urls.canonical import host_key


class Interrupted(ThresherError):
    """Ctrl-C before all URLs were fetched."""

    exit_code = StopReason.STOPPED.exit_code

    def __init__(self, what_now: str = "nothing was stored") -> None:
        super().__init__(f"stopped; {what_now}")


class ResponseCollector:
    """A stand-in for the pipeline: collects what was fetched, by URL.

    Args:
        documents: Converts documents to HTML; None when they are not read.
    """

    host_policy = None

    def __init__(
        self, rules: PipelineRules, *, delay_seconds: float = 0.0, documents: DocumentConverter | None = None
    ) -> None:
        self.frontier = TemporaryFrontier(delay_seconds=delay_seconds)
        self._rules = rules
        self._documents = documents
        self._pages: dict[str, FetchedPage] = {}
        self._reasons: dict[str, Reason] = {}
        self._moved: dict[str, str] = {}

    async def enqueue(self, urls: Sequence[str]) -> None:
        """Add canonical URLs to the frontier, except those out of scope."""
        self._reasons.update({url: _other(f"outside the crawl: {why}") for url in urls if (why := self._outside(url))})
        await self.frontier.add(
            [Candidate(url=url, score=0.0, kind=RequestKind.SEED) for url in urls if url not in self._reasons]
        )

    async def process(self, lease: Lease, fetched: FetchedPage, *, delay_seconds: float = 0.0) -> None:
        """Record a response: a page, a redirect to follow, or a reason why there is no page."""
        response = classify_response(fetched, self._documents.formats if self._documents else ())
        links: list[Candidate] = []
        if response.kind is ResponseKind.PAGE:
            self._pages[lease.url] = fetched
        elif response.kind is ResponseKind.DOCUMENT:
            await self._convert(lease, fetched, response.document)
        elif response.kind is ResponseKind.REDIRECT:
            links = self._redirect(lease, response)
        else:
            self._reasons[lease.url] = response.reason
        await self._settle(lease, links, delay_seconds)

    async def fail(
        self, lease: Lease, reason: Reason, *, at: float, retry: bool = False, delay_seconds: float = 0.0
    ) -> None:
        """Record why there is no response. There is no retry: the user waits for the result."""
        is_robots = reason.kind is ReasonKind.ROBOTS
        self._reasons[lease.url] = _other("robots.txt forbids it") if is_robots else reason
        await self._settle(lease, [], delay_seconds)

    async def _convert(self, lease: Lease, fetched: FetchedPage, kind: str) -> None:
        assert self._documents
        try:
            self._pages[lease.url] = await self._documents.convert(fetched, kind)
        except Unparsable as error:
            self._reasons[lease.url] = error.reason

    async def close(self) -> None:
        """End the work of the fetcher. The frontier stays open: `result` reads what was never settled."""
        if self._documents:
            self._documents.close()

    async def result(self, url: str) -> FetchedPage | Reason:
        """Return the page that a URL led to after redirects, or the reason why there is none.

        Raises:
            Interrupted: The fetcher was stopped before the URL was settled.
        """
        seen = [url]
        while target := self._moved.get(seen[-1]):
            if target in seen:
                return _other("redirects in a circle")
            seen.append(target)
        last = seen[-1]
        if page := self._pages.get(last):
            return page
        reason = self._reasons.get(last) or await self._unsettled_reason(last)
        return reason if last == url else Reason.of(ReasonKind.REDIRECT, last, reason)

    async def _unsettled_reason(self, url: str) -> Reason:
        """Return why a URL was never settled: its host is parked, or every lease expired."""
        entry = await self.frontier.find(url)
        if entry and entry.state is UrlState.FAILED:
            return entry.reason
        hosts = await self.frontier.hosts((await self.frontier.counts()).hosts)
        parked = {host.host: host.parked for host in hosts}
        if reason := parked.get(host_key(url)):
            return reason
        raise Interrupted

    def _redirect(self, lease: Lease, response: ResponseClass) -> list[Candidate]:
        if lease.redirects >= MAX_REDIRECTS:
            self._reasons[lease.url] = Reason.of(ReasonKind.TOO_MANY_REDIRECTS, MAX_REDIRECTS)
        elif why := self._outside(response.target):
            self._reasons[lease.url] = _other(f"{response.reason}, outside the crawl: {why}")
        else:
            self._moved[lease.url] = response.target
            return [Candidate(url=response.target, score=0.0, redirects=lease.redirects + 1, kind=lease.kind)]
        return []

    def _outside(self, url: str) -> str:
        return self._rules.scope.allows(url, 0) or trap(url)

    async def _settle(self, lease: Lease, links: Sequence[Candidate], delay_seconds: float) -> None:
        settlement = Settlement(lease=lease, outcome=Outcome.DONE, links=links, delay_seconds=delay_seconds)
        await self.frontier.commit([settlement])


def _other(text: str) -> Reason:
    return Reason.of(ReasonKind.OTHER, text)


def fetch_once(crawl: CrawlSetup, urls: Sequence[str]) -> dict[str, FetchedPage | Reason]:
    """Fetch canonical URLs as the crawl would, in this process.

    Returns:
        For each URL its page, which has another URL after redirects, or the reason why there is none.

    Raises:
        Interrupted: It was stopped by a signal.
    """
    collector = ResponseCollector(
        crawl.rules(), delay_seconds=crawl.politeness.delay_seconds, documents=build_document_converter(crawl)
    )
    logger = logging.getLogger("thresher")
    level = logger.level
    logger.setLevel(logging.ERROR)  # the returned reasons have what a worker logs as a warning
    try:
        asyncio.run(collector.enqueue(urls))
        run_worker(crawl, build_worker(crawl, "once", collector))
        return asyncio.run(_results(collector, urls))
    finally:
        logger.setLevel(level)
        asyncio.run(collector.frontier.close())


async def _results(collector: ResponseCollector, urls: Sequence[str]) -> dict[str, FetchedPage | Reason]:
    return {url: await collector.result(url) for url in urls}

"""The pipeline: one response is parsed and judged, its links are scored, and its lease is settled in one step.

    frontier.lease ─► engine fetches ─► parse ─► judge ─► score links ─► store the page ─► frontier.commit

The live engine and the lab both call `Pipeline.process`, so the lab measures what runs.

`Backoff` is for hosts that answer 429 or 503, and for hosts that send block pages.

The pause doubles with every such response in a row, over all URLs of the host and all workers; a page in between resets
it. After five in a row the host is parked, for an hour and then longer. A Retry-After is obeyed in full up to a day; a
host with a longer one is parked for good. A pause that is longer than a run waits parks the host for that time too, so
that the reason why its URLs wait is shown.

After a block page the host's own delay is doubled, and doubled again with every further block page in a row; after
five in a row the host is parked as above. A page in between resets it.

`BatchCommitter` is the last step: pages are written to disk, then their leases are settled, in batches.

While one batch is being written, finished pages are collected for the next; so a busy worker settles many pages per
transaction, and an idle one settles each immediately.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from thresher.config.event_log import log_event
from thresher.feedback.updates import JudgementUpdater
from thresher.frontier.base import CrawlStore, Frontier
from thresher.judges.base import Judge
from thresher.parsing.block_page import BlockPage, block_page
from thresher.parsing.documents.conversion import DocumentConverter
from thresher.parsing.html import parse as parse_html
from thresher.parsing.html import with_headers
from thresher.parsing.isolated import ParserProcess, Unparsable, is_heavy
from thresher.parsing.response import ResponseClass, ResponseKind, classify_response
from thresher.pipeline.host_policy import HANDLERS, HostPolicy, Parse
from thresher.pipeline.outcomes import (
    DuplicateFinder,
    LinkSelector,
    MarkupToStore,
    OutcomeBuilder,
    PipelineRules,
    Settled,
    relevance_of,
    topics_of,
)
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import (
    BlockKind,
    Candidate,
    FetchedPage,
    Judgement,
    Lease,
    Outcome,
    ParsedPage,
    RequestKind,
    Settlement,
)
from thresher.storage.page_store import Archive, PageRecord
from thresher.storage.warc.base import Captures
from thresher.strategies.base import Strategy, seed_candidates
from thresher.strategies.topics import seed_topics
from thresher.urls.canonical import fingerprint


@dataclass(frozen=True, slots=True)
class _Waiting:
    record: PageRecord
    settlement: Settlement
    response: FetchedPage | None
    accepted: asyncio.Future[bool]


class BatchCommitter:
    """Writes WARC records, stores pages and settles leases, in this order: a crash repeats a page and loses none.

    Args:
        before_commit: Called with the settlements of a batch, after its pages are stored and before it is settled.
    """

    def __init__(
        self,
        frontier: Frontier,
        archive: Archive,
        captures: Captures | None = None,
        before_commit: Callable[[Sequence[Settlement]], Awaitable[None]] | None = None,
    ) -> None:
        self._frontier = frontier
        self._before_commit = before_commit
        self._archive = archive
        self._captures = captures
        self._pending: list[_Waiting] = []
        self._writing: asyncio.Task[None] | None = None

    async def settle(self, record: PageRecord, settlement: Settlement, response: FetchedPage | None = None) -> bool:
        """Store one page and settle its lease; False when the lease was no longer held."""
        waiting = _Waiting(record, settlement, response, asyncio.get_running_loop().create_future())
        self._pending.append(waiting)
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        return await waiting.accepted

    async def _write(self) -> None:
        try:
            while self._pending:
                batch, self._pending = self._pending, []
                await self._write_batch(batch)
        finally:
            self._writing = None

    async def _write_batch(self, batch: list[_Waiting]) -> None:
        try:
            if self._captures:
                await self._captures.append(
                    [(waiting.record, waiting.response) for waiting in batch if waiting.response]
                )
            await self._archive.append([waiting.record for waiting in batch])
            settlements = [waiting.settlement for waiting in batch]
            if self._before_commit:
                await self._before_commit(settlements)
            accepted = await self._frontier.commit(settlements)
        except Exception as error:  # passed to every caller that waits for a page of this batch
            for waiting in batch:
                if not waiting.accepted.done():
                    waiting.accepted.set_exception(error)
            return
        for waiting, was_held in zip(batch, accepted, strict=True):
            if not waiting.accepted.done():
                waiting.accepted.set_result(was_held)


FIRST_PAUSE_SECONDS = 10.0
FIRST_PARK_SECONDS = 3600.0
MAX_PARK_SECONDS = 24 * 3600.0
ANSWERS_BEFORE_PARK = 5
SHOWN_SECONDS = 180.0
"""A run does not wait for a longer pause."""

_BUSY = frozenset({Reason.of(ReasonKind.HTTP, 429), Reason.of(ReasonKind.HTTP, 503)})
_BUSY_STATE = "busy answers"
_BLOCKED_STATE = "block pages"


class Backoff:
    """Counts busy responses of a host in a row, in the state that all workers share."""

    def __init__(self, frontier: CrawlStore) -> None:
        self._frontier = frontier

    async def pause_host(self, lease: Lease, response: ResponseClass) -> float:
        """Return the pause of a busy host in seconds; park the host if that is long."""
        times = await self._in_a_row(lease, _BUSY_STATE) if response.reason in _BUSY else 1
        pause: float = max(FIRST_PAUSE_SECONDS * 2 ** min(times - 1, 20), response.wait_seconds)
        requested = Reason.around(ReasonKind.RETRY_AFTER, response.wait_seconds, response.reason)
        if response.wait_seconds > MAX_PARK_SECONDS:
            await self._park(lease, requested)
        elif times >= ANSWERS_BEFORE_PARK:
            pause = min(max(_park_seconds(times), response.wait_seconds), MAX_PARK_SECONDS)
            await self._park(lease, Reason.around(ReasonKind.REPEATED, times, response.reason), seconds=pause)
        elif response.wait_seconds > SHOWN_SECONDS:
            await self._park(lease, requested, seconds=response.wait_seconds)
        return pause

    async def pause_blocking_host(self, lease: Lease, kind: BlockKind, delay_seconds: float) -> float:
        """Return the pause of a host that sent a block page, in seconds; park the host after several in a row.

        Args:
            delay_seconds: The usual delay of the host.
        """
        times = await self._in_a_row(lease, _BLOCKED_STATE)
        if times < ANSWERS_BEFORE_PARK:
            return delay_seconds * float(2**times)
        seconds = min(_park_seconds(times), MAX_PARK_SECONDS)
        await self._park(lease, Reason.around(ReasonKind.REPEATED, times, kind.reason), seconds=seconds)
        return seconds

    async def _park(self, lease: Lease, reason: Reason, *, seconds: float | None = None) -> None:
        await self._frontier.park(lease.host, reason, seconds=seconds)
        log_event("host parked", host=lease.host, reason=str(reason), seconds=seconds)

    async def _in_a_row(self, lease: Lease, state_kind: str) -> int:
        """Count one more such response; those before the host's last page do not count."""
        stored = await self._frontier.get_state(lease.host, state_kind)
        times, pages = json.loads(stored) if stored else (0, lease.host_pages)
        times = times + 1 if pages == lease.host_pages else 1
        stored = json.dumps([times, lease.host_pages])
        await self._frontier.put_state(lease.host, state_kind, stored, seconds=2 * MAX_PARK_SECONDS)
        return int(times)


def _park_seconds(times: int) -> float:
    """Return how long a host is parked after this many responses in a row: an hour, then twice as long each time."""
    return float(FIRST_PARK_SECONDS * 2 ** min(times - ANSWERS_BEFORE_PARK, 20))


logger = logging.getLogger(__name__)

CHALLENGE_STATUSES = frozenset({403, 503})
"""Error statuses with which protection services send their challenge pages."""


class Pipeline:
    """Processes one response at a time: classify, parse, judge, score links, commit."""

    def __init__(
        self,
        *,
        frontier: CrawlStore,
        archive: Archive,
        judge: Judge,
        strategy: Strategy,
        rules: PipelineRules,
        parse: Parse = parse_html,
        parser_process: ParserProcess | None = None,
        documents: DocumentConverter | None = None,
        captures: Captures | None = None,
        stored_markup: MarkupToStore | None = None,
        before_commit: Callable[[Sequence[Settlement]], Awaitable[None]] | None = None,
    ) -> None:
        self.frontier = frontier
        self.host_policy = HostPolicy(rules.host_limits, frontier=frontier, strategy=strategy, parse=parse)
        self.updater = JudgementUpdater(judge=judge, strategy=strategy, frontier=frontier, archive=archive)
        self._archive = archive
        self._skips_block_pages = rules.skip_block_pages
        self._judge = judge
        self._strategy = strategy
        self._parse = parse
        self._parser_process = parser_process
        self._documents = documents
        self._captures = captures
        self.backoff = Backoff(frontier)
        self._duplicate_finder = DuplicateFinder(frontier)
        self._links = LinkSelector(rules, self.host_policy, strategy)
        self.outcomes = OutcomeBuilder(rules, self._links, self.host_policy, judge=judge, stored_markup=stored_markup)
        self._committer = BatchCommitter(frontier, archive, captures, before_commit)

    async def seed(self, urls: Sequence[str]) -> int:
        """Add the seeds, canonical URLs, to the frontier; return how many were new."""
        return await self.frontier.add(seed_candidates(self._strategy, urls))

    async def process(self, lease: Lease, fetched: FetchedPage, *, delay_seconds: float = 0.0) -> PageRecord:
        """Process one response; return what was stored."""
        await self.updater.refill_batch(lease)
        try:
            if lease.redirects and fingerprint(fetched.url) == lease.parent:
                record, settlement = await self._returned(lease, fetched, delay_seconds)
            else:
                record, settlement = await self._process(lease, fetched, delay_seconds)
        except Unparsable as error:
            reason, retry = error.reason, not error.final
        except Exception:  # one bad page never stops a crawl
            logger.exception("the pipeline failed at %s", lease.url)
            reason, retry = Reason(ReasonKind.PROCESSING), False
        else:
            return await self._commit(record, settlement, delay_seconds, fetched)
        return await self.fail(lease, reason, at=fetched.fetched_at, retry=retry, delay_seconds=delay_seconds)

    async def fail(
        self, lease: Lease, reason: Reason, *, at: float, retry: bool = False, delay_seconds: float = 0.0
    ) -> PageRecord:
        """Settle a lease without a response: none came, or the request is not allowed."""
        await self.updater.refill_batch(lease)
        record, settlement = self.outcomes.failure(lease, reason, retry=retry, at=at)
        return await self._commit(record, settlement, delay_seconds)

    async def close(self) -> None:
        self.updater.close()
        await self.frontier.close()
        self._archive.close()
        if self._captures:
            self._captures.close()
        if self._parser_process:
            self._parser_process.close()
        if self._documents:
            self._documents.close()

    async def _commit(
        self, record: PageRecord, settlement: Settlement, delay_seconds: float, fetched: FetchedPage | None = None
    ) -> PageRecord:
        settlement = replace(settlement, delay_seconds=max(delay_seconds, settlement.delay_seconds))
        await self._committer.settle(record, settlement, fetched)
        if settlement.outcome is Outcome.FAILED:
            log_event("failed", url=settlement.lease.url, reason=str(settlement.reason))
        if settlement.park:
            log_event("host parked", host=settlement.lease.host, reason=str(settlement.park))
        await self.updater.settled(record.url, relevance_of(record, settlement), topics_of(record))
        return record

    async def _process(self, lease: Lease, fetched: FetchedPage, delay_seconds: float) -> Settled:
        response = classify_response(fetched, self._documents.formats if self._documents else ())
        if response.kind is not ResponseKind.BUSY and (handle := HANDLERS.get(lease.kind)):
            return self.outcomes.side_result(lease, fetched, await handle(self.host_policy, lease, fetched, response))
        if unmodified := self.outcomes.not_modified(lease, fetched):
            return unmodified
        if response.kind is ResponseKind.DOCUMENT:
            return await self._document(lease, fetched, response.document)
        if response.kind is ResponseKind.FEED and (listed := await self.host_policy.read_feed(lease, fetched)):
            return self.outcomes.side_result(lease, fetched, listed)
        page = await self._parsed(fetched) if response.kind is ResponseKind.PAGE else None
        if blocked := self.block_page(fetched, page) if page else self._challenge(fetched, response):
            pause_seconds = await self.backoff.pause_blocking_host(lease, blocked.kind, delay_seconds)
            return self.outcomes.blocked(lease, fetched, blocked, pause_seconds=pause_seconds)
        if page:
            return await self._page(lease, fetched, page)
        if response.kind is ResponseKind.REDIRECT:
            return self.outcomes.redirect(lease, fetched, response)
        busy = response.kind is ResponseKind.BUSY
        wait_seconds = await self.backoff.pause_host(lease, response) if busy else 0.0
        return self.outcomes.failure(lease, response.reason, fetched, retry=busy, wait_seconds=wait_seconds)

    async def _returned(self, lease: Lease, fetched: FetchedPage, delay_seconds: float) -> Settled:
        """Process the page of the URL that redirected here, which came with the cookies that this one set.

        The page has the row that it would have had without the redirect; the leased URL has a row without a page.
        """
        redirected = self.outcomes.returned(lease, fetched)
        entry = await self.frontier.find(fetched.url)
        origin = entry or lease
        own = replace(lease, url=fetched.url, parent=origin.parent, hops=origin.hops, score=origin.score, redirects=0)
        record, settlement = await self._process(own, fetched, delay_seconds)
        if settlement.outcome is Outcome.DONE:
            await self._archive.append([redirected])
            settlement = replace(settlement, reason=redirected.reason, content=0)
        return record, settlement

    async def _page(self, lease: Lease, fetched: FetchedPage, page: ParsedPage) -> Settled:
        if early := await self.outcomes.without_judgement(lease, fetched, page):
            return early
        await self.updater.learn(page, seed=lease.kind is RequestKind.SEED, topics=seed_topics(lease))
        judgement = self._judge.judge(page)
        terms = self.updater.vector(page)  # before other pages come between: the judge has counted its terms
        duplicate_of, content = await self._duplicate_finder.look_up(page)
        links = self._links.on_miss(lease) if duplicate_of else self._scored(page, judgement, lease, fetched)
        record, settlement = self.outcomes.page(lease, fetched, page, judgement, links, duplicate_of, terms)
        links += self._links.side_requests(await self.host_policy.side_requests(lease, page))
        relevant, duplicate = settlement.relevant, bool(duplicate_of)
        park = await self.host_policy.record_page(lease, page, relevant=relevant, duplicate=duplicate)
        return record, replace(settlement, links=links, content=content, park=park)

    async def _document(self, lease: Lease, fetched: FetchedPage, kind: str) -> Settled:
        """Process a document as a page; what is archived and counted is what the server sent."""
        assert self._documents
        page = await self._documents.convert(fetched, kind)
        record, settlement = await self._page(lease, page, await self._parsed(page))
        return replace(record, bytes=len(fetched.body)) if record.page else record, settlement

    def block_page(self, fetched: FetchedPage, page: ParsedPage) -> BlockPage | None:
        """Return what block page a response is; None for an ordinary page, a redirect, or when all are kept."""
        return block_page(page, fetched) if self._skips_block_pages and not page.refresh else None

    def _challenge(self, fetched: FetchedPage, response: ResponseClass) -> BlockPage | None:
        """Detect a challenge with an error status, of a server that does not say when to return."""
        if fetched.status not in CHALLENGE_STATUSES or response.wait_seconds or is_heavy(fetched.body):
            return None
        page = self._parse(fetched.url, fetched.body, fetched.headers.get("content-type", ""))
        found = self.block_page(fetched, page)
        return found if found and found.kind is BlockKind.CHALLENGE else None

    def _scored(self, page: ParsedPage, judgement: Judgement, lease: Lease, fetched: FetchedPage) -> list[Candidate]:
        return self._links.score(page, judgement, replace(lease, fetch_seconds=fetched.elapsed_seconds))

    async def _parsed(self, fetched: FetchedPage) -> ParsedPage:
        """Parse a page; one that could take too long is parsed in a separate process."""
        content = fetched.url, fetched.body, fetched.headers.get("content-type", "")
        isolated = self._parser_process if is_heavy(fetched.body) else None
        page = await isolated.parse(*content) if isolated else self._parse(*content)
        return with_headers(page, fetched)

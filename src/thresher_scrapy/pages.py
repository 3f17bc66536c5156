"""Pages of a spider: judged before the callback, settled after it.

The page is judged first, so that callbacks and item pipelines can use its relevance. The spider decides which links are
followed; the strategy scores these and no others. Then, in one step, the lease is settled and the requests enter the
frontier.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from scrapy.http import Response, TextResponse

from thresher.frontier.base import as_float32, plain_url
from thresher.judges.base import Judge
from thresher.parsing.block_page import BlockPage
from thresher.parsing.html import parse, with_headers
from thresher.parsing.isolated import ParserProcess, Unparsable, is_heavy
from thresher.parsing.response import ResponseKind, classify_response
from thresher.pipeline.outcomes import DuplicateFinder, Settled, content_hash
from thresher.pipeline.pipeline import BatchCommitter, Pipeline
from thresher.reasons.reason import NO_REASON, Reason
from thresher.records import (
    Candidate,
    FetchedPage,
    Judgement,
    Lease,
    Link,
    Outcome,
    ParsedPage,
    Settlement,
    UsageSignal,
)
from thresher.storage.page_store import Archive, FoundLink, PageRecord
from thresher.strategies.base import Strategy
from thresher_scrapy.twisted_adapter import fetched_page


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A judged page, ready for its callback.

    Args:
        blocked: The block page that came in its place; then it is not relevant, and nothing was learned from it.
        opted_out: Its record and settlement where it has an AI opt-out that is obeyed; then it is not judged either.
    """

    fetched: FetchedPage
    page: ParsedPage
    judgement: Judgement
    blocked: BlockPage | None = None
    opted_out: Settled | None = None


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A link that the spider follows.

    Args:
        candidate: The frontier entry, before the strategy scores it.
        anchor: Link text, where the spider knows it.
        first: Whether it precedes all requests that are ordered by topic.
    """

    candidate: Candidate
    anchor: str = ""
    first: bool = False


class SpiderPages:
    """Judges and settles the pages of a spider."""

    def __init__(
        self, pipeline: Pipeline, *, archive: Archive, judge: Judge, strategy: Strategy, keep_irrelevant: bool = False
    ) -> None:
        self._pipeline = pipeline
        self._judge = judge
        self._strategy = strategy
        self._keep_irrelevant = keep_irrelevant
        self._duplicate_finder = DuplicateFinder(pipeline.frontier)
        self._committer = BatchCommitter(pipeline.frontier, archive)
        self._parser_process = ParserProcess()

    async def judge(self, lease: Lease, response: Response, host_signals: tuple[UsageSignal, ...] = ()) -> Judged:
        """Judge a page; other text, such as JSON, is judged as plain text."""
        url = plain_url(lease.url)
        fetched = replace(fetched_page(response, url), host_signals=host_signals)
        page = await self._parsed(url, fetched, response)
        await self._pipeline.updater.refill_batch(lease)
        blocked, opted_out = self._pipeline.block_page(fetched, page), None
        if blocked or (opted_out := self._pipeline.outcomes.opted_out(lease, fetched, page)):
            judgement = Judgement(relevance=0.0, relevant=False)
            return Judged(fetched=fetched, page=page, judgement=judgement, blocked=blocked, opted_out=opted_out)
        await self._pipeline.updater.learn(page, seed=lease.hops == 0)
        return Judged(fetched=fetched, page=page, judgement=self._judge.judge(page))

    async def _parsed(self, url: str, fetched: FetchedPage, response: Response) -> ParsedPage:
        is_page = classify_response(fetched).kind is ResponseKind.PAGE
        if not is_page and not isinstance(response, TextResponse):
            return ParsedPage(url=url)
        content_type = fetched.headers.get("content-type", "") if is_page else "text/plain"
        try:
            isolated = self._parser_process if is_heavy(fetched.body) else None
            content = url, fetched.body, content_type
            return with_headers(await isolated.parse(*content) if isolated else parse(*content), fetched)
        except Unparsable:
            return ParsedPage(url=url)

    async def settle(
        self,
        lease: Lease,
        judged: Judged,
        wanted: Sequence[Wanted],
        *,
        delay_seconds: float,
        failure: Reason = NO_REASON,
    ) -> bool:
        """Store a page, settle its lease and add the spider's links; False when the lease was no longer held."""
        if judged.blocked:
            return await self._settle_blocked(lease, judged.fetched, judged.blocked, wanted, delay_seconds)
        is_page = 200 <= judged.fetched.status < 300 and not failure
        duplicate_of, content = await self._duplicate_finder.look_up(judged.page) if is_page else (0, 0)
        relevant = is_page and judged.judgement.relevant and not duplicate_of
        links = self.scored(lease, judged, wanted)
        record = replace(self._record(lease, judged, links, is_page=is_page), duplicate_of=duplicate_of)
        if failure:
            record = replace(record, outcome=Outcome.FAILED, reason=failure)
        settlement = Settlement(
            lease=lease,
            outcome=record.outcome,
            reason=failure,
            links=links,
            delay_seconds=delay_seconds,
            page=is_page,
            relevant=relevant,
            content=content,
            park=await self._pipeline.host_policy.record_page(
                lease, judged.page, relevant=relevant, duplicate=bool(duplicate_of)
            ),
        )
        was_held = await self._committer.settle(record, settlement)
        await self._pipeline.updater.settled(judged.page.url)  # no forecast: the spider chooses the links
        return was_held

    async def leave_out(self, opted_out: Settled, *, delay_seconds: float) -> bool:
        """Settle a page with an opt-out; False when the lease was no longer held."""
        record, settlement = opted_out
        return await self._committer.settle(record, replace(settlement, delay_seconds=delay_seconds))

    async def _settle_blocked(
        self, lease: Lease, fetched: FetchedPage, blocked: BlockPage, wanted: Sequence[Wanted], delay_seconds: float
    ) -> bool:
        """Settle a lease for which a block page came; the strategy does not see it, so the spider's links come last."""
        pause_seconds = await self._pipeline.backoff.pause_blocking_host(lease, blocked.kind, delay_seconds)
        record, settlement = self._pipeline.outcomes.blocked(
            lease, fetched, blocked, pause_seconds=pause_seconds, retry=False
        )
        links = [_with_score(each, None, last=0.0) for each in wanted]
        return await self._committer.settle(record, replace(settlement, links=links))

    def scored(self, lease: Lease, judged: Judged, wanted: Sequence[Wanted]) -> list[Candidate]:
        """Score the links of the spider; those that the strategy ignores come last."""
        page = replace(judged.page, links=tuple(_links(judged.page, wanted)))
        best: dict[str, Candidate] = {}
        for candidate in self._strategy.score(page, judged.judgement, lease):
            if candidate.url not in best or candidate.score > best[candidate.url].score:
                best[candidate.url] = candidate
        last = min((candidate.score for candidate in best.values()), default=0.0)
        return [_with_score(each, best.get(plain_url(each.candidate.url)), last=last) for each in wanted]

    def _record(self, lease: Lease, judged: Judged, links: Sequence[Candidate], *, is_page: bool) -> PageRecord:
        page, judgement, fetched = judged.page, judged.judgement, judged.fetched
        anchors = {link.url: link.anchor for link in page.links}
        promising = judgement.relevant or judgement.relevance > 0 or self._keep_irrelevant
        return replace(
            PageRecord.of_page(page, judgement, lease=lease, fetched=fetched),
            page=is_page,
            text_hash=content_hash(page.text),
            text=page.text if is_page and promising and not page.noindex else "",
            links=[
                FoundLink(url=link.url, anchor=anchors.get(link.url, ""), score=link.score, parts=link.breakdown)
                for link in links
            ],
        )

    def close(self) -> None:
        self._parser_process.close()


FIRST = 1_000_000.0
"""Score of requests that precede all that are ordered by topic, such as a login form."""


def _links(page: ParsedPage, wanted: Iterable[Wanted]) -> Iterable[Link]:
    """Yield the links that the spider follows as they are on the page, or as the spider knows them."""
    on_page: dict[str, list[Link]] = {}
    for link in page.links:
        on_page.setdefault(link.url, []).append(link)
    for url, anchor in {plain_url(each.candidate.url): each.anchor for each in wanted}.items():
        yield from on_page.get(url) or [Link(url=url, anchor=anchor, position=len(page.links))]


def _with_score(wanted: Wanted, scored: Candidate | None, *, last: float) -> Candidate:
    candidate = wanted.candidate
    if wanted.first:
        return candidate._replace(score=FIRST)
    if scored is None:
        return candidate._replace(score=as_float32(last))
    strategy_data = {**scored.strategy_data, **candidate.strategy_data}
    breakdown, depth_left = scored.breakdown, scored.depth_left
    return candidate._replace(
        score=as_float32(scored.score), strategy_data=strategy_data, breakdown=breakdown, depth_left=depth_left
    )

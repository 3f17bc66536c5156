"""What is stored of a response, and how its lease is settled: one function per outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from thresher.frontier.base import MAX_TRIES
from thresher.judges.base import Judge, Learner
from thresher.parsing.block_page import BlockPage
from thresher.parsing.opt_outs import opted_out_reason, response_opt_outs
from thresher.parsing.response import ResponseClass, ResponseKind
from thresher.pipeline.deduplication import content_hash
from thresher.pipeline.host_policy import HostPolicy, SideResult
from thresher.pipeline.links import LinkSelector, PipelineRules
from thresher.reasons.reason import NO_REASON, Reason, ReasonKind
from thresher.records import (
    BlockKind,
    Candidate,
    FetchedPage,
    Judgement,
    Lease,
    Outcome,
    ParsedPage,
    Settlement,
)
from thresher.refresh.revisit import unchanged, validators_of, with_validators
from thresher.storage.page_store import FoundLink, PageRecord
from thresher.urls.canonical import fingerprint

MarkupToStore = Callable[[ParsedPage, bytes, str], str]
"""From a page, its bytes and their content type to what is stored for its main text."""

Settled = tuple[PageRecord, Settlement]

NOT_MODIFIED = 304
MAX_REDIRECTS = 10
_TRUNCATED, _RENDERED = Reason(ReasonKind.TRUNCATED), Reason(ReasonKind.RENDERED)
SOFT_404 = Reason(ReasonKind.SOFT_404)
BUSY_SECONDS = 10.0
"""First pause for a server that is busy or does not respond; each further try doubles it."""
MAX_PAUSE_SECONDS = 3600.0
MIN_RELEVANCE = 0.05
"""Up to this relevance, the text of a page is kept only while the judge has seen few pages, and until the run ends."""


class OutcomeBuilder:
    """Builds the record of a response and the settlement of its lease."""

    def __init__(
        self,
        rules: PipelineRules,
        links: LinkSelector,
        host_policy: HostPolicy,
        *,
        judge: Judge,
        stored_markup: MarkupToStore | None,
    ) -> None:
        self._rules = rules
        self._links = links
        self._host_policy = host_policy
        self._learns = isinstance(judge, Learner)
        self._stored_markup = stored_markup

    def page(
        self,
        lease: Lease,
        fetched: FetchedPage,
        page: ParsedPage,
        judgement: Judgement,
        candidates: list[Candidate],
        duplicate_of: int,
        terms: bytes,
    ) -> Settled:
        """Store a page; its text and markup only when it is or may become relevant, or when all are kept."""
        reason = _TRUNCATED if fetched.truncated else _RENDERED if fetched.rendered else NO_REASON
        kept = (self._is_wanted(judgement) or self._rules.keep_irrelevant) and not page.noindex
        record = replace(
            PageRecord.of_page(page, judgement, lease=lease, fetched=fetched),
            reason=_with_certificate(reason, fetched.certificate),
            text_hash=content_hash(page.text),
            terms=terms,
            text=page.text if kept else "",
            markup=self._markup(fetched, page) if kept else "",
        )
        record = with_validators(record, fetched)
        record = replace(record, duplicate_of=duplicate_of, links=_found_links(page, candidates))
        relevant = judgement.relevant and not duplicate_of
        return record, Settlement(
            lease=lease, outcome=Outcome.DONE, reason=reason, links=candidates, page=True, relevant=relevant
        )

    def _markup(self, fetched: FetchedPage, page: ParsedPage) -> str:
        if self._stored_markup is None:
            return ""
        return self._stored_markup(page, fetched.body, fetched.headers.get("content-type", ""))

    def _is_wanted(self, judgement: Judgement) -> bool:
        """Return whether a page is relevant or may become so; a text that is not stored now is lost then."""
        promising = judgement.relevance > MIN_RELEVANCE or judgement.reward > 0
        return judgement.relevant or not judgement.final or (self._learns and promising)

    def not_modified(self, lease: Lease, fetched: FetchedPage) -> Settled | None:
        """Settle a conditional request that the server answered with 304."""
        validators = validators_of(lease) if fetched.status == NOT_MODIFIED else None
        if validators is None:
            return None
        record, settlement = unchanged(lease, fetched, validators)
        return replace(record, opt_outs=sorted(response_opt_outs(fetched))), settlement

    def opted_out(self, lease: Lease, fetched: FetchedPage, page: ParsedPage) -> Settled | None:
        """Settle a page with an AI opt-out, where opt-outs are obeyed."""
        reason = opted_out_reason(page.opt_outs) if self._rules.politeness.obey_opt_outs else NO_REASON
        if not reason:
            return None
        record, settlement = self.failure(lease, reason, fetched)
        return replace(record, opt_outs=page.opt_outs), settlement

    async def without_judgement(self, lease: Lease, fetched: FetchedPage, page: ParsedPage) -> Settled | None:
        """Settle a page that is not judged: an opt-out, a meta refresh, a soft 404, or a revisit with the same text."""
        if opted_out := self.opted_out(lease, fetched, page):
            return opted_out
        if page.refresh and not (page.nofollow and self._rules.politeness.obey_nofollow):
            reason = Reason.of(ReasonKind.REFRESH, page.refresh)
            moved = ResponseClass(kind=ResponseKind.REDIRECT, reason=reason, target=page.refresh)
            return self.redirect(lease, fetched, moved)
        missing, park = await self._host_policy.is_soft_404(lease, page)
        if missing:
            record, settlement = self.failure(lease, SOFT_404, fetched)
            return record, replace(settlement, park=park)
        validators = validators_of(lease)
        if validators and content_hash(page.text) == validators.text_hash and not page.noindex:
            record, settlement = unchanged(lease, fetched, validators)
            return replace(record, opt_outs=page.opt_outs), settlement
        return None

    def blocked(
        self, lease: Lease, fetched: FetchedPage, block_page: BlockPage, *, pause_seconds: float, retry: bool = True
    ) -> Settled:
        """Give a URL up for which a block page came; with `retry`, it is tried once more after its first challenge.

        Neither judge nor strategy sees it: the response says nothing about the page behind it.
        """
        kind = block_page.kind
        again = retry and kind is BlockKind.CHALLENGE and not lease.tries
        outcome = Outcome.RETRY if again else Outcome.FAILED
        record = _empty_record(lease, outcome, block_page.reason, fetched.status, fetched.fetched_at)
        settlement = Settlement(lease=lease, outcome=outcome, reason=kind.reason, delay_seconds=pause_seconds)
        return replace(record, blocked=kind, bytes=len(fetched.body)), settlement

    def redirect(self, lease: Lease, fetched: FetchedPage, response: ResponseClass) -> Settled:
        """Queue the target as a separate entry, so that robots.txt, scope and politeness hold for every hop."""
        if lease.redirects >= MAX_REDIRECTS:
            return self.failure(lease, Reason.of(ReasonKind.TOO_MANY_REDIRECTS, MAX_REDIRECTS), fetched)
        if outside := self._links.reject_reason(response.target, lease.hops):
            return self.failure(lease, Reason.of(response.reason.kind, response.target, outside), fetched)
        target = Candidate(
            url=response.target,
            score=lease.score,
            strategy_data=lease.strategy_data,
            depth_left=lease.depth_left,
            hops=lease.hops,
            redirects=lease.redirects + 1,
            parent=fingerprint(lease.url),
            kind=lease.kind,
        )
        record = _empty_record(lease, Outcome.DONE, response.reason, fetched.status, fetched.fetched_at)
        link = FoundLink(url=target.url, anchor="", score=target.score, parts={})
        settlement = Settlement(lease=lease, outcome=Outcome.DONE, reason=response.reason, links=[target])
        return replace(record, links=[link]), settlement

    def returned(self, lease: Lease, fetched: FetchedPage) -> PageRecord:
        """Return the row of a URL that set cookies and led back to the URL that had redirected to it."""
        moved = Reason.of(ReasonKind.REDIRECT, fetched.url)
        record = _empty_record(lease, Outcome.DONE, moved, fetched.status, fetched.fetched_at)
        return replace(record, links=[FoundLink(url=fetched.url, anchor="", score=lease.score, parts={})])

    def side_result(self, lease: Lease, fetched: FetchedPage, result: SideResult) -> Settled:
        """Settle a sitemap, a feed or a probe: its URLs enter the frontier as far as they are in scope."""
        pages = self._links.select(result.pages, lease)
        links = [*self._links.side_requests(result.side_requests), *pages]
        record = _empty_record(lease, Outcome.DONE, result.reason, fetched.status, fetched.fetched_at)
        settlement = Settlement(lease=lease, outcome=Outcome.DONE, reason=result.reason, links=links)
        return replace(record, links=_found_links(None, pages)), settlement

    def failure(
        self,
        lease: Lease,
        reason: Reason,
        fetched: FetchedPage | None = None,
        *,
        at: float = 0.0,
        retry: bool = False,
        wait_seconds: float = 0.0,
    ) -> Settled:
        """Give a URL up, or queue it for another try after a pause that doubles each time.

        Args:
            at: When it failed, if there was no response.
        """
        last = lease.tries + 1 >= MAX_TRIES
        outcome = Outcome.RETRY if retry and not last else Outcome.FAILED
        pause = max(wait_seconds, BUSY_SECONDS * 2**lease.tries) if retry else 0.0
        silent = retry and last and lease.host_pages == 0
        is_miss = outcome is Outcome.FAILED and reason.kind is not ReasonKind.OPTED_OUT
        links = self._links.on_miss(lease) if is_miss else []
        settlement = Settlement(
            lease=lease,
            outcome=outcome,
            reason=reason,
            links=links,
            delay_seconds=min(pause, MAX_PAUSE_SECONDS),
            park=Reason.around(ReasonKind.NO_PAGE, MAX_TRIES, reason) if silent else NO_REASON,
        )
        status, at = (fetched.status, fetched.fetched_at) if fetched else (0, at)
        record = _empty_record(lease, outcome, reason, status, at)
        return replace(record, links=_found_links(None, links)), settlement


def relevance_of(record: PageRecord, settlement: Settlement) -> float | None:
    """Return the relevance of a fetched URL, 0 for duplicates and failures.

    None for revisits, redirects and retries, and for pages whose content is unknown: block pages and opt-outs.
    """
    if settlement.reason.kind in (ReasonKind.BLOCK_PAGE, ReasonKind.OPTED_OUT):
        return None
    if validators_of(settlement.lease) or not (settlement.page or settlement.outcome is Outcome.FAILED):
        return None
    return 0.0 if record.duplicate_of else record.relevance


def topics_of(record: PageRecord) -> Mapping[str, Judgement]:
    """Return the judgements of a fetched URL for several topics; none for duplicates and failures."""
    return {} if record.duplicate_of else record.topics


def _found_links(page: ParsedPage | None, candidates: Sequence[Candidate]) -> list[FoundLink]:
    anchors: dict[str, str] = {}
    for link in page.links if page else ():
        if not anchors.get(link.url):
            anchors[link.url] = link.anchor
    return [FoundLink(url, anchors.get(url, ""), score, parts) for url, score, parts, *_ in candidates]


def _with_certificate(reason: Reason, problem: str) -> Reason:
    """Return the reason of a page's record: what is wrong with the certificate of its server is a detail."""
    return Reason.of(reason.kind if reason else ReasonKind.CERTIFICATE, problem) if problem else reason


def _empty_record(lease: Lease, outcome: Outcome, reason: Reason, status: int, fetched_at: float) -> PageRecord:
    return PageRecord(
        fingerprint=fingerprint(lease.url),
        url=lease.url,
        status=status,
        outcome=outcome,
        reason=reason,
        fetched_at=fetched_at,
        score=lease.score,
        parent=lease.parent,
        depth=lease.hops,
    )

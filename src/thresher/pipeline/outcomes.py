"""What is stored of a response, and how its lease is settled: one function per outcome.

`LinkSelector` says which links enter the frontier: nofollow, scope, traps, and the best score per URL.

`DuplicateFinder` finds pages with the text of an earlier page, or with the same canonical URL.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Protocol

from thresher.frontier.base import MAX_TRIES, CrawlStore, UrlState, as_float32
from thresher.judges.base import Judge, Learner
from thresher.parsing.block_page import BlockPage
from thresher.parsing.opt_outs import denied_uses, opted_out_reason, response_signals
from thresher.parsing.response import ResponseClass, ResponseKind
from thresher.pipeline.host_policy import HostPolicy, HostPolicyConfig, SideResult
from thresher.politeness.settings import Politeness
from thresher.reasons.reason import COMPLETE_PAGES, NO_REASON, Reason, ReasonKind
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
from thresher.strategies.base import HandlesMisses, Strategy
from thresher.urls.canonical import fingerprint, host_key


def content_hash(text: str) -> int:
    """Hash a page's text, to find duplicates; 0 for a page without text."""
    return fingerprint(text) or 1 if text else 0


_CLAIMS = 10_000
"""Far more than one worker can have in progress."""


class DuplicateFinder:
    """Finds out whether a page is a duplicate.

    A page with rel=canonical is a duplicate of the canonical page if that was crawled, else of the first page with the
    same canonical URL. The canonical page itself is a duplicate only of pages of its own host: no host can displace the
    page of another one by declaring it canonical. So of mirrors that declare the original as canonical, one may be kept
    beside it, if it came first. Two workers that process the same text at the same time both keep it.
    """

    def __init__(self, frontier: CrawlStore) -> None:
        self._frontier = frontier
        self._claimed: OrderedDict[int, int] = OrderedDict()

    async def look_up(self, page: ParsedPage) -> tuple[int, int]:
        """Return the page that this one duplicates (0 for none), and the hash by which its own duplicates are found."""
        own, content = fingerprint(page.url), content_hash(page.text)
        first = await self._content_owner(content)
        if first in (0, own) and page.canonical:
            first = await self._canonical_owner(page)
            content = content if page.canonical == page.url else _canonical_hash(page)
        if first in (0, own):
            self._claim(own, content, content_hash(page.text), own)
        return (0 if first == own else first), content

    async def _canonical_owner(self, page: ParsedPage) -> int:
        """Return the canonical page if it was crawled, else the first page with the same canonical URL."""
        if page.canonical != page.url:
            canonical = fingerprint(page.canonical)
            entry = None if canonical in self._claimed else await self._frontier.find(page.canonical)
            if canonical in self._claimed or (
                entry and entry.state is UrlState.DONE and entry.reason.kind in COMPLETE_PAGES
            ):
                return canonical
        return await self._content_owner(_canonical_hash(page))

    async def _content_owner(self, content: int) -> int:
        """Return the first page with a content; also pages of this worker that are not committed yet."""
        if not content:
            return 0
        return await self._frontier.content_owner(content) or self._claimed.get(content, 0)

    def _claim(self, page: int, *numbers: int) -> None:
        for number in numbers:
            self._claimed[number] = page
            self._claimed.move_to_end(number)
        while len(self._claimed) > _CLAIMS:
            self._claimed.popitem(last=False)


def _canonical_hash(page: ParsedPage) -> int:
    """Hash the canonical URL of a page, distinct from all texts and for pages of the same host and of others."""
    elsewhere = " elsewhere" if host_key(page.canonical) != host_key(page.url) else ""
    return fingerprint(f"canonical{elsewhere} {page.canonical}") or 1


logger = logging.getLogger(__name__)


class CrawlScope(Protocol):
    """Decides which URLs belong to a crawl."""

    def allows(self, candidate_url: str, hops: int) -> str:
        """Return why a canonical URL is out of scope; empty when it is in scope."""
        ...


@dataclass(frozen=True, kw_only=True)
class PipelineRules:
    """What the user allows.

    Args:
        scope: Which URLs belong to the crawl.
        host_limits: Limits per host: budgets, traps, sitemaps.
        politeness: Whether nofollow and AI opt-outs are obeyed.
        keep_irrelevant: Whether the text of irrelevant pages is stored.
        skip_block_pages: Whether block pages are detected and counted as failures.
    """

    scope: CrawlScope
    host_limits: HostPolicyConfig = field(default_factory=HostPolicyConfig)
    politeness: Politeness = field(default_factory=Politeness)
    keep_irrelevant: bool = False
    skip_block_pages: bool = False


class LinkSelector:
    """Scores links with the strategy, and keeps those that may be followed."""

    def __init__(self, rules: PipelineRules, host_policy: HostPolicy, strategy: Strategy) -> None:
        self._rules = rules
        self._host_policy = host_policy
        self._strategy = strategy

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> list[Candidate]:
        """Score the links that may be followed; the strategy does not see the others."""
        if self._rules.politeness.obey_nofollow:
            page = _without_nofollow(page)
        inside = {link.url for link in page.links if not self.reject_reason(link.url, lease.hops + 1)}
        page = replace(page, links=tuple(link for link in page.links if link.url in inside))
        return self.select(self._strategy.score(page, judgement, lease), lease, inside)

    def on_miss(self, lease: Lease) -> list[Candidate]:
        """Return the strategy's candidates after a URL that gave no page, if it handles misses."""
        if not isinstance(self._strategy, HandlesMisses) or not lease.kind.is_page:
            return []
        try:
            return self.select(self._strategy.on_miss(lease), lease)
        except Exception:  # the page may have failed because the strategy did
            logger.exception("the strategy failed after the miss of %s", lease.url)
            return []

    def select(self, candidates: Iterable[Candidate], lease: Lease, inside: Set[str] = frozenset()) -> list[Candidate]:
        """Keep candidates in scope, each URL once with its best score; URLs in `inside` were checked before."""
        hops, parent = lease.hops + 1, fingerprint(lease.url)
        best: dict[str, Candidate] = {}
        for candidate in candidates:
            known = best.get(candidate.url)
            if known is None:
                if candidate.url == lease.url:
                    continue
                if candidate.url not in inside and self.reject_reason(candidate.url, hops):
                    continue
            elif known.score >= candidate.score:
                continue
            best[candidate.url] = candidate
        return [
            Candidate(url, as_float32(score), breakdown, strategy_data, depth_left, hops, 0, parent)
            for url, score, breakdown, strategy_data, depth_left, *_ in best.values()
        ]

    def side_requests(self, requests: Iterable[Candidate]) -> list[Candidate]:
        """Keep side requests to hosts in scope; their paths need not be those of pages."""
        scope = self._rules.scope
        return [request for request in requests if not scope.allows(f"http://{host_key(request.url)}/", request.hops)]

    def reject_reason(self, url: str, hops: int) -> str:
        """Return why a URL is not followed; empty when it is."""
        return self._rules.scope.allows(url, hops) or self._host_policy.reject_reason(url)


def _without_nofollow(page: ParsedPage) -> ParsedPage:
    if page.nofollow:
        return replace(page, links=())
    if any(link.nofollow for link in page.links):
        return replace(page, links=tuple(link for link in page.links if not link.nofollow))
    return page


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
        return _with_signals(record, fetched), settlement

    def opted_out(self, lease: Lease, fetched: FetchedPage, page: ParsedPage) -> Settled | None:
        """Settle a page with an AI opt-out, where opt-outs are obeyed."""
        reason = opted_out_reason(page.opt_outs) if self._rules.politeness.obey_opt_outs else NO_REASON
        if not reason:
            return None
        record, settlement = self.failure(lease, reason, fetched)
        return replace(record, signals=page.signals, opt_outs=page.opt_outs), settlement

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
            return replace(record, signals=page.signals, opt_outs=page.opt_outs), settlement
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
        record = _with_signals(record, fetched) if fetched else record
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


def _with_signals(record: PageRecord, fetched: FetchedPage) -> PageRecord:
    """Return the record of a response that gave no page, with its usage signals and the uses that they deny."""
    signals = response_signals(fetched)
    return replace(record, signals=signals, opt_outs=tuple(sorted(denied_uses(signals))))


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

"""Which links of a page enter the frontier: nofollow, scope, traps, and the best score per URL."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Set
from dataclasses import dataclass, field, replace
from typing import Protocol

from thresher.frontier.base import as_float32
from thresher.pipeline.host_policy import HostPolicy, HostPolicyConfig
from thresher.politeness.settings import Politeness
from thresher.records import Candidate, Judgement, Lease, ParsedPage
from thresher.strategies.base import HandlesMisses, Strategy
from thresher.urls.canonical import fingerprint, host_key

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

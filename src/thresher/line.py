"""The line: a leased URL's page is parsed and judged, its links are scored, and in one step the lease is settled.

    frontier.lease ─► engine fetches ─► parse ─► judge ─► scope ─► strategy.score ─► archive.keep ─► frontier.commit

The live engine and the lab both call `Line.process`, so what is measured is what runs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from thresher.archive.captures import Captures
from thresher.archive.pages import Archive, FoundLink, PageRecord
from thresher.backoff import Backoff
from thresher.classify.base import Judge, Learner
from thresher.copies import Copies, content_hash
from thresher.frontier.base import MAX_TRIES, Frontier
from thresher.frontier.scores import short
from thresher.parse.answers import Answer, AnswerKind, read_answer
from thresher.parse.apart import ParserApart, Unparsable, is_heavy
from thresher.parse.directives import with_header
from thresher.parse.html import parse as parse_html
from thresher.records import RENDERED, Candidate, FetchedPage, Judgement, Lease, Outcome, ParsedPage, Settlement
from thresher.refresh.told import told_of, unchanged, with_validators
from thresher.rethink import Rethink
from thresher.settle import Settler
from thresher.strategies.base import Persistent, Strategy
from thresher.urls.canonical import fingerprint
from thresher.urls.host import host_key
from thresher.warden import Warden, Watchfulness, is_aside

logger = logging.getLogger(__name__)

Parse = Callable[[str, bytes, str], ParsedPage]
"""From a URL, its bytes and their content type to a page; the lab puts one in that remembers."""

MainText = Callable[[ParsedPage, bytes, str], str]
"""From a page, its bytes and their content type to what a reader would read of it."""

MAX_REDIRECTS = 5
NOT_MODIFIED = 304
SOFT_404 = "soft 404: the page says that there is none"
BUSY_SECONDS = 10.0
"""First pause for a server that is busy or does not answer; each further try doubles it."""
LONGEST_PAUSE_SECONDS = 3600.0
LEAST_RELEVANCE = 0.05
"""Below this relevance, the text of a page is kept only while the judge has seen few pages."""


class Bounds(Protocol):
    """Says which URLs lie inside a crawl."""

    def allows(self, candidate_url: str, hops: int) -> str:
        """Say why a canonical URL lies outside; empty when it lies inside."""
        ...


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What the user allows.

    Args:
        scope: What lies inside the crawl.
        watch: How hosts are watched: budgets, traps, sitemaps.
        obey_nofollow: Whether pages may ask that links be left alone.
        keep_irrelevant: Whether the text of irrelevant pages is kept.
    """

    scope: Bounds
    watch: Watchfulness = field(default_factory=Watchfulness)
    obey_nofollow: bool = True
    keep_irrelevant: bool = False


class Line:
    """Takes a leased URL with what came back for it, and leaves nothing undone."""

    def __init__(
        self,
        *,
        frontier: Frontier,
        archive: Archive,
        judge: Judge,
        strategy: Strategy,
        rules: Rules,
        parse: Parse = parse_html,
        apart: ParserApart | None = None,
        captures: Captures | None = None,
        main_text: MainText | None = None,
    ) -> None:
        self.frontier = frontier
        self._archive = archive
        self._judge = judge
        self._strategy = strategy
        self._rules = rules
        self._parse = parse
        self._apart = apart
        self._captures = captures
        self._main_text = main_text
        self._backoff = Backoff(frontier)
        self.warden = Warden(rules.watch, frontier=frontier, strategy=strategy)
        self._copies = Copies(frontier)
        self._settler = Settler(frontier, archive, captures)
        self.rethink = Rethink(judge=judge, strategy=strategy, frontier=frontier, archive=archive)

    async def seed(self, urls: Sequence[str]) -> int:
        """Put the seeds, canonical URLs, into the frontier; return how many were new."""
        return await self.frontier.add(list(self._strategy.seeds(urls)))

    async def process(self, lease: Lease, fetched: FetchedPage, *, delay_seconds: float = 0.0) -> PageRecord:
        """Take an answer from parse to commit; return what was recorded."""
        await self.rethink.ready(lease)
        try:
            record, settlement = await self._work(lease, fetched)
        except Unparsable as error:
            again = not error.final
            return await self.fail(lease, str(error), at=fetched.fetched_at, retry=again, delay_seconds=delay_seconds)
        except Exception:  # one bad page never stops a crawl
            logger.exception("page broke the line: %s", lease.url)
            return await self.fail(lease, "broke the line", at=fetched.fetched_at, delay_seconds=delay_seconds)
        delay_seconds = max(delay_seconds, settlement.delay_seconds)
        await self._settle(record, replace(settlement, delay_seconds=delay_seconds), fetched)
        return record

    async def fail(
        self, lease: Lease, reason: str, *, at: float, retry: bool = False, delay_seconds: float = 0.0
    ) -> PageRecord:
        """Settle a lease for which no answer came, or none may be asked for."""
        await self.rethink.ready(lease)
        record, settlement = self._failure(lease, reason, retry=retry, fetched_at=at)
        delay_seconds = max(delay_seconds, settlement.delay_seconds)
        await self._settle(record, replace(settlement, delay_seconds=delay_seconds))
        return record

    async def close(self) -> None:
        """Write down what was learned, and let go of the stores."""
        self.rethink.close()
        await self.frontier.close()
        self._archive.close()
        if self._captures:
            self._captures.close()
        if self._apart:
            self._apart.close()

    async def _settle(self, record: PageRecord, settlement: Settlement, answer: FetchedPage | None = None) -> None:
        await self._settler.settle(record, settlement, answer)
        await self.rethink.settled(record.url, _relevance_of(record, settlement))

    async def _work(self, lease: Lease, fetched: FetchedPage) -> tuple[PageRecord, Settlement]:
        answer = read_answer(fetched)
        if is_aside(lease) and answer.kind is not AnswerKind.BUSY:
            return await self._aside(lease, fetched, answer)
        if fetched.status == NOT_MODIFIED and (told := told_of(lease)):
            return unchanged(lease, fetched, told)
        if answer.kind is AnswerKind.PAGE:
            return await self._page(lease, fetched)
        if answer.kind is AnswerKind.REDIRECT:
            return self._redirect(lease, fetched, answer)
        busy = answer.kind is AnswerKind.BUSY
        return self._failure(
            lease,
            answer.reason,
            status=fetched.status,
            fetched_at=fetched.fetched_at,
            retry=busy,
            wait_seconds=await self._backoff.rest(lease, answer) if busy else 0.0,
        )

    async def _page(self, lease: Lease, fetched: FetchedPage) -> tuple[PageRecord, Settlement]:
        page = await self._parsed(fetched)
        if page.refresh and not (page.nofollow and self._rules.obey_nofollow):
            moved = Answer(kind=AnswerKind.REDIRECT, reason=f"refreshes to {page.refresh}", target=page.refresh)
            return self._redirect(lease, fetched, moved)
        missing, park = await self.warden.misses(lease, page)
        if missing:
            record, settlement = self._failure(lease, SOFT_404, status=fetched.status, fetched_at=fetched.fetched_at)
            return record, replace(settlement, park=park)
        if (told := told_of(lease)) and content_hash(page.text) == told.text_hash and not page.noindex:
            return unchanged(lease, fetched, told)
        await self.rethink.take_in(page, seed=lease.hops == 0)
        judgement = self._judge.judge(page)
        duplicate_of, content = await self._copies.look_up(page)
        candidates = self._after_nothing(lease) if duplicate_of else self._candidates(page, judgement, lease)
        record = with_validators(self._page_record(lease, fetched, page, judgement), fetched)
        record = replace(record, duplicate_of=duplicate_of, links=_found_links(page, candidates))
        relevant = judgement.relevant and not duplicate_of
        settlement = Settlement(
            lease=lease,
            outcome=Outcome.DONE,
            reason=record.reason,
            links=[*candidates, *self._inside(await self.warden.asides(lease))],
            page=True,
            relevant=relevant,
            content=content,
            park=await self.warden.after(lease, page, relevant=relevant, copy=bool(duplicate_of)),
        )
        return record, settlement

    async def _parsed(self, fetched: FetchedPage) -> ParsedPage:
        """Parse a page, one that could take too long in a process of its own."""
        content_type = fetched.headers.get("content-type", "")
        if self._apart and is_heavy(fetched.body):
            page = await self._apart.parse(fetched.url, fetched.body, content_type)
        else:
            page = self._parse(fetched.url, fetched.body, content_type)
        asked = fetched.headers.get("x-robots-tag")
        return with_header(page, asked) if asked else page

    async def _aside(self, lease: Lease, fetched: FetchedPage, answer: Answer) -> tuple[PageRecord, Settlement]:
        """Take in a sitemap, or the answer for a page that cannot exist."""
        content_type = fetched.headers.get("content-type", "")
        parse = partial(self._parse, lease.url, fetched.body, content_type)
        found = await self.warden.take_aside(lease, fetched, answer, parse)
        links = [*self._inside(found.asides), *self._let_in(found.pages, lease)]
        record = _empty_record(lease, Outcome.DONE, found.reason, fetched.status, fetched.fetched_at)
        settlement = Settlement(lease=lease, outcome=Outcome.DONE, reason=found.reason, links=links)
        return replace(record, links=_found_links(None, links)), settlement

    def _inside(self, asides: Iterable[Candidate]) -> list[Candidate]:
        """Keep what is asked of hosts in scope; their names need not be those of pages."""
        return [aside for aside in asides if not self._rules.scope.allows(f"http://{host_key(aside.url)}/", aside.hops)]

    def _candidates(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> list[Candidate]:
        """Score the links that may be followed; a strategy does not hear of others."""
        if self._rules.obey_nofollow:
            page = _without_nofollow(page)
        inside = {link.url for link in page.links if not self._outside(link.url, lease.hops + 1)}
        page = replace(page, links=tuple(link for link in page.links if link.url in inside))
        return self._let_in(self._strategy.score(page, judgement, lease), lease, inside)

    def _after_nothing(self, lease: Lease) -> list[Candidate]:
        """Ask where to go on when a URL brought nothing, if the strategy wants to know."""
        if not isinstance(self._strategy, Persistent) or is_aside(lease):
            return []
        try:
            return self._let_in(self._strategy.missed(lease), lease)
        except Exception:  # the page may have failed because the strategy did
            logger.exception("no way on from %s", lease.url)
            return []

    def _let_in(self, candidates: Iterable[Candidate], lease: Lease, inside: Set[str] = frozenset()) -> list[Candidate]:
        """Keep the candidates in scope, as those known to be `inside` are, each URL once, by its best score."""
        hops, parent = lease.hops + 1, fingerprint(lease.url)
        best: dict[str, Candidate] = {}
        for candidate in candidates:
            known = best.get(candidate.url)
            if known is None:
                if candidate.url == lease.url:
                    continue
                if candidate.url not in inside and self._outside(candidate.url, hops):
                    continue
            elif known.score >= candidate.score:
                continue
            best[candidate.url] = candidate
        return [
            Candidate(
                url=found.url,
                score=short(found.score),
                parts=found.parts,
                carry=found.carry,
                depth_left=found.depth_left,
                hops=hops,
                parent=parent,
            )
            for found in best.values()
        ]

    def _outside(self, url: str, hops: int) -> bool:
        return bool(self._rules.scope.allows(url, hops) or self.warden.refuses(url))

    def _page_record(self, lease: Lease, fetched: FetchedPage, page: ParsedPage, judgement: Judgement) -> PageRecord:
        wanted = judgement.relevant or self._may_become_relevant(judgement) or self._rules.keep_irrelevant
        kept = wanted and not page.noindex
        content_type = fetched.headers.get("content-type", "")
        return replace(
            PageRecord.of_page(page, judgement, lease=lease, fetched=fetched),
            reason="truncated" if fetched.truncated else RENDERED if fetched.rendered else "",
            text_hash=content_hash(page.text),
            terms=self.rethink.vector(page),
            text=page.text if kept else "",
            main=self._main_text(page, fetched.body, content_type) if kept and self._main_text else "",
        )

    def _may_become_relevant(self, judgement: Judgement) -> bool:
        """Tell whether the page may be judged relevant later; a text that is not kept now cannot be had then."""
        promising = judgement.relevance > LEAST_RELEVANCE or judgement.reward > 0
        return not judgement.final or (isinstance(self._judge, Learner) and promising)

    def _redirect(self, lease: Lease, fetched: FetchedPage, answer: Answer) -> tuple[PageRecord, Settlement]:
        """A redirect is a frontier entry of its own, so that robots, scope and politeness hold for every hop."""
        too_many = f"more than {MAX_REDIRECTS} redirects" if lease.redirects >= MAX_REDIRECTS else ""
        outside = self._rules.scope.allows(answer.target, lease.hops) or self.warden.refuses(answer.target)
        if too_many or outside:
            reason = too_many or f"{answer.reason}: {outside}"
            return self._failure(lease, reason, status=fetched.status, fetched_at=fetched.fetched_at)
        target = Candidate(
            url=answer.target,
            score=lease.score,
            carry=lease.carry,
            depth_left=lease.depth_left,
            hops=lease.hops,
            redirects=lease.redirects + 1,
            parent=fingerprint(lease.url),
        )
        record = _empty_record(lease, Outcome.DONE, answer.reason, fetched.status, fetched.fetched_at)
        link = FoundLink(url=target.url, anchor="", score=target.score, parts={})
        settlement = Settlement(lease=lease, outcome=Outcome.DONE, reason=answer.reason, links=[target])
        return replace(record, links=[link]), settlement

    def _failure(
        self,
        lease: Lease,
        reason: str,
        *,
        status: int = 0,
        fetched_at: float = 0.0,
        retry: bool = False,
        wait_seconds: float = 0.0,
    ) -> tuple[PageRecord, Settlement]:
        """Give a URL up, or back for another try after a pause that doubles each time."""
        last = lease.tries + 1 >= MAX_TRIES
        outcome = Outcome.RETRY if retry and not last else Outcome.FAILED
        pause = max(wait_seconds, BUSY_SECONDS * 2**lease.tries) if retry else 0.0
        silent = retry and last and lease.host_pages == 0
        links = self._after_nothing(lease) if outcome is Outcome.FAILED else []
        settlement = Settlement(
            lease=lease,
            outcome=outcome,
            reason=reason,
            links=links,
            delay_seconds=min(pause, LONGEST_PAUSE_SECONDS),
            park=f"no page in {MAX_TRIES} tries: {reason}" if silent else "",
        )
        record = _empty_record(lease, outcome, reason, status, fetched_at)
        return replace(record, links=_found_links(None, links)), settlement


def _relevance_of(record: PageRecord, settlement: Settlement) -> float | None:
    """Return the relevance of a fetched URL, 0 of a copy or a failure; None for revisits, redirects and retries."""
    if told_of(settlement.lease) or not (settlement.page or settlement.outcome is Outcome.FAILED):
        return None
    if record.duplicate_of:
        return 0.0
    return record.relevance


def _without_nofollow(page: ParsedPage) -> ParsedPage:
    if page.nofollow:
        return replace(page, links=())
    if any(link.nofollow for link in page.links):
        return replace(page, links=tuple(link for link in page.links if not link.nofollow))
    return page


def _found_links(page: ParsedPage | None, candidates: list[Candidate]) -> list[FoundLink]:
    anchors: dict[str, str] = {}
    for link in page.links if page else ():
        if not anchors.get(link.url):
            anchors[link.url] = link.anchor
    return [
        FoundLink(url=found.url, anchor=anchors.get(found.url, ""), score=found.score, parts=found.parts)
        for found in candidates
    ]


def _empty_record(lease: Lease, outcome: Outcome, reason: str, status: int, fetched_at: float) -> PageRecord:
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

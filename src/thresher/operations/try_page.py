"""Try pages without a crawl: the verdict on a page, the words that counted, and the scores of its links.

The links are scored by the pipeline of a crawl, with a frontier of its own and no page store, as if the page were a
seed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from thresher.assembly import PipelineParts, build_judge, build_pipeline, check_crawl
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.frontier.base import async_closing
from thresher.frontier.sqlite.temporary import TemporaryFrontier
from thresher.judges.base import Judge, Learner
from thresher.locale.translation import _
from thresher.operations.verdict import PageVerdict, verdict_of
from thresher.parsing.block_page import block_page
from thresher.parsing.html import parse, with_headers
from thresher.parsing.opt_outs import opted_out_reason
from thresher.reasons.reason import NO_REASON, Reason, ReasonKind, describe
from thresher.records import FetchedPage, Judgement, ParsedPage, TermWeight, UsageSignal
from thresher.storage.page_store import FoundLink
from thresher.storage.reader import PageStoreReader
from thresher.urls.address_policy import private_network
from thresher.urls.canonical import canonicalize, fingerprint

SEEDS_READ = 5
"""Number of seeds that a learning judge reads first."""

Fetch = Callable[[CrawlSetup, Sequence[str]], Mapping[str, FetchedPage | Reason]]
"""Fetches canonical URLs politely; returns for each its page, or the reason why there is none."""


@dataclass(frozen=True, kw_only=True)
class TriedPage:
    """The result for one URL.

    Args:
        asked: The requested URL, canonical.
        reason: Why there is no page to judge; empty when it was judged.
        url: The URL of the page; differs from `asked` after a redirect.
        verdict: The judgement of the page, explained; None when it was not judged.
        links: The links that a crawl would queue, best first.
        links_fetched: Links to URLs that the crawl has fetched already; these are not in `links`.
        signals: The usage signals that were found for the page.
    """

    asked: str
    reason: str = ""
    url: str = ""
    title: str = ""
    language: str = ""
    verdict: PageVerdict | None = None
    links: Sequence[FoundLink] = ()
    links_fetched: int = 0
    signals: Sequence[UsageSignal] = ()

    def as_json(self, *, links: int) -> dict[str, Any]:
        """Return plain values, with at most `links` links."""
        signals = [signal._asdict() for signal in self.signals]
        if self.verdict is None:
            return {"asked": self.asked, "judged": False, "reason": self.reason, "signals": signals}
        return {
            "asked": self.asked,
            "judged": True,
            "url": self.url,
            "title": self.title,
            "language": self.language,
            "signals": signals,
            **self.verdict.as_json(),
            "parts": dict(self.verdict.judgement.breakdown),
            "links_found": len(self.links),
            "links_fetched": self.links_fetched,
            "links": [{**link._asdict(), "parts": dict(link.parts)} for link in self.links[:links]],
        }


def try_pages(
    crawl: CrawlSetup,
    texts: Sequence[str],
    *,
    fetch: Fetch,
    read_seeds: bool = True,
    report: Callable[[str], None] = lambda _: None,
) -> list[TriedPage]:
    """Fetch and judge some pages as the crawl would; nothing is stored.

    Args:
        texts: The URLs as the user wrote them.
        read_seeds: Whether a learning judge that has seen no page may read some seeds first.
        report: Called with messages for the user.

    Raises:
        ConfigError: A text is not an http or https URL, or the crawl cannot run.
    """
    urls = list(dict.fromkeys(map(_canonical, texts)))
    _check(crawl, urls)
    judge = build_judge(crawl)
    seeds = crawl.seeds()[:SEEDS_READ] if read_seeds and knows_too_little(judge) else []
    answers = fetch(crawl, list(dict.fromkeys([*seeds, *urls])))
    if isinstance(judge, Learner) and seeds:
        report(learn_seeds(crawl, judge, [answers[url] for url in seeds]))
    return asyncio.run(_tried_pages(crawl, judge, {url: answers[url] for url in urls}))


def _canonical(text: str) -> str:
    url = canonicalize(text)
    if url is None:
        guess = _("; did you mean https://{text}?", text=text) if "://" not in text else ""
        raise ConfigError(_("{text!r} is not an http or https URL{guess}", text=text, guess=guess))
    return url


def _check(crawl: CrawlSetup, urls: Sequence[str]) -> None:
    """Check the URLs like seeds; private ones are checked by the address policy, with a message for each."""
    public = [url for url in urls if not _network(url)]
    config = crawl.config.model_copy(update={"seeds": [*crawl.config.seeds, *public]})
    check_crawl(replace(crawl, config=config))


def _network(url: str) -> str:
    return private_network(urlsplit(url).hostname or "")


def knows_too_little(judge: Judge) -> bool:
    """Return whether a judge learns from pages, and has seen none."""
    return isinstance(judge, Learner) and getattr(judge, "pages_seen", 0) == 0


def learn_seeds(crawl: CrawlSetup, judge: Learner, answers: Sequence[FetchedPage | Reason]) -> str:
    """Let the judge learn from the seeds that could be fetched; return a message."""
    fetched = [(answer, parse_fetched(answer)) for answer in answers if isinstance(answer, FetchedPage)]
    pages = [page for answer, page in fetched if not (block_page(page, answer) or _opted_out(crawl, page))]
    for page in pages:
        judge.learn(page, seed=True)
    if not pages:
        return _("No seed could be read; the judge knows the topic by its words alone.")
    return _("Read {n} seed to know the topic.", "Read {n} seeds to know the topic.", n=len(pages))


def parse_fetched(page: FetchedPage) -> ParsedPage:
    """Parse a fetched page."""
    return with_headers(parse(page.url, page.body, page.headers.get("content-type", "")), page)


def left_out_reason(crawl: CrawlSetup, page: ParsedPage, fetched: FetchedPage) -> Reason:
    """Return why the crawl would not judge a page: a block page, or an opt-out; none when it would."""
    blocked = block_page(page, fetched) if crawl.rules().skip_block_pages else None
    return blocked.reason if blocked else _opted_out(crawl, page)


def _opted_out(crawl: CrawlSetup, page: ParsedPage) -> Reason:
    return opted_out_reason(page.opt_outs) if crawl.politeness.obey_opt_outs else NO_REASON


async def _tried_pages(crawl: CrawlSetup, judge: Judge, answers: Mapping[str, FetchedPage | Reason]) -> list[TriedPage]:
    return [
        _not_judged(url, answer) if isinstance(answer, Reason) else await _judged(crawl, judge, url, answer)
        for url, answer in answers.items()
    ]


def _not_judged(url: str, reason: Reason) -> TriedPage:
    network = _network(url) if reason.kind is ReasonKind.PRIVATE_ADDRESS else ""
    described = describe(reason)
    if network:
        described = _(
            '{reason}. If this is your own site: network.allow: ["{network}"]', reason=described, network=network
        )
    return TriedPage(asked=url, reason=described)


async def _judged(crawl: CrawlSetup, judge: Judge, asked: str, fetched: FetchedPage) -> TriedPage:
    page = parse_fetched(fetched)
    if reason := left_out_reason(crawl, page, fetched):
        return TriedPage(asked=asked, reason=describe(reason), signals=page.signals)
    judgement = judge.judge(page)
    links = await _links(crawl, page, judgement, fetched)
    return TriedPage(
        asked=asked,
        url=page.url,
        title=page.title,
        language=page.language,
        verdict=_verdict(crawl, judge, page, judgement),
        links=links,
        links_fetched=_count_fetched(crawl, {link.url for link in page.links} - {link.url for link in links}),
        signals=page.signals,
    )


def _verdict(crawl: CrawlSetup, judge: Judge, page: ParsedPage, judgement: Judgement) -> PageVerdict:
    with PageStoreReader(crawl.folder.pages) as collection:
        return verdict_of(
            judge,
            page,
            judgement,
            vector=judge.vector(page) if isinstance(judge, Learner) else b"",
            threshold=crawl.threshold(),
            title_of=lambda url: found.title if (found := collection.find(fingerprint(url))) else "",
        )


def _count_fetched(crawl: CrawlSetup, urls: Iterable[str]) -> int:
    with PageStoreReader(crawl.folder.pages) as collection:
        return sum(collection.find(fingerprint(url)) is not None for url in urls)


@dataclass(frozen=True)
class _FixedJudge:
    """A judge that returns a fixed judgement, so that the pipeline does not train the real one."""

    judgement: Judgement

    def judge(self, page: ParsedPage) -> Judgement:
        return self.judgement

    def words(self, page: ParsedPage) -> Sequence[TermWeight]:
        return ()


async def _links(crawl: CrawlSetup, page: ParsedPage, judgement: Judgement, fetched: FetchedPage) -> list[FoundLink]:
    """Score the links of a page with a pipeline of its own."""
    parts = PipelineParts(frontier=TemporaryFrontier(), judge=_FixedJudge(judgement))
    async with async_closing(build_pipeline(crawl, None, lambda *_: page, **parts)) as pipeline:
        await pipeline.seed([page.url])
        [lease] = await pipeline.frontier.lease(1, seconds=crawl.config.engine.lease_seconds)
        record = await pipeline.process(lease, fetched)
    return sorted(record.links, key=lambda link: -link.score)

"""Find seeds for a topic: candidates of sources are fetched politely, judged, ranked and limited per host.

Three orders are fused by reciprocal ranks: the relevance by the judge of the crawl, words of the topic in title and
URL, and links between the candidates (pages about one topic link to each other: Kleinberg's HITS, JACM 46, 1999, starts
from the same set of search results). Before a crawl the judge knows the phrase alone, so none of the three is reliable
by itself; the three were chosen on the dev topics of two frozen webs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any
from urllib.parse import urlsplit

from thresher.assembly import build_judge, check_crawl
from thresher.atomic_file import atomic_write
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError, NoSeeds
from thresher.judges.base import Judge, Learner
from thresher.locale.translation import _
from thresher.operations.try_page import (
    SEEDS_READ,
    Fetch,
    knows_too_little,
    learn_seeds,
    left_out_reason,
    parse_fetched,
)
from thresher.operations.verdict import counted
from thresher.reasons.reason import Reason, describe
from thresher.records import FetchedPage, ParsedPage
from thresher.seeding.base import SeedCandidate, SeedQuery, SeedSource, SourceFailed, url_terms
from thresher.text.tokens import tokenize
from thresher.urls.address_policy import private_network
from thresher.urls.canonical import canonicalize, host_key

NUMBER, PER_HOST, CANDIDATES = 10, 5, 40
"""Seeds that are proposed, of one host at most, and candidates that are fetched, unless others are given."""
RANK_OFFSET = 5
"""Constant of reciprocal rank fusion: the difference between the first places counts less with a larger one."""
TERMS_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class ProposedSeed:
    """A candidate that was fetched and judged.

    Args:
        url: Its URL after redirects.
        score: Its fused score, from 0 to 1: 1 is the first place in all orders.
        relevance: By the judge of the crawl.
        names: Words of the topic in title and URL.
        links: Links from and to other candidates.
        sources: The sources that found it, each with its reason.
        terms: The words that counted most for the topic.
    """

    url: str
    title: str
    language: str
    score: float
    relevance: float
    relevant: bool
    names: int
    links: int
    sources: Mapping[str, str]
    terms: Sequence[str]

    def as_json(self) -> dict[str, Any]:
        return {
            "url": self.url,
            "title": self.title,
            "language": self.language,
            "score": self.score,
            "relevance": self.relevance,
            "relevant": self.relevant,
            "names": self.names,
            "links": self.links,
            "sources": dict(self.sources),
            "terms": list(self.terms),
        }


@dataclass(frozen=True, kw_only=True)
class SeedProposal:
    """The result of a search for seeds.

    Args:
        seeds: The proposed seeds, best first.
        pages: The parsed pages of the proposed seeds, by URL.
        found: Number of distinct candidates of all sources.
        fetched: Number of candidates that were fetched and judged.
        rejected: Why candidates are not proposed, by URL: not fetched, off topic, or too many of a host.
        failures: Sources that did not answer, with the reason.
    """

    seeds: Sequence[ProposedSeed]
    pages: Mapping[str, ParsedPage]
    found: int
    fetched: int
    rejected: Mapping[str, str]
    failures: Mapping[str, str]

    def as_json(self) -> dict[str, Any]:
        return {
            "seeds": [seed.as_json() for seed in self.seeds],
            "found": self.found,
            "fetched": self.fetched,
            "rejected": dict(self.rejected),
            "failures": dict(self.failures),
        }


@dataclass(frozen=True, kw_only=True)
class SeedLimits:
    """How many seeds and candidates there are at most."""

    number: int = NUMBER
    per_host: int = PER_HOST
    candidates: int = CANDIDATES


def find_seeds(
    crawl: CrawlSetup,
    query: SeedQuery,
    sources: Mapping[str, SeedSource],
    *,
    fetch: Fetch,
    limits: SeedLimits | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> SeedProposal:
    """Ask the sources, fetch and judge the candidates, and propose the best; nothing is stored.

    Args:
        crawl: Its topic, judge, politeness, scope and network apply. It may have no seeds yet.
        report: Called with messages for the user.

    Raises:
        SourceFailed: No source answered.
        ConfigError: The crawl cannot run.
    """
    limits = limits or SeedLimits()
    failures: dict[str, str] = {}
    candidates = _gathered(query, sources, failures, report)
    if not candidates and len(failures) == len(sources):
        raise SourceFailed("; ".join(failures.values()))
    known = _known_seeds(crawl)
    rejected = {url: "a seed of the crawl already" for url in candidates if url in known}
    chosen = [url for url in candidates if url not in known][: limits.candidates]
    pages: dict[str, ParsedPage] = {}
    seeds: list[ProposedSeed] = []
    if chosen:
        judge, answers = _fetched(crawl, known, chosen, fetch, report)
        pages = _readable(crawl, {url: answers[url] for url in chosen}, rejected)
        seeds = _selected(_judged(judge, query.terms, pages, candidates), limits, rejected)
    return SeedProposal(
        seeds=seeds,
        pages={page.url: page for page in pages.values()},
        found=len(candidates),
        fetched=len(pages),
        rejected=rejected,
        failures=failures,
    )


def _gathered(
    query: SeedQuery, sources: Mapping[str, SeedSource], failures: dict[str, str], report: Callable[[str], None]
) -> dict[str, list[SeedCandidate]]:
    """Return the candidates of all sources by URL, the sources by turns."""
    lists = []
    for name, source in sources.items():
        try:
            found = source.find(query)
        except SourceFailed as error:
            failures[name] = str(error)
            report(str(error))
            continue
        report(_("{name}: {n:,} URL", "{name}: {n:,} URLs", name=name, n=len(found)))
        lists.append(found)
    candidates: dict[str, list[SeedCandidate]] = {}
    for turn in zip_longest(*lists):
        for candidate in filter(None, turn):
            candidates.setdefault(candidate.url, []).append(candidate)
    return candidates


def _known_seeds(crawl: CrawlSetup) -> list[str]:
    """Return the seeds that the crawl has; none for a crawl without seeds."""
    try:
        return crawl.seeds()
    except NoSeeds:
        return []


def _fetched(
    crawl: CrawlSetup, known: Sequence[str], chosen: Sequence[str], fetch: Fetch, report: Callable[[str], None]
) -> tuple[Judge, Mapping[str, FetchedPage | Reason]]:
    """Fetch candidates and, for a learning judge that has seen no page, some seeds that the crawl has already."""
    if not known:  # a crawl cannot be checked without seeds
        crawl = replace(crawl, config=crawl.config.model_copy(update={"seeds": _public(chosen) or list(chosen)}))
    check_crawl(crawl)
    judge = build_judge(crawl)
    seeds = list(known[:SEEDS_READ]) if knows_too_little(judge) else []
    report(_("Fetching {number:,} of them by the rules of the crawl.", number=len(chosen)))
    answers = fetch(crawl, list(dict.fromkeys([*seeds, *chosen])))
    if isinstance(judge, Learner) and seeds:
        report(learn_seeds(crawl, judge, [answers[url] for url in seeds]))
    return judge, answers


def _public(urls: Sequence[str]) -> list[str]:
    """Return the URLs that are not private; private ones of a source are refused by the address guard, one by one."""
    return [url for url in urls if not private_network(urlsplit(url).hostname or "")]


def _readable(
    crawl: CrawlSetup, answers: Mapping[str, FetchedPage | Reason], rejected: dict[str, str]
) -> dict[str, ParsedPage]:
    """Return the parsed pages by requested URL; add to `rejected` why the others cannot be judged."""
    pages: dict[str, ParsedPage] = {}
    for url, answer in answers.items():
        if isinstance(answer, Reason):
            rejected[url] = describe(answer)
            continue
        page = parse_fetched(answer)
        if reason := left_out_reason(crawl, page, answer):
            rejected[url] = describe(reason)
        elif page.url in {known.url for known in pages.values()}:
            rejected[url] = _("the same page as {url}", url=page.url)
        else:
            pages[url] = page
    return pages


def _judged(
    judge: Judge,
    terms: frozenset[str],
    pages: Mapping[str, ParsedPage],
    candidates: Mapping[str, Sequence[SeedCandidate]],
) -> list[ProposedSeed]:
    """Judge the pages; return them by fused score."""
    judgements = [judge.judge(page) for page in pages.values()]
    names, links = [_names(page, terms) for page in pages.values()], _links_between(pages)
    scores = fused([[each.relevance for each in judgements], names, links])
    found = [
        ProposedSeed(
            url=page.url,
            title=page.title,
            language=page.language,
            score=scores[place],
            relevance=judgements[place].relevance,
            relevant=judgements[place].relevant,
            names=names[place],
            links=links[place],
            sources={candidate.source: candidate.reason for candidate in candidates[asked]},
            terms=[word.written for word in counted(page, judge.words(page)) if word.weight > 0][:TERMS_SHOWN],
        )
        for place, (asked, page) in enumerate(pages.items())
    ]
    return sorted(found, key=lambda seed: -seed.score)


def _names(page: ParsedPage, terms: frozenset[str]) -> int:
    """Count the words of the topic in the title, and again in the URL."""
    return len(terms.intersection(tokenize(page.title))) + len(terms.intersection(url_terms(page.url)))


def _links_between(pages: Mapping[str, ParsedPage]) -> list[int]:
    """Count for each page the candidates that it links to and those that link to it."""
    page_of = {url: place for place, (asked, page) in enumerate(pages.items()) for url in (asked, page.url)}
    counts = [0] * len(pages)
    for place, page in enumerate(pages.values()):
        for target in {page_of[link.url] for link in page.links if link.url in page_of} - {place}:
            counts[place] += 1
            counts[target] += 1
    return counts


def fused(orders: Sequence[Sequence[float]]) -> list[float]:
    """Fuse several scores of the same items by reciprocal ranks; equal values have the same rank."""
    totals = [0.0] * len(orders[0])
    for values in orders:
        ranks = {value: rank for rank, value in reversed(list(enumerate(sorted(values, reverse=True))))}
        for place, value in enumerate(values):
            totals[place] += RANK_OFFSET / (RANK_OFFSET + ranks[value]) / len(orders)
    return totals


def _selected(judged: Sequence[ProposedSeed], limits: SeedLimits, rejected: dict[str, str]) -> list[ProposedSeed]:
    """Select the best pages with any evidence of the topic, few of each host."""
    hosts: Counter[str] = Counter()
    seeds: list[ProposedSeed] = []
    for seed in judged:
        host = host_key(seed.url)
        if not seed.relevant and not seed.terms:
            rejected[seed.url] = "not about the topic: no word of it counts"
        elif hosts[host] >= limits.per_host:
            rejected[seed.url] = _("more than {number} of {host}", number=limits.per_host, host=host)
        elif len(seeds) >= limits.number:
            rejected[seed.url] = _("more than {number} seeds", number=limits.number)
        else:
            hosts[host] += 1
            seeds.append(seed)
    return seeds


def add_seeds(crawl: CrawlSetup, urls: Sequence[str]) -> list[str]:
    """Add URLs to seeds.txt of a crawl; return those that are new.

    Raises:
        ConfigError: The crawl does not read seeds.txt.
    """
    path = crawl.folder.seeds
    if path.name not in crawl.config.seeds:
        raise ConfigError(
            _(
                "{file}: seeds does not name {name}; add it to the list, and try again",
                file=crawl.folder.topic,
                name=path.name,
            )
        )
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    known = {url for line in before.splitlines() if (url := canonicalize(line.partition(" #")[0].strip()))}
    added = [url for url in dict.fromkeys(urls) if url not in known]
    end = "" if not before or before.endswith("\n") else "\n"
    with atomic_write(path) as unfinished:
        unfinished.write_text(before + end + "".join(f"{url}\n" for url in added), encoding="utf-8")
    return added

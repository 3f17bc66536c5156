"""One page tried before a crawl: what the judge would say of it, by which words, and where its links would stand.

The links are scored by the line itself, with a queue in memory and no archive, as if the page were a seed: what is
tried is what runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from thresher.archive.collection import Collection
from thresher.archive.pages import FoundLink, NoArchive
from thresher.build import Crawl
from thresher.classify.base import Judge, Learner
from thresher.errors import ConfigError
from thresher.frontier.memory import MemoryFrontier
from thresher.line import Line
from thresher.parse.html import parse
from thresher.records import FetchedPage, Judgement, ParsedPage, Word
from thresher.text.written import written
from thresher.urls.addresses import private_network
from thresher.urls.canonical import canonicalize, fingerprint

SEEDS_READ = 5
"""How many seeds a judge that learns is shown first."""

WORDS_KEPT = 12
"""How many words are kept in each direction."""

Fetch = Callable[[Crawl, Sequence[str]], Mapping[str, FetchedPage | str]]
"""Fetches canonical URLs politely; gives for each its page, or the reason why there is none."""


@dataclass(frozen=True, kw_only=True)
class CountedWord:
    """A word or phrase that counted.

    Args:
        written: As the page writes it.
        weight: Positive for the topic, negative against it.
        terms: What the judge knows it as.
    """

    written: str
    weight: float
    terms: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """What became of one URL.

    Args:
        asked: The URL that was asked for, canonical.
        reason: Why there is nothing to judge; empty when the page was judged.
        url: Where the page was found; another one than was asked for after a redirect.
        words: The weightiest in each direction, those for the topic first.
        links: What a crawl would put into its queue, best first.
        links_fetched: Links to URLs that the crawl has fetched already; these are not among `links`.
    """

    asked: str
    reason: str = ""
    url: str = ""
    title: str = ""
    language: str = ""
    judgement: Judgement | None = None
    words: Sequence[CountedWord] = ()
    links: Sequence[FoundLink] = ()
    links_fetched: int = 0

    def as_json(self, *, links: int) -> dict[str, Any]:
        """Return it as plain values, with so many of its links."""
        if self.judgement is None:
            return {"asked": self.asked, "judged": False, "reason": self.reason}
        return {
            "asked": self.asked,
            "judged": True,
            "url": self.url,
            "title": self.title,
            "language": self.language,
            "relevance": self.judgement.relevance,
            "relevant": self.judgement.relevant,
            "parts": dict(self.judgement.parts),
            "words": [asdict(word) for word in self.words],
            "links_found": len(self.links),
            "links_fetched": self.links_fetched,
            "links": [{**link._asdict(), "parts": dict(link.parts)} for link in self.links[:links]],
        }


def try_pages(
    crawl: Crawl,
    texts: Sequence[str],
    *,
    fetch: Fetch,
    read_seeds: bool = True,
    tell: Callable[[str], None] = lambda _: None,
) -> list[Attempt]:
    """Fetch and judge some pages as the crawl would; nothing is stored.

    Args:
        texts: The URLs as the user wrote them.
        read_seeds: Whether a judge that learns and has seen no page may read some seeds first.
        tell: Hears what else was done.

    Raises:
        ConfigError: A text is no http or https URL, or the crawl cannot run.
    """
    urls = list(dict.fromkeys(map(_canonical, texts)))
    _check(crawl, urls)
    judge = crawl.judge()
    seeds = crawl.seeds()[:SEEDS_READ] if read_seeds and _knows_too_little(judge) else []
    answers = fetch(crawl, list(dict.fromkeys([*seeds, *urls])))
    if isinstance(judge, Learner) and seeds:
        tell(_learn(judge, [answers[url] for url in seeds]))
    return asyncio.run(_attempts(crawl, judge, {url: answers[url] for url in urls}))


def _canonical(text: str) -> str:
    url = canonicalize(text)
    if url is None:
        guess = f"; did you mean https://{text}?" if "://" not in text else ""
        raise ConfigError(f"{text!r} is not an http or https URL{guess}")
    return url


def _check(crawl: Crawl, urls: Sequence[str]) -> None:
    """Hold the pages to the rules for seeds; private ones are left to the address guard, which speaks for each."""
    public = [url for url in urls if not _network(url)]
    config = crawl.config.model_copy(update={"seeds": [*crawl.config.seeds, *public]})
    replace(crawl, config=config).check()


def _network(url: str) -> str:
    return private_network(urlsplit(url).hostname or "")


def _knows_too_little(judge: Judge) -> bool:
    return isinstance(judge, Learner) and getattr(judge, "pages_seen", 0) == 0


def _learn(judge: Learner, answers: Sequence[FetchedPage | str]) -> str:
    """Show the judge the seeds that could be read; return a sentence about it."""
    pages = [answer for answer in answers if isinstance(answer, FetchedPage)]
    for page in pages:
        judge.learn(_parsed(page), seed=True)
    if not pages:
        return "No seed could be read; the judge knows the topic by its words alone."
    return f"Read {len(pages)} {'seed' if len(pages) == 1 else 'seeds'} to know the topic."


def _parsed(page: FetchedPage) -> ParsedPage:
    return parse(page.url, page.body, page.headers.get("content-type", ""))


async def _attempts(crawl: Crawl, judge: Judge, answers: Mapping[str, FetchedPage | str]) -> list[Attempt]:
    return [
        _not_judged(url, answer) if isinstance(answer, str) else await _judged(crawl, judge, url, answer)
        for url, answer in answers.items()
    ]


def _not_judged(url: str, reason: str) -> Attempt:
    if reason.startswith("refused: a private") and (network := _network(url)):
        reason += f'. If this is your own site: network.allow: ["{network}"]'
    return Attempt(asked=url, reason=reason)


async def _judged(crawl: Crawl, judge: Judge, asked: str, fetched: FetchedPage) -> Attempt:
    page = _parsed(fetched)
    judgement = judge.judge(page)
    links = await _links(crawl, page, judgement, fetched)
    return Attempt(
        asked=asked,
        url=page.url,
        title=page.title,
        language=page.language,
        judgement=judgement,
        words=counted(page, judge.words(page)),
        links=links,
        links_fetched=_count_fetched(crawl, {link.url for link in page.links} - {link.url for link in links}),
    )


def _count_fetched(crawl: Crawl, urls: Iterable[str]) -> int:
    with Collection(crawl.folder.pages) as collection:
        return sum(collection.find(fingerprint(url)) is not None for url in urls)


@dataclass(frozen=True)
class _Said:
    """A judge whose mind is made up: the line must neither ask the true one again nor teach it."""

    judgement: Judgement

    def judge(self, page: ParsedPage) -> Judgement:
        return self.judgement

    def words(self, page: ParsedPage) -> Sequence[Word]:
        return ()


async def _links(crawl: Crawl, page: ParsedPage, judgement: Judgement, fetched: FetchedPage) -> list[FoundLink]:
    """Let a line of its own score the links of a page."""
    line = Line(
        frontier=MemoryFrontier(),
        archive=NoArchive(),
        judge=_Said(judgement),
        strategy=crawl.strategy(),
        rules=crawl.rules(),
        parse=lambda *_: page,
    )
    await line.seed([page.url])
    [lease] = await line.frontier.lease(1, seconds=crawl.config.engine.lease_seconds)
    record = await line.process(lease, fetched)
    return sorted(record.links, key=lambda link: -link.score)


def counted(page: ParsedPage, words: Sequence[Word]) -> list[CountedWord]:
    """Keep the weightiest words in each direction, and write them as the page does."""
    ordered = sorted(words, key=lambda word: -abs(word.weight))
    speak_for = [word for word in ordered if word.weight > 0][:WORDS_KEPT]
    speak_against = [word for word in ordered if word.weight < 0][:WORDS_KEPT]
    return [*_written(page, speak_for), *_written(page, speak_against)]


def _written(page: ParsedPage, words: Sequence[Word]) -> list[CountedWord]:
    weights = {word.term: word.weight for word in words}
    counted = [
        CountedWord(written=form, weight=sum(weights[term] for term in terms), terms=terms)
        for form, terms in written(page.text, list(weights))
    ]
    return sorted(counted, key=lambda word: -abs(word.weight))

"""Which seeds may be broader than the topic's phrase, or about something else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from thresher.crawl import CrawlSetup
from thresher.judges.adaptive.terms import TITLED, PhraseWords, TermVector
from thresher.locale.translation import _
from thresher.records import ParsedPage
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import fingerprint


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtfulSeed:
    """A fetched seed that no word of the topic's phrase names.

    Args:
        has_words: Whether words of the phrase are in its text.
    """

    url: str
    has_words: bool

    def __str__(self) -> str:
        if self.has_words:
            return _(
                "Seed {url}: no word of the phrase is in its title, first heading or address. "
                "If it is about more than the topic, so are the verdicts.",
                url=self.url,
            )
        return _(
            "Seed {url}: no word of the phrase is on the page. Is it about the topic? Verdicts follow the seeds.",
            url=self.url,
        )


def doubtful_seeds(crawl: CrawlSetup) -> Iterator[DoubtfulSeed]:
    """Yield the seeds that may be broader than the phrase, or about something else; none with another judge."""
    if crawl.config.topics or crawl.config.judge.name != "adaptive":
        return
    profile = crawl.judge_profile()
    codes = [name.partition(" ")[0] for name in profile.vectors]
    phrase = PhraseWords(profile.phrases, codes)
    words = {term for title in phrase.titles for name in title for term in _words_of(name)}
    with PageStoreReader(crawl.folder.pages) as pages:
        for url in crawl.seeds() if words else ():
            record, names = pages.find(fingerprint(url)), _terms_of(pages, url)
            if record is None or not names or url in crawl.config.examples.no:
                continue
            page = ParsedPage(url=url, title=record.title, language=record.language)  # rows of 0.2.0 have no such terms
            if not any(name.startswith(TITLED) for name in (*names, *phrase.mark(page, TermVector.of({})).names)):
                yield DoubtfulSeed(url=url, has_words=not words.isdisjoint(names))


def _terms_of(pages: PageStoreReader, url: str) -> list[str]:
    try:
        return TermVector.unpack(terms).names if (terms := pages.terms(fingerprint(url))) else []
    except ValueError:  # damaged; verify reports it
        return []


def _words_of(name: str) -> list[str]:
    return name.removeprefix(TITLED).split()

"""Full-text search over the pages of a crawl."""

from __future__ import annotations

from dataclasses import dataclass

from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.search.index import SearchIndex
from thresher.search.query import SearchQuery
from thresher.search.ranking import MAX_HITS, Filters, SearchHit
from thresher.search.snippets import snippet
from thresher.storage.reader import PageStoreReader


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPage:
    """A search hit.

    Args:
        all_words: Whether it has all words of the query, not only some.
        match: How well the words match.
        alike: Number of near duplicates that were left out.
        snippet: The text around the words.
    """

    url: str
    title: str
    language: str
    relevance: float
    relevant: bool
    all_words: bool
    match: float
    alike: int
    snippet: str


def find_pages(
    crawl: CrawlSetup, query: str, *, limit: int, filters: Filters, without_opt_outs: bool = False
) -> list[FoundPage]:
    """Search the pages of a crawl; new pages are indexed first.

    Raises:
        ConfigError: The query has no searchable word.
    """
    terms = SearchQuery.read(query)
    if not terms:
        raise ConfigError(
            f"{query!r} has no searchable word: only punctuation, or words that nearly every page has; add a rarer word"
        )
    folder = crawl.folder
    with SearchIndex(folder.root, folder.pages) as index, PageStoreReader(folder.pages) as collection:
        crawl.backend.update_search(index)
        index.catch_up()
        answers = index.search(terms, filters, limit=MAX_HITS if without_opt_outs else limit)
        if without_opt_outs:
            answers = [each for each in answers if not collection.is_opted_out(each.fingerprint)][:limit]
        pages = (_found(each, collection, terms) for each in answers)
        return [page for page in pages if page is not None]


def _found(found: SearchHit, collection: PageStoreReader, query: SearchQuery) -> FoundPage | None:
    record = collection.find(found.fingerprint)
    if record is None:
        return None
    text = collection.text(found.fingerprint).removeprefix(record.title)
    return FoundPage(
        url=record.url,
        title=record.title,
        language=record.language,
        relevance=found.relevance,
        relevant=found.relevant,
        all_words=found.whole,
        match=found.match,
        alike=found.alike,
        snippet=snippet(text, query.terms),
    )

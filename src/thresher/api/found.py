"""Full text over the pages of a crawl."""

from __future__ import annotations

from dataclasses import dataclass

from thresher.archive.collection import Collection
from thresher.errors import ConfigError
from thresher.folder import CrawlFolder
from thresher.search.find import Filters, Found
from thresher.search.index import SearchIndex
from thresher.search.query import Query
from thresher.search.snippets import snippet


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPage:
    """A page that answers a search.

    Args:
        all_words: Whether it holds all words of the query, and not only some.
        match: How well the words match.
        alike: How many pages that say nearly the same were left out for it.
        snippet: Where the words stand.
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


def find_pages(folder: CrawlFolder, query: str, *, limit: int, filters: Filters) -> list[FoundPage]:
    """Search the pages of a crawl; what is new is taken into the index first.

    Raises:
        ConfigError: There is nothing in the query to look for.
    """
    asked = Query.read(query)
    if not asked:
        raise ConfigError(f"there is nothing to look for in {query!r}: only signs, or words that stand everywhere")
    with SearchIndex(folder.root, folder.pages) as index, Collection(folder.pages) as collection:
        index.catch_up()
        answers = index.search(asked, filters, limit=limit)
        pages = (_found(each, collection, asked) for each in answers)
        return [page for page in pages if page is not None]


def _found(found: Found, collection: Collection, query: Query) -> FoundPage | None:
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

"""Full-text search over the pages of a crawl."""

from __future__ import annotations

from typing import Any

from thresher.search.query import SearchQuery
from thresher.search.ranking import Filters, SearchHit
from thresher.search.snippets import snippet
from thresher.storage.reader import PageStoreReader
from thresher_ui.dashboard.open_crawl import OpenCrawl
from thresher_ui.dashboard.views.pages import page_row


async def search(
    open_crawl: OpenCrawl, *, q: str, limit: int = 20, language: str = "", host: str = ""
) -> dict[str, Any]:
    """Return the pages that match a query best."""
    query, filters = SearchQuery.read(q), Filters(host=host, language=language.lower())
    found, indexed = await open_crawl.search_index.search(query, filters, limit=limit)
    hits = await open_crawl.reader.ask(lambda reader: [_hit(reader, each, query) for each in found])
    listed = [hit for hit in hits if hit]
    return {"hits": listed, "total": len(listed), "indexed": indexed, "growing": open_crawl.search_index.is_growing}


def _hit(reader: PageStoreReader, found: SearchHit, query: SearchQuery) -> dict[str, Any] | None:
    record = reader.find(found.fingerprint)
    if record is None:
        return None
    text = reader.text(found.fingerprint).removeprefix(record.title)
    return {
        **page_row(record),
        "snippet": snippet(text, query.terms),
        "all_words": found.whole,
        "match": found.match,
        "alike": found.alike,
    }

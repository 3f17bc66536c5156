"""Lists of pages: the newest, or the most relevant."""

from __future__ import annotations

from typing import Any

from thresher.dashboard.open_crawl import OpenCrawl
from thresher.dashboard.page_index import Rows
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import host_key


async def pages(
    open_crawl: OpenCrawl, *, order: str = "newest", limit: int = 50, offset: int = 0, relevant: bool = False
) -> dict[str, Any]:
    """Return pages in an order, and whether there are more; with `relevant`, only relevant ones."""
    index = await open_crawl.pages()
    wanted = offset + limit + 1
    rows = index.newest(relevant=relevant) if order == "newest" else index.best(wanted, relevant=relevant)
    chosen = rows[offset:wanted]
    listed = await open_crawl.reader.ask(lambda reader: _records(reader, chosen[:limit]))
    return {"pages": [page_row(record) for record in listed], "more": len(chosen) > limit}


def _records(reader: PageStoreReader, rows: Rows) -> list[PageRecord]:
    keys = ((int(row["segment"]), int(row["id"])) for row in rows)
    found = (reader.record(*key) for key in keys if key[0] < len(reader.segments))
    return [record for record in found if record]


def page_row(record: PageRecord) -> dict[str, Any]:
    """Return a page as a row of a list."""
    return {
        "url": record.url,
        "title": record.title,
        "language": record.language,
        "relevance": record.relevance,
        "relevant": record.relevant,
        "depth": record.depth,
        "fetched_at": record.fetched_at,
        "host": host_key(record.url),
    }

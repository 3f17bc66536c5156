"""Lists of pages: the newest, or the most relevant."""

from __future__ import annotations

from typing import Any

from thresher.archive.collection import Collection
from thresher.archive.pages import PageRecord
from thresher.dashboard.ledger import Rows
from thresher.dashboard.watched import WatchedCrawl
from thresher.urls.host import host_key


async def pages(
    watched: WatchedCrawl, *, order: str = "newest", limit: int = 50, offset: int = 0, relevant: bool = False
) -> dict[str, Any]:
    """Return pages in an order, and whether there are more; only relevant ones when asked."""
    known = await watched.pages()
    wanted = offset + limit + 1
    rows = known.newest(relevant=relevant) if order == "newest" else known.best(wanted, relevant=relevant)
    chosen = rows[offset:wanted]
    listed = await watched.reader.ask(lambda collection: _records(collection, chosen[:limit]))
    return {"pages": [page_row(record) for record in listed], "more": len(chosen) > limit}


def _records(collection: Collection, rows: Rows) -> list[PageRecord]:
    places = ((int(row["segment"]), int(row["id"])) for row in rows)
    found = (collection.record(*place) for place in places if place[0] < len(collection.segments))
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

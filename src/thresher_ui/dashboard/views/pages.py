"""Lists of pages: the newest, or the most relevant."""

from __future__ import annotations

from heapq import nlargest
from itertools import islice
from typing import Any

from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import host_key
from thresher_ui.dashboard.open_crawl import OpenCrawl
from thresher_ui.dashboard.page_index import Rows


async def pages(
    open_crawl: OpenCrawl,
    *,
    order: str = "newest",
    limit: int = 50,
    offset: int = 0,
    relevant: bool = False,
    topic: str = "",
) -> dict[str, Any]:
    """Return pages in an order, and whether there are more; with `relevant`, only relevant ones.

    With `topic`, those that are relevant to this one of several topics.

    Raises:
        ConfigError: There is no such topic.
    """
    if topic:
        return await _pages_of_topic(open_crawl, topic, order=order, limit=limit, offset=offset)
    index = await open_crawl.pages()
    wanted = offset + limit + 1
    rows = index.newest(relevant=relevant) if order == "newest" else index.best(wanted, relevant=relevant)
    chosen = rows[offset:wanted]
    listed = await open_crawl.reader.ask(lambda reader: _records(reader, chosen[:limit]))
    return {"pages": [page_row(record) for record in listed], "more": len(chosen) > limit}


async def _pages_of_topic(open_crawl: OpenCrawl, topic: str, *, order: str, limit: int, offset: int) -> dict[str, Any]:
    open_crawl.crawl.check_topic(topic)
    wanted = offset + limit + 1
    chosen = await open_crawl.reader.ask(lambda reader: _ranked(reader, topic, order, wanted)[offset:])
    return {"pages": [page_row(record) for record in chosen[:limit]], "more": len(chosen) > limit}


def _ranked(reader: PageStoreReader, topic: str, order: str, wanted: int) -> list[PageRecord]:
    """Return the first pages of a topic, duplicates included as in the list of all pages."""
    ranked = reader.ranked(topic=topic, relevant=True, duplicates=True)
    if order == "newest":
        return nlargest(wanted, ranked, key=lambda record: record.fetched_at)
    return list(islice(ranked, wanted))


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
        "topics": {name: judgement.relevance for name, judgement in record.topics.items()},
    }

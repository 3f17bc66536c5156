"""The hosts of a collection, each with its counts, its best page and the link by which it was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass, field

from thresher.export.rows import TIME, Row, time_text
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import host_key

HOST_COLUMNS = {
    "host": "string",
    "pages": "int32",
    "relevant": "int32",
    "relevance": "float64",
    "best_url": "string",
    "best_title": "string",
    "best_relevance": "float64",
    "languages": "string",
    "is_new": "bool",
    "first_url": "string",
    "first_at": TIME,
    "found_on": "string",
    "anchor": "string",
}
"""The columns of the list of hosts, with their types; `relevance` is the mean over the host's pages."""


@dataclass
class _Host:
    best: PageRecord
    first: PageRecord
    pages: int = 0
    relevant: int = 0
    relevance: float = 0.0
    languages: Counter[str] = field(default_factory=Counter)

    def add(self, record: PageRecord) -> None:
        self.pages += 1
        self.relevant += record.relevant
        self.relevance += record.relevance
        self.languages[record.language] += bool(record.language)
        if record.fetched_at < self.first.fetched_at:
            self.first = record


def host_rows(
    collection: PageStoreReader,
    *,
    min_relevance: float = 0.0,
    relevant: bool = False,
    duplicates: bool = False,
    topic: str = "",
    seed_hosts: Set[str] = frozenset(),
    new_only: bool = False,
) -> Iterator[Row]:
    """Yield one row per host, those with most relevant pages first; memory grows with the hosts, not with the pages.

    Args:
        seed_hosts: Hosts of the seeds; all others are new.
        new_only: Leave out the hosts of the seeds.
    """
    hosts: dict[str, _Host] = {}
    ranked = collection.ranked(min_relevance=min_relevance, relevant=relevant, duplicates=duplicates, topic=topic)
    for record in ranked:
        name = host_key(record.url)
        if not (new_only and name in seed_hosts):
            hosts.setdefault(name, _Host(best=record, first=record)).add(record)
    for name, host in sorted(hosts.items(), key=lambda item: (-item[1].relevant, -item[1].best.relevance, item[0])):
        yield {"host": name, "is_new": name not in seed_hosts, **_row(host), **_found(collection, host.first)}


def _row(host: _Host) -> Row:
    return {
        "pages": host.pages,
        "relevant": host.relevant,
        "relevance": host.relevance / host.pages,
        "best_url": host.best.url,
        "best_title": host.best.title,
        "best_relevance": host.best.relevance,
        "languages": " ".join(language for language, _ in host.languages.most_common() if language),
        "first_url": host.first.url,
        "first_at": time_text(host.first.fetched_at),
    }


def _found(collection: PageStoreReader, first: PageRecord) -> Row:
    """Return the link by which a host was found: the one to its first page."""
    parent = collection.find(first.parent) if first.parent else None
    link = collection.link_between(first.parent, first.url) if parent else None
    return {"found_on": parent.url if parent else "", "anchor": link.anchor if link else ""}

"""Reading the page store: all segments of a crawl as one collection, also while workers write."""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from enum import Enum
from itertools import groupby
from pathlib import Path

from thresher.archive.formats import check_version, read_as_newest
from thresher.archive.pages import FoundLink, PageRecord, unpacked_links, unpacked_text
from thresher.archive.repeats import Repeats
from thresher.records import Outcome, Parts

_COLUMNS = ", ".join(name for name in PageRecord.__slots__ if name not in ("text", "main", "links"))
_RANKED = (
    f"SELECT id, {_COLUMNS} FROM page WHERE page = 1 AND relevance >= ? AND id <= ? "  # noqa: S608 - our own names
    "ORDER BY relevance DESC, coalesce(probability, 0) DESC, fetched_at, id"
)


class Order(Enum):
    """In which order some pages are looked at."""

    BEST = "relevance DESC"
    UNSURE = "abs(coalesce(probability, relevance) - 0.5)"
    ANY = "fingerprint"


@dataclass(frozen=True, kw_only=True)
class Hop:
    """One step of the path from a seed: a page, and the link that led to it.

    Args:
        record: The fetch.
        anchor: The words of the link; empty for a seed or a redirect.
        score: The score of that link.
        parts: What the score was made of.
    """

    record: PageRecord
    anchor: str = ""
    score: float = 0.0
    parts: Parts = field(default_factory=dict)


class Collection:
    """Every page of a crawl, whichever worker fetched it."""

    def __init__(self, folder: Path) -> None:
        self._paths = sorted(folder.glob("*.db"))
        opened: dict[str, sqlite3.Connection] = {}
        with ExitStack() as half_open:
            for path in self._paths:
                if (segment := _open(path)) is not None:
                    half_open.callback(segment.close)
                    opened[path.stem] = segment
            half_open.pop_all()
        self.names = list(opened)
        """Of the workers whose segments are open, in their order."""
        self._segments = list(opened.values())

    @property
    def segments(self) -> Sequence[sqlite3.Connection]:
        """The segments that are open, each in the thread that opened it."""
        return self._segments

    def record(self, segment: int, row_id: int) -> PageRecord | None:
        """Return one row of a segment."""
        query = f"SELECT {_COLUMNS} FROM page WHERE id = ?"  # noqa: S608 - our own names
        row = self._segments[segment].execute(query, [row_id]).fetchone()
        return _record(row) if row else None

    def close(self) -> None:
        """Close all segments."""
        for segment in self._segments:
            segment.close()

    def __enter__(self) -> Collection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ranked(self, *, min_relevance: float = 0.0, duplicates: bool = False) -> Iterator[PageRecord]:
        """Yield the pages, most relevant first, each URL once as it was last, without their text and links."""
        repeats = self.repeats()
        try:
            streams = [self._ranked_segment(repeats, number, min_relevance) for number in range(len(self._segments))]
            for record in heapq.merge(*streams, key=_rank):
                if duplicates or not record.duplicate_of:
                    yield record
        finally:
            repeats.close()

    def _ranked_segment(self, repeats: Repeats, number: int, min_relevance: float) -> Iterator[PageRecord]:
        for row in self._segments[number].execute(_RANKED, [min_relevance, repeats.last[number]]):
            if not repeats.is_stale(number, row["id"]):
                yield _record(row)

    def repeats(self) -> Repeats:
        """Find out which URLs have several rows, and which rows count; to be closed by whoever asks."""
        return Repeats(self._segments, self.scratch())

    def scratch(self) -> sqlite3.Connection:
        """Return a connection for temporary tables, which lie in a file without a name until it is closed."""
        place = f"{self._paths[0].absolute().as_uri()}?mode=ro" if self._paths else "file::memory:"
        return sqlite3.connect(place, uri=True, isolation_level=None)

    def relevant_pages(self) -> int:
        """Count the pages that are relevant as they are judged now, copies left out."""
        query = "SELECT count(*) FROM page WHERE page = 1 AND relevant = 1 AND duplicate_of = 0 AND id"
        with closing(self.repeats()) as repeats:
            number = 0
            for place, segment in enumerate(self._segments):
                number += int(segment.execute(f"{query} <= ?", [repeats.last[place]]).fetchone()[0])
                stale = (segment.execute(f"{query} = ?", [row_id]).fetchone()[0] for row_id in repeats.stale(place))
                number -= sum(map(int, stale))
        return number

    def some(self, order: Order, limit: int) -> list[PageRecord]:
        """Return the first pages of each segment in an order, of those whose text was kept; copies are left out."""
        query = (
            f"SELECT {_COLUMNS} FROM page WHERE id IN (SELECT id FROM page WHERE page = 1 AND duplicate_of = 0 "  # noqa: S608 - our own names
            f"AND text IS NOT NULL ORDER BY {order.value} LIMIT ?)"
        )
        return [_record(row) for segment in self._segments for row in segment.execute(query, [limit])]

    def find(self, fingerprint: int) -> PageRecord | None:
        """Return the last record of a URL that brought a page; when none did, the last one."""
        rows = [row for segment in self._segments if (row := _last(segment, fingerprint, _COLUMNS))]
        return max(map(_record, rows), key=lambda record: (record.page, record.fetched_at), default=None)

    def history(self, fingerprint: int) -> list[PageRecord]:
        """Return all records of a URL, oldest first: tries, redirects, refusals."""
        query = f"SELECT {_COLUMNS} FROM page WHERE fingerprint = ?"  # noqa: S608 - our own names
        rows = [row for segment in self._segments for row in segment.execute(query, [fingerprint])]
        return sorted(map(_record, rows), key=lambda record: record.fetched_at)

    def settled_since(self, since: float) -> Iterator[int]:
        """Yield the fingerprints of the URLs that were settled from a time on, each once."""
        query = "SELECT DISTINCT fingerprint FROM page WHERE fetched_at >= ? ORDER BY fingerprint"
        streams = [(row[0] for row in segment.execute(query, [since])) for segment in self._segments]
        return (fingerprint for fingerprint, _ in groupby(heapq.merge(*streams)))

    def texts(self, fingerprint: int) -> list[str]:
        """Return all the texts that were kept of a page, oldest first."""
        query = "SELECT fetched_at, text FROM page WHERE fingerprint = ? AND text IS NOT NULL"
        rows = [tuple(row) for segment in self._segments for row in segment.execute(query, [fingerprint])]
        return [unpacked_text(text) for _, text in sorted(rows)]

    def text(self, fingerprint: int) -> str:
        """Return the text of a page; empty when none was kept."""
        return unpacked_text(self._blob(fingerprint, "text"))

    def main_text(self, fingerprint: int) -> str:
        """Return what a reader would read of a page; all of its text when that was not told apart."""
        return unpacked_text(self._blob(fingerprint, "main")) or self.text(fingerprint)

    def links(self, fingerprint: int) -> list[FoundLink]:
        """Return the links that a page added to the frontier."""
        return list(unpacked_links(self._blob(fingerprint, "links")))

    def _blob(self, fingerprint: int, column: str) -> bytes | None:
        found = [
            row for segment in self._segments if (row := _last(segment, fingerprint, f"{column}, page, fetched_at"))
        ]
        newest = max(found, key=lambda row: (row["page"], row["fetched_at"]), default=None)
        return newest[0] if newest else None

    def link_between(self, parent: int, url: str) -> FoundLink | None:
        """Return the link by which a page led to a URL."""
        return next((link for link in self.links(parent) if link.url == url), None)

    def path(self, fingerprint: int) -> list[Hop]:
        """Return the way from the seed to a URL; empty when the URL has no record."""
        hops: list[Hop] = []
        visited: set[int] = set()
        record = self.find(fingerprint)
        while record is not None and record.fingerprint not in visited:
            visited.add(record.fingerprint)
            link = self.link_between(record.parent, record.url) if record.parent else None
            hops.append(
                Hop(record=record, anchor=link.anchor, score=link.score, parts=link.parts)
                if link
                else Hop(record=record, score=record.score)
            )
            record = self.find(record.parent) if record.parent else None
        return hops[::-1]


def _rank(record: PageRecord) -> tuple[float, float, float]:
    return -record.relevance, -(record.probability or 0.0), record.fetched_at


def _open(path: Path) -> sqlite3.Connection | None:
    """Open a segment for reading; None when its worker has only just created it."""
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60, isolation_level=None)
    db.row_factory = sqlite3.Row
    version = check_version(db, path)
    if version == 0:
        db.close()
        return None
    read_as_newest(db, version)
    return db


def _last(segment: sqlite3.Connection, fingerprint: int, columns: str) -> sqlite3.Row | None:
    order = "ORDER BY page DESC, id DESC LIMIT 1"
    query = f"SELECT {columns} FROM page WHERE fingerprint = ? {order}"  # noqa: S608 - our own names
    row: sqlite3.Row | None = segment.execute(query, [fingerprint]).fetchone()
    return row


def _record(row: sqlite3.Row) -> PageRecord:
    values = {name: value for name, value in zip(row.keys(), row, strict=True) if name != "id"}
    values["outcome"] = Outcome(values["outcome"])
    values["parts"] = json.loads(values["parts"]) if values["parts"] else {}
    values["page"], values["relevant"] = bool(values["page"]), bool(values["relevant"])
    return PageRecord(**values)

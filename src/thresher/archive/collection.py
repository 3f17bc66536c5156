"""Reading the page store: all segments of a crawl as one collection, also while workers write."""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from thresher.archive.pages import FoundLink, PageRecord, check_version, unpacked_links, unpacked_text
from thresher.records import Outcome, Parts

_COLUMNS = ", ".join(name for name in PageRecord.__slots__ if name not in ("text", "links"))
_RANKED = (
    f"SELECT {_COLUMNS} FROM page WHERE page = 1 AND relevance >= ? "  # noqa: S608 - our own names
    "ORDER BY relevance DESC, coalesce(probability, 0) DESC, fetched_at, id"
)


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
        opened = (_open(path) for path in sorted(folder.glob("*.db")))
        self._segments = [segment for segment in opened if segment is not None]

    def close(self) -> None:
        """Close all segments."""
        for segment in self._segments:
            segment.close()

    def __enter__(self) -> Collection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ranked(self, *, min_relevance: float = 0.0, duplicates: bool = False) -> Iterator[PageRecord]:
        """Yield the pages, most relevant first, each URL once, without their text and links."""
        streams = [map(_record, segment.execute(_RANKED, [min_relevance])) for segment in self._segments]
        seen: set[int] = set()
        for record in heapq.merge(*streams, key=_rank):
            if record.fingerprint not in seen and (duplicates or not record.duplicate_of):
                seen.add(record.fingerprint)
                yield record

    def relevant_pages(self) -> int:
        """Count the pages that are relevant as they are judged now, copies left out."""
        query = "SELECT count(DISTINCT fingerprint) FROM page WHERE page = 1 AND relevant = 1 AND duplicate_of = 0"
        return sum(int(segment.execute(query).fetchone()[0]) for segment in self._segments)

    def find(self, fingerprint: int) -> PageRecord | None:
        """Return the last record of a URL."""
        rows = [row for segment in self._segments if (row := _last(segment, fingerprint, _COLUMNS))]
        return max(map(_record, rows), key=lambda record: record.fetched_at, default=None)

    def history(self, fingerprint: int) -> list[PageRecord]:
        """Return all records of a URL, oldest first: tries, redirects, refusals."""
        query = f"SELECT {_COLUMNS} FROM page WHERE fingerprint = ?"  # noqa: S608 - our own names
        rows = [row for segment in self._segments for row in segment.execute(query, [fingerprint])]
        return sorted(map(_record, rows), key=lambda record: record.fetched_at)

    def text(self, fingerprint: int) -> str:
        """Return the text of a page; empty when none was kept."""
        return unpacked_text(self._blob(fingerprint, "text"))

    def links(self, fingerprint: int) -> list[FoundLink]:
        """Return the links that a page added to the frontier."""
        return list(unpacked_links(self._blob(fingerprint, "links")))

    def _blob(self, fingerprint: int, column: str) -> bytes | None:
        found = [row for segment in self._segments if (row := _last(segment, fingerprint, f"{column}, fetched_at"))]
        newest = max(found, key=lambda row: row[1], default=None)
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
    if version == 1:  # written before judges gave probabilities
        db.execute("CREATE TEMP VIEW page AS SELECT *, NULL AS probability FROM main.page")
    return db


def _last(segment: sqlite3.Connection, fingerprint: int, columns: str) -> sqlite3.Row | None:
    query = f"SELECT {columns} FROM page WHERE fingerprint = ? ORDER BY id DESC LIMIT 1"  # noqa: S608 - our own names
    row: sqlite3.Row | None = segment.execute(query, [fingerprint]).fetchone()
    return row


def _record(row: sqlite3.Row) -> PageRecord:
    values = dict(row)
    values["outcome"] = Outcome(values["outcome"])
    values["parts"] = json.loads(values["parts"]) if values["parts"] else {}
    values["page"], values["relevant"] = bool(values["page"]), bool(values["relevant"])
    return PageRecord(**values)

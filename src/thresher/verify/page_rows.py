"""The rows of all segments, with the columns that are compared with other parts of the crawl."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thresher.reasons.legacy import stored_in
from thresher.reasons.reason import ReasonKind
from thresher.records import Outcome
from thresher.sqlite_files import open_to_read
from thresher.storage.migrations import check_version, read_as_newest
from thresher.storage.page_store import FoundLink, segment_files, unpacked_links
from thresher.verify.page_store_check import segment_paths

_ROWS = (
    "SELECT fingerprint, url, status, outcome, reason_kind, page, score, parent, depth, fetched_at, "
    "text IS NOT NULL AS has_text, links FROM page ORDER BY id"
)
_FINGERPRINTS = "SELECT fingerprint FROM page"
_HAS = "SELECT 1 FROM page WHERE fingerprint = ? LIMIT 1"
_HAS_FETCH = "SELECT 1 FROM page WHERE fingerprint = ? AND abs(fetched_at - ?) < 0.000002 LIMIT 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedRow:
    """One settled fetch; `has_text` is whether its text was stored."""

    fingerprint: int
    url: str
    status: int
    outcome: Outcome
    reason_kind: ReasonKind
    page: bool
    score: float
    parent: int
    depth: int
    fetched_at: float
    has_text: bool
    links: tuple[FoundLink, ...]


class VerifiedRows:
    """All rows of a page store, for reading.

    Args:
        own: Whether only the segments that this machine writes are read, without copies of those of others.
    """

    def __init__(self, folder: Path, *, own: bool = False) -> None:
        paths = segment_paths(folder) if own else segment_files(folder)
        self._segments = [segment for path in paths if (segment := _opened(path)) is not None]

    def __enter__(self) -> VerifiedRows:
        return self

    def __exit__(self, *_: object) -> None:
        for segment in self._segments:
            segment.close()

    def __iter__(self) -> Iterator[VerifiedRow]:
        """Yield the rows of one segment after the other, each in the order of arrival."""
        for segment in self._segments:
            yield from map(_row, segment.execute(_ROWS))

    def among(self, fingerprints: Collection[int]) -> set[int]:
        """Return those of some URLs that have a row; rows that were added since the first call may be missing."""
        asked, known = np.fromiter(fingerprints, dtype=np.int64, count=len(fingerprints)), self._fingerprints
        if not len(known):
            return set()
        at = np.minimum(np.searchsorted(known, asked), len(known) - 1)
        return set(asked[known[at] == asked].tolist())

    @cached_property
    def _fingerprints(self) -> NDArray[np.int64]:
        """The fingerprints of all rows, sorted: 8 bytes of memory for each."""
        parts = [
            np.fromiter((row[0] for row in each.execute(_FINGERPRINTS)), dtype=np.int64) for each in self._segments
        ]
        return np.unique(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)

    def __contains__(self, fingerprint: int) -> bool:
        return any(segment.execute(_HAS, [fingerprint]).fetchone() for segment in self._segments)

    def has_fetch(self, fingerprint: int, fetched_at: float) -> bool:
        """Return whether there is a row for one fetch of a URL; times are compared to the microsecond."""
        return any(segment.execute(_HAS_FETCH, [fingerprint, fetched_at]).fetchone() for segment in self._segments)


def _opened(path: Path) -> sqlite3.Connection | None:
    db = open_to_read(path)
    db.row_factory = sqlite3.Row
    version = check_version(db, path)
    if version == 0:  # it has no tables yet
        db.close()
        return None
    read_as_newest(db, version)
    return db


_OUTCOMES = {outcome.value: outcome for outcome in Outcome}


def _row(row: sqlite3.Row) -> VerifiedRow:
    values = dict(row)
    values["outcome"] = _OUTCOMES[values["outcome"]]
    values["reason_kind"] = stored_in(values["reason_kind"], "").kind
    values["page"], values["has_text"] = bool(values["page"]), bool(values["has_text"])
    values["links"] = tuple(unpacked_links(values["links"]))
    return VerifiedRow(**values)

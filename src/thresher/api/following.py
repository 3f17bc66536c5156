"""Reading the page store while workers write into it: every page once, in the order in which they came."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from thresher.api.page import Page, page_of
from thresher.archive.collection import Collection
from thresher.archive.pages import PageRecord

_NEW = "SELECT id, fingerprint FROM page WHERE id > ? AND page = 1 ORDER BY id"
_LAST = "SELECT coalesce(max(id), 0) FROM page"
_BEFORE = "SELECT 1 FROM page WHERE fingerprint = ? AND page = 1 AND id <= ?"


class Following:
    """What comes into a page store from now on.

    A page that is fetched again, because its worker was killed before it could say that it was done, is not new.

    Args:
        folder: The folder of segments, one per worker.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with Collection(folder) as collection:
            self._begin = dict(zip(collection.names, _lasts(collection), strict=True))
        self._read = dict(self._begin)
        self._seen: set[int] = set()

    def new(self) -> Iterator[Page]:
        """Yield the pages that came since the last time."""
        with Collection(self._folder) as collection:
            found = [record for number in range(len(collection.names)) for record in self._segment(collection, number)]
            for record in sorted(found, key=lambda record: record.fetched_at):
                yield page_of(record, collection)

    def _segment(self, collection: Collection, number: int) -> Iterator[PageRecord]:
        name = collection.names[number]
        for row_id, fingerprint in collection.segments[number].execute(_NEW, [self._read.get(name, 0)]).fetchall():
            self._read[name] = row_id
            if fingerprint in self._seen or self._was_there(collection, fingerprint):
                continue
            self._seen.add(fingerprint)
            if record := collection.record(number, row_id):
                yield record

    def _was_there(self, collection: Collection, fingerprint: int) -> bool:
        """Tell whether the page was in the store when the following began."""
        places = zip(collection.names, collection.segments, strict=True)
        asked = (segment.execute(_BEFORE, [fingerprint, self._begin.get(name, 0)]) for name, segment in places)
        return any(found.fetchone() for found in asked)


def _lasts(collection: Collection) -> list[int]:
    return [int(segment.execute(_LAST).fetchone()[0]) for segment in collection.segments]

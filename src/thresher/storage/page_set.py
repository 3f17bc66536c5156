"""An on-disk set of pages."""

from __future__ import annotations

from collections.abc import Iterable

from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader


class PageSet:
    """The fingerprints of some pages of a collection, in a temporary file; close it after use."""

    def __init__(self, collection: PageStoreReader, pages: Iterable[PageRecord]) -> None:
        self._db = collection.scratch()
        self._db.execute("CREATE TEMP TABLE chosen (fingerprint INTEGER PRIMARY KEY)")
        self._db.execute("BEGIN")
        for page in pages:
            self.add(page.fingerprint)
        self._db.execute("COMMIT")

    def add(self, fingerprint: int) -> None:
        self._db.execute("INSERT OR IGNORE INTO chosen VALUES (?)", [fingerprint])

    def __contains__(self, fingerprint: int) -> bool:
        query = "SELECT 1 FROM chosen WHERE fingerprint = ?"
        return self._db.execute(query, [fingerprint]).fetchone() is not None

    def close(self) -> None:
        self._db.close()

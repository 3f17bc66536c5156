"""A set of pages that may be larger than memory."""

from __future__ import annotations

from collections.abc import Iterable

from thresher.archive.collection import Collection
from thresher.archive.pages import PageRecord


class PageSet:
    """The fingerprints of some pages of a collection, in a temporary file; to be closed."""

    def __init__(self, collection: Collection, pages: Iterable[PageRecord]) -> None:
        self._db = collection.scratch()
        self._db.execute("CREATE TEMP TABLE chosen (fingerprint INTEGER PRIMARY KEY)")
        self._db.execute("BEGIN")
        for page in pages:
            self.add(page.fingerprint)
        self._db.execute("COMMIT")

    def add(self, fingerprint: int) -> None:
        """Take one in."""
        self._db.execute("INSERT OR IGNORE INTO chosen VALUES (?)", [fingerprint])

    def __contains__(self, fingerprint: int) -> bool:
        query = "SELECT 1 FROM chosen WHERE fingerprint = ?"
        return self._db.execute(query, [fingerprint]).fetchone() is not None

    def close(self) -> None:
        """Let the temporary file go."""
        self._db.close()

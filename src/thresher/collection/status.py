"""How much of a crawl is in its collection, and how much of this machine waits for its upload."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from thresher.collection.manifest import MANIFEST_CACHE, ManifestReader
from thresher.collection.streams import waiting_rows
from thresher.collection.uploader import SEGMENT_ROWS
from thresher.errors import StoreRefused, StoreUnreachable
from thresher.objects.base import Objects
from thresher.storage.page_store import COLLECTED


@dataclass(frozen=True, kw_only=True)
class CollectionStatus:
    """The status of a collection.

    Args:
        segments: Segments with pages that the manifest lists.
        rows: Rows in them, revisions included.
        waiting_segments: Segments of this machine that are not uploaded yet.
        waiting_rows: Rows in them.
        not_uploaded: Settled URLs of all machines whose pages are not uploaded yet; None for a crawl on one machine.
        error: Why the collection does not answer; then the numbers are those of the last answer.
    """

    url: str
    segments: int
    rows: int
    waiting_segments: int
    waiting_rows: int
    not_uploaded: int | None = None
    error: str = ""

    @property
    def words(self) -> str:
        """What is in the collection and what waits, in one line."""
        known = f"{self.rows:,} rows in {self.segments:,} segments in {self.url}"
        waiting = f"{self.waiting_segments:,} segments ({self.waiting_rows:,} rows) wait here"
        if self.not_uploaded is not None:
            waiting += f"; {self.not_uploaded:,} settled pages of all machines not in it yet"
        return f"{self.error}; as of its last answer: {known}; {waiting}" if self.error else f"{known}; {waiting}"


def collection_status(objects: Objects, pages: Path, own: Sequence[Path], not_uploaded: int | None) -> CollectionStatus:
    """Read the manifest, and compare it with the page store of this machine.

    Args:
        own: The segments of the page store that this machine writes.
    """
    error = ""
    with closing(ManifestReader(pages / COLLECTED / MANIFEST_CACHE)) as manifest:
        try:
            manifest.update(objects)
        except (StoreUnreachable, StoreRefused) as problem:
            error = str(problem)
        (segments, rows), last = manifest.totals(), manifest.last_versions()
    waiting = waiting_rows(own, last)
    return CollectionStatus(
        url=objects.url,
        segments=segments,
        rows=rows,
        waiting_segments=sum(-(-rows // SEGMENT_ROWS) for rows in waiting),
        waiting_rows=sum(waiting),
        not_uploaded=not_uploaded,
        error=error,
    )

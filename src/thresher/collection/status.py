"""How much of a crawl is in its collection, and how much of this machine waits for its upload."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from thresher.collection.manifest import MANIFEST_CACHE, ManifestReader, ManifestWriter
from thresher.collection.streams import LastEntries, rows_not_confirmed, rows_waiting, stream_name, upload_position
from thresher.collection.uploader import SEGMENT_ROWS
from thresher.errors import StoreRefused, StoreUnreachable
from thresher.locale.translation import SEMICOLON, Translatable, _, joined
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
        error: Why the collection does not answer; then the numbers are those of the last answer. Or how many entries of
            its manifest are missing or damaged; then these are not counted.
    """

    url: str
    segments: int
    rows: int
    waiting_segments: int
    waiting_rows: int
    not_uploaded: int | None = None
    error: str = ""

    @property
    def words(self) -> Translatable:
        """What is in the collection and what waits, in one line."""
        known = _(
            "{rows:,} rows in {segments:,} segments in {url}", rows=self.rows, segments=self.segments, url=self.url
        )
        waiting = _(
            "{segments:,} segments ({rows:,} rows) wait here", segments=self.waiting_segments, rows=self.waiting_rows
        )
        number = self.not_uploaded
        more = [] if number is None else [_("{number:,} settled pages of all machines not in it yet", number=number)]
        if self.error:
            known = _("{error}; as of its last answer: {known}", error=self.error, known=known)
        return joined(SEMICOLON, [known, waiting, *more])


def collection_status(objects: Objects, pages: Path, own: Sequence[Path], not_uploaded: int | None) -> CollectionStatus:
    """Read the manifest, and compare it with the page store of this machine.

    Args:
        own: The segments of the page store that this machine writes.
    """
    error = ""
    with closing(ManifestReader(pages / COLLECTED / MANIFEST_CACHE)) as manifest:
        try:
            manifest.update(objects)
            answers = True
        except (StoreUnreachable, StoreRefused) as problem:
            answers, error = False, str(problem)
        segments, rows = manifest.totals()
        flawed = manifest.flawed_streams()
        error = error or manifest.flaws
    entries = ManifestWriter(objects) if answers else None
    waiting = [_waiting(path, entries, flawed) for path in own]
    return CollectionStatus(
        url=objects.url,
        segments=segments,
        rows=rows,
        waiting_segments=sum(-(-rows // SEGMENT_ROWS) for rows in waiting),
        waiting_rows=sum(waiting),
        not_uploaded=not_uploaded,
        error=error,
    )


def _waiting(path: Path, entries: LastEntries | None, flawed: Collection[str]) -> int:
    """Return how many rows of a segment wait; where the collection does not answer, as far as the segment knows."""
    try:
        if entries is None:
            return rows_not_confirmed(path)
        position = upload_position(path, stream_name(path), entries, flawed)
        return rows_waiting(path, position[1] if position else 0)
    except sqlite3.OperationalError:  # its tables do not exist yet
        return 0

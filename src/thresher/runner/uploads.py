"""What a machine uploads to the collection of its crawl: its pages, its WARC files, and what defines the crawl."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, cast

from thresher.collection.audit import CollectionAudit, audit, repair
from thresher.collection.manifest import MANIFEST_CACHE
from thresher.collection.replica import SEARCH
from thresher.collection.uploader import SEGMENT_ROWS, CollectionUploader, UploadRound, UploadThread
from thresher.coordination.crawl_definition import Definition
from thresher.crawl import CrawlSetup
from thresher.errors import StoreError
from thresher.objects.interruptible import InterruptibleObjects
from thresher.search.search_segments import SearchSegmentBuilder
from thresher.storage.page_store import COLLECTED

if TYPE_CHECKING:
    from thresher.objects.base import Objects

logger = logging.getLogger(__name__)

STORE_SECONDS = 5.0
"""How long an uploader waits for the labels in a store."""
MODEL_SECONDS = 600.0
"""Time between two uploads of models, which change with almost every page; the last one is at the end of the run."""
DEFINITION = "definition/"
"""The prefix of the files that define the crawl, so that it can be opened without its store."""


def upload_thread(crawl: CrawlSetup, *, owner: bool) -> UploadThread:
    """Build the uploader of this machine and its thread."""
    objects = InterruptibleObjects(crawl.backend.objects())
    uploader = build_uploader(crawl, owner=owner, with_search=True, objects=cast("Objects", objects))
    return UploadThread(uploader, objects)


def repair_collection(crawl: CrawlSetup) -> CollectionAudit:
    """Read the whole collection; upload what waits on this machine, and again what the collection has lost of it.

    Raises:
        StoreUnreachable: The collection does not answer.
    """
    objects, pages = crawl.backend.objects(), crawl.folder.pages
    found = audit(objects, pages / COLLECTED / MANIFEST_CACHE, crawl.folder.segments())
    with closing(build_uploader(crawl, owner=not crawl.folder.joined.is_file())) as uploader:
        repair(found, objects, uploader, pages)
    return found


def build_uploader(
    crawl: CrawlSetup,
    *,
    owner: bool,
    segment_rows: int = SEGMENT_ROWS,
    with_search: bool = False,
    objects: Objects | None = None,
) -> CollectionUploader:
    """Build the uploader of this machine, without its thread.

    Args:
        owner: Whether it also uploads the definition of the crawl and its labels.
        segment_rows: Rows after which a segment is closed.
        with_search: Whether it also indexes uploaded pages, and uploads search segments.
        objects: By default those of the crawl.
    """
    folder = crawl.folder.pages / COLLECTED
    folder.mkdir(parents=True, exist_ok=True)
    return CollectionUploader(
        objects or crawl.backend.objects(),
        crawl.folder.segments,
        folder=folder,
        files=_CrawlFiles(crawl, owner=owner, with_search=with_search).read,
        on_uploaded=crawl.backend.uploaded_pages(),
        crawl_id=lambda: crawl.backend.id,
        segment_rows=segment_rows,
    )


class _CrawlFiles:
    """The files that this machine uploads beside its pages."""

    def __init__(self, crawl: CrawlSetup, *, owner: bool, with_search: bool) -> None:
        self._crawl = crawl
        self._owner = owner
        self._models_at = time.monotonic()
        self._search = SearchSegmentBuilder(crawl.folder.pages / COLLECTED / SEARCH) if with_search else None

    def read(self, upload: UploadRound) -> Iterator[tuple[str, Path | bytes]]:
        """Yield the complete files with their names in the folder of the crawl; models only when they are due."""
        yield from _warc_files(self._crawl.folder.warc)
        if self._owner:
            for name, content in _definition(self._crawl).items():
                yield f"{DEFINITION}{name}", content
            if labels := asyncio.run(_labels(self._crawl)):
                yield self._crawl.folder.labels.name, labels
        if upload.everything or time.monotonic() - self._models_at >= MODEL_SECONDS:
            self._models_at = time.monotonic()
            yield from self._models().items()
        if self._search:  # last: it takes longest
            for segment, version in upload.versions.items():
                for path in self._search.build(segment, version, everything=upload.everything):
                    yield f"{SEARCH}{path.name}", path

    def _models(self) -> dict[str, bytes]:
        try:
            return asyncio.run(self._crawl.backend.model_files())
        except StoreError:
            logger.warning("models cannot be read from the store now; they are uploaded the next time")
            return {}


def _warc_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield WARC files with their indexes; a file without an index is still being written."""
    for index in sorted(folder.glob("*.cdxj")):
        archive = index.with_name(f"{index.stem}.warc.gz")
        if archive.is_file():
            yield f"warc/{archive.name}", archive
            yield f"warc/{index.name}", index


def _definition(crawl: CrawlSetup) -> Mapping[str, bytes]:
    return Definition.of(crawl.folder, crawl.config, crawl.options).files


async def _labels(crawl: CrawlSetup) -> bytes:
    store = crawl.backend.labels(patience_seconds=STORE_SECONDS)
    try:
        labels, _ = await store.read()
    except StoreError:  # uploaded the next time
        return b""
    finally:
        await store.close()
    return "".join(f"{label.written()}\n" for label in labels).encode()

"""What a machine uploads to the collection of its crawl: its pages, its WARC files, and what defines the crawl."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from thresher.collection.uploader import SEGMENT_ROWS, CollectionUploader, UploadThread
from thresher.coordination.crawl_definition import Definition
from thresher.coordination.unsafe_pages import PageOwner, UnsafePages
from thresher.coordination.worker_names import machine_mark
from thresher.errors import StoreError
from thresher.project import CrawlProject
from thresher.storage.page_store import COLLECTED

logger = logging.getLogger(__name__)

REMOVE_SECONDS = 5.0
"""How long an uploader waits for the store to take URLs off the list of unsafe pages."""
DEFINITION = "definition/"
"""The prefix of the files that define the crawl, so that it can be opened without its store."""


def upload_thread(crawl: CrawlProject, *, owner: bool) -> UploadThread:
    """Build the uploader of this machine and its thread."""
    return UploadThread(build_uploader(crawl, owner=owner))


def upload_waiting(crawl: CrawlProject) -> int:
    """Upload what waits on this machine now; return the number of segments."""
    with closing(build_uploader(crawl, owner=not crawl.folder.joined.is_file())) as uploader:
        return uploader.step(everything=True)


def build_uploader(crawl: CrawlProject, *, owner: bool, segment_rows: int = SEGMENT_ROWS) -> CollectionUploader:
    """Build the uploader of this machine, without its thread.

    Args:
        owner: Whether it also uploads the definition of the crawl, its labels and its models.
        segment_rows: Rows after which a segment is closed.
    """
    folder = crawl.folder.pages / COLLECTED
    folder.mkdir(parents=True, exist_ok=True)
    return CollectionUploader(
        crawl.objects(),
        crawl.folder.segments,
        folder=folder,
        files=lambda: dict(_files(crawl, owner=owner)),
        on_safe=_SafePages(crawl).remove if crawl.is_shared else _ignore,
        segment_rows=segment_rows,
    )


def _ignore(worker: str, fingerprints: Sequence[int]) -> None:
    pass


class _SafePages:
    """Takes URLs off the list of unsafe pages; those that the store did not take are kept for the next time."""

    def __init__(self, crawl: CrawlProject) -> None:
        self._crawl = crawl
        self._mark = machine_mark(crawl.folder)
        self._pending: dict[str, set[int]] = {}

    def remove(self, worker: str, fingerprints: Sequence[int]) -> None:
        self._pending.setdefault(worker, set()).update(fingerprints)
        try:
            asyncio.run(self._remove())
        except StoreError as error:
            logger.warning("the list of unsafe pages cannot be changed now: %s", error)

    async def _remove(self) -> None:
        connection = self._crawl.connection(patience_seconds=REMOVE_SECONDS)
        try:
            for worker, fingerprints in list(self._pending.items()):
                unsafe = UnsafePages(connection, self._crawl.name)
                await unsafe.remove(PageOwner(worker, self._mark), sorted(fingerprints))
                del self._pending[worker]
        finally:
            await connection.close()


def _files(crawl: CrawlProject, *, owner: bool) -> Iterator[tuple[str, Path | bytes]]:
    """Yield the complete files of this machine, by their names in the folder of the crawl."""
    yield from _warc_files(crawl.folder.warc)
    if not owner:
        return
    for name, content in _definition(crawl).items():
        yield f"{DEFINITION}{name}", content
    if labels := asyncio.run(_labels(crawl)):
        yield crawl.folder.labels.name, labels
    if not crawl.is_shared:
        for path in sorted(crawl.folder.model.rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                yield path.relative_to(crawl.folder.root).as_posix(), path.read_bytes()


def _warc_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield WARC files with their indexes; a file without an index is still being written."""
    for index in sorted(folder.glob("*.cdxj")):
        archive = index.with_name(f"{index.stem}.warc.gz")
        if archive.is_file():
            yield f"warc/{archive.name}", archive
            yield f"warc/{index.name}", index


def _definition(crawl: CrawlProject) -> Mapping[str, bytes]:
    return Definition.of(crawl.folder, crawl.config, crawl.changes).files


async def _labels(crawl: CrawlProject) -> bytes:
    store = crawl.labels(patience_seconds=REMOVE_SECONDS)
    try:
        labels, _ = await store.read()
    except StoreError:  # uploaded the next time
        return b""
    finally:
        await store.close()
    return "".join(f"{label.written()}\n" for label in labels).encode()

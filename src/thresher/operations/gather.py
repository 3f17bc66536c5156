"""A local copy of a collection: a crawl folder on which every command works without store and object storage.

The copy has the settings, the pages of all machines, their search index, WARC files, labels and models of the crawl.
Its frontier is rebuilt from the pages: their URLs are settled, and the links that nobody has fetched wait. A copy that
exists is updated; its frontier then gets what is new.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thresher.collection.manifest import MANIFEST_CACHE, ManifestEntry, ManifestReader, crawl_of, digest_of, file_digest
from thresher.collection.replica import Replica, update_search
from thresher.config.folder import CrawlFolder
from thresher.coordination.crawl_definition import Definition, checked_name
from thresher.coordination.store_binding import StoreRecord
from thresher.errors import REPAIR, ConfigError, DamagedFile, ObjectMissing
from thresher.frontier.base import UrlState, async_closing
from thresher.frontier.sqlite.frontier import SqliteFrontier
from thresher.objects.base import Objects, open_objects
from thresher.reasons.legacy import stored_in
from thresher.records import Candidate, Outcome, RequestKind, Settlement
from thresher.search.index import SearchIndex
from thresher.storage.page_store import unpacked_links
from thresher.storage.reader import PageStoreReader
from thresher.topics.yaml_writer import with_settings
from thresher.urls.store_address import SQLITE

DEFINITION = "definition/"
_ROWS_AT_ONCE = 500
_LINKS_AT_ONCE = 2_000
_LEASE_SECONDS = 600.0
_ROWS = (
    "SELECT url, outcome, reason_kind, reason, page, relevant AND duplicate_of = 0, score, parent, depth, text_hash, "
    "links, fingerprint FROM page WHERE outcome <> 'retry' AND instr(url, '#') = 0 ORDER BY id"
)
_COPIED = ("warc/", "model/")
"""Folders of a crawl whose files are copied as they are."""


@dataclass(frozen=True, kw_only=True)
class GatheredCopy:
    """What a copy has: URLs with a page, files; and the entries and objects that are missing or damaged, by key."""

    pages: int
    files: int
    lost: Sequence[str]


async def gather(url: str, root: Path, *, progress: Callable[[int], None] = lambda rows: None) -> GatheredCopy:
    """Copy a collection into a folder, or update the copy there.

    Raises:
        ConfigError: The folder holds another crawl, or the collection has no crawl.
        StoreUnreachable: The collection does not answer.
    """
    folder, objects = CrawlFolder(root), open_objects(url)
    manifest_path = folder.pages / MANIFEST_CACHE
    if folder.topic.exists() and not manifest_path.exists():
        raise ConfigError(f"{root} holds another crawl; choose another folder")
    with closing(ManifestReader(manifest_path)) as manifest:
        manifest.update(objects)
        files = manifest.files()
    _write_definition(folder, objects, files)
    wanted = [entry for entry in files.values() if _is_copied(entry.name)]
    damaged = [entry.key for entry in wanted if not _copy_file(folder, objects, entry)]
    update = Replica(folder.pages, folder.pages).update(objects, progress=progress)
    crawl_id = crawl_of(objects)
    await rebuild_frontier(folder, crawl_id)
    if crawl_id and StoreRecord.read(folder) is None:  # so that the copy may go on with the collection
        StoreRecord.of(SQLITE, id=crawl_id).write(folder)
    with PageStoreReader(folder.pages) as pages:
        number = pages.tally().pages
    with SearchIndex(root, folder.pages) as index:
        if update_search(objects, folder.pages, index):
            index.catch_up()
    return GatheredCopy(pages=number, files=len(wanted) - len(damaged), lost=[*update.lost, *damaged])


def _write_definition(folder: CrawlFolder, objects: Objects, files: dict[str, ManifestEntry]) -> None:
    """Write the files that define the crawl, as a crawl on this machine only."""
    found = {name.removeprefix(DEFINITION): entry for name, entry in files.items() if name.startswith(DEFINITION)}
    if folder.topic.name not in found:
        raise ConfigError(f"{objects.url} holds no crawl yet; its first upload has its settings")
    contents = {checked_name(name): _content(objects, entry) for name, entry in found.items()}
    topic = contents[folder.topic.name].decode("utf-8")
    contents[folder.topic.name] = with_settings(topic, {"store": SQLITE, "collection": ""}).encode()
    Definition(files=contents).write(folder)


def _is_copied(name: str) -> bool:
    return name == "labels.jsonl" or name.startswith(_COPIED)


def _copy_file(folder: CrawlFolder, objects: Objects, entry: ManifestEntry) -> bool:
    """Copy a file, unless it is there; False when it is missing or damaged. Names from the collection are checked."""
    parts = entry.name.split("/")
    if any(part.startswith(".") or not part or "\\" in part for part in parts) or len(parts) > 4:
        raise DamagedFile(f"the collection names a file {entry.name[:80]!r}, which is none of a crawl's own")
    path = folder.root.joinpath(*parts)
    if path.is_file() and path.stat().st_size == entry.size and file_digest(path) == entry.sha256:
        return True
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.new")
    try:
        objects.download(entry.key, temporary)
        if file_digest(temporary) != entry.sha256:
            return False
        temporary.replace(path)
    except ObjectMissing:
        return False
    finally:
        temporary.unlink(missing_ok=True)
    return True


def _content(objects: Objects, entry: ManifestEntry) -> bytes:
    content = objects.get(entry.key)
    if digest_of(content) != entry.sha256:
        raise DamagedFile(f"{entry.key} of the collection is damaged: its checksum does not match; {REPAIR}")
    return content


async def rebuild_frontier(folder: CrawlFolder, crawl_id: str = "") -> None:
    """Settle the URLs of all rows in the frontier of the copy, then add their links; what it knows stays."""
    async with async_closing(SqliteFrontier(folder.frontier, leases_per_host=_ROWS_AT_ONCE)) as frontier:
        if crawl_id:
            await frontier.identify(crawl_id)
        with PageStoreReader(folder.pages) as pages:
            async for rows in _unknown(frontier, _batches(pages, _ROWS_AT_ONCE)):
                await _settle(frontier, rows)
            links: list[Candidate] = []
            for batch in _batches(pages, _ROWS_AT_ONCE):
                links += (link for row in batch for link in _links(row))
                if len(links) >= _LINKS_AT_ONCE:
                    await frontier.add(links)
                    links = []
            await frontier.add(links)


def _batches(pages: PageStoreReader, size: int) -> Iterator[list[Any]]:
    for segment in pages.segments:
        found = segment.execute(_ROWS)
        while rows := found.fetchmany(size):
            yield rows


async def _unknown(frontier: SqliteFrontier, batches: Iterator[list[Any]]) -> AsyncIterator[list[Any]]:
    """Yield the rows of URLs that the frontier does not have as settled."""
    for rows in batches:
        entries = await frontier.find_all([row["url"] for row in rows])
        settled = (UrlState.DONE, UrlState.FAILED)
        new = [row for row, entry in zip(rows, entries, strict=True) if entry is None or entry.state not in settled]
        if new:
            yield new


async def _settle(frontier: SqliteFrontier, rows: list[Any]) -> None:
    by_url = {row["url"]: row for row in rows}
    added = [
        Candidate(  # before all links
            url=row["url"], score=2.0, hops=row["depth"], parent=row["parent"], kind=RequestKind.at(row["depth"])
        )
        for row in by_url.values()
    ]
    await frontier.add(added)
    while leases := await frontier.lease(len(by_url), seconds=_LEASE_SECONDS):
        settlements = []
        for lease in leases:
            row = by_url.get(lease.url)
            if row is None:
                continue
            settlements.append(
                Settlement(
                    lease=lease,
                    outcome=Outcome(row["outcome"]),
                    reason=stored_in(row["reason_kind"], row["reason"]),
                    page=bool(row["page"]),
                    relevant=bool(row[5]),
                    content=row["text_hash"],
                )
            )
        await frontier.commit(settlements)
        await frontier.release([lease for lease in leases if lease.url not in by_url])
        if len(settlements) < len(leases):
            return


def _links(row: Any) -> Iterator[Candidate]:
    hops = row["depth"] + 1 if row["page"] else row["depth"]
    for link in unpacked_links(row["links"]):
        kind, parent = RequestKind.at(hops), row["fingerprint"]
        yield Candidate(url=link.url, score=link.score, breakdown=link.parts, hops=hops, parent=parent, kind=kind)

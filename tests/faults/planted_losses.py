"""What is destroyed in copies of prepared crawls: 50 losses, each with what must be named in its finding."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.faults.planted_crawls import PREFIX, WIDE, SiteCrawl
from thresher.collection.manifest import FILE, PAGES, ManifestEntry
from thresher.frontier.redis.codec import Name, url_of
from thresher.urls.canonical import host_key

SPOILED_BYTES = 64


@dataclass(frozen=True)
class Planted:
    """What was destroyed.

    Args:
        names: Parts of names, one of which a finding must have.
        urls: The URLs that must wait or be done again after repair, where the crawl does not go on to its end.
    """

    names: Sequence[str]
    urls: Sequence[str] = ()


@dataclass(frozen=True)
class Loss:
    """One loss.

    Args:
        kind: The prepared crawl that it is planted in.
        is_repairable: Whether everything can be found or fetched again.
    """

    name: str
    kind: str
    plant: Callable[[SiteCrawl], Planted]
    is_repairable: bool = True


# Segments of the page store


def _segment(crawl: SiteCrawl) -> Path:
    """Return the file with most rows, all of them in the file itself."""
    paths = [path for path in (crawl.folder / "pages").rglob("*.db") if path.name != "watch.db"]
    return max(paths, key=lambda path: len(_rows(path, "SELECT id FROM page")))


def _rows(path: Path, query: str, values: Sequence[object] = ()) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return db.execute(query, values).fetchall()


def _change(path: Path, statement: str, values: Sequence[Sequence[object]]) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executemany(statement, values)
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def rows_deleted(number: int, crawl: SiteCrawl) -> Planted:
    """Delete rows, the seed's first."""
    path = _segment(crawl)
    rows = _rows(path, "SELECT id, url FROM page WHERE page = 1 ORDER BY id LIMIT ?", [number])
    _change(path, "DELETE FROM page WHERE id = ?", [[row] for row, _ in rows])
    return Planted([str(url) for _, url in rows])


def segment_deleted(crawl: SiteCrawl) -> Planted:
    """Delete the file of a segment, with its log."""
    path = _segment(crawl)
    urls = [str(url) for (url,) in _rows(path, "SELECT url FROM page")]
    for part in path.parent.glob(f"{path.name}*"):
        part.unlink()
    return Planted([path.name, *urls])


def frame_spoiled(column: str, crawl: SiteCrawl) -> Planted:
    """Overwrite the middle of one compressed field of three rows."""
    path = _segment(crawl)
    rows = _rows(path, f"SELECT id, url, {column} FROM page WHERE {column} IS NOT NULL ORDER BY id LIMIT 3")
    spoiled = [[_spoiled(bytes(frame), 8), number] for number, _, frame in rows]  # type: ignore[arg-type]
    _change(path, f"UPDATE page SET {column} = ? WHERE id = ?", spoiled)
    return Planted([str(url) for _, url, _ in rows])


def blocks_spoiled(crawl: SiteCrawl) -> Planted:
    """Overwrite blocks in the middle of the file of a segment."""
    path = _segment(crawl)
    _rows(path, "SELECT 1")
    blocks = path.stat().st_size // 4096
    with path.open("r+b") as file:
        file.seek(blocks // 2 * 4096)
        file.write(b"\xa5" * 4096 * 2)
    return Planted([path.name])


def _spoiled(content: bytes, number: int = SPOILED_BYTES) -> bytes:
    middle = max(0, len(content) // 2 - number // 2)
    changed = bytes(byte ^ 0x5A for byte in content[middle : middle + number])
    return content[:middle] + changed + content[middle + number :]


# The frontier in a file


def _frontier(crawl: SiteCrawl) -> Path:
    return crawl.folder / "frontier.db"


_WAITING_OF = (
    "SELECT url.host, url.fingerprint, url FROM url JOIN host ON host.id = url.host "
    "WHERE state = 0 AND instr(url, '#') = 0 AND (key = ?1) ORDER BY url.fingerprint LIMIT ?2"
)


def _busiest(crawl: SiteCrawl) -> str:
    """Return the host of the site with most pages."""
    return host_key(crawl.recorder.seed_url)


def waiting_deleted(number: int, crawl: SiteCrawl, *, host: str = "") -> Planted:
    """Delete waiting URLs of a host; triggers run."""
    rows = _rows(_frontier(crawl), _WAITING_OF, [host or _busiest(crawl), number])
    _change(_frontier(crawl), "DELETE FROM url WHERE host = ? AND fingerprint = ?", [row[:2] for row in rows])
    assert len(rows) >= min(number, 100), f"{len(rows)} URLs of {host} wait"
    return Planted([str(row[2]) for row in rows], [str(row[2]) for row in rows])


def done_deleted(crawl: SiteCrawl) -> Planted:
    """Delete URLs that are done."""
    query = "SELECT host, fingerprint, url FROM url WHERE state = 2 AND instr(url, '#') = 0 LIMIT 5"
    rows = _rows(_frontier(crawl), query)
    _change(_frontier(crawl), "DELETE FROM url WHERE host = ? AND fingerprint = ?", [row[:2] for row in rows])
    return Planted([str(row[2]) for row in rows])


def leased_deleted(crawl: SiteCrawl) -> Planted:
    """Delete URLs while they are leased, by a worker that is gone."""
    leases = crawl.on_frontier(lambda frontier: frontier.lease(3, seconds=2.0, worker="gone"))
    urls = [lease.url for lease in leases]
    _change(_frontier(crawl), "DELETE FROM url WHERE url = ?", [[url] for url in urls])
    return Planted(urls)


def host_deleted(crawl: SiteCrawl, *, with_urls: bool) -> Planted:
    """Delete the row of a host, with its URLs or without."""
    key = next(host for host in _hosts(crawl) if host != _busiest(crawl))
    [(number,)] = _rows(_frontier(crawl), "SELECT id FROM host WHERE key = ?", [key])
    _change(_frontier(crawl), "DELETE FROM host WHERE id = ?", [[number]])
    if with_urls:
        _change(_frontier(crawl), "DELETE FROM url WHERE host = ?", [[number]])
    return Planted([key])


def frontier_deleted(crawl: SiteCrawl) -> Planted:
    """Delete the frontier."""
    for path in crawl.folder.glob("frontier.db*"):
        path.unlink()
    return Planted(["frontier.db"])


def _hosts(crawl: SiteCrawl) -> list[str]:
    return sorted({host_key(url) for url in crawl.site_urls()})


# The frontier on a store


def hot_deleted(number: int, crawl: SiteCrawl, *, host: str = "") -> Planted:
    """Delete waiting URLs of a host by HDEL."""
    name = (host or _busiest(crawl)).encode()
    taken: list[bytes] = []
    with crawl.client() as client:
        keys = [PREFIX + b"q" + name, *client.scan_iter(match=_literal(PREFIX + b"q" + name) + b" *")]
        for key in keys:
            fields = [field for field in sorted(client.hkeys(key)) if field][: number - len(taken)]
            taken += fields
            if fields:
                client.hdel(key, *fields)
    urls = [url_of(name.decode(), rest) for rest in taken]
    return Planted(urls, urls)


def _literal(key: bytes) -> bytes:
    return key.replace(b"[", b"\\[").replace(b"*", b"\\*").replace(b"?", b"\\?")


def queue_deleted(crawl: SiteCrawl) -> Planted:
    """Delete the whole hash of a host: its record and its waiting URLs."""
    name = next(host for host in _hosts(crawl) if host != _busiest(crawl))
    with crawl.client() as client:
        client.delete(PREFIX + b"q" + name.encode())
    return Planted([name])


def seen_removed(number: int, crawl: SiteCrawl) -> Planted:
    """Remove pages that are done from the sets of seen URLs."""
    urls = [str(url) for (url,) in _rows(_segment(crawl), "SELECT url FROM page WHERE page = 1 LIMIT ?", [number])]
    wanted = {Name.of(url, host_key(url)).member for url in urls}
    with crawl.client() as client:
        for key in client.scan_iter(match=PREFIX + b"s*"):
            client.srem(key, *wanted)
    return Planted(urls)


def leases_lost(crawl: SiteCrawl) -> Planted:
    """Delete the leases of URLs, which are in no queue then."""
    leases = crawl.on_frontier(lambda frontier: frontier.lease(3, seconds=2.0, worker="gone"))
    with crawl.client() as client:
        client.delete(PREFIX + b"L", PREFIX + b"l")
    return Planted([lease.url for lease in leases])


def store_emptied(crawl: SiteCrawl) -> Planted:
    """Delete everything that the store has."""
    with crawl.client() as client:
        client.flushall()
    return Planted(["store"])


# Objects: of the cold tier and of the collection


def _runs(crawl: SiteCrawl) -> list[Path]:
    return sorted((crawl.root / "cold").rglob("*.parquet"), key=lambda path: -path.stat().st_size)


def _objects(crawl: SiteCrawl, kind: str) -> list[ManifestEntry]:
    """Return the entries of a kind, those of the longest stream first, each in its order."""
    objects = crawl.objects()
    entries = [ManifestEntry.from_json(objects.get(key)) for key in objects.sizes("manifest")]
    return sorted((entry for entry in entries if entry.kind == kind), key=lambda entry: (entry.stream, entry.number))


def run_damaged(spoil: Callable[[bytes], bytes] | None, crawl: SiteCrawl) -> Planted:
    """Change the largest run, or delete it."""
    path = _runs(crawl)[0]
    if spoil:
        path.write_bytes(spoil(path.read_bytes()))
    else:
        path.unlink()
    return Planted([path.name, path.stem])


def runs_swapped(crawl: SiteCrawl) -> Planted:
    """Swap the contents of two runs."""
    first, second = _runs(crawl)[:2]
    one, other = first.read_bytes(), second.read_bytes()
    first.write_bytes(other)
    second.write_bytes(one)
    return Planted([first.stem, second.stem])


def all_runs_deleted(crawl: SiteCrawl) -> Planted:
    """Delete all runs."""
    paths = _runs(crawl)
    for path in paths:
        path.unlink()
    return Planted([path.stem for path in paths])


def _put(crawl: SiteCrawl, key: str, content: bytes | None) -> None:
    objects = crawl.objects()
    objects.delete(key)
    if content is not None:
        objects.put_new(key, content)


def object_damaged(spoil: Callable[[bytes], bytes] | None, crawl: SiteCrawl, *, local: bool = True) -> Planted:
    """Change the second segment of the collection, or delete it; perhaps with the rows on this machine."""
    entry = _objects(crawl, PAGES)[1]
    _put(crawl, entry.key, spoil(crawl.objects().get(entry.key)) if spoil else None)
    if not local:
        segment_deleted(crawl)
    return Planted([entry.sha256, entry.key])


def objects_swapped(crawl: SiteCrawl) -> Planted:
    """Put another segment in the place of one."""
    first, second = _objects(crawl, PAGES)[:2]
    one, other = crawl.objects().get(first.key), crawl.objects().get(second.key)
    _put(crawl, first.key, other)
    _put(crawl, second.key, one)
    return Planted([first.sha256, second.sha256])


def all_objects_deleted(crawl: SiteCrawl) -> Planted:
    """Delete all segments of the collection."""
    entries = _objects(crawl, PAGES)
    for entry in entries:
        _put(crawl, entry.key, None)
    return Planted([entry.sha256 for entry in entries])


def file_damaged(ending: str, spoil: Callable[[bytes], bytes] | None, crawl: SiteCrawl) -> Planted:
    """Change a file of the collection, or delete it."""
    entry = next(entry for entry in _objects(crawl, FILE) if entry.name.endswith(ending))
    _put(crawl, entry.key, spoil(crawl.objects().get(entry.key)) if spoil else None)
    return Planted([entry.sha256, entry.name])


def entry_damaged(place: int, spoil: Callable[[bytes], bytes] | None, crawl: SiteCrawl, *, merged: bool) -> Planted:
    """Change an entry of the manifest, or delete it; without the merged entries unless they are to stay."""
    entry = _objects(crawl, PAGES)[place]
    key = f"manifest/{entry.stream}/{entry.number:08d}.json"
    _put(crawl, key, spoil(crawl.objects().get(key)) if spoil else None)
    if not merged:
        _delete_merged(crawl)
    return Planted([entry.stream, key])


def _delete_merged(crawl: SiteCrawl) -> None:
    for key in crawl.objects().sizes("merged"):
        crawl.objects().delete(key)


def merged_damaged(crawl: SiteCrawl) -> Planted:
    """Spoil the merged entries of a stream."""
    stream = _objects(crawl, PAGES)[0].stream
    [key] = [key for key in crawl.objects().sizes("merged") if stream in key]
    _put(crawl, key, _spoiled(crawl.objects().get(key)))
    return Planted([stream, key])


def _half(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _zeroed(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes(SPOILED_BYTES) + content[middle + SPOILED_BYTES :]


# WARC files


def warc_spoiled(crawl: SiteCrawl) -> Planted:
    """Overwrite bytes of a capture in a WARC file."""
    path = _warc(crawl, ".warc.gz")
    lines = _warc(crawl, ".cdxj").read_text(encoding="utf-8").splitlines()
    place = json.loads(lines[len(lines) // 2].split(" ", 2)[2])
    start, end = int(place["offset"]), int(place["offset"]) + int(place["length"])
    content = path.read_bytes()
    path.write_bytes(content[:start] + _spoiled(content[start:end]) + content[end:])
    return Planted([path.name, place["url"]])


def warc_deleted(crawl: SiteCrawl) -> Planted:
    """Delete a WARC file."""
    path = _warc(crawl, ".warc.gz")
    path.unlink()
    return Planted([path.name, *crawl.site_urls()])


def index_lines_deleted(crawl: SiteCrawl) -> Planted:
    """Delete every third line of an index."""
    path = _warc(crawl, ".cdxj")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for number, line in enumerate(lines) if number % 3), encoding="utf-8")
    return Planted([path.name])


def index_deleted(crawl: SiteCrawl) -> Planted:
    """Delete an index."""
    path = _warc(crawl, ".cdxj")
    path.unlink()
    return Planted([path.name])


def _warc(crawl: SiteCrawl, ending: str) -> Path:
    return sorted((crawl.folder / "warc").glob(f"*{ending}"))[0]


_FILE, _FULL, _STORE, _FULL_STORE = "SQLite", "SQLite, full queue", "Redis", "Redis, full queue"
_COLD, _FOLDER, _COPIES, _S3 = "cold tier", "collection", "copies of a collection", "collection on S3"

LOSSES = [
    Loss("3 rows", _FILE, partial(rows_deleted, 3)),
    Loss("all rows", _FILE, partial(rows_deleted, 10_000)),
    Loss("a segment", _FILE, segment_deleted),
    Loss("texts", _FILE, partial(frame_spoiled, "text")),
    Loss("links", _FILE, partial(frame_spoiled, "links")),
    Loss("terms", _FILE, partial(frame_spoiled, "terms")),
    Loss("blocks of a segment", _FILE, blocks_spoiled),
    Loss("1 waiting URL", _FILE, partial(waiting_deleted, 1)),
    Loss("8 waiting URLs", _FILE, partial(waiting_deleted, 8)),
    Loss("120 waiting URLs", _FILE, partial(waiting_deleted, 120)),
    Loss("done URLs", _FILE, done_deleted),
    Loss("leased URLs", _FILE, leased_deleted),
    Loss("the row of a host", _FILE, partial(host_deleted, with_urls=False)),
    Loss("a host with its URLs", _FILE, partial(host_deleted, with_urls=True)),
    Loss("the frontier", _FILE, frontier_deleted),
    Loss("1 waiting URL of a host that was never full", _FULL, partial(waiting_deleted, 1)),
    Loss("120 waiting URLs of a host that was never full", _FULL, partial(waiting_deleted, 120)),
    Loss("8 waiting URLs of a host that was full", _FULL, partial(waiting_deleted, 8, host=WIDE)),
    Loss("120 waiting URLs of a host that was full", _FULL, partial(waiting_deleted, 120, host=WIDE)),
    Loss("3 rows", _STORE, partial(rows_deleted, 3)),
    Loss("a segment", _STORE, segment_deleted),
    Loss("1 waiting URL", _STORE, partial(hot_deleted, 1)),
    Loss("8 waiting URLs", _STORE, partial(hot_deleted, 8)),
    Loss("120 waiting URLs", _STORE, partial(hot_deleted, 120)),
    Loss("seen URLs", _STORE, partial(seen_removed, 3)),
    Loss("leases", _STORE, leases_lost),
    Loss("the queue of a host", _STORE, queue_deleted),
    Loss("everything in the store", _STORE, store_emptied),
    Loss("120 waiting URLs of a host that was never full", _FULL_STORE, partial(hot_deleted, 120)),
    Loss("8 waiting URLs of a host that was full", _FULL_STORE, partial(hot_deleted, 8, host=WIDE)),
    Loss("a run", _COLD, partial(run_damaged, None)),
    Loss("half a run", _COLD, partial(run_damaged, _half)),
    Loss("bytes of a run", _COLD, partial(run_damaged, _zeroed)),
    Loss("two runs that took each other's place", _COLD, runs_swapped),
    Loss("all runs", _COLD, all_runs_deleted),
    Loss("an object", _FOLDER, partial(object_damaged, None)),
    Loss("half an object", _FOLDER, partial(object_damaged, _half)),
    Loss("two objects that took each other's place", _FOLDER, objects_swapped),
    Loss("all objects with rows", _FOLDER, all_objects_deleted),
    Loss("an object and the segment on this machine", _FOLDER, partial(object_damaged, None, local=False)),
    Loss("bytes of a WARC file in the collection", _FOLDER, partial(file_damaged, ".warc.gz", _spoiled)),
    Loss("the first entry", _FOLDER, partial(entry_damaged, 0, None, merged=False)),
    Loss("a middle entry", _FOLDER, partial(entry_damaged, 1, None, merged=True)),
    Loss("the last entry", _FOLDER, partial(entry_damaged, -1, None, merged=False)),
    Loss("half an entry", _FOLDER, partial(entry_damaged, 1, _half, merged=False)),
    Loss("bytes of merged entries", _FOLDER, merged_damaged),
    Loss("bytes of a WARC file", _FOLDER, warc_spoiled, is_repairable=False),
    Loss("lines of an index", _FOLDER, index_lines_deleted),
    Loss("rows of a copy", _COPIES, partial(rows_deleted, 3)),
    Loss("bytes of an object", _S3, partial(object_damaged, _zeroed)),
]

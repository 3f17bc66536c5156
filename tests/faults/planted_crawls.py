"""Prepared crawls, each made once by real commands, and fresh copies of them in which something can be destroyed.

A copy lies where its original was made, and its store listens on the same port, so that nothing in it has to be
rewritten. One copy exists at a time.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import redis

from testing.commands import called
from testing.crawl_process import REPOSITORY, Crawl, CrawlStalled, Run
from testing.recording_server import Answer, Generated, Recorder, Request, page, recorder
from testing.recording_server.site import Site
from testing.servers.s3 import s3_server
from testing.servers.store import StoreServer
from tests.faults.live import topic
from thresher.collection import manifest
from thresher.crawl import CrawlSetup
from thresher.frontier.base import CrawlStore
from thresher.objects.base import Objects, open_objects

SITE = Site(pages=260, hosts=4, links=24, skew=3.0, page_bytes=1024)
"""Its first host has more than half of the pages; the links of 30 pages lead to all of them."""
FETCHED, FETCHED_WITH_LISTS = 30, 64
LISTS, LINKS_PER_LIST = 11, 1000
"""Pages of the wide host, whose links are more than a queue holds."""
WIDE = "wide.test"
HOT_URLS = 40
RUN_SECONDS = 180.0
PREFIX = b"th:{planted:0}"
"""Of the keys of the crawl in its store."""


def wide_page(request: Request) -> Answer:
    """Return a page that links to 1,000 others, which do not exist."""
    name = request.path.rpartition("/")[2]
    return page(f"List {name}", f"perovskite solar cells {name}", [f"/of-{name}/{n}" for n in range(LINKS_PER_LIST)])


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What a prepared crawl is made of.

    Args:
        store: Whether its frontier is on a Redis server.
        cold: Whether its store has a cold storage.
        collection: ``folder`` or ``s3``; empty for none.
        copies: Whether the pages are read from copies of the collection's segments: its own segments are gone.
        wide: Whether the queue of a host was full.
    """

    store: bool = False
    cold: bool = False
    collection: str = ""
    copies: bool = False
    wide: bool = False


KINDS = {
    "SQLite": Kind(),
    "SQLite, full queue": Kind(wide=True),
    "Redis": Kind(store=True),
    "Redis, full queue": Kind(store=True, wide=True),
    "cold tier": Kind(store=True, cold=True),
    "collection": Kind(collection="folder"),
    "copies of a collection": Kind(collection="folder", copies=True),
    "collection on S3": Kind(collection="s3"),
}


@dataclass(frozen=True)
class SiteCrawl:
    """A crawl of the site: its folder, its store and its collection."""

    kind: Kind
    root: Path
    recorder: Recorder
    store_url: str = ""

    @property
    def folder(self) -> Path:
        """The folder of the crawl."""
        return self.root / "planted"

    @property
    def collection(self) -> str:
        """The URL of the collection."""
        return "s3://thresher/planted" if self.kind.collection == "s3" else (self.root / "collection").as_uri()

    def write_topic(self) -> None:
        """Write the folder of a new crawl."""
        self.folder.mkdir(parents=True)
        (self.folder / "topic.yaml").write_text(json.dumps(_topic(self)), encoding="utf-8")  # JSON is YAML

    def start(self, *options: str) -> Run:
        """Start a run."""
        return Crawl(self.folder).start(*options, *(["--store", self.store_url] if self.store_url else []))

    def objects(self) -> Objects:
        """Open the collection."""
        return open_objects(self.collection)

    def call(self, command: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Call a command about the crawl that fetches nothing."""
        return called(command, self.folder, *arguments, folder=REPOSITORY)

    def run(self, *options: str) -> int:
        """Crawl on, for two minutes at most; return the exit code, 124 when the run had to be killed."""
        run = self.start("--minutes=2", *options)
        try:
            return run.wait(RUN_SECONDS)
        except CrawlStalled:
            return 124
        finally:
            run.kill_all()

    def words(self) -> str:
        """Return the end of what the runs have printed."""
        return (self.folder / "run.out").read_text(encoding="utf-8", errors="replace")[-500:]

    def site_urls(self) -> set[str]:
        """Return the URLs of all pages of the site."""
        return {SITE.url(number, self.recorder.port) for number in range(SITE.pages)}

    def client(self) -> redis.Redis:
        """Return a connection to the store that returns bytes."""
        return redis.Redis.from_url(self.store_url)

    def on_frontier(self, ask: Callable[[CrawlStore], Any]) -> Any:
        """Return what a frontier answers."""

        async def asked() -> Any:
            frontier = CrawlSetup.open(self.folder).backend.frontier()
            try:
                return await ask(frontier)
            finally:
                await frontier.close()

        return asyncio.run(asked())

    def state(self) -> dict[str, str]:
        """Return digests of all files, tables, keys and objects, to see what has changed."""
        found = {str(path.relative_to(self.root)): _digest(path) for path in self._files()}
        if self.kind.store:
            with self.client() as client:
                found |= {f"store {key!r}": _sha(client.dump(key) or b"") for key in client.scan_iter()}
        if self.kind.collection == "s3":
            objects = self.objects()
            found |= {key: _sha(objects.get(key)) for key in objects.sizes("")}
        return found

    def _files(self) -> list[Path]:
        endings = ("-wal", "-shm", ".log")
        paths = [path for path in self.root.rglob("*") if path.is_file() and not path.name.endswith(endings)]
        return [path for path in paths if path.relative_to(self.root).parts[0] != "store"]


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest(path: Path) -> str:
    """Return the digest of a file; of a database that can be read, of its rows, wherever they lie in it."""
    if not path.read_bytes().startswith(b"SQLite format 3"):
        return _sha(path.read_bytes())
    try:
        with closing(sqlite3.connect(path)) as db:
            tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
            rows = [repr(db.execute(f'SELECT * FROM "{name}"').fetchall()) for name in tables]
    except sqlite3.DatabaseError:
        return _sha(path.read_bytes())
    return _sha("\n".join(rows).encode())


@dataclass
class PreparedCrawls:
    """Crawls that are made when they are asked for first, and copies of them."""

    root: Path
    recorder: Recorder
    stack: ExitStack
    server: StoreServer
    prepared: set[str] = field(default_factory=set)
    bucket: dict[str, bytes] = field(default_factory=dict)

    @contextmanager
    def copy_of(self, name: str) -> Iterator[SiteCrawl]:
        """Copy a prepared crawl to its place; what was there goes."""
        if name not in self.prepared:
            self._prepare(name)
        with self._set(name) as crawl:
            yield crawl

    @contextmanager
    def _set(self, name: str) -> Iterator[SiteCrawl]:
        kind, live = KINDS[name], self.root / "live"
        shutil.rmtree(live, ignore_errors=True)
        if (self.root / name).exists():
            shutil.copytree(self.root / name, live)
        crawl = SiteCrawl(kind, live, self.recorder, self.server.url if kind.store else "")
        if kind.collection == "s3":
            self._fill_bucket(crawl.objects())
        if kind.store:
            self.server.folder.mkdir(parents=True, exist_ok=True)
            self.server.restart()
        try:
            yield crawl
        finally:
            self.server.kill()

    def _fill_bucket(self, objects: Objects) -> None:
        for key in objects.sizes(""):
            objects.delete(key)
        for key, content in self.bucket.items():
            objects.put_new(key, content)

    def _prepare(self, name: str) -> None:
        if KINDS[name].collection == "s3" and not os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://127."):
            server = self.stack.enter_context(s3_server(self.root / "s3"))
            self.stack.enter_context(patch.dict(os.environ, server.environment))
        with self._set(name) as crawl:
            _crawl_a_part(crawl)
            if crawl.kind.collection == "s3":
                objects = crawl.objects()
                self.bucket = {key: objects.get(key) for key in objects.sizes("")}
        shutil.copytree(self.root / "live", self.root / name)
        self.prepared.add(name)


@contextmanager
def serving() -> Iterator[Recorder]:
    """Serve the site and the wide host."""
    with recorder({WIDE: {"/list/*": Generated("tests.faults.planted_crawls:wide_page")}}, site=SITE) as w:
        yield w


@contextmanager
def prepared_crawls() -> Iterator[PreparedCrawls]:
    """Serve the site, and prepare crawls of it in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder, serving() as w, ExitStack() as stack:
        root = Path(folder)
        server = StoreServer("redis", root / "live" / "store", options=["--appendfsync", "always"])
        server.start()  # to find a port
        server.kill()
        yield PreparedCrawls(root, w, stack, server)


def _crawl_a_part(crawl: SiteCrawl) -> None:
    """Crawl some pages, in several steps where a collection is to have several segments."""
    crawl.write_topic()
    pages = FETCHED_WITH_LISTS if crawl.kind.wide else FETCHED
    for until in (pages // 3, 2 * pages // 3, pages) if crawl.kind.collection else (pages,):
        code = crawl.run(f"--pages={until}")
        if code:
            raise RuntimeError(f"run ended with {code}: {crawl.words()}")
    if crawl.kind.collection:
        _merge_entries(crawl.objects())
    if crawl.kind.copies:
        for path in [*(crawl.folder / "pages").glob("*.db*"), *(crawl.folder / "warc").iterdir()]:
            path.unlink()
        crawl.call("export", "-f", "jsonl")


def _merge_entries(objects: Objects) -> None:
    """Merge the entries of the manifest, as any process may; there are fewer than it takes by default."""
    with patch.object(manifest, "MERGE_ENTRIES", 1):
        for stream in objects.folders("manifest"):
            manifest.ManifestWriter(objects).merge(stream)


def _topic(crawl: SiteCrawl) -> dict[str, Any]:
    seeds = [crawl.recorder.seed_url]
    if crawl.kind.wide:
        seeds += [crawl.recorder.url(WIDE, f"/list/{number}") for number in range(LISTS)]
    more: dict[str, Any] = {"name": "planted", "sitemaps": "off"}
    if crawl.kind.collection:
        more |= {"collection": crawl.collection, "output": {"keep_irrelevant": True, "warc": True}}
    if crawl.kind.cold:
        more["frontier"] = {"cold": str(crawl.root / "cold"), "hot_urls": HOT_URLS}
    return {**topic(crawl.recorder, seeds), **more}

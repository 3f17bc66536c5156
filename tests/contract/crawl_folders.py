"""A small site, crawl folders that fetch it without a network, and a collection whose operations can be cut off.

A folder is driven by the product's own parts: frontier, page store, uploader. Only the fetch is made up: the content of
a page follows from its URL and the time of the fetch, so a test can recompute every row.
"""

import asyncio
import json
import os
import secrets
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import NamedTuple
from unittest import mock

from pyarrow import parquet

from thresher import backend as backend_module
from thresher.collection import audit, manifest, replica, uploader
from thresher.config import loading
from thresher.coordination.store_binding import bind
from thresher.crawl import CrawlSetup
from thresher.errors import StoreUnreachable
from thresher.feedback.labels import Label
from thresher.frontier.base import UrlEntry
from thresher.frontier.sqlite import database
from thresher.frontier.sqlite.frontier import SqliteFrontier
from thresher.objects.base import FolderObjects
from thresher.operations import gather as gathering
from thresher.pipeline.outcomes import content_hash
from thresher.reasons.legacy import legacy_reason
from thresher.records import Candidate, Judgement, Lease, Outcome, Revision, Settlement
from thresher.runner.uploads import build_uploader, repair_collection
from thresher.status import status_of
from thresher.storage.page_store import FoundLink, PageRecord, PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher.strategies.base import Strategy
from thresher.urls.canonical import fingerprint
from thresher.verify.crawl import verify
from thresher.verify.findings import VerifyReport

TOPIC = """\
name: small
keywords: [perovskite]
seeds: ["http://h0.example/0"]
strategy: {{name: best-first}}
judge: {{name: match}}
politeness: {{contact: tests@example.org}}
collection: {collection}
"""
PAGES = 14
MISSING = (5, 11)
"""Pages of the site that its server does not have."""
SEGMENT_ROWS, MERGE_ENTRIES = 2, 4
LEASE_SECONDS = 60.0
MAX_WAITS = 20
"""A frontier whose URLs were taken away believes that some wait, until it is repaired."""


def url_of(number: int) -> str:
    return f"http://h{number % 3}.example/{number}"


SEED = url_of(0)
NUMBERS = {url_of(number): number for number in range(PAGES)}
EXISTING = {url_of(number) for number in range(PAGES) if number not in MISSING}
"""The URLs with a page; all can be reached from the seed."""


def links_of(number: int) -> list[int]:
    """Return the pages that a page links to: a tree over all, and one link across it."""
    linked = {2 * number + 1, 2 * number + 2, (5 * number + 3) % PAGES}
    return [] if number in MISSING else sorted(to for to in linked if to < PAGES and to != number)


def reachable(urls: set[str]) -> set[str]:
    """Return the URLs that are found when some are fetched, with all that they lead to."""
    found, new = set(urls), set(urls)
    while new:
        new = {url_of(to) for url in new for to in links_of(NUMBERS[url])} - found
        found |= new
    return found


def text_of(url: str, fetched_at: float) -> str:
    return f"perovskite cells of {url} at {fetched_at:.6f}"


def record_of(lease: Lease, fetched_at: float) -> PageRecord:
    """Return the row of a fetched page."""
    number = NUMBERS[lease.url]
    found = [FoundLink(url=url_of(to), anchor="", score=0.5, parts={"page": 0.5}) for to in links_of(number)]
    record = PageRecord(
        fingerprint=fingerprint(lease.url),
        url=lease.url,
        status=200,
        outcome=Outcome.DONE,
        fetched_at=fetched_at,
        page=True,
        score=lease.score,
        parent=lease.parent,
        depth=lease.hops,
        relevance=0.5,
        text_hash=content_hash(text_of(lease.url, fetched_at)),
        text=text_of(lease.url, fetched_at),
        links=found,
    )
    if number in MISSING:
        return replace(
            record,
            status=404,
            outcome=Outcome.FAILED,
            reason=legacy_reason("HTTP 404"),
            page=False,
            text="",
            text_hash=0,
            links=(),
        )
    return record


def settlement_of(lease: Lease, record: PageRecord) -> Settlement:
    links = [
        Candidate(url=link.url, score=link.score, hops=lease.hops + 1, parent=record.fingerprint)
        for link in record.links
    ]
    return Settlement(lease=lease, outcome=record.outcome, reason=record.reason, links=links, page=record.page)


@dataclass
class Times:
    """The clocks of a machine: one that runs evenly, and a wall clock that can be set.

    Args:
        running: Seconds since boot; a little passes at every look, so that no two events are at the same time.
        offset: Of the wall clock.
    """

    running: float = 1000.0
    offset: float = 1_700_000_000.0

    def since_boot(self) -> float:
        self.running += 0.001
        return self.running

    def wall(self) -> float:
        return self.since_boot() + self.offset

    def wall_ns(self) -> int:
        return int(self.wall() * 1e9)


@dataclass
class CutOff:
    """When operations on the collection fail: each one after `left` more; the last one may still have its effect."""

    left: int
    with_effect: bool = False


class CutObjects(FolderObjects):
    """A collection in a folder whose operations can be cut off."""

    def __init__(self, root: Path, cut: Callable[[], CutOff | None]) -> None:
        super().__init__(root, durable=False)
        self._cut = cut

    @contextmanager
    def _errors(self, key: str) -> Iterator[None]:
        cut = self._cut()
        if cut is not None:
            cut.left -= 1
            if cut.left < 0 and not (cut.with_effect and cut.left == -1):
                raise StoreUnreachable("the collection does not answer")
        with super()._errors(key):
            yield
        if cut is not None and cut.left < 0:
            raise StoreUnreachable("the answer of the collection was lost")


_NEW_STRATEGY = CrawlSetup.new_strategy
_STRATEGIES: list[Strategy] = []


def _one_strategy(crawl: CrawlSetup) -> Strategy:
    """Build the strategy of the first crawl; it is that of all."""
    if not _STRATEGIES:
        _STRATEGIES.append(_NEW_STRATEGY(crawl))
    return _STRATEGIES[0]


async def _to_no_thread(function: Callable[..., object], *arguments: object) -> object:
    return function(*arguments)


async def _at_once(frontier: SqliteFrontier, function: Callable[..., object], *arguments: object) -> object:
    return function(*arguments)


class InTurn(Executor):
    """Does what it is given at once: threads cost time, and cut-off operations would be others in every run."""

    def __init__(self, max_workers: int) -> None:
        """Take the arguments of a pool of threads."""

    def submit(self, function, /, *arguments, **named):
        future = Future()
        try:
            future.set_result(function(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future


WITHOUT_COST = (
    (CrawlSetup, "new_strategy", _one_strategy),
    (loading, "compose", cache(loading.compose)),
    (parquet, "read_table", partial(parquet.read_table, use_threads=False)),
    (asyncio, "to_thread", _to_no_thread),
    (SqliteFrontier, "_in_thread", _at_once),
    (database, "Checkpoints", mock.Mock()),
    (audit, "ThreadPoolExecutor", InTurn),
    (manifest, "ThreadPoolExecutor", InTurn),
    (replica, "ThreadPoolExecutor", InTurn),
)
"""Parts that cost most of the time and have no influence on what is tested: term vectors, YAML, threads."""


class SeenPage(NamedTuple):
    """A page as readers see it."""

    fetched_at: float
    text: str
    relevance: float


class Gathered(NamedTuple):
    """A copy of the collection."""

    pages: dict[str, SeenPage]
    labels: bytes


class World:
    """A temporary folder with crawl folders, a collection, backups and copies, and the clocks of all machines."""

    def __init__(self) -> None:
        place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # so that nothing waits for a disk
        self.root = Path(tempfile.mkdtemp(prefix="collection-", dir=place))
        self.collection = self.root / "collection"
        self.collection.mkdir()
        self.times = Times()
        self.names = Random(0)  # of streams, so that a history is the same whenever it is run again
        self.cut: CutOff | None = None
        self.loop = asyncio.new_event_loop()
        self._gathered = 0
        self._patches = ExitStack()
        for target, name, replacement in (
            (secrets, "token_hex", lambda size: self.names.randbytes(size).hex()),
            (time, "time", self.times.wall),
            (time, "time_ns", self.times.wall_ns),
            (database, "_since_boot", self.times.since_boot),
            (backend_module, "open_objects", self._opened),
            (gathering, "open_objects", self._opened),
            (manifest, "MERGE_ENTRIES", MERGE_ENTRIES),
            (uploader, "MERGE_ENTRIES", MERGE_ENTRIES),
            *WITHOUT_COST,
        ):
            self._patches.enter_context(mock.patch.object(target, name, replacement))

    def _opened(self, url: str, *, used: str = "") -> FolderObjects:
        return CutObjects(self.collection, lambda: self.cut)

    def close(self) -> None:
        self._patches.close()
        self.loop.close()
        shutil.rmtree(self.root)

    def flawed_entries(self) -> list[str]:
        """Return the keys of manifest entries that cannot be read though later ones exist, without those given up.

        The files are read without the product's knowledge.
        """
        wanted, read = set(), {}
        for path in (self.collection / "manifest").glob("*/*.json"):
            wanted |= {manifest.entry_key(path.parent.name, number) for number in range(int(path.stem) + 1)}
            with suppress(ValueError):
                read[path.relative_to(self.collection).as_posix()] = json.loads(path.read_bytes())
        given_up = {entry["name"] for entry in read.values() if entry["kind"] == "lost"}
        return sorted(wanted - read.keys() - given_up)

    def gathered(self) -> Gathered:
        """Gather the collection into an empty folder."""
        self._gathered += 1
        root = self.root / f"gathered-{self._gathered}"
        try:
            self.loop.run_until_complete(gathering.gather(self.collection.as_uri(), root))
            return Gathered(pages_in(root), labels_in(root))
        finally:
            shutil.rmtree(root, ignore_errors=True)


def labels_in(root: Path) -> bytes:
    path = root / "labels.jsonl"
    return path.read_bytes() if path.is_file() else b""


def pages_in(root: Path) -> dict[str, SeenPage]:
    """Return the pages that readers of a folder see, by URL."""
    with PageStoreReader(root / "pages") as pages:
        ranked = list(pages.ranked())
        assert len({page.url for page in ranked}) == len(ranked), "a page is read twice"
        return {page.url: SeenPage(page.fetched_at, pages.text(page.fingerprint), page.relevance) for page in ranked}


class Folder:
    """A crawl folder on some machine.

    Args:
        added: The URLs that were ever put into its frontier, whatever its files say; None creates the folder.
    """

    def __init__(self, world: World, name: str, added: set[str] | None = None) -> None:
        self.world = world
        self.root = world.root / name
        self.added = set(added or ())
        if added is None:
            self.root.mkdir()
            topic = TOPIC.format(collection=world.collection.as_uri())
            (self.root / "topic.yaml").write_text(topic, encoding="utf-8")
        self.crawl = CrawlSetup.open(self.root)
        if added is None:
            self.fetch(0)  # a copy of a folder that never ran is another crawl

    def _run(self, coroutine):
        return self.world.loop.run_until_complete(coroutine)

    def fetch(self, most: int, *, killed: bool = False) -> int:
        """Fetch up to `most` pages, as a run does; when `killed`, the last ones are stored and not settled."""
        return self._run(self._fetch(most, killed=killed))

    async def _fetch(self, most: int, *, killed: bool) -> int:
        frontier = self.crawl.backend.frontier()
        writer = PageStoreWriter(self.root / "pages" / "w1.db")
        fetched = waits = 0
        try:
            await bind(self.crawl.folder, self.crawl.config, frontier)
            seeds = [Candidate(url=url, score=1.0) for url in self.crawl.seeds()]
            await frontier.add(seeds)
            self.added.update(seed.url for seed in seeds)
            while fetched < most:
                leases = await frontier.lease(min(3, most - fetched), seconds=LEASE_SECONDS)
                if not leases:
                    seconds, waits = await frontier.seconds_to_next(), waits + 1
                    if seconds is None or waits > MAX_WAITS:
                        break
                    self.world.times.running += seconds + 0.001
                    continue
                records = [record_of(lease, self.world.times.wall()) for lease in leases]
                writer.write(records)
                fetched += len(leases)
                if killed and fetched >= most:
                    break
                await frontier.commit([settlement_of(*pair) for pair in zip(leases, records, strict=True)])
                self.added.update(link.url for record in records for link in record.links)
        finally:
            writer.close()
            await frontier.close()
        return fetched

    def revise(self, number: int, relevance: float) -> None:
        """Judge a stored page again, if there is one."""
        if not (self.root / "pages" / "w1.db").exists():
            return
        with closing(PageStoreWriter(self.root / "pages" / "w1.db")) as writer:
            judgement = Judgement(relevance=relevance, relevant=relevance > 0.5)
            writer.apply_revisions([Revision(url=url_of(number), judgement=judgement)])

    def label(self, number: int) -> None:
        label = Label(url=url_of(number), relevant=True, at=self.world.times.wall())
        self._run(self.crawl.backend.labels().append([label]))

    def upload(self) -> int:
        """Upload what waits; return how many rows still wait."""
        with closing(build_uploader(self.crawl, owner=True, segment_rows=SEGMENT_ROWS)) as opened:
            opened.step(everything=True)
            return opened.waiting()

    def waiting(self) -> int:
        """Return how many rows wait for their upload, as `status` shows it."""
        return self._run(status_of(self.crawl)).collection.waiting_rows

    def verify(self, *, repair: bool = False) -> VerifyReport:
        """Check the crawl and its collection, and repair both, as the command does."""
        repaired = repair_collection(self.crawl) if repair else None
        return self._run(verify(self.crawl, repair=repair, repaired=repaired))

    def pages(self) -> dict[str, SeenPage]:
        return pages_in(self.root)

    def entries(self) -> dict[str, UrlEntry | None]:
        """Return what the frontier knows of the URLs that were ever added to it."""
        return self._run(self._entries())

    async def _entries(self) -> dict[str, UrlEntry | None]:
        frontier = self.crawl.backend.frontier(crawl_id="")
        try:
            urls = sorted(self.added)
            return dict(zip(urls, await frontier.find_all(urls), strict=True))
        finally:
            await frontier.close()

    def copy_to(self, root: Path) -> "Backup":
        shutil.copytree(self.root, root)
        return Backup(root, frozenset(self.added))

    def restore(self, backup: "Backup") -> None:
        """Put a backup in the place of the folder."""
        shutil.rmtree(self.root)
        shutil.copytree(backup.root, self.root)
        self.added = set(backup.added)

    def change(self, file: str, statement: str, *values: object) -> None:
        """Change a database of the folder without the product's knowledge."""
        path = self.root / file
        if path.exists():
            with closing(sqlite3.connect(path)) as db, db:
                db.execute(statement, values)

    def lose_segment(self) -> None:
        for path in (self.root / "pages").glob("w1.db*"):
            path.unlink()


class Backup(NamedTuple):
    """A copy of a folder, with the URLs that were added to its frontier."""

    root: Path
    added: frozenset[str]

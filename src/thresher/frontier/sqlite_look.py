"""A frontier file as one who only looks sees it: opened for reading, so nobody who works on it is ever held up."""

from __future__ import annotations

import asyncio
import math
import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from thresher.errors import StoreError, StoreLost, StoreUnreachable
from thresher.frontier.base import MOST_FAILURES, Counts, FailureCount, HostEntry, UrlEntry
from thresher.frontier.sample import Sample
from thresher.frontier.sqlite import failure_count, host_entry, url_entry
from thresher.frontier.sqlite_file import VERSION, statement
from thresher.frontier.steady import kept_clock
from thresher.sqlite_read import open_to_read
from thresher.urls.canonical import fingerprint
from thresher.urls.host import host_key

T = TypeVar("T")

_READ_SECONDS = 5.0
_WHOLE = "SELECT score FROM url WHERE state = 0"
_WAITING_HOSTS = "SELECT id, waiting FROM host WHERE waiting > 0"
_SOMEWHERE = "SELECT score FROM url WHERE host = ? AND state = 0 AND fingerprint >= ? ORDER BY fingerprint LIMIT 1"
_FAILED_INDEX = "SELECT 1 FROM sqlite_master WHERE name = 'url_failed'"
_CLOCK = "CREATE TEMP TABLE clock (start TEXT, began REAL)"
_SETTING = "CREATE TEMP TABLE setting (leases_per_host INTEGER, delay_seconds REAL)"


class SqliteLook:
    """Looks into a frontier file; before the file is there, nothing waits.

    Args:
        path: The file; never made, never written.
        leases_per_host: As of those who work on it.
        delay_seconds: As of those who work on it.
        seed: Of the random places where samples are taken.
        crawl_id: The id of a crawl that has begun: then a file that is not there was lost. Empty for any.
    """

    def __init__(
        self,
        path: Path,
        *,
        leases_per_host: int = 1,
        delay_seconds: float = 0.0,
        seed: int = 0,
        crawl_id: str = "",
    ) -> None:
        self._path = path
        self._crawl_id = crawl_id
        self._setting = (leases_per_host, delay_seconds)
        self._random = Random(seed)  # noqa: S311 - not a secret
        self._db: sqlite3.Connection | None = None
        self._clock: Callable[[], float] = lambda: 0.0
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="look")

    async def counts(self) -> Counts:
        """Return the frontier in numbers."""
        rows = await self._ask(partial(self._read, "counts"))
        return Counts.of(rows[0]) if rows else Counts()

    async def hosts(self, limit: int = 100, *, parked: bool = False) -> list[HostEntry]:
        """List hosts, those with most pages first; only parked ones when asked."""
        rows = await self._ask(partial(self._read, "parked_hosts" if parked else "hosts", limit=limit))
        return [host_entry(row) for row in rows]

    async def peek(self, limit: int) -> list[UrlEntry]:
        """List the best waiting URLs over all hosts."""
        rows = await self._ask(partial(self._read, "peek", limit=limit, below=math.inf))
        return [url_entry(row) for row in rows]

    async def find(self, url: str) -> UrlEntry | None:
        """Say where a URL stands."""
        rows = await self._ask(partial(self._read, "find", host=host_key(url), fingerprint=fingerprint(url)))
        return url_entry(rows[0]) if rows else None

    async def find_host(self, host: str) -> HostEntry | None:
        """Return one host by its key."""
        rows = await self._ask(partial(self._read, "find_host", host=host))
        return host_entry(rows[0]) if rows else None

    async def failures(self) -> list[FailureCount]:
        """Count failed URLs by host and reason, and the URLs that wait for parked hosts.

        In a file that an earlier Thresher made and nobody opened since, only the latter: the former would take long.
        """
        return [failure_count(row) for row in await self._ask(self._failures)]

    async def recall(self, host: str, kind: str) -> str | None:
        """Return what was remembered about a host."""
        return (await self.recall_all([(host, kind)]))[0]

    async def recall_all(self, notes: Sequence[tuple[str, str]]) -> list[str | None]:
        """Return several notes, by host and kind."""
        return await self._ask(lambda: [self._note(host, kind) for host, kind in notes])

    async def sample(self, limit: int) -> Sample:
        """Return the scores of waiting URLs: all while they are no more than `limit`, else some by chance."""
        waiting = (await self.counts()).waiting
        return await self._ask(partial(self._sample, limit, waiting))

    async def close(self) -> None:
        """Let go of the file."""
        await self._ask(self._close)
        self._thread.shutdown()

    async def _ask(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(self._in_words, function))

    def _in_words(self, function: Callable[[], T]) -> T:
        try:
            return function()
        except sqlite3.OperationalError as error:
            raise StoreUnreachable(f"the frontier cannot be read now: {error}") from error
        except sqlite3.DatabaseError as error:
            raise StoreError(f"the frontier cannot be read: {error}") from error

    def _opened(self) -> sqlite3.Connection | None:
        if self._crawl_id and not self._path.is_file():
            raise StoreLost(str(self._path), "the file is not there any more")
        if self._db is None and self._path.is_file():
            db = open_to_read(self._path, timeout=_READ_SECONDS)
            try:
                self._db = db if self._prepared(db) else None
            finally:
                if self._db is None:
                    db.close()
        return self._db

    def _prepared(self, db: sqlite3.Connection) -> bool:
        """Lay ready what the queries ask for; False while another process is only just making the file."""
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise StoreError(f"the frontier was written by a newer Thresher (version {version}); use that one")
        if not version:
            return False
        if version < VERSION:  # whoever works on the file next brings it up to date
            db.execute(_CLOCK)
        db.execute(_SETTING)
        db.execute("INSERT INTO setting VALUES (?, ?)", self._setting)
        self._clock = kept_clock(db)
        if self._crawl_id and db.execute(statement("identity")).fetchall() != [(self._crawl_id,)]:
            raise StoreLost(str(self._path), "it is empty, or of another crawl")
        return True

    def _read(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        db = self._opened()
        return db.execute(statement(query), {"now": self._clock(), **parameters}).fetchall() if db else []

    def _note(self, host: str, kind: str) -> str | None:
        rows = self._read("recall", host=host, kind=kind)
        return rows[0][0] if rows else None

    def _failures(self) -> list[tuple[Any, ...]]:
        db = self._opened()
        is_indexed = db is not None and db.execute(_FAILED_INDEX).fetchone() is not None
        most_failed = MOST_FAILURES if is_indexed else 0
        return self._read("failures", most_failed=most_failed, most_parked=MOST_FAILURES)

    def _sample(self, limit: int, waiting: int) -> Sample:
        db = self._opened()
        if db is None:
            return Sample()
        if waiting <= limit:
            return Sample(scores=[(score, 1.0) for (score,) in db.execute(_WHOLE)])
        hosts = db.execute(_WAITING_HOSTS).fetchall()
        scores = list(filter(None, (self._score_somewhere(db, host) for host in self._drawn(hosts, limit))))
        weight = waiting / len(scores) if scores else 0.0
        return Sample(scores=[(score, weight) for (score,) in scores], whole=False)

    def _drawn(self, hosts: Sequence[tuple[int, int]], limit: int) -> list[int]:
        """Draw hosts at even steps through all that waits, so each comes as often as its queue is long."""
        ends = list(accumulate(waiting for _, waiting in hosts))
        if not ends:
            return []
        step = ends[-1] / limit
        first = self._random.random() * step
        return [hosts[bisect_left(ends, first + number * step)][0] for number in range(limit)]

    def _score_somewhere(self, db: sqlite3.Connection, host: int) -> tuple[float] | None:
        """Return the score of a URL of a host that lies behind a random place; fingerprints know nothing of scores."""
        place = self._random.randrange(-(2**63), 2**63)
        found: tuple[float] | None = db.execute(_SOMEWHERE, (host, place)).fetchone()
        return found or db.execute(_SOMEWHERE, (host, -(2**63))).fetchone()

    def _close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

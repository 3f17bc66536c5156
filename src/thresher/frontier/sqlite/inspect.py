"""Read-only access to a frontier file; it is opened for reading, so workers are never blocked."""

from __future__ import annotations

import asyncio
import json
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
from thresher.frontier.base import MAX_FAILURES, Counts, FailureCount, HostEntry, UrlEntry
from thresher.frontier.inspect import ScoreSample
from thresher.frontier.sqlite.database import TYPED_REASONS, VERSION, reader_clock, statement
from thresher.frontier.sqlite.frontier import failure_count, host_entry, url_entry
from thresher.locale.translation import _
from thresher.reasons.legacy import add_functions
from thresher.sqlite_files import open_to_read
from thresher.urls.canonical import fingerprint, host_key

T = TypeVar("T")

_READ_SECONDS = 5.0
_WHOLE = "SELECT score FROM url WHERE state = 0"
_WAITING_HOSTS = "SELECT id, waiting FROM host WHERE waiting > 0"
_FROM_FINGERPRINT = (
    "SELECT score FROM url WHERE host = ? AND state = 0 AND fingerprint >= ? ORDER BY fingerprint LIMIT 1"
)
_FAILED_INDEX = "SELECT 1 FROM sqlite_master WHERE name = 'url_failed'"
_CLOCK_VERSION = 2  # the first with that table
_CLOCK = "CREATE TEMP TABLE clock (start TEXT, began REAL)"
_SETTING = "CREATE TEMP TABLE setting (leases_per_host INTEGER, delay_seconds REAL)"


class SqliteFrontierReader:
    """Reads a frontier file; while the file does not exist, the frontier is empty.

    Args:
        path: The file; never created, never written.
        leases_per_host: As set for the workers.
        delay_seconds: As set for the workers.
        seed: Random seed of samples.
        crawl_id: Id of a crawl that has begun, for which a missing file is an error; empty for any.
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
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="frontier-reader")

    async def counts(self) -> Counts:
        rows = await self._in_thread(partial(self._read, "counts"))
        return Counts(**json.loads(rows[0][0])) if rows else Counts()

    async def hosts(self, limit: int = 100, *, parked: bool = False) -> list[HostEntry]:
        rows = await self._in_thread(partial(self._read, "parked_hosts" if parked else "hosts", limit=limit))
        return [host_entry(row) for row in rows]

    async def peek(self, limit: int) -> list[UrlEntry]:
        rows = await self._in_thread(partial(self._read, "peek", limit=limit, below=math.inf))
        return [url_entry(row) for row in rows]

    async def find(self, url: str) -> UrlEntry | None:
        rows = await self._in_thread(partial(self._read, "find", host=host_key(url), fingerprint=fingerprint(url)))
        return url_entry(rows[0]) if rows else None

    async def find_host(self, host: str) -> HostEntry | None:
        rows = await self._in_thread(partial(self._read, "find_host", host=host))
        return host_entry(rows[0]) if rows else None

    async def failures(self) -> list[FailureCount]:
        """Count failed URLs by host and reason, and the URLs that wait for parked hosts.

        In a file without the index of failed URLs (made by an earlier Thresher and not opened for writing since), only
        the latter: the former would be slow.
        """
        return [failure_count(row) for row in await self._in_thread(self._failures)]

    async def get_state(self, host: str, kind: str) -> str | None:
        return (await self.get_states([(host, kind)]))[0]

    async def get_states(self, keys: Sequence[tuple[str, str]]) -> list[str | None]:
        return await self._in_thread(lambda: [self._state(host, kind) for host, kind in keys])

    async def sample(self, limit: int) -> ScoreSample:
        """Return the scores of all waiting URLs up to `limit`; of more, a random sample."""
        waiting = (await self.counts()).waiting
        return await self._in_thread(partial(self._sample, limit, waiting))

    async def close(self) -> None:
        await self._in_thread(self._close)
        self._thread.shutdown()

    async def _in_thread(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(self._translate_errors, function))

    def _translate_errors(self, function: Callable[[], T]) -> T:
        try:
            return function()
        except sqlite3.OperationalError as error:
            raise StoreUnreachable(_("the frontier cannot be read now: {error}", error=error)) from error
        except sqlite3.DatabaseError as error:
            raise StoreError(_("the frontier cannot be read: {error}", error=error)) from error

    def _opened(self) -> sqlite3.Connection | None:
        if self._crawl_id and not self._path.is_file():
            raise StoreLost(str(self._path), _("the file is not there any more"))
        if self._db is None and self._path.is_file():
            db = open_to_read(self._path, timeout=_READ_SECONDS)
            try:
                self._db = db if self._prepare(db) else None
            finally:
                if self._db is None:
                    db.close()
        return self._db

    def _prepare(self, db: sqlite3.Connection) -> bool:
        """Create the temporary tables of the queries; False while another process is still creating the file."""
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise StoreError(
                _("the frontier was written by a newer Thresher (version {version}); use that one", version=version)
            )
        if not version:
            return False
        if version < _CLOCK_VERSION:  # the next worker upgrades the file
            db.execute(_CLOCK)
        if version < TYPED_REASONS:
            add_functions(db)
            db.executescript(statement("legacy_view"))
        db.execute(_SETTING)
        db.execute("INSERT INTO setting VALUES (?, ?)", self._setting)
        self._clock = reader_clock(db)
        if self._crawl_id and db.execute(statement("identity")).fetchall() != [(self._crawl_id,)]:
            raise StoreLost(str(self._path), _("it is empty, or of another crawl"))
        return True

    def _read(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        db = self._opened()
        return db.execute(statement(query), {"now": self._clock(), **parameters}).fetchall() if db else []

    def _state(self, host: str, kind: str) -> str | None:
        rows = self._read("get_state", host=host, kind=kind)
        return rows[0][0] if rows else None

    def _failures(self) -> list[tuple[Any, ...]]:
        db = self._opened()
        is_indexed = db is not None and db.execute(_FAILED_INDEX).fetchone() is not None
        most_failed = MAX_FAILURES if is_indexed else 0
        return self._read("failures", most_failed=most_failed, most_parked=MAX_FAILURES)

    def _sample(self, limit: int, waiting: int) -> ScoreSample:
        db = self._opened()
        if db is None:
            return ScoreSample()
        if waiting <= limit:
            return ScoreSample(scores=[(score, 1.0) for (score,) in db.execute(_WHOLE)])
        hosts = db.execute(_WAITING_HOSTS).fetchall()
        scores = list(filter(None, (self._random_score(db, host) for host in self._sampled_hosts(hosts, limit))))
        weight = waiting / len(scores) if scores else 0.0
        return ScoreSample(scores=[(score, weight) for (score,) in scores], whole=False)

    def _sampled_hosts(self, hosts: Sequence[tuple[int, int]], limit: int) -> list[int]:
        """Sample hosts systematically, each in proportion to the length of its queue."""
        ends = list(accumulate(waiting for _, waiting in hosts))
        if not ends:
            return []
        step = ends[-1] / limit
        first = self._random.random() * step
        return [hosts[bisect_left(ends, first + number * step)][0] for number in range(limit)]

    def _random_score(self, db: sqlite3.Connection, host: int) -> tuple[float] | None:
        """Return the score of a random URL of a host: the first after a random fingerprint, independent of scores."""
        start = self._random.randrange(-(2**63), 2**63)
        found: tuple[float] | None = db.execute(_FROM_FINGERPRINT, (host, start)).fetchone()
        return found or db.execute(_FROM_FINGERPRINT, (host, -(2**63))).fetchone()

    def _close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

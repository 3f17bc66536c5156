"""Frontier for one machine: an SQLite file that any number of processes may share.

State changes are SQL programs, `sql/*.sql`; this module turns records into rows and rows into records.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from thresher.errors import StoreLost
from thresher.frontier.base import (
    CRAWL_WIDE,
    MAX_FAILURES,
    MAX_TRIES,
    MAX_UNBEGUN,
    Absence,
    CountAudit,
    Counts,
    FailureCount,
    HostEntry,
    HostMiscount,
    Merge,
    UrlEntry,
    UrlState,
    check_scores,
    unpack_data,
)
from thresher.frontier.sqlite.database import LinkRow, SqliteFile
from thresher.locale.translation import _
from thresher.reasons.legacy import stored_in
from thresher.reasons.reason import Reason
from thresher.records import Candidate, Lease, RequestKind, Settlement
from thresher.urls.canonical import fingerprint, host_key

T = TypeVar("T")

_STATES = (UrlState.WAITING, UrlState.LEASED, UrlState.DONE, UrlState.FAILED)  # as numbered in schema.sql
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class SqliteFrontier:
    """A frontier in a file: it survives the crash of any process, and several processes can share it.

    Args:
        path: The file; created when missing.
        clock: Replaces the machine's clock, in seconds; the same for all processes on the file.
        merge: How the score changes when a waiting URL is found again.
        leases_per_host: Maximum number of open leases of one host.
        waiting_per_host: Maximum number of waiting URLs of one host.
        delay_seconds: Delay of a host after an expired lease, until a settlement sets it.
        synchronous: ``NORMAL`` (a power failure may lose the last second or two) or ``FULL`` (it loses nothing).
        crawl_id: Id of the crawl that the file must have; empty for any.

    Raises:
        StoreLost: The file does not have the crawl of that id, or is missing.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], float] | None = None,
        merge: Merge = Merge.MAX,
        leases_per_host: int = 1,
        waiting_per_host: int = 10_000,
        delay_seconds: float = 0.0,
        synchronous: str = "NORMAL",
        crawl_id: str = "",
    ) -> None:
        if crawl_id and not path.is_file():
            raise StoreLost(str(path), _("the file is not there any more"))
        settings = {
            "merge": merge.value,
            "leases_per_host": leases_per_host,
            "waiting_per_host": waiting_per_host,
            "delay_seconds": delay_seconds,
            "max_tries": MAX_TRIES,
            "max_unbegun": MAX_UNBEGUN,
        }
        self._closed = False
        self._path, self._crawl_id = path, crawl_id
        self._file = SqliteFile(path, synchronous=synchronous, settings=settings)
        if crawl_id and self._file.read_row("identity") != [(crawl_id,)]:
            self._file.close()
            raise StoreLost(str(path), _("it is empty, or of another crawl"))
        self._clock = clock or self._file.clock()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="frontier")

    async def add(self, candidates: Sequence[Candidate]) -> int:
        check_scores(candidate.score for candidate in candidates)
        return await self._in_thread(self._add, candidates)

    async def lease(self, limit: int, *, seconds: float, worker: str = "", pages: int | None = None) -> list[Lease]:
        return await self._in_thread(self._lease, limit, seconds, worker, pages)

    async def begin(self, leases: Sequence[Lease]) -> None:
        await self._read("begin", fences=_encode([lease.fence for lease in leases]), now=self._clock())

    async def commit(self, settlements: Sequence[Settlement]) -> list[bool]:
        check_scores(link.score for settlement in settlements for link in settlement.links)
        return await self._in_thread(self._commit, settlements)

    async def release(self, leases: Sequence[Lease], *, delay_seconds: float = 0.0) -> None:
        fences = _encode([lease.fence for lease in leases])
        await self._run("release_all", fences=fences, delay_seconds=delay_seconds)

    async def park(self, host: str, reason: Reason, *, seconds: float | None = None) -> None:
        until = math.inf if seconds is None else self._clock() + seconds
        await self._run("park_host", host=host, kind=reason.kind, detail=_plain(reason.detail), until=until)

    async def unpark(self, host: str) -> None:
        await self._run("unpark_host", host=host)

    async def adjust_relevant(self, changes: Mapping[str, int]) -> None:
        await self._run("adjust_relevant", changes=_encode(list(changes.items())))

    async def rescore(self, scores: Mapping[str, float], *, was: Mapping[str, float] | None = None) -> int:
        check_scores(scores.values())
        rows = [
            (host_key(url), fingerprint(url), score, None if was is None else was[url]) for url, score in scores.items()
        ]
        [waited] = await self._run("rescore_all", scores=_encode(rows))
        return int(waited)

    async def peek(self, limit: int, *, below: float | None = None) -> list[UrlEntry]:
        rows = await self._read("peek", limit=limit, below=math.inf if below is None else below)
        return [url_entry(row) for row in rows]

    async def find(self, url: str) -> UrlEntry | None:
        [found] = await self.find_all([url])
        return found

    async def find_all(self, urls: Sequence[str]) -> list[UrlEntry | None]:
        return await self._in_thread(lambda: [self._find(url) for url in urls])

    def _find(self, url: str) -> UrlEntry | None:
        rows = self._file.read("find", host=host_key(url), fingerprint=fingerprint(url))
        return url_entry(rows[0]) if rows else None

    async def absences(self, urls: Sequence[str]) -> list[Absence | None]:
        return await self._in_thread(lambda: [self._absence(url) for url in urls])

    def _absence(self, url: str) -> Absence | None:
        rows = self._file.read("evicted", host=host_key(url), fingerprint=fingerprint(url))
        return Absence.EVICTED if rows else None

    async def audit(self, *, repair: bool = False) -> CountAudit:
        miscounts = [HostMiscount(*row) for row in await self._read("audit")]
        unrecorded = await self.get_state(CRAWL_WIDE, "unrecorded evictions")
        if repair:
            await self._run("recount_all")
        return CountAudit(miscounts=miscounts, unrecorded=int(unrecorded or 0))

    async def counts(self) -> Counts:
        if self._crawl_id and not self._path.is_file():
            raise StoreLost(str(self._path), _("the file was removed"))
        [[numbers]] = await self._read("counts", now=self._clock())
        return Counts(**json.loads(numbers))

    async def hosts(self, limit: int = 100) -> list[HostEntry]:
        return [host_entry(row) for row in await self._read("hosts", now=self._clock(), limit=limit)]

    async def find_host(self, host: str) -> HostEntry | None:
        rows = await self._read("find_host", now=self._clock(), host=host)
        return host_entry(rows[0]) if rows else None

    async def failures(self) -> list[FailureCount]:
        rows = await self._read("failures", now=self._clock(), most_failed=MAX_FAILURES, most_parked=MAX_FAILURES)
        return [failure_count(row) for row in rows]

    async def next_hosts(self, limit: int) -> list[str]:
        return [host for (host,) in await self._read("next_hosts", limit=limit, now=self._clock())]

    async def seconds_to_next(self) -> float | None:
        now = self._clock()
        [(next_time,)] = await self._read("next_time", now=now)
        return None if next_time is None else max(0.0, next_time - now)

    async def content_owner(self, content: int) -> int:
        rows = self._file.read_row("first_with", content=content)
        return int(rows[0][0]) if rows else 0

    async def put_state(self, host: str, kind: str, value: str, *, seconds: float) -> None:
        await self._in_thread(self._put_state, host, kind, value, seconds)

    async def get_state(self, host: str, kind: str) -> str | None:
        rows = self._file.read_row("get_state", host=host, kind=kind, now=self._clock())
        return rows[0][0] if rows else None

    async def acquire_lock(self, name: str, *, seconds: float) -> float:
        now = self._clock()
        if await self._read("acquire_lock", name=name, until=now + seconds, now=now):
            return 0.0
        [(until,)] = await self._read("lock_end", name=name) or [(0.0,)]
        return max(0.0, float(until) - now)

    async def release_lock(self, name: str, *, delay_seconds: float) -> None:
        await self._read("release_lock", name=name, until=self._clock() + delay_seconds)

    async def identify(self, crawl_id: str) -> str:
        await self._read("identify", crawl_id=crawl_id)
        [(kept,)] = await self._read("identity")
        self._crawl_id = str(kept)
        return self._crawl_id

    async def reopen(self, candidates: Sequence[Candidate]) -> int:
        rows = [(host_key(each.url), fingerprint(each.url)) for each in candidates]
        [reopened] = await self._run("reopen_all", urls=_encode(rows))
        return int(reopened)

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await self._in_thread(self._file.close)
            self._thread.shutdown()

    async def _in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(function, *arguments))

    async def _run(self, program: str, **parameters: object) -> list[Any]:
        return await self._in_thread(partial(self._file.run, program, now=self._clock(), **parameters))

    async def _read(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        return await self._in_thread(partial(self._file.read, query, **parameters))

    def _add(self, candidates: Sequence[Candidate]) -> int:
        hosts: dict[str, int] = {}
        rows = _link_rows(candidates, hosts, first=1)
        self._file.stage_links(rows)
        [new] = self._file.run("add_all", now=self._clock(), hosts=_encode(list(hosts)), links=len(rows))
        return int(new)

    def _lease(self, limit: int, seconds: float, worker: str, pages: int | None) -> list[Lease]:
        now = self._clock()
        answer = self._file.run("lease_best", now=now, until=now + seconds, worker=worker, most=limit, pages=pages)
        return [_lease(json.loads(row), now + seconds) for row in answer]

    def _commit(self, settlements: Sequence[Settlement]) -> list[bool]:
        rows: list[LinkRow] = []
        listed = [_settlement_row(settlement, rows) for settlement in settlements]
        self._file.stage_links(rows)
        settled = self._file.run("commit_all", now=self._clock(), settlements=_encode(listed), links=len(rows))
        return [number in settled for number in range(len(settlements))]

    def _put_state(self, host: str, kind: str, value: str, seconds: float) -> None:
        now = self._clock()
        self._file.read("forget", now=now)
        self._file.read("put_state", host=host, kind=kind, value=_plain(value), until=now + seconds)


def _link_rows(candidates: Iterable[Candidate], hosts: dict[str, int], *, first: int) -> list[LinkRow]:
    """Return candidates as rows of `link`; their hosts are added to `hosts`."""
    return [
        (
            number,
            hosts.setdefault(host_key(link.url), len(hosts)),
            fingerprint(link.url),
            link.url,
            link.score,
            link.depth_left,
            link.hops,
            link.redirects,
            link.parent,
            _encode(data) if (data := link.for_host or link.strategy_data) else None,
            link.kind,
        )
        for number, link in enumerate(candidates, first)
    ]


def _settlement_row(settlement: Settlement, rows: list[LinkRow]) -> list[object]:
    """Return a settlement as an element of the list for commit.sql; its links are added to `rows`."""
    hosts: dict[str, int] = {}
    first = len(rows) + 1
    rows += _link_rows(settlement.links, hosts, first=first)
    return [
        settlement.lease.fence,
        settlement.outcome,
        settlement.reason.kind,
        _plain(settlement.reason.detail),
        settlement.delay_seconds,
        int(settlement.page),
        int(settlement.relevant),
        settlement.park.kind,
        _plain(settlement.park.detail),
        settlement.content,
        list(hosts),
        first,
        len(rows),
    ]


def _plain(text: str) -> str:
    """Replace characters that cannot be encoded; error messages may contain them."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _lease(row: list[Any], until: float) -> Lease:
    url, host, score, fence, data, depth_left, hops, redirects, parent, kind, tries, *counts = row
    host_pages, host_relevant = counts
    strategy_data, for_host = unpack_data(data)
    return Lease(
        url=url,
        host=host,
        score=float(score),
        fence=fence,
        until=until,
        strategy_data=strategy_data,
        depth_left=depth_left,
        hops=hops,
        redirects=redirects,
        parent=parent,
        kind=RequestKind(kind),
        for_host=for_host,
        tries=tries,
        host_pages=host_pages,
        host_relevant=host_relevant,
    )


def url_entry(row: tuple[Any, ...]) -> UrlEntry:
    """Build from a row of find.sql or peek.sql."""
    url, host, state, score, hops, depth_left, parent, tries, kind, detail = row
    return UrlEntry(
        url=url,
        host=host,
        state=_STATES[state],
        score=score,
        hops=hops,
        depth_left=depth_left,
        parent=parent,
        tries=tries,
        reason=stored_in(kind, detail),
    )


def host_entry(row: tuple[Any, ...]) -> HostEntry:
    """Build from a row of hosts.sql."""
    host, waiting, leased, pages, relevant, failed, delay_seconds, next_seconds, best, kind, detail = row
    return HostEntry(
        host=host,
        waiting=waiting,
        leased=leased,
        pages=pages,
        relevant=relevant,
        failed=failed,
        delay_seconds=delay_seconds,
        next_seconds=next_seconds,
        best=best,
        parked=stored_in(kind, detail),
    )


def failure_count(row: tuple[Any, ...]) -> FailureCount:
    """Build from a row of failures.sql."""
    host, kind, detail, urls, waiting, retry_seconds = row
    return FailureCount(host, stored_in(kind, detail), urls, bool(waiting), retry_seconds)

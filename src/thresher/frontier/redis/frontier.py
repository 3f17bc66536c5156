"""Frontier for many machines: one Redis-compatible store, any number of workers on any machine.

State changes are Lua scripts, `lua/*.lua`, which the store runs atomically; this module turns records into their
arguments and their results into records. The time is the store's.

`RecentLinks` caches links that this worker sent recently, so that a site's menu is not sent again with every page.

Correctness does not depend on it. A link is skipped only when sending it again would change nothing: it waits with at
least this score, or it has been leased. The cost: a URL that other workers evicted from a full host, released, or
rescored lower is not updated until it is found again after its cache entry has expired.
"""

from __future__ import annotations

import heapq
import re
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from thresher.errors import ConfigError
from thresher.frontier.base import (
    SAME_SCORE,
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
)
from thresher.frontier.inspect import ScoreSample
from thresher.frontier.redis.codec import Name, Record, reason_bytes, to_bytes, to_text, url_of
from thresher.frontier.redis.connection import Call, Part, RedisConnection
from thresher.frontier.redis.queries import RedisQueries
from thresher.frontier.redis.scripts import Settings, script
from thresher.frontier.redis.shards import (
    HEADS,
    Batch,
    Heads,
    Shards,
    content_bytes,
    keep_id,
    link_arguments,
    open_shards,
    portions,
    refuse_lost,
)
from thresher.reasons.reason import Reason
from thresher.records import Candidate, Lease, Outcome, Settlement
from thresher.urls.canonical import fingerprint, host_key

MAX_LINKS = 50_000
SECONDS = 600.0


class _Sent(NamedTuple):
    score: float
    depth_left: int
    hops: int
    kind: int
    until: float


class RecentLinks:
    """Recently sent links, by host.

    Args:
        merge: With the mean of scores every link counts, so none is skipped.
        clock: Returns the time in seconds.
    """

    def __init__(self, merge: Merge, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._merge = merge
        self._clock = clock
        self._hosts: OrderedDict[str, dict[str, _Sent]] = OrderedDict()
        self._links = 0

    def should_send(self, link: Candidate, host: str) -> bool:
        """Return whether a link must be sent to the store."""
        sent = self._hosts.get(host, {}).get(link.url)
        if sent is None:
            return True
        better = link.score > sent.score and self._merge is Merge.MAX
        better = better or link.depth_left > sent.depth_left or link.hops < sent.hops or link.kind > sent.kind
        return better or self._clock() >= sent.until

    def add(self, link: Candidate, host: str) -> None:
        """Remember a link that was sent."""
        if self._merge is Merge.MEAN:
            return
        links = self._hosts.setdefault(host, {})
        known = links.get(link.url)
        self._links += known is None
        sent = _Sent(link.score, link.depth_left, link.hops, link.kind, self._clock() + SECONDS)
        if known:
            sent = sent._replace(
                score=max(sent.score, known.score),
                depth_left=max(sent.depth_left, known.depth_left),
                hops=min(sent.hops, known.hops),
                kind=max(sent.kind, known.kind),
            )
        links[link.url] = sent
        self._hosts.move_to_end(host)
        while self._links > MAX_LINKS and len(self._hosts) > 1:
            self.forget_host(next(iter(self._hosts)))

    def forget(self, url: str, host: str) -> None:
        """Forget a URL: its score was changed."""
        if self._hosts.get(host, {}).pop(url, None):
            self._links -= 1

    def forget_host(self, host: str) -> None:
        """Forget all URLs of a host: one of them was evicted, or waits again."""
        self._links -= len(self._hosts.pop(host, {}))


CLUSTER_SHARDS = 16
SCORES_AT_ONCE = 100
_NAME = re.compile(r"[\w.-]{1,64}").fullmatch


class LeaseAnswer(NamedTuple):
    """What a lease found to do between the tiers of a shard.

    Args:
        skipped_hosts: Hosts that the lease skipped, since their best URL is cold.
        to_load: Number of hosts whose best URL is cold.
        hot: Number of waiting URLs in the store.
        over_quota: Number of hosts above their allowance of hot URLs, in the partition that has most of them.
        hosts: Number of hosts.
    """

    skipped_hosts: list[bytes]
    to_load: int
    hot: int
    over_quota: int
    hosts: int


class RedisFrontier:
    """A frontier on one server or a cluster, shared by workers on any number of machines.

    Args:
        url: URL of the store, as for `RedisConnection`; or an existing connection.
        crawl: Name of the crawl in the store: letters, digits, ``_``, ``.`` and ``-``.
        clock: Replaces the store's clock in simulated crawls, in seconds; the same for all workers.
        merge: How the score changes when a waiting URL is found again.
        leases_per_host: Maximum number of open leases of one host.
        waiting_per_host: Maximum number of waiting URLs of one host.
        delay_seconds: Delay of a host after an expired lease, until a settlement sets it.
        shards: Number of shards of a new crawl; by default 1 on one server, 16 on a cluster.
        chunk_size: Number of waiting URLs of a host in one key.
        crawl_id: Id that the crawl must have in the store; empty for any.
    """

    def __init__(
        self,
        url: str | RedisConnection,
        crawl: str,
        *,
        clock: Callable[[], float] | None = None,
        merge: Merge = Merge.MAX,
        leases_per_host: int = 1,
        waiting_per_host: int = 10_000,
        delay_seconds: float = 0.0,
        shards: int | None = None,
        chunk_size: int = 128,
        crawl_id: str = "",
    ) -> None:
        if not _NAME(crawl):
            raise ConfigError(f"a crawl in a store is named by letters, digits, '_', '.' and '-', got {crawl!r}")
        self.connection = RedisConnection(url) if isinstance(url, str) else url
        self._clock = clock
        self._settings = Settings(
            merge=merge,
            leases_per_host=leases_per_host,
            waiting_per_host=waiting_per_host,
            delay_seconds=delay_seconds,
            chunk_size=chunk_size,
        )
        self._crawl, self._crawl_id = crawl, crawl_id
        self._new_shards = shards or (CLUSTER_SHARDS if self.connection.is_cluster else 1)
        self._shards: Shards | None = None
        self._packed_settings = b""
        self._recent = RecentLinks(merge)
        self._losses = 0
        self._queries = RedisQueries(self.connection, clock)
        self._heads = Heads() if clock is None else Heads(fresh_seconds=0.0)  # no snapshots in simulated time
        self._out = 0  # pages and open leases of all shards, as of the last poll

    async def add(self, candidates: Sequence[Candidate]) -> int:
        check_scores(candidate.score for candidate in candidates)
        shards = await self._opened()
        unsent = self._unsent(candidates)
        calls = [
            self._add_call(shard, part) for shard, links in shards.sort(unsent).items() for part in portions(links)
        ]
        answers = await self.connection.run_all(calls)
        self._mark_sent(unsent, *(invalid for _, invalid in answers))
        return sum(new for new, _ in answers)

    async def lease(self, limit: int, *, seconds: float, worker: str = "", pages: int | None = None) -> list[Lease]:
        """Lease up to `limit` of the best URLs of ready hosts, best first.

        On one server the order is exact. On a cluster it is exact within each shard: all shards are polled and the best
        ones leased from, but another worker may be faster; `pages` may be exceeded by concurrent leases of others.
        """
        shards = await self._opened()
        if limit < 1:
            return []
        if shards.number == 1:
            return await self._lease_of(0, limit, seconds, worker, pages)
        leases: list[Lease] = []
        while wanted := await self._best_shards(limit - len(leases), pages):
            for shard, share in wanted.items():
                leases += await self._lease_of(shard, share, seconds, worker, None)
            if self._settings.leases_per_host == 1:
                break  # with more, a host that was leased from may still be ready
        return sorted(leases, key=lambda lease: -lease.score)

    async def commit(self, settlements: Sequence[Settlement]) -> list[bool]:
        check_scores(link.score for settlement in settlements for link in settlement.links)
        shards = await self._opened()
        batch = Batch(shards)
        for settlement in settlements:
            if settlement.outcome is Outcome.RETRY:  # it waits again, but links to it may have been skipped meanwhile
                self._recent.forget_host(settlement.lease.host)
        for settlement in settlements:
            batch.add(settlement, self._unsent(settlement.links))
        before = await self.connection.run_all([self._add_call(shard, links) for shard, links in batch.early])
        if shards.number > 1:
            await self._claim_contents(shards, settlements)
        answers = await self.connection.run_all([self._call("commit", shard, *parts) for shard, parts in batch.calls()])
        accepted = batch.in_order([held for answer, _ in answers for held in answer])
        sent = [
            link for settlement, held in zip(settlements, accepted, strict=True) if held for link in settlement.links
        ]
        self._mark_sent(sent, *(invalid for _, invalid in (*before, *answers)))
        return accepted

    async def begin(self, leases: Sequence[Lease]) -> None:
        held = _by_shard(await self._opened(), leases)
        await self.connection.run_all([self._call("begin", shard, *listed) for shard, listed in held.items()])

    async def release(self, leases: Sequence[Lease], *, delay_seconds: float = 0.0) -> None:
        held = _by_shard(await self._opened(), leases)
        calls = [self._call("release", shard, repr(delay_seconds), *listed) for shard, listed in held.items()]
        self._mark_sent([], *await self.connection.run_all(calls))

    async def park(self, host: str, reason: Reason, *, seconds: float | None = None) -> None:
        shards = await self._opened()
        length = "" if seconds is None else repr(seconds)
        await self._run("park", shards.of(host), to_bytes(host), reason_bytes(reason), length)

    async def unpark(self, host: str) -> None:
        shards = await self._opened()
        await self._run("unpark", shards.of(host), to_bytes(host))

    async def adjust_relevant(self, changes: Mapping[str, int]) -> None:
        shards = await self._opened()
        rows: dict[int, list[Part]] = {}
        for host, change in changes.items():
            rows.setdefault(shards.of(host), []).extend((to_bytes(host), change))
        calls = [
            self._call("adjust", shard, *parts[at : at + 2 * SCORES_AT_ONCE])
            for shard, parts in rows.items()
            for at in range(0, len(parts), 2 * SCORES_AT_ONCE)
        ]
        await self.connection.run_all(calls)

    async def rescore(self, scores: Mapping[str, float], *, was: Mapping[str, float] | None = None) -> int:
        check_scores(scores.values())
        shards = await self._opened()
        rows: dict[int, list[list[Part]]] = {}
        for url, score in scores.items():
            host = host_key(url)
            self._recent.forget(url, host)
            name = Name.of(url, host)
            must_be = "" if was is None else repr(was[url])
            rows.setdefault(shards.of(host), []).append(
                [name.host, name.rest, name.number, repr(score), must_be, name.member]
            )
        calls = [
            self._call(
                "rescore", shard, repr(SAME_SCORE), *(part for row in listed[at : at + SCORES_AT_ONCE] for part in row)
            )
            for shard, listed in rows.items()
            for at in range(0, len(listed), SCORES_AT_ONCE)
        ]
        return sum(await self.connection.run_all(calls))

    async def peek(self, limit: int, *, below: float | None = None) -> list[UrlEntry]:
        shards = await self._opened()
        found: list[tuple[float, int, UrlEntry]] = []
        for shard in shards:
            found += await self._queries.best(shards.prefix(shard), limit, below)
        return [entry for _, _, entry in heapq.nsmallest(limit, found, key=lambda one: one[:2])]

    async def find(self, url: str) -> UrlEntry | None:
        """Return a URL with its state; None when it was never added, or was evicted.

        For URLs that were settled long ago only the state is known here; the rest is in the page store.
        """
        return (await self.find_all([url]))[0]

    async def find_all(self, urls: Sequence[str]) -> list[UrlEntry | None]:
        """Return several URLs as `find` does, in one round trip."""
        shards, calls = await self._opened(), []
        for url in urls:
            host = host_key(url)
            name = Name.of(url, host)
            calls.append(self._call("find", shards.of(host), name.host, name.rest, name.number, name.member))
        answers = await self.connection.run_all(calls)
        return [_found(url, answer) for url, answer in zip(urls, answers, strict=True)]

    async def absences(self, urls: Sequence[str]) -> list[Absence | None]:
        shards, calls = await self._opened(), []
        for url in urls:
            host = host_key(url)
            name = Name.of(url, host)
            calls.append(self._call("absent", shards.of(host), name.host, name.number, name.member))
        answers = await self.connection.run_all(calls)
        return [Absence(to_text(answer)) if answer else None for answer in answers]

    async def audit(self, *, repair: bool = False) -> CountAudit:
        audits = [await self._audit_shard(shard, repair=repair) for shard in await self._opened()]
        return CountAudit(
            miscounts=[miscount for audit in audits for miscount in audit.miscounts],
            unrecorded=sum(audit.unrecorded for audit in audits),
        )

    async def _audit_shard(self, shard: int, *, repair: bool) -> CountAudit:
        """Compare each host with its URLs, and the sums with the hosts unless they change meanwhile."""
        assert self._shards is not None
        prefix = self._shards.prefix(shard)
        before = await self._queries.sums(prefix)
        waiting, leased = 0, 0
        rows: list[list[Any]] = []
        async for hosts in self._queries.all_hosts(prefix):
            answer = await self._run("audit", shard, 0, *hosts)
            waiting, leased, rows = waiting + answer[0], leased + answer[1], rows + answer[2]
        done = await self._queries.settled(prefix, self._settings.seen_keys) - before["failed"]
        there = {"waiting": waiting, "leased": leased, "done": done}
        wrong = {name: number - before[name] for name, number in there.items()}
        if before != await self._queries.sums(prefix):
            wrong = {}
        miscounts = [HostMiscount(to_text(host), to_text(kind), *numbers) for host, kind, *numbers in rows]
        miscounts += [HostMiscount("", name, before[name], before[name] + by) for name, by in wrong.items() if by]
        unrecorded = max(0, before["dropped"] - before["recorded"])
        if repair:
            async for hosts in self._queries.all_hosts(prefix):
                await self._run("audit", shard, 1, *hosts)
            pages = max(wrong.get("done", 0), -before["pages"])  # what is found again is counted again
            for name, by in {**wrong, "pages": pages, "recorded": unrecorded}.items():
                await self.connection.call("HINCRBY", prefix + b"x", name, by)
        return CountAudit(miscounts=miscounts, unrecorded=unrecorded)

    async def counts(self) -> Counts:
        shards = await self._opened()
        await refuse_lost(self.connection, self._crawl, self._crawl_id)
        totals: Counter[str] = Counter()
        pauses = [0]
        for shard in shards:
            numbers = {to_text(name): number for name, number in (await self._run_to_end("counts", shard))[1]}
            pauses.append(numbers.pop("pause_seconds"))
            totals.update(numbers)
        return Counts(**totals, pause_seconds=max(pauses))

    async def hosts(self, limit: int = 100, *, parked: bool = False) -> list[HostEntry]:
        shards, listed = await self._opened(), self._queries.parked if parked else self._queries.hosts
        entries: list[HostEntry] = []
        for shard in shards:
            prefix = shards.prefix(shard)
            entries += await listed(prefix, limit, await self._queries.now(prefix), self._settings.delay_seconds)
        return heapq.nsmallest(limit, entries, key=lambda entry: (-entry.pages, entry.host))

    async def find_host(self, host: str) -> HostEntry | None:
        shards = await self._opened()
        return await self._queries.host(shards.prefix(shards.of(host)), to_bytes(host), self._settings.delay_seconds)

    async def failures(self) -> list[FailureCount]:
        shards = await self._opened()
        return [count for shard in shards for count in await self._queries.failures(shards.prefix(shard))]

    async def sample(self, limit: int) -> ScoreSample:
        """Return the scores of a random sample of about `limit` waiting URLs."""
        shards = await self._opened()
        share = limit // shards.number
        scores = [score for shard in shards for score in await self._queries.sample(shards.prefix(shard), share)]
        return ScoreSample(scores=scores, whole=False)

    async def get_states(self, keys: Sequence[tuple[str, str]]) -> list[str | None]:
        shards = await self._opened()
        calls = [self._call("get_state", shards.of(host), to_bytes(host), to_bytes(kind)) for host, kind in keys]
        return [None if value is None else to_text(value) for value in await self.connection.run_all(calls)]

    async def next_hosts(self, limit: int) -> list[str]:
        shards = await self._opened()
        await self.connection.run_all([self._call("next_time", shard) for shard in shards])  # updates host stages
        ranked = [each for shard in shards for each in await self._queries.ready(shards.prefix(shard), limit)]
        best = heapq.nlargest(limit, ranked) if shards.number > 1 else ranked
        return [to_text(member[4:]) for _, member in best]

    async def seconds_to_next(self) -> float | None:
        shards = await self._opened()
        answers = await self.connection.run_all([self._call("next_time", shard) for shard in shards])
        seconds = min((float(answer) for answer in answers if answer is not None), default=None)
        if seconds is None:  # nothing is left, or the store was flushed
            await refuse_lost(self.connection, self._crawl, self._crawl_id)
        return seconds

    async def content_owner(self, content: int) -> int:
        shards = await self._opened()
        key = shards.content_key(content)
        owner = await self.connection.call("HGET", key, content_bytes(content))
        return int.from_bytes(owner, "big", signed=True) if owner else 0

    async def put_state(self, host: str, kind: str, value: str, *, seconds: float) -> None:
        shards = await self._opened()
        stored = value.encode("utf-8", "replace")
        await self._run("put_state", shards.of(host), to_bytes(host), to_bytes(kind), stored, repr(seconds))

    async def get_state(self, host: str, kind: str) -> str | None:
        return (await self.get_states([(host, kind)]))[0]

    async def acquire_lock(self, name: str, *, seconds: float) -> float:
        shards = await self._opened()
        return float(await self._run("acquire_lock", shards.of(name), to_bytes(name), repr(seconds)))

    async def release_lock(self, name: str, *, delay_seconds: float) -> None:
        shards = await self._opened()
        await self._run("release_lock", shards.of(name), to_bytes(name), repr(delay_seconds))

    async def identify(self, crawl_id: str) -> str:
        await self._opened()
        self._crawl_id = await keep_id(self.connection, self._crawl, crawl_id)
        return self._crawl_id

    async def reopen(self, candidates: Sequence[Candidate]) -> int:
        shards, reopened = await self._opened(), 0
        for candidate in candidates:
            host = host_key(candidate.url)
            name = Name.of(candidate.url, host)
            if await self._run("reopen", shards.of(host), name.host, name.rest, name.number, name.member):
                self._recent.forget(candidate.url, host)
                reopened += await self.add([candidate])
        return reopened

    async def close(self) -> None:
        await self.connection.close()

    # Calls to the store

    async def _opened(self) -> Shards:
        """Return the shards of the crawl; their number is fixed when it begins."""
        if self._shards is None:
            self._shards, seen_keys = await open_shards(
                self.connection, self._crawl, self._new_shards, self._settings.seen_keys, self._crawl_id
            )
            self._settings = replace(self._settings, seen_keys=seen_keys)
            self._packed_settings = self._settings.to_bytes()
        return self._shards

    def _call(self, name: str, shard: int, *arguments: Part) -> Call:
        assert self._shards is not None
        now = repr(self._clock()) if self._clock else ""
        return script(name), self._shards.prefix(shard), (now, self._packed_settings, *arguments)

    async def _run(self, name: str, shard: int, *arguments: Part) -> Any:
        called, key, more = self._call(name, shard, *arguments)
        return await self.connection.run(called, key, *more)

    async def _run_to_end(self, name: str, shard: int, *arguments: Part) -> Any:
        """Repeat a call while the store has more pending work than one call may do."""
        while (answer := await self._run(name, shard, *arguments))[0]:
            pass
        return answer

    def _unsent(self, links: Sequence[Candidate]) -> list[Candidate]:
        if self._losses != self.connection.losses:  # a store that crashed may have lost its last writes
            self._losses, self._recent = self.connection.losses, RecentLinks(self._settings.merge)
        return [link for link in links if self._recent.should_send(link, host_key(link.url))]

    def _mark_sent(self, links: Sequence[Candidate], *invalid: Sequence[bytes]) -> None:
        """Remember which links the store has, and forget those of hosts that the store reports as invalid."""
        for link in links:
            self._recent.add(link, host_key(link.url))
        for host in {name for names in invalid for name in names}:
            self._recent.forget_host(to_text(host))

    def _add_call(self, shard: int, links: Sequence[Candidate]) -> Call:
        return self._call("add", shard, *link_arguments(links))

    async def _claim_contents(self, shards: Shards, settlements: Sequence[Settlement]) -> None:
        """Record the owners of contents in the shards of the contents, before the leases are settled in theirs."""
        for settlement in settlements:
            if settlement.content:
                key, owner = shards.content_key(settlement.content), content_bytes(fingerprint(settlement.lease.url))
                await self.connection.call("HSETNX", key, content_bytes(settlement.content), owner)

    async def _best_shards(self, limit: int, pages: int | None) -> dict[int, int]:
        """Return how many URLs to lease from which shard to get the best of all, as of the last poll."""
        assert self._shards is not None
        if not self._heads.is_fresh(limit):
            polled = await self.connection.run_all([self._call("peek_shard", shard, HEADS) for shard in self._shards])
            self._mark_sent([], *(shard[3] for shard in polled))
            self._heads.update([[float(score) for score in shard[2]] for shard in polled])
            self._out = sum(shard[0] + shard[1] for shard in polled)
        if pages is not None:
            limit = min(limit, pages - self._out)
        wanted = self._heads.best(limit)
        self._out += sum(wanted.values())
        return wanted

    async def _lease_of(self, shard: int, limit: int, seconds: float, worker: str, pages: int | None) -> list[Lease]:
        leases, _ = await self._ask_lease(shard, limit, seconds, worker, pages, pass_over=True)
        return leases

    async def _ask_lease(
        self, shard: int, limit: int, seconds: float, worker: str, pages: int | None, *, pass_over: bool
    ) -> tuple[list[Lease], LeaseAnswer]:
        """Lease from a shard; with `pass_over`, hosts whose best URL is cold are passed over."""
        parts = (limit, repr(seconds), to_bytes(worker), "" if pages is None else pages, secrets.token_bytes(8))
        answer = await self._run_to_end("lease", shard, *parts, "1" if pass_over else "")
        self._mark_sent([], answer[2])
        return [self._lease(shard, row) for row in answer[1]], LeaseAnswer(answer[3], *answer[4])

    def _lease(self, shard: int, row: list[Any]) -> Lease:
        assert self._shards is not None
        host, rest, record, number, until, pages, relevant = row
        name = to_text(host)
        return Record.read(record).lease(
            url_of(name, rest),
            name,
            fence=self._shards.fence(shard, int(number)),
            until=float(until),
            host_pages=pages,
            host_relevant=relevant,
        )


def _by_shard(shards: Shards, leases: Sequence[Lease]) -> dict[int, list[Part]]:
    """Return the fence and the end of each lease, by shard."""
    listed: dict[int, list[Part]] = {}
    for lease in leases:
        shard, number = shards.shard_of_fence(lease.fence)
        listed.setdefault(shard, []).extend((number, repr(lease.until)))
    return listed


def _found(url: str, answer: list[Any] | None) -> UrlEntry | None:
    if answer is None:
        return None
    host, state = host_key(url), UrlState(to_text(answer[0]))
    if len(answer) == 1:
        return UrlEntry(url=url, host=host, state=state, score=0.0, hops=0, depth_left=0, parent=0, tries=0)
    return Record.read(answer[1]).entry(url, host, state)

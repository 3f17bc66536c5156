"""The frontier of many machines: one store that speaks the Redis protocol, any number of workers anywhere.

The state changes are written in Lua, in `lua/*.lua`, and run whole inside the store; this file turns records into their
arguments and their answers into records. The time is the store's.
"""

from __future__ import annotations

import heapq
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from thresher.errors import ConfigError
from thresher.frontier.base import Counts, FailureCount, HostEntry, Merge, UrlEntry, UrlState
from thresher.frontier.redis.codec import Name, Record, to_bytes, to_text, url_of
from thresher.frontier.redis.heads import HEADS, Heads
from thresher.frontier.redis.link import Call, Part, StoreLink
from thresher.frontier.redis.opening import keep_id, open_shards, refuse_lost
from thresher.frontier.redis.recent import Recent
from thresher.frontier.redis.scripts import Settings, script
from thresher.frontier.redis.shards import Batch, Shards, content_bytes, link_arguments, portions
from thresher.frontier.redis.views import Views
from thresher.frontier.sample import Sample
from thresher.frontier.scores import SAME_SCORE, check_scores
from thresher.records import Candidate, Lease, Outcome, Settlement
from thresher.urls.canonical import fingerprint
from thresher.urls.host import host_key

CLUSTER_SHARDS = 16
SCORES_AT_ONCE = 100
_NAME = re.compile(r"[\w.-]{1,64}").fullmatch


class RedisFrontier:
    """A frontier on one server or a cluster, shared by workers on any number of machines.

    Args:
        url: Where the store is, as `StoreLink` takes it; or a link that is there already.
        crawl: The crawl's name in the store: letters, digits, ``_``, ``.`` and ``-``.
        clock: Gives the time in seconds in place of the store's clock, for simulated crawls; all must agree on it.
        merge: What becomes of the score when a waiting URL is found again.
        leases_per_host: How many URLs of one host may be out at the same time.
        waiting_per_host: How many URLs of one host may wait.
        delay_seconds: How long a host is left alone after a lost lease when none was ever settled.
        shards: Into how many parts a new crawl is cut; by default 1 on one server, 16 on a cluster.
        chunk_size: How many URLs of a host wait in one key.
        crawl_id: The id that the crawl must have in the store; empty for any.
    """

    def __init__(
        self,
        url: str | StoreLink,
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
        self.link = StoreLink(url) if isinstance(url, str) else url
        self._clock = clock
        self._settings = Settings(
            merge=merge,
            leases_per_host=leases_per_host,
            waiting_per_host=waiting_per_host,
            delay_seconds=delay_seconds,
            chunk_size=chunk_size,
        )
        self._crawl, self._crawl_id = crawl, crawl_id
        self._shards_wanted = shards or (CLUSTER_SHARDS if self.link.is_cluster else 1)
        self._shards: Shards | None = None
        self._packed_settings = b""
        self._recent = Recent(merge)
        self._losses = 0
        self._views = Views(self.link, clock)
        self._heads = Heads() if clock is None else Heads(fresh_seconds=0.0)  # nobody waits in a simulated crawl
        self._out = 0  # pages and open leases of all shards, as of the last look

    async def add(self, candidates: Sequence[Candidate]) -> int:
        """Let URLs in, in this order of age; return how many were new."""
        check_scores(candidate.score for candidate in candidates)
        shards = await self._opened()
        news = self._news(candidates)
        calls = [self._add_call(shard, part) for shard, links in shards.sort(news).items() for part in portions(links)]
        answers = await self.link.run_all(calls)
        self._note_sent(news, *(afresh for _, afresh in answers))
        return sum(new for new, _ in answers)

    async def lease(self, limit: int, *, seconds: float, worker: str = "", pages: int | None = None) -> list[Lease]:
        """Hand out up to `limit` of the best URLs of hosts that may be asked now, best first.

        On one server that is exact. On a cluster it is exact inside each shard: all are looked at and the best of them
        are asked, but another worker may be faster; `pages` may be exceeded by what others lease at the same time.
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
                break  # else a host that was asked may be ready still
        return sorted(leases, key=lambda lease: -lease.score)

    async def commit(self, settlements: Sequence[Settlement]) -> list[bool]:
        """Settle leases and let their links in, each page whole; False where the lease was no longer held."""
        check_scores(link.score for settlement in settlements for link in settlement.links)
        shards = await self._opened()
        batch = Batch(shards)
        for settlement in settlements:
            if settlement.outcome is Outcome.RETRY:  # it waits again, and what was found meanwhile was not heard
                self._recent.forget_host(settlement.lease.host)
        for settlement in settlements:
            batch.take(settlement, self._news(settlement.links))
        before = await self.link.run_all([self._add_call(shard, links) for shard, links in batch.early])
        if shards.number > 1:
            await self._own_contents(shards, settlements)
        answers = await self.link.run_all([self._call("commit", shard, *parts) for shard, parts in batch.calls()])
        accepted = batch.in_order([held for answer, _ in answers for held in answer])
        sent = [
            link for settlement, held in zip(settlements, accepted, strict=True) if held for link in settlement.links
        ]
        self._note_sent(sent, *(afresh for _, afresh in (*before, *answers)))
        return accepted

    async def release(self, leases: Sequence[Lease], *, delay_seconds: float = 0.0) -> None:
        """Give leases back unused: the URLs wait again with no try counted."""
        shards = await self._opened()
        held: dict[int, list[Part]] = {}
        for lease in leases:
            shard, number = shards.shard_of_fence(lease.fence)
            held.setdefault(shard, []).extend((number, repr(lease.until)))
        calls = [self._call("release", shard, repr(delay_seconds), *listed) for shard, listed in held.items()]
        self._note_sent([], *await self.link.run_all(calls))

    async def park(self, host: str, reason: str, *, seconds: float | None = None) -> None:
        """Ask a host no more, for some seconds or until it is unparked."""
        shards = await self._opened()
        reason_text = reason.encode("utf-8", "replace")
        await self._run("park", shards.of(host), to_bytes(host), reason_text, "" if seconds is None else repr(seconds))

    async def unpark(self, host: str) -> None:
        """Let a parked host be asked again."""
        shards = await self._opened()
        await self._run("unpark", shards.of(host), to_bytes(host))

    async def adjust_relevant(self, changes: Mapping[str, int]) -> None:
        """Add to the number of relevant pages of hosts, after pages were judged again."""
        shards = await self._opened()
        rows: dict[int, list[Part]] = {}
        for host, change in changes.items():
            rows.setdefault(shards.of(host), []).extend((to_bytes(host), change))
        calls = [
            self._call("adjust", shard, *parts[at : at + 2 * SCORES_AT_ONCE])
            for shard, parts in rows.items()
            for at in range(0, len(parts), 2 * SCORES_AT_ONCE)
        ]
        await self.link.run_all(calls)

    async def rescore(self, scores: Mapping[str, float], *, was: Mapping[str, float] | None = None) -> int:
        """Give waiting URLs new scores whatever the merge; return how many still waited."""
        check_scores(scores.values())
        shards = await self._opened()
        rows: dict[int, list[list[Part]]] = {}
        for url, score in scores.items():
            host = host_key(url)
            self._recent.forget(url, host)
            name = Name.of(url, host)
            must_be = "" if was is None else repr(was[url])
            rows.setdefault(shards.of(host), []).append([name.host, name.rest, name.number, repr(score), must_be])
        calls = [
            self._call(
                "rescore", shard, repr(SAME_SCORE), *(part for row in listed[at : at + SCORES_AT_ONCE] for part in row)
            )
            for shard, listed in rows.items()
            for at in range(0, len(listed), SCORES_AT_ONCE)
        ]
        return sum(await self.link.run_all(calls))

    async def peek(self, limit: int, *, below: float | None = None) -> list[UrlEntry]:
        """List the best waiting URLs over all hosts, parked ones included, with scores below `below`."""
        shards = await self._opened()
        found: list[tuple[float, int, UrlEntry]] = []
        for shard in shards:
            found += await self._views.best(shards.prefix(shard), limit, below)
        return [entry for _, _, entry in heapq.nsmallest(limit, found, key=lambda one: one[:2])]

    async def find(self, url: str) -> UrlEntry | None:
        """Say where a URL stands; None when it was never let in (or was pushed out).

        Of URLs that were settled long ago only the state is known here; the rest is in the page store.
        """
        shards = await self._opened()
        host = host_key(url)
        name = Name.of(url, host)
        answer = await self._run("find", shards.of(host), name.host, name.rest, name.number, name.member)
        if answer is None:
            return None
        state = UrlState(to_text(answer[0]))
        if len(answer) == 1:
            return UrlEntry(url=url, host=host, state=state, score=0.0, hops=0, depth_left=0, parent=0, tries=0)
        return Record.read(answer[1]).entry(url, host, state)

    async def counts(self) -> Counts:
        """Return the frontier in numbers."""
        shards = await self._opened()
        await refuse_lost(self.link, self._crawl, self._crawl_id)
        rows = [(await self._until_settled("counts", shard))[1] for shard in shards]
        return Counts.of(map(sum, zip(*rows, strict=True)))

    async def hosts(self, limit: int = 100, *, parked: bool = False) -> list[HostEntry]:
        """List hosts, those with most pages first; only parked ones when asked."""
        shards, listed = await self._opened(), self._views.parked if parked else self._views.hosts
        entries: list[HostEntry] = []
        for shard in shards:
            prefix = shards.prefix(shard)
            entries += await listed(prefix, limit, await self._views.now(prefix), self._settings.delay_seconds)
        return heapq.nsmallest(limit, entries, key=lambda entry: (-entry.pages, entry.host))

    async def find_host(self, host: str) -> HostEntry | None:
        """Return one host by its key; None when it is unknown."""
        shards = await self._opened()
        return await self._views.host(shards.prefix(shards.of(host)), to_bytes(host), self._settings.delay_seconds)

    async def failures(self) -> list[FailureCount]:
        """Count failed URLs by host and reason, and the URLs that wait for parked hosts, in no order."""
        shards = await self._opened()
        return [count for shard in shards for count in await self._views.failures(shards.prefix(shard))]

    async def sample(self, limit: int) -> Sample:
        """Return the scores of waiting URLs, about so many of them, drawn by chance."""
        shards = await self._opened()
        share = limit // shards.number
        scores = [score for shard in shards for score in await self._views.sample(shards.prefix(shard), share)]
        return Sample(scores=scores, whole=False)

    async def recall_all(self, notes: Sequence[tuple[str, str]]) -> list[str | None]:
        """Return several notes, by host and kind."""
        shards = await self._opened()
        calls = [self._call("recall", shards.of(host), to_bytes(host), to_bytes(kind)) for host, kind in notes]
        return [None if note is None else to_text(note) for note in await self.link.run_all(calls)]

    async def next_hosts(self, limit: int) -> list[str]:
        """List hosts that may be asked now, in the order of their best URLs."""
        shards = await self._opened()
        await self.link.run_all([self._call("next_time", shard) for shard in shards])  # lets hosts wake
        ranked = [each for shard in shards for each in await self._views.ready(shards.prefix(shard), limit)]
        best = heapq.nlargest(limit, ranked) if shards.number > 1 else ranked
        return [to_text(member[4:]) for _, member in best]

    async def seconds_to_next(self) -> float | None:
        """Return the seconds until `lease` may have something to hand out; None when nothing waits or is leased."""
        shards = await self._opened()
        answers = await self.link.run_all([self._call("next_time", shard) for shard in shards])
        seconds = min((float(answer) for answer in answers if answer is not None), default=None)
        if seconds is None:  # nothing is left, or the store was emptied
            await refuse_lost(self.link, self._crawl, self._crawl_id)
        return seconds

    async def first_with(self, content: int) -> int:
        """Return the fingerprint of the URL whose settlement brought this content first; 0 when none did."""
        shards = await self._opened()
        key = shards.content_key(content)
        owner = await self.link.call("HGET", key, content_bytes(content))
        return int.from_bytes(owner, "big", signed=True) if owner else 0

    async def remember(self, host: str, kind: str, value: str, *, seconds: float) -> None:
        """Keep what a worker learned about a host for all workers, for some seconds."""
        shards = await self._opened()
        note = value.encode("utf-8", "replace")
        await self._run("remember", shards.of(host), to_bytes(host), to_bytes(kind), note, repr(seconds))

    async def recall(self, host: str, kind: str) -> str | None:
        """Return what was remembered about a host, unless its time is over."""
        return (await self.recall_all([(host, kind)]))[0]

    async def enter(self, gate: str, *, seconds: float) -> float:
        """Go through a gate, and shut it for so long unless `leave` is called; the seconds to wait when it is shut."""
        shards = await self._opened()
        return float(await self._run("enter", shards.of(gate), to_bytes(gate), repr(seconds)))

    async def leave(self, gate: str, *, delay_seconds: float) -> None:
        """Let the gate open again after a delay."""
        shards = await self._opened()
        await self._run("leave", shards.of(gate), to_bytes(gate), repr(delay_seconds))

    async def identify(self, crawl_id: str) -> str:
        """Keep the id of the crawl unless the store has one; return the one that it has."""
        await self._opened()
        self._crawl_id = await keep_id(self.link, self._crawl, crawl_id)
        return self._crawl_id

    async def reopen(self, candidates: Sequence[Candidate]) -> int:
        """Let URLs that are done or failed wait again; return how many were."""
        shards, reopened = await self._opened(), 0
        for candidate in candidates:
            host = host_key(candidate.url)
            name = Name.of(candidate.url, host)
            if await self._run("reopen", shards.of(host), name.host, name.rest, name.number, name.member):
                self._recent.forget(candidate.url, host)
                reopened += await self.add([candidate])
        return reopened

    async def close(self) -> None:
        """Let go of the connections; nothing that was committed is lost."""
        await self.link.close()

    # The store

    async def _opened(self) -> Shards:
        """Return the crawl's shards, as they were cut when it began."""
        if self._shards is None:
            self._shards, seen_keys = await open_shards(
                self.link, self._crawl, self._shards_wanted, self._settings.seen_keys, self._crawl_id
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
        return await self.link.run(called, key, *more)

    async def _until_settled(self, name: str, shard: int, *arguments: Part) -> Any:
        """Ask again while the store has more to see to than one call may take."""
        while (answer := await self._run(name, shard, *arguments))[0]:
            pass
        return answer

    def _news(self, links: Sequence[Candidate]) -> list[Candidate]:
        if self._losses != self.link.losses:  # a store that crashed may have forgotten what it heard last
            self._losses, self._recent = self.link.losses, Recent(self._settings.merge)
        return [link for link in links if self._recent.is_news(link, host_key(link.url))]

    def _note_sent(self, links: Sequence[Candidate], *afresh: Sequence[bytes]) -> None:
        """Take down which links the store has heard of; whose links the store calls afresh are news again."""
        for link in links:
            self._recent.note(link, host_key(link.url))
        for host in {name for names in afresh for name in names}:
            self._recent.forget_host(to_text(host))

    def _add_call(self, shard: int, links: Sequence[Candidate]) -> Call:
        return self._call("add", shard, *link_arguments(links))

    async def _own_contents(self, shards: Shards, settlements: Sequence[Settlement]) -> None:
        """Say whose contents these are, in the shards of the contents, before the leases are settled in theirs."""
        for settlement in settlements:
            if settlement.content:
                key, owner = shards.content_key(settlement.content), content_bytes(fingerprint(settlement.lease.url))
                await self.link.call("HSETNX", key, content_bytes(settlement.content), owner)

    async def _best_shards(self, limit: int, pages: int | None) -> dict[int, int]:
        """Say how many URLs to ask of which shard, so that they are the best of all, or were a moment ago."""
        assert self._shards is not None
        if not self._heads.serves(limit):
            looks = await self.link.run_all([self._call("look", shard, HEADS) for shard in self._shards])
            self._note_sent([], *(look[3] for look in looks))
            self._heads.take([[float(score) for score in look[2]] for look in looks])
            self._out = sum(look[0] + look[1] for look in looks)
        if pages is not None:
            limit = min(limit, pages - self._out)
        wanted = self._heads.best(limit)
        self._out += sum(wanted.values())
        return wanted

    async def _lease_of(self, shard: int, limit: int, seconds: float, worker: str, pages: int | None) -> list[Lease]:
        left, request = "" if pages is None else pages, secrets.token_bytes(8)
        answer = await self._until_settled("lease", shard, limit, repr(seconds), to_bytes(worker), left, request)
        self._note_sent([], answer[2])
        return [self._lease(shard, row) for row in answer[1]]

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

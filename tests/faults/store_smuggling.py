"""Row S6 on a store: hostile addresses, strategy data and reasons are data to it, never commands or keys."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import redis

from testing.servers import StoreServer, store_server
from tests.faults.smuggling import Tally, hostile_urls
from tests.faults.table import Outcome
from thresher.frontier.base import CrawlStore, UrlState
from thresher.frontier.redis.frontier import RedisFrontier
from thresher.frontier.redis.scripts import NAMES, script
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import Candidate, Lease, Settlement
from thresher.records import Outcome as Result
from thresher.urls.canonical import canonicalize

CRAWL = "smuggling"
AT_ONCE = 500
ASKED_AT_ONCE = 20
BYSTANDERS = {"th:other": "kept", "page": "kept", "'); FLUSHALL": "kept"}
"""Keys of others in the same store."""
HARMFUL = ("flush", "config", "debug", "shutdown", "slaveof", "replicaof", "module", "save", "acl", "function")
"""What nobody but an administrator sends."""


@dataclass
class Smuggled:
    """What became of hostile addresses in a store.

    Args:
        strange_keys: Keys that are not of the crawl, and that were not there before.
        strange_scripts: Scripts that the store has, and that are none of ours.
        harmful: Commands of administrators that came in.
    """

    urls: int = 0
    tally: Tally = field(default_factory=Tally)
    strange_keys: list[str] = field(default_factory=list)
    strange_scripts: int = 0
    harmful: list[str] = field(default_factory=list)

    @property
    def held(self) -> bool:
        """Whether all of it was data."""
        return not (self.tally.broken or self.strange_keys or self.strange_scripts or self.harmful)


def smuggled(number: int, kind: str = "redis") -> Smuggled:
    """Take hostile URLs through a store; every one must come out as it went in."""
    done = Smuggled()
    with tempfile.TemporaryDirectory() as folder, store_server(kind, Path(folder)) as server:
        with server.client() as client:
            client.mset(BYSTANDERS)
            client.config_resetstat()
        urls = list(dict.fromkeys(url for text in hostile_urls(number) if (url := canonicalize(text))))
        asyncio.run(_through(server, urls, done.tally))
        done.urls = len(urls)
        done.strange_scripts = _strange_scripts(server)
        done.strange_keys, done.harmful = _strange_keys(server), _harmful(server)
        with server.client() as client:
            done.tally.expect(client.mget(list(BYSTANDERS)) == ["kept"] * len(BYSTANDERS), "a bystander was changed")
    return done


async def _through(server: StoreServer, urls: list[str], tally: Tally) -> None:
    frontier = RedisFrontier(server.url, crawl=CRAWL)
    strategy_data = {"note": "'); FLUSHALL \r\n]]..redis.call('FLUSHALL')..[["}
    for start in range(0, len(urls), AT_ONCE):
        await frontier.add(
            [Candidate(url=url, score=0.5, strategy_data=strategy_data) for url in urls[start : start + AT_ONCE]]
        )
    await frontier.put_state("http://h1.test", "robots\r\nFLUSHALL", "'\"\r\nFLUSHALL\r\n", seconds=600)
    tally.expect(
        await frontier.get_state("http://h1.test", "robots\r\nFLUSHALL") == "'\"\r\nFLUSHALL\r\n",
        "a note came back changed",
    )
    settled = await _settle_all(frontier, strategy_data, tally)
    for url in urls:
        tally.expect(settled.get(url) == 1, f"leased {settled.get(url, 0)} times: {url!r}")
    await frontier.hosts(100)
    await frontier.counts()
    await frontier.close()


async def _look_up(frontier: CrawlStore, url: str, tally: Tally) -> None:
    entry = await frontier.find(url)
    right = entry and (entry.url, entry.state, entry.reason) == (url, UrlState.FAILED, _reason(url))
    tally.expect(bool(right), f"{url!r} became {entry}")


async def _settle_all(frontier: CrawlStore, strategy_data: dict[str, str], tally: Tally) -> dict[str, int]:
    settled: dict[str, int] = {}
    while leases := await frontier.lease(AT_ONCE, seconds=600, worker="'w\r\n"):
        for lease in leases:
            tally.expect(
                lease.strategy_data == strategy_data, f"strategy data of {lease.url!r} became {lease.strategy_data!r}"
            )
            settled[lease.url] = settled.get(lease.url, 0) + 1
        await frontier.commit([_failed(lease) for lease in leases])
        for start in range(0, len(leases), ASKED_AT_ONCE):  # now: reasons are kept of what was settled last
            asked = leases[start : start + ASKED_AT_ONCE]
            await asyncio.gather(*(_look_up(frontier, lease.url, tally) for lease in asked))
    return settled


def _failed(lease: Lease) -> Settlement:
    return Settlement(lease=lease, outcome=Result.FAILED, reason=_reason(lease.url))


def _reason(url: str) -> Reason:
    return Reason.of(ReasonKind.OTHER, f"'\"\r\n{url[-30:]}")


def _strange_scripts(server: StoreServer) -> int:
    with server.client() as client:
        known = sum(client.script_exists(*(script(name).sha for name in NAMES)))
    return int(str(server.info("memory")["number_of_cached_scripts"])) - known


def s6() -> Outcome:
    """Fill row S6 for a store."""
    done = smuggled(100_000)
    return Outcome(
        held=done.held,
        figure=f"{done.urls:,} hostile URLs through Redis: {len(done.tally.broken)} changed, lost or reported wrongly; "
        f"keys outside the schema {len(done.strange_keys)}, scripts that are none of ours {done.strange_scripts}, "
        f"commands of administrators {len(done.harmful)}; keys of others unchanged",
    )


def _strange_keys(server: StoreServer) -> list[str]:
    with redis.Redis(port=server.port) as client:
        keys = [key for key in client.scan_iter(count=1000) if not key.startswith(b"th:{" + CRAWL.encode())]
    return [repr(key) for key in keys if key.decode("utf-8", "replace") not in BYSTANDERS]


def _harmful(server: StoreServer) -> list[str]:
    sent = [name.removeprefix("cmdstat_") for name in server.info("commandstats")]
    return [name for name in sent if name.startswith(HARMFUL) and name != "config|resetstat"]

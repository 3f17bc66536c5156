"""What the store keeps per URL that waits, per host, and per URL that is done."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.stores.clients import fill, fill_by_copies, open_frontier
from bench.stores.server import empty, measured_server, patient, resident_bytes, set_option, used_bytes, version
from bench.stores.world import LEASE_SECONDS, Shape
from testing.servers import StoreServer
from thresher.frontier.base import CrawlStore
from thresher.frontier.redis.codec import Name
from thresher.frontier.redis.scripts import Settings
from thresher.frontier.redis.shards import Shards
from thresher.records import Lease, Outcome, Settlement

DONE_HOSTS = 400
AT_ONCE = 200
MAX_GROWTH = 1_000_000


def solve(rows: Sequence[tuple[Shape, float]]) -> tuple[float, float]:
    """Return bytes per URL and bytes per host from the bytes per URL of two shapes with few and many URLs per host."""
    (few, few_bytes), (many, many_bytes) = sorted(rows, key=lambda row: row[0].urls_per_host)
    per_host = (few_bytes - many_bytes) / (1 / few.urls_per_host - 1 / many.urls_per_host)
    return many_bytes - per_host / many.urls_per_host, per_host


def measure_memory(kind: str, shape: Shape, folder: Path) -> dict[str, Any]:
    """Fill a new server as a crawl would, hosts in turns, and return what each URL takes, all included."""
    with measured_server(kind, empty(folder / f"memory-{kind}-{shape.name}")) as server:
        _keep_nothing_else(server)
        fill(server.url, Shape(1, 1))  # the scripts are loaded now
        with patient(server) as client:
            client.flushall()
        used, resident = used_bytes(server), resident_bytes(server)
        grown = shape.size <= MAX_GROWTH
        seconds = fill(server.url, shape) if grown else fill_by_copies(server.url, shape)
        return {
            "version": version(server),
            "urls": shape.size,
            "bytes_per_url": (used_bytes(server) - used) / shape.size,
            "resident_bytes_per_url": (resident_bytes(server) - resident) / shape.size,
            "resident_share": resident_bytes(server) / used_bytes(server),
            "filled_by": "add" if grown else "copies",
            "fill_seconds": seconds,
        }


def _keep_nothing_else(server: StoreServer) -> None:
    set_option(server, "appendonly", "no")
    set_option(server, "slowlog-log-slower-than", -1)  # its entries are memory too


def measure_done(kind: str, urls: int, folder: Path) -> dict[str, Any]:
    """Settle `urls` URLs, all with contents of their own, and return what each keeps after it is gone from its queue.

    Measured between one third and all of them: what a store needs once, such as its list of the newest settled URLs, is
    there by then.
    """
    shape = Shape(DONE_HOSTS, max(1, urls // DONE_HOSTS))
    with measured_server(kind, empty(folder / f"done-{kind}")) as server:
        _keep_nothing_else(server)
        first = _settled(server, Shape(shape.hosts, shape.urls_per_host // 3))
        last = _settled(server, shape)
        grown = shape.size - shape.hosts * (shape.urls_per_host // 3)
        return {"version": version(server), "urls": grown, "done_url_bytes": (last - first) / grown}


def measure_seen(kind: str, urls: int, folder: Path) -> dict[str, Any]:
    """Put `urls` URLs into the seen sets as the scripts do, nothing else, and return what each takes."""
    with measured_server(kind, empty(folder / f"seen-{kind}")) as server:
        _keep_nothing_else(server)
        used, keys = used_bytes(server), Settings().seen_keys
        prefix = Shards("seen", 1).prefix(0)
        with patient(server) as client:
            for start in range(0, urls, AT_ONCE * 50):
                pipe = client.pipeline(transaction=False)
                for number in range(start, min(urls, start + AT_ONCE * 50)):
                    name = Name.of(f"https://h{number % 50_000}.example/{number}", f"h{number % 50_000}.example")
                    pipe.sadd(prefix + b"s%d" % (name.number % keys), name.member)
                pipe.execute()
        return {"version": version(server), "urls": urls, "seen_url_bytes": (used_bytes(server) - used) / urls}


def _settled(server: StoreServer, shape: Shape) -> int:
    """Fill the store, settle everything that waits, and return what is used then."""
    fill(server.url, shape)  # what is settled already is not let in again
    asyncio.run(_settle_all(server.url, random.Random(shape.size)))
    return used_bytes(server)


async def _settle_all(url: str, rng: random.Random) -> None:
    frontier = open_frontier(url)
    while leases := await frontier.lease(AT_ONCE, seconds=LEASE_SECONDS):
        await _settle(frontier, leases, rng)
    await frontier.close()


async def _settle(frontier: CrawlStore, leases: Sequence[Lease], rng: random.Random) -> None:
    await frontier.commit(
        [Settlement(lease=lease, outcome=Outcome.DONE, page=True, content=1 + rng.getrandbits(62)) for lease in leases]
    )

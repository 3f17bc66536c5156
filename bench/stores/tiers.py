"""What a cold storage saves and costs: memory per URL, a cycle, loads, the error of the filters, a killed store.

    python -m bench.stores.tiers [--urls 2000000] [--plain-urls 200000] [--per-host 1000] [--cycles 400]
    python -m bench.stores.tiers --print              what was measured so far, as tables
    python -m bench.stores.tiers --write-constants    what `thresher plan --tiered` computes with, from the rows

Two servers are filled with hosts of the same shape, one plain, one with tiers; then they take turns at cycles as in
`bench.stores.store`: settle a page with 60 links (36 new), then lease the next URL. All CPU counts: the server's, and
the client's, which also moves URLs between the tiers. The tiers keep about 16 hot URLs per host, and have partitions of
a million URLs, as a crawl of 10^9 pages on 16 shards has.

The share of RAM is the tiered store's bytes per URL over the plain one's. Bytes are `used_memory` of the server without
what an empty one has, scripts, and buffers of clients and of the log; hosts, filters and lists of runs are in it. A URL
of a plain store takes the same RAM whatever their number, so `--plain-urls` fills the plain one with fewer hosts; that
saves a third of the time. The RAM of the worker that merges runs is `client_peak_bytes`.

In the end the tiered server is killed (SIGKILL) and started again; it rewrites its log as `deploy/redis.conf` says.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import shutil
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from bench.stores.clients import CRAWL, PATIENCE_SECONDS, WAITING_PER_HOST
from bench.stores.rows import CONSTANTS, Rows, print_tables, put_constants
from bench.stores.server import cpu_of, empty, measured_server, resident_bytes, set_option, version
from bench.stores.world import Pages, Shape, first_batches, host_name
from testing.servers import StoreServer
from thresher.frontier.redis.codec import Name
from thresher.frontier.redis.connection import RedisConnection
from thresher.frontier.redis.frontier import RedisFrontier
from thresher.frontier.tiered.frontier import TieredFrontier
from thresher.frontier.tiered.runs import FALSE_POSITIVE_RATE, read_list
from thresher.objects.base import FolderObjects

ROWS = Path(__file__).parents[1] / "results" / "tiers.jsonl"
COMMAND = "python -m bench.stores.tiers"
HOT_PER_HOST = 16
URLS_PER_PARTITION = 1_000_000
TURNS = 8
PROBED = 20_000
LOADED_HOSTS = 50


@dataclass
class World:
    """One server, its frontier, and what it spent."""

    server: StoreServer
    frontier: RedisFrontier
    shape: Shape
    fill_seconds: float = 0.0
    fill_cpu_seconds: float = 0.0
    server_us: list[float] = field(default_factory=list)
    client_us: list[float] = field(default_factory=list)
    most_hot: int = 0

    def __post_init__(self) -> None:
        self.pages = Pages(self.frontier, self.shape)

    async def fill(self) -> None:
        start, spent = time.perf_counter(), self._cpu_us()
        for batch in first_batches(self.shape):
            await self.frontier.add(batch)
            if isinstance(self.frontier, TieredFrontier):
                await self.frontier.maintain()
        self.fill_seconds = time.perf_counter() - start
        self.fill_cpu_seconds = (self._cpu_us() - spent) / 1e6

    def _cpu_us(self) -> float:
        return cpu_of(self.server).process + _own_cpu_us()

    async def turn(self, cycles: int) -> None:
        await self.pages.cycle()
        server, client = cpu_of(self.server).process, _own_cpu_us()
        await self.pages.cycles(cycles)
        if isinstance(self.frontier, TieredFrontier):
            self.most_hot = max(self.most_hot, await _hot(self.frontier))
            await self.frontier.maintain()
        self.server_us.append((cpu_of(self.server).process - server) / cycles)
        self.client_us.append((_own_cpu_us() - client) / cycles)
        await self.pages.release_all()


def data_bytes(server: StoreServer) -> int:
    """Return what the server's data takes: without scripts, buffers of clients and of the log."""
    reported = server.info("memory")
    other = ("used_memory_startup", "used_memory_scripts", "mem_clients_normal", "mem_aof_buffer")
    return int(reported["used_memory"]) - sum(int(reported.get(name, 0)) for name in other)  # type: ignore[call-overload, no-any-return]


def _own_cpu_us() -> float:
    spent = resource.getrusage(resource.RUSAGE_SELF)
    return 1e6 * (spent.ru_utime + spent.ru_stime)


def plain_frontier(url: str) -> RedisFrontier:
    connection = RedisConnection(url, patience_seconds=PATIENCE_SECONDS)
    return RedisFrontier(connection, CRAWL, waiting_per_host=WAITING_PER_HOST)


def tiered_frontier(url: str, shape: Shape, folder: Path) -> TieredFrontier:
    connection = RedisConnection(url, patience_seconds=PATIENCE_SECONDS)
    return TieredFrontier(
        connection,
        CRAWL,
        objects=FolderObjects(folder),
        hot_urls=HOT_PER_HOST * shape.hosts,
        partitions=max(1, round(shape.size / URLS_PER_PARTITION)),
        waiting_per_host=WAITING_PER_HOST,
    )


async def measure(shape: Shape, plain: Shape, cycles: int, folder: Path) -> list[dict[str, Any]]:
    """Fill both servers, take turns at cycles, then probe the filters and load hosts."""
    with ExitStack() as stack:
        servers = [stack.enter_context(measured_server("redis", empty(folder / kind))) for kind in ("plain", "tiered")]
        for server in servers:
            set_option(server, "slowlog-log-slower-than", -1)  # its entries are memory too
            set_option(server, "auto-aof-rewrite-min-size", "256mb")
            set_option(server, "auto-aof-rewrite-percentage", 100)
        tiered = tiered_frontier(servers[1].url, shape, folder / "cold")
        worlds = [World(servers[0], plain_frontier(servers[0].url), plain), World(servers[1], tiered, shape)]
        for world in worlds:
            await world.fill()
        used = [data_bytes(server) for server in servers]
        cold = (await _filter_bytes(tiered), await _disk_bytes(tiered, folder / "cold"))
        rows = [_memory(worlds, used, cold, await tiered.counts(), await _hot(tiered))]
        for turn in range(TURNS + 1):
            for world in worlds:
                await world.turn(max(1, cycles // TURNS))
                if turn == 0:
                    world.server_us, world.client_us = [], []
        rows[0] |= {"most_hot_urls": worlds[1].most_hot, "data_bytes_after_cycles": data_bytes(servers[1])}
        rows += [_cycle(worlds, cycles), await _error(tiered, shape), await _loads(tiered, shape)]
        rows.append(await _recovery(worlds[1]))
        for world in worlds:
            await world.frontier.close()
    return rows


def _memory(worlds: list[World], used: list[int], cold: tuple[int, int], counts: Any, hot: int) -> dict[str, Any]:
    plain, tiered = worlds
    return {
        "part": "memory",
        "version": version(plain.server),
        "urls": tiered.shape.size,
        "plain_urls": plain.shape.size,
        "hot_urls": hot,
        "waiting": counts.waiting,
        "plain_bytes_per_url": used[0] / plain.shape.size,
        "tiered_bytes_per_url": used[1] / tiered.shape.size,
        "share": used[1] / tiered.shape.size / (used[0] / plain.shape.size),
        "filter_bytes_per_cold_url": cold[0] / max(1, counts.waiting - hot),
        "disk_bytes_per_cold_url": cold[1] / max(1, counts.waiting - hot),
        "plain_resident_bytes": resident_bytes(plain.server),
        "tiered_resident_bytes": resident_bytes(tiered.server),
        "plain_fill_seconds": plain.fill_seconds,
        "tiered_fill_seconds": tiered.fill_seconds,
        "plain_fill_cpu_seconds": plain.fill_cpu_seconds,
        "tiered_fill_cpu_seconds": tiered.fill_cpu_seconds,
        "client_peak_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }


async def _listed(frontier: TieredFrontier) -> list[bytes]:
    """Return the names of the runs, without those that were replaced and will be deleted."""
    lists = await frontier.connection.call("HVALS", frontier.prefix(0) + b"R")
    return [run.name for each in lists for run in read_list(each)]


async def _disk_bytes(frontier: TieredFrontier, folder: Path) -> int:
    names = {name.hex() for name in await _listed(frontier)}
    files = await asyncio.to_thread(lambda: list(folder.rglob("*.parquet")))
    return sum(path.stat().st_size for path in files if path.stem in names)


async def _filter_bytes(frontier: TieredFrontier) -> int:
    keys = [frontier.prefix(0) + b"B" + name for name in await _listed(frontier)]
    return sum([int(await frontier.connection.call("MEMORY USAGE", key)) for key in keys])


async def _hot(frontier: TieredFrontier) -> int:
    waiting, cold = await frontier.connection.call("HMGET", frontier.prefix(0) + b"x", "waiting", "cold")
    return int(waiting) - int(cold)


def _cycle(worlds: list[World], cycles: int) -> dict[str, Any]:
    plain, tiered = worlds
    sums = [median(map(sum, zip(world.server_us, world.client_us, strict=True))) for world in worlds]
    means = [(sum(world.server_us) + sum(world.client_us)) / TURNS for world in worlds]
    return {
        "part": "cycle",
        "version": version(plain.server),
        "urls": tiered.shape.size,
        "plain_urls": plain.shape.size,
        "cycles": cycles,
        "plain_server_us": median(plain.server_us),
        "tiered_server_us": median(tiered.server_us),
        "plain_client_us": median(plain.client_us),
        "tiered_client_us": median(tiered.client_us),
        "median_ratio": sums[1] / sums[0],
        "server_ratio": median(tiered.server_us) / median(plain.server_us),
        "mean_ratio": means[1] / means[0],
        "tiered_server_us_mean": sum(tiered.server_us) / TURNS,
    }


async def _error(frontier: TieredFrontier, shape: Shape) -> dict[str, Any]:
    """Probe the filters with URLs that were never added, as the scripts do."""
    prefix, hits, runs = frontier.prefix(0), 0, 0
    lists = await frontier.connection.call("HVALS", prefix + b"R")
    listed = [run for each in lists for run in read_list(each)]
    filters = {run.name: await frontier.connection.call("GET", prefix + b"B" + run.name) for run in listed}
    partitions = [read_list(each) for each in lists]
    for number in range(PROBED):
        name = Name.of(f"https://{host_name(0)}/never/{number}", host_name(0))
        chosen = partitions[number % len(partitions)]
        runs += len(chosen)
        hits += any(_has(filters[run.name], run.bits, name) for run in chosen)
    return {
        "part": "error",
        "probed": PROBED,
        "runs_per_partition": runs / PROBED,
        "false_positive_rate": hits / PROBED,
        "computed_rate_of_a_run": FALSE_POSITIVE_RATE,
    }


def _has(content: bytes, bits: int, name: Name) -> bool:
    at = int(name.member) & 0xFFFFFFFF
    for _ in range(6):
        place = at % bits
        if not content[place // 8] >> (7 - place % 8) & 1:
            return False
        at += name.number
    return True


async def _loads(frontier: TieredFrontier, shape: Shape) -> dict[str, Any]:
    """Load the best cold URLs of some hosts, one after the other."""
    seconds: list[float] = []
    cpu: list[float] = []
    await frontier.maintain()
    for number in range(min(LOADED_HOSTS, shape.hosts)):
        name = host_name(number).encode()
        host = (await frontier._cold.hosts(frontier.prefix(0), [name]))[name]
        if not host.has_cold:
            continue
        start, own = time.perf_counter(), _own_cpu_us()
        await frontier._load_now(0, [name])
        seconds.append(time.perf_counter() - start)
        cpu.append((_own_cpu_us() - own) / 1e3)
    return {
        "part": "load",
        "loads": len(seconds),
        "load_ms_p50": 1e3 * median(seconds),
        "load_client_cpu_ms_p50": median(cpu),
        "load_ms_most": 1e3 * max(seconds),
    }


async def _recovery(world: World) -> dict[str, Any]:
    """Kill the server, start it again, and wait until the frontier answers."""
    before = await world.frontier.counts()
    log_bytes = sum(path.stat().st_size for path in world.server.folder.rglob("*.aof"))
    world.server.kill()
    start = time.perf_counter()
    world.server.restart()
    after = await world.frontier.counts()
    return {
        "part": "recovery",
        "waiting_before": before.waiting,
        "waiting_after": after.waiting,
        "seconds": time.perf_counter() - start,
        "log_bytes": log_bytes,
    }


def write_constants(rows: Rows, path: Path = CONSTANTS) -> None:
    """Put the constants of the tiers into the plan's file, from the rows with the most URLs."""
    memory, cycle = (max(rows.of(what), key=lambda row: float(row["urls"])) for what in ("memory", "cycle"))
    recovery = max(rows.of("recovery"), key=lambda row: float(row["waiting_before"]))
    values = {
        "store_log_seconds_per_gigabyte": (recovery["seconds"] / (recovery["log_bytes"] / 1e9), recovery),
        "tiers_hot_urls_per_host": (memory["most_hot_urls"] / (memory["urls"] / memory["per_host"]), memory),
        "tiers_cold_url_bytes": (memory["filter_bytes_per_cold_url"], memory),
        "tiers_cold_url_disk_bytes": (memory["disk_bytes_per_cold_url"], memory),
        # Below 1 only because a plain host with 1,000 URLs costs more than one of the shape behind the other constants.
        "tiers_cycle_share": (max(1.0, cycle["server_ratio"]), cycle),
    }
    put_constants(values, COMMAND, path)


def main() -> None:
    """Measure, print, or write the constants."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="What a cold storage saves and costs.")
    parser.add_argument("--urls", type=int, default=2_000_000)
    parser.add_argument("--plain-urls", type=int, help="URLs of the plain store; as many as of the other by default")
    parser.add_argument("--per-host", type=int, default=1_000)
    parser.add_argument("--cycles", type=int, default=400)
    parser.add_argument("--rows", type=Path, default=ROWS)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--print", action="store_true", help="print the rows as tables, measure nothing")
    parser.add_argument("--write-constants", action="store_true", help="write what `thresher plan` computes with")
    options = parser.parse_args()
    rows = Rows(options.rows)
    if options.write_constants:
        write_constants(rows)
    elif not options.print:
        folder = options.folder or Path(tempfile.mkdtemp(prefix="bench-tiers-"))
        try:
            shape = Shape(options.urls // options.per_host, options.per_host)
            plain = Shape((options.plain_urls or options.urls) // options.per_host, options.per_host)
            for row in asyncio.run(measure(shape, plain, options.cycles, folder)):
                rows.add({"kind": "redis", "shape": shape.name, "per_host": options.per_host} | row)
        finally:
            if options.folder is None:
                shutil.rmtree(folder)
    print_tables(rows)


if __name__ == "__main__":
    main()

"""What one cycle costs as a store grows, on servers that are all open and take turns."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from bench.stores.clients import open_frontier
from bench.stores.server import Cpu, cpu_of, log_bytes, rewrite_log, slowest, used_bytes, version
from bench.stores.snapshots import Snapshots
from bench.stores.world import Pages, Shape
from testing.servers import StoreServer

TURNS = 8
WARM_UP_CYCLES = 40
PER_HOST = 100


def curves(sizes: Sequence[int], hosts: int) -> dict[str, list[Shape]]:
    """Return the two ways to grow: more hosts of 100 URLs, or `hosts` hosts with more URLs each."""
    return {
        f"{PER_HOST} URLs per host": [Shape(size // PER_HOST, PER_HOST) for size in sizes],
        f"{hosts:,} hosts": [Shape(hosts, size // hosts) for size in sizes if size >= hosts],
    }


@dataclass
class World:
    """A filled server and the pages that are settled on it."""

    kind: str
    shape: Shape
    server: StoreServer
    turns: list[Cpu] = field(default_factory=list)
    logs: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.frontier = open_frontier(self.server.url)
        self.pages = Pages(self.frontier, self.shape)

    async def turn(self, cycles: int) -> None:
        """Turn some cycles and note what the server spent on them."""
        await self.pages.cycle()
        cpu, log = cpu_of(self.server), log_bytes(self.server)
        await self.pages.cycles(cycles)
        spent = cpu_of(self.server) - cpu
        self.turns.append(Cpu(spent.process / cycles, spent.scripts / cycles, spent.calls))
        self.logs.append((log_bytes(self.server) - log) / cycles)
        await self.pages.release_all()

    def row(self) -> dict[str, Any]:
        """Return what was measured."""
        seconds = sorted(self.pages.seconds)
        longest_ms, slow = slowest(self.server)
        return {
            "version": version(self.server),
            "urls": self.shape.size,
            "cycles": len(seconds),
            "server_cpu_us": median(turn.process for turn in self.turns),
            "server_cpu_us_least": min(turn.process for turn in self.turns),
            "script_us": median(turn.scripts for turn in self.turns),
            "script_us_least": min(turn.scripts for turn in self.turns),
            "client_ms_p10": 1e3 * seconds[len(seconds) // 10],
            "client_ms_p50": 1e3 * median(seconds),
            "client_ms_p99": 1e3 * seconds[len(seconds) * 99 // 100],
            "longest_script_ms": longest_ms,
            "scripts_above_1_ms": slow,
            "log_bytes_per_cycle": median(self.logs),
        }


def measure_cycles(
    snapshots: Snapshots, kinds: Sequence[str], shapes: Sequence[Shape], cycles: int
) -> Iterator[tuple[str, Shape, dict[str, Any]]]:
    """Measure all shapes on all kinds of servers, in turns."""
    for shape in shapes:
        snapshots.make(shape)
    with ExitStack() as stack:
        # The threads stay until the end: a server ends with the one that started it.
        starting = stack.enter_context(ThreadPoolExecutor(max_workers=len(kinds) * len(shapes)))
        chosen = [(kind, shape) for shape in shapes for kind in kinds]
        servers = starting.map(lambda each: stack.enter_context(snapshots.server(*each)), chosen)
        worlds = [World(kind, shape, server) for (kind, shape), server in zip(chosen, servers, strict=True)]
        asyncio.run(_take_turns(worlds, cycles))
        for world in worlds:
            yield world.kind, world.shape, world.row()


async def _take_turns(worlds: Sequence[World], cycles: int) -> None:
    for world in worlds:
        await world.turn(min(WARM_UP_CYCLES, cycles))
        slowest(world.server)
        world.pages.seconds, world.turns, world.logs = [], [], []
    for _ in range(TURNS):
        for world in worlds:
            await world.turn(max(1, cycles // TURNS))
    for world in worlds:
        await world.frontier.close()


def measure_log(snapshots: Snapshots, kind: str, shape: Shape) -> dict[str, Any]:
    """Measure how long a rewrite of the log and a restart take."""
    with snapshots.server(kind, shape) as server:
        used, rewrite_seconds = used_bytes(server), rewrite_log(server)
        size = log_bytes(server)
        server.kill()
        start = time.perf_counter()
        server.restart()
        seconds = time.perf_counter() - start
        return {
            "version": version(server),
            "urls": shape.size,
            "used_bytes": used,
            "log_bytes": size,
            "rewrite_seconds": rewrite_seconds,
            "restart_seconds": seconds,
        }

"""What one cycle of the SQLite frontier costs, and whether that grows with what waits.

    python -m bench.stores.sqlite [--sizes 100000,1000000,10000000] [--cycles 300] [--folder /tmp]

A cycle is what one page asks of the frontier: settle its lease together with 60 links, 22 to its own host and 38
spread over 19 others, then lease the next URL. "Mixed" links are 36 new and 24 known ones with scores of their own, so
that about half of the known still move up; "new" links are all new. Both are measured through the public methods, with
the hop to the frontier's thread, on files that are all open at the same time and take turns, so that a noisy machine
is noisy for each of them.

Two ways to grow: more hosts with 100 URLs each, or 10,000 hosts with more URLs each.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median

from testing.clock import Clock
from thresher.frontier.sqlite.frontier import SqliteFrontier
from thresher.records import Candidate, Lease, Outcome, Settlement

FILL_BATCH = 5_000
FILL_ROUNDS = 8  # hosts grow in turns, as in a crawl, so that the file is as full of gaps as a grown one
TURNS = 6
SECONDS_PER_PAGE = 0.005
DELAY_SECONDS = 1.0
WARM_UP_CYCLES = 50
OWN_LINKS, OTHER_HOSTS, LINKS_PER_OTHER_HOST = 22, 19, 2
LINKS = OWN_LINKS + OTHER_HOSTS * LINKS_PER_OTHER_HOST
NEW_LINKS = {"mixed": 36, "new": LINKS}


@dataclass
class World:
    """A frontier file of `hosts` hosts with `urls_per_host` URLs each."""

    folder: Path
    hosts: int
    urls_per_host: int
    clock: Clock = field(default_factory=Clock)
    random: random.Random = field(default_factory=lambda: random.Random(1))
    wall: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in NEW_LINKS})
    cpu: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in NEW_LINKS})
    serial: int = 0
    bytes_per_url: float = 0.0

    def __post_init__(self) -> None:
        self.path = self.folder / f"{self.hosts}-{self.urls_per_host}.db"
        self.frontier = SqliteFrontier(self.path, clock=self.clock, waiting_per_host=10**9)

    @property
    def size(self) -> int:
        return self.hosts * self.urls_per_host

    async def fill(self) -> None:
        start = time.perf_counter()
        batch: list[Candidate] = []
        for link in self._first_links():
            batch.append(link)
            if len(batch) == FILL_BATCH:
                await self.frontier.add(batch)
                batch = []
        await self.frontier.add(batch)
        seconds = time.perf_counter() - start
        self.bytes_per_url = file_bytes(self.path) / self.size
        print(f"filled {self.size:,} URLs on {self.hosts:,} hosts in {seconds:.0f} s", file=sys.stderr)

    async def measure(self, kind: str, cycles: int) -> None:
        [lease] = await self.frontier.lease(1, seconds=60)
        for _ in range(cycles):
            links = list(self._links_of_a_page(lease, NEW_LINKS[kind]))
            settlement = Settlement(
                lease=lease, outcome=Outcome.DONE, links=links, delay_seconds=DELAY_SECONDS, page=True
            )
            wall, cpu = time.perf_counter(), time.process_time()
            await self.frontier.commit([settlement])
            [lease] = await self.frontier.lease(1, seconds=60)
            self.wall[kind].append(time.perf_counter() - wall)
            self.cpu[kind].append(time.process_time() - cpu)
            self.clock.now += SECONDS_PER_PAGE
        await self.frontier.release([lease])

    def forget_measurements(self) -> None:
        for times in (*self.wall.values(), *self.cpu.values()):
            times.clear()

    def _first_links(self) -> Iterator[Candidate]:
        for turn in range(FILL_ROUNDS):
            for host in range(self.hosts):
                for number in range(turn, self.urls_per_host, FILL_ROUNDS):
                    yield self._link(host, number)

    def _links_of_a_page(self, lease: Lease, new: int) -> Iterator[Candidate]:
        own = int(lease.host.split(".")[1])
        others = self.random.sample(range(self.hosts), OTHER_HOSTS)
        hosts = [own] * OWN_LINKS + others * LINKS_PER_OTHER_HOST
        self.random.shuffle(hosts)
        for place, host in enumerate(hosts):
            self.serial += 1
            number = self.urls_per_host + self.serial if place < new else self.random.randrange(self.urls_per_host)
            yield self._link(host, number)

    def _link(self, host: int, number: int) -> Candidate:
        score = self.random.random()
        return Candidate(
            url=f"https://www.{host:06d}.example.org/section/{number % 97:02d}/article-{number:09d}.html",
            score=score,
            strategy_data={"inherited": round(score, 3)},
            hops=3,
            parent=self.random.getrandbits(63),
        )


def curves(sizes: Sequence[int]) -> dict[str, list[tuple[int, int]]]:
    """Give hosts and URLs per host for each way to grow."""
    return {
        "100 URLs per host": [(size // 100, 100) for size in sizes],
        "10,000 hosts": [(10_000, size // 10_000) for size in sizes],
    }


async def run(sizes: Sequence[int], cycles: int, folder: Path) -> None:
    shapes = {shape for curve in curves(sizes).values() for shape in curve}
    worlds = {shape: World(folder, *shape) for shape in sorted(shapes)}
    for world in worlds.values():
        await world.fill()
    for world in worlds.values():
        await world.measure("mixed", WARM_UP_CYCLES)
        world.forget_measurements()
    for _ in range(TURNS):
        for kind in NEW_LINKS:
            for world in worlds.values():
                await world.measure(kind, cycles // TURNS)
    for world in worlds.values():
        await world.frontier.close()
    for name, curve in curves(sizes).items():
        print_curve(name, [worlds[shape] for shape in curve])


def print_curve(name: str, worlds: Sequence[World]) -> None:
    print(f"\n{name}\n")
    print(
        "| links | waiting URLs | median ms | mean | p99 | CPU ms median | mean | × first (median, mean, CPU) | B/URL |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for kind in NEW_LINKS:
        first = worlds[0]
        for world in worlds:
            wall, cpu = world.wall[kind], world.cpu[kind]
            growth = (
                f"{median(wall) / median(first.wall[kind]):.2f}, {mean(wall) / mean(first.wall[kind]):.2f}, "
                f"{mean(cpu) / mean(first.cpu[kind]):.2f}"
            )
            print(
                f"| {kind} | {world.size:,} | {median(wall) * 1e3:.2f} | {mean(wall) * 1e3:.2f} "
                f"| {percentile(wall, 99) * 1e3:.1f} | {median(cpu) * 1e3:.2f} | {mean(cpu) * 1e3:.2f} "
                f"| {growth} | {world.bytes_per_url:.0f} |"
            )


def file_bytes(path: Path) -> int:
    """Give the size that the file has once its log is brought in."""
    with closing(sqlite3.connect(path)) as db:
        (pages,), (page_bytes,) = db.execute("PRAGMA page_count").fetchone(), db.execute("PRAGMA page_size").fetchone()
    return int(pages * page_bytes)


def percentile(values: Sequence[float], percent: int) -> float:
    return sorted(values)[len(values) * percent // 100]


def main() -> None:
    parser = argparse.ArgumentParser(description="Cost of one frontier cycle on SQLite.")
    parser.add_argument("--sizes", default="100000,1000000,10000000", help="waiting URLs, separated by commas")
    parser.add_argument("--cycles", type=int, default=300, help="cycles per size and kind of links")
    parser.add_argument("--folder", type=Path, help="where to put the files; they are removed at the end")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-frontier-", dir=arguments.folder))
    try:
        asyncio.run(run([int(size) for size in arguments.sizes.split(",")], arguments.cycles, folder))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()

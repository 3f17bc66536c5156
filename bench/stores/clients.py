"""Processes beside the measuring one: they fill a store, or turn cycles on it as workers would.

python -m bench.stores.clients fill URL HOSTSxURLS PART PARTS
python -m bench.stores.clients cycle URL HOSTSxURLS SEED SECONDS
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import redis

from bench.stores.world import Pages, Shape, first_batches, host_name
from thresher.frontier.redis.connection import RedisConnection
from thresher.frontier.redis.frontier import RedisFrontier

REPOSITORY = Path(__file__).parents[2]
CRAWL = "bench"
FILLERS = 2
TEMPLATES = 1_000
MAX_MEMBERS_PER_KEY = 100
COPIES_AT_ONCE = 1_000
SMALL = 20_000
"""This many URLs are filled in less time than a process takes to start."""
WAITING_PER_HOST = 10_000
PATIENCE_SECONDS = 30.0


def open_frontier(url: str, *, waiting_per_host: int = WAITING_PER_HOST) -> RedisFrontier:
    """Open the crawl that all processes of the measurement share."""
    connection = RedisConnection(url, patience_seconds=PATIENCE_SECONDS)
    return RedisFrontier(connection, CRAWL, waiting_per_host=waiting_per_host)


def fill(url: str, shape: Shape, *, fillers: int = FILLERS) -> float:
    """Fill a store with what waits from the beginning; return the seconds."""
    start = time.perf_counter()
    if shape.size <= SMALL:
        asyncio.run(_fill(url, shape, 0, 1))
        return time.perf_counter() - start
    together([["fill", url, shape.name, str(part), str(fillers)] for part in range(fillers)])
    return time.perf_counter() - start


def fill_by_copies(url: str, shape: Shape, *, templates: int = TEMPLATES) -> float:
    """Fill some hosts with `add`, and copy their queues to all others: quick, and for a cycle all the same.

    The queue of a host that fits into one key does not know its host's name. Return the seconds.
    """
    start = time.perf_counter()
    if shape.hosts <= templates or shape.urls_per_host > MAX_MEMBERS_PER_KEY:
        return fill(url, shape)
    fill(url, Shape(templates, shape.urls_per_host))
    with redis.Redis.from_url(url, socket_timeout=600) as client:
        [prefix] = {key[: key.index(b"}") + 1] for key in client.scan_iter(b"*}r")}
        ready = {
            member[4:]: (member[:4], score) for member, score in client.zrange(prefix + b"r", 0, -1, withscores=True)
        }
        for first in range(templates, shape.hosts, COPIES_AT_ONCE):
            with client.pipeline(transaction=False) as pipe:
                for host in range(first, min(first + COPIES_AT_ONCE, shape.hosts)):
                    name, template = host_name(host).encode(), host_name(host % templates).encode()
                    turn, score = ready[template]
                    pipe.copy(prefix + b"q" + template, prefix + b"q" + name)  # type: ignore[arg-type]
                    pipe.zadd(prefix + b"r", {turn + name: score})  # type: ignore[arg-type]
                pipe.execute()
        client.hset(prefix + b"x", mapping={"waiting": shape.size, "hosts": shape.hosts})  # type: ignore[arg-type]
    return time.perf_counter() - start


def cycle_together(url: str, shape: Shape, *, clients: int, seconds: float) -> list[dict[str, float]]:
    """Let several processes turn cycles at the same time; return what each counted."""
    printed = together([["cycle", url, shape.name, str(10 + seed), str(seconds)] for seed in range(clients)])
    return [json.loads(line) for line in printed]


def together(commands: Sequence[Sequence[str]]) -> list[str]:
    """Run processes of this module side by side and return what they printed.

    Raises:
        RuntimeError: One of them failed.
    """
    program = [sys.executable, "-m", "bench.stores.clients"]
    running = [
        subprocess.Popen([*program, *command], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
        for command in commands
    ]
    try:
        printed = [process.communicate()[0] for process in running]
    finally:
        for process in running:
            process.kill()
    if any(process.returncode for process in running):
        raise RuntimeError(f"a client failed: {[process.returncode for process in running]}")
    return printed


async def _fill(url: str, shape: Shape, part: int, parts: int) -> None:
    frontier = open_frontier(url)
    for batch in first_batches(shape, part, parts):
        await frontier.add(batch)
    await frontier.close()


async def _cycle(url: str, shape: Shape, seed: int, seconds: float) -> None:
    frontier = open_frontier(url)
    pages = Pages(frontier, shape, seed)
    await pages.cycle()
    end = time.monotonic() + seconds
    start, pages.seconds = time.perf_counter(), []
    while time.monotonic() < end:
        await pages.cycle()
    spent = time.perf_counter() - start
    await pages.release_all()
    await frontier.close()
    ordered = sorted(pages.seconds)
    share = {f"p{percent}": ordered[len(ordered) * percent // 100] for percent in (50, 99)}
    print(json.dumps({"cycles": len(ordered), "seconds": spent, "waits": pages.waits} | share))


def main(arguments: Sequence[str]) -> None:
    what, url, name, first, second = arguments
    shape = Shape(*map(int, name.split("x")))
    if what == "fill":
        asyncio.run(_fill(url, shape, int(first), int(second)))
    else:
        asyncio.run(_cycle(url, shape, int(first), float(second)))


if __name__ == "__main__":
    main(sys.argv[1:])

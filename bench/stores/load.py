"""Several processes on one server or one cluster: cycles per second, and how far the order is from the global one."""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench.stores.clients import cycle_together, fill, open_frontier
from bench.stores.server import SLOW_MICROSECONDS, empty, servers_cpu, set_option, slowest, version
from bench.stores.world import LEASE_SECONDS, Shape
from testing.servers import StoreServer, cluster_servers
from thresher.records import Candidate

TOPS = (1, 10, 100)


def measure_load(
    url: str, servers: Sequence[StoreServer], shape: Shape, clients: int, seconds: float
) -> dict[str, Any]:
    """Let processes turn cycles at the same time; say how busy the servers were meanwhile."""
    for server in servers:
        slowest(server)
    before, start = servers_cpu(servers), time.perf_counter()
    counted = cycle_together(url, shape, clients=clients, seconds=seconds)
    spent, wall = servers_cpu(servers) - before, time.perf_counter() - start
    cycles = sum(each["cycles"] for each in counted)
    return {
        "version": version(servers[0]),
        "nodes": len(servers),
        "clients": clients,
        "urls": shape.size,
        "cycles": cycles,
        "cycles_per_second": sum(each["cycles"] / each["seconds"] for each in counted),
        "server_cpu_us": spent.process / cycles,
        "script_us": spent.scripts / cycles,
        "scripts_per_cycle": spent.calls / cycles,
        "servers_busy_share": spent.process / 1e6 / wall / len(servers),
        "client_ms_p50": 1e3 * median(each["p50"] for each in counted),
        "client_ms_p99": 1e3 * max(each["p99"] for each in counted),
        "longest_script_ms": max(slowest(server)[0] for server in servers),
    }


def measure_cluster(kind: str, nodes: int, shape: Shape, clients: int, seconds: float, folder: Path) -> dict[str, Any]:
    """Measure a cluster in the same way, filled anew."""
    with cluster_servers(empty(folder / f"cluster-{kind}"), nodes, kind=kind) as cluster:
        for node in cluster.nodes:
            set_option(node, "slowlog-log-slower-than", SLOW_MICROSECONDS)
        fill(cluster.url, shape)
        return measure_load(cluster.url, cluster.nodes, shape, clients, seconds)


def measure_order(kind: str, nodes: int, hosts: int, at_once: int, folder: Path) -> dict[str, Any]:
    """Lease one URL of each host, and say how often it was among the best of all that were left.

    Every host has one URL, so the global order is known; a worker leases `at_once` in one call.
    """
    with cluster_servers(empty(folder / f"order-{kind}-{at_once}"), nodes, kind=kind) as cluster:
        ranks = asyncio.run(_ranks(cluster.url, hosts, at_once))
        row = {"version": version(cluster.nodes[0]), "nodes": nodes, "hosts": hosts, "at_once": at_once}
    return (
        row
        | {f"in_top_{top}": sum(rank < top for rank in ranks) / len(ranks) for top in TOPS}
        | {"worst_rank": max(ranks)}
    )


async def _ranks(url: str, hosts: int, at_once: int) -> list[int]:
    """Return of each lease how many better URLs were left, beside those that the same call handed out."""
    frontier = open_frontier(url)
    # Scores in an order that has nothing to do with the hosts' names.
    scores = [number * 7919 % hosts / hosts for number in range(hosts)]
    await frontier.add([Candidate(url=f"https://h{n}.example/", score=score) for n, score in enumerate(scores)])
    left = sorted(-score for score in scores)
    ranks: list[int] = []
    while leases := await frontier.lease(at_once, seconds=LEASE_SECONDS):
        places = sorted(bisect_left(left, -lease.score) for lease in leases)
        ranks += [place - number for number, place in enumerate(places)]
        for place in reversed(places):
            del left[place]
    await frontier.close()
    return ranks

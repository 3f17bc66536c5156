"""The kind and the size of the store that a crawl needs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

from thresher.capacity.constants import CapacityConstants
from thresher.capacity.request import CapacityRequest

GB = 1e9
SQLITE_WORKERS = 4
"""Maximum of workers with SQLite: machines for crawls without a store server seldom have more cores."""
SQLITE_URLS = 10_000_000
"""Maximum of URLs with SQLite: the measured cost of a cycle is constant up to here."""
RAM_SHARE = 0.7
"""Maximum share of data in RAM: rewriting the log forks the server, and changed memory pages exist twice then."""
LOAD_SHARE = 0.7
"""Maximum load of a server's core, so that bursts do not queue."""
LOG_COPIES = 3.0
"""Disk per byte of data: the log's base, as much again until it is rewritten, and the new log during the rewrite."""
MIN_LOG_BYTES = 256e6
"""A log is rewritten when it has this size and twice that after its last rewrite (`deploy/redis.conf`)."""
LOG_SHARE = 0.46
"""Bytes of a rewritten log per byte of data; `bench/results/store.jsonl`."""
CLUSTER_NODES = 16
"""With more nodes, several independent crawls (or a store on disk) are less work than one cluster."""


class StoreKind(StrEnum):
    """The kinds of stores, by growing size."""

    SQLITE = "SQLite, one file on one machine"
    ONE_SERVER = "one Redis or Valkey server"
    CLUSTER = "a Redis or Valkey Cluster"
    SEVERAL = "several crawls that share nothing, each with a store of its own; or Kvrocks, on disk"


@dataclass(frozen=True, kw_only=True)
class Store:
    """A store that is sufficient up to the end of the crawl.

    Args:
        nodes: Server processes without replicas; 0 for SQLite.
        nodes_for_ram: How many the data requires.
        nodes_for_speed: How many the pages per second require.
        data_bytes: Memory that the servers report as used after the last page.
        ram_bytes: RAM of all machines of the store, with replicas and room for a rewrite of the log.
        disk_bytes: The file, or the logs of all nodes and the cold storage.
        cold_urls: Waiting URLs in a cold storage.
        cold_bytes: What they take there.
        pages_per_second: Its maximum rate.
        restart_seconds: Restart time of the fullest node, when its log was just rewritten.
        longest_restart_seconds: The same right before its log is rewritten.
    """

    kind: StoreKind
    nodes: int
    nodes_for_ram: int
    nodes_for_speed: int
    data_bytes: float
    ram_bytes: float
    disk_bytes: float
    pages_per_second: float
    restart_seconds: float
    longest_restart_seconds: float
    cold_urls: float = 0.0
    cold_bytes: float = 0.0


def choose_store(
    request: CapacityRequest, pages_per_second: float, workers: int, constants: CapacityConstants
) -> Store:
    """Return the smallest store with enough memory and speed for the crawl."""
    fits_one_file = request.seen_at_end <= SQLITE_URLS and workers <= SQLITE_WORKERS
    if fits_one_file and pages_per_second <= LOAD_SHARE * constants.sqlite_cycles_per_second:
        return _one_file(request, constants)
    return _servers(request, pages_per_second, constants)


def data_bytes(request: CapacityRequest, constants: CapacityConstants) -> float:
    """Return the memory that the shared store reports as used after the last page."""
    cold = cold_urls(request, constants)
    waiting = (request.waiting_at_end - cold) * constants.store_waiting_url_bytes
    waiting += cold * constants.tiers_cold_url_bytes
    hosts = request.hosts * (constants.store_host_bytes + request.note_kb * 1e3)
    return waiting + hosts + request.pages * constants.store_done_url_bytes


def cold_urls(request: CapacityRequest, constants: CapacityConstants) -> float:
    """Return how many URLs are in the cold storage after the last page, hosts being equal."""
    if not request.tiered:
        return 0.0
    return max(0.0, request.waiting_at_end - request.hosts * constants.tiers_hot_urls_per_host)


def _one_file(request: CapacityRequest, constants: CapacityConstants) -> Store:
    size = request.seen_at_end * constants.sqlite_url_bytes
    return Store(
        kind=StoreKind.SQLITE,
        nodes=0,
        nodes_for_ram=0,
        nodes_for_speed=0,
        data_bytes=size,
        ram_bytes=0.0,
        disk_bytes=size,
        pages_per_second=constants.sqlite_cycles_per_second,
        restart_seconds=0.0,
        longest_restart_seconds=0.0,
    )


def _servers(request: CapacityRequest, pages_per_second: float, constants: CapacityConstants) -> Store:
    if request.tiered:
        share = constants.tiers_cycle_share
        constants = replace(
            constants,
            store_cycles_per_second=constants.store_cycles_per_second / share,
            cluster_cycles_per_second=constants.cluster_cycles_per_second / share,
        )
    data, cold = data_bytes(request, constants), cold_urls(request, constants)
    cold_bytes = cold * constants.tiers_cold_url_disk_bytes
    resident = data * constants.store_resident_share
    for_ram = max(1, math.ceil(resident / (RAM_SHARE * request.node_ram_gb * GB)))
    for_speed = _nodes_for_speed(pages_per_second, for_ram == 1, constants)
    nodes = max(for_ram, for_speed)
    per_node = constants.store_cycles_per_second if nodes == 1 else constants.cluster_cycles_per_second
    restart = data / GB / nodes * constants.store_restart_seconds_per_gigabyte
    log = max(MIN_LOG_BYTES, LOG_SHARE * data / nodes)
    return Store(
        kind=_kind(nodes),
        nodes=nodes,
        nodes_for_ram=for_ram,
        nodes_for_speed=for_speed,
        data_bytes=data,
        ram_bytes=(1 + request.replicas) * resident / RAM_SHARE,
        disk_bytes=(1 + request.replicas) * LOG_COPIES * data + cold_bytes,
        pages_per_second=nodes * per_node,
        restart_seconds=restart,
        longest_restart_seconds=restart + log / GB * constants.store_log_seconds_per_gigabyte,
        cold_urls=cold,
        cold_bytes=cold_bytes,
    )


def _nodes_for_speed(pages_per_second: float, one_holds_all: bool, constants: CapacityConstants) -> int:
    """Return 1 if one server is fast enough; in a cluster a page needs several nodes, so each one handles fewer."""
    if one_holds_all and pages_per_second <= LOAD_SHARE * constants.store_cycles_per_second:
        return 1
    return math.ceil(pages_per_second / (LOAD_SHARE * constants.cluster_cycles_per_second))


def _kind(nodes: int) -> StoreKind:
    if nodes == 1:
        return StoreKind.ONE_SERVER
    return StoreKind.CLUSTER if nodes <= CLUSTER_NODES else StoreKind.SEVERAL

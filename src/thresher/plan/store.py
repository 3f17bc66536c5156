"""Which store carries a crawl, and how large it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from thresher.plan.constants import Constants
from thresher.plan.wish import Wish

GB = 1e9
SQLITE_WORKERS = 4
"""Workers beside one file; more cores are seldom in one machine of the kind that needs no server."""
SQLITE_URLS = 10_000_000
"""As far as the cost of one cycle was measured to stay flat."""
RAM_SHARE = 0.7
"""What data may take of a machine's RAM: rewriting the log forks the server, and what changes is then there twice."""
LOAD_SHARE = 0.7
"""What the planned pages may take of a server's core, so that bursts do not queue."""
LOG_COPIES = 3.0
"""Disk per byte of data: the log's base, as much again until it is rewritten, and the new one while that is written."""
CLUSTER_NODES = 16
"""Beyond, several crawls that share nothing (or a store on disk) are less work than one cluster."""


class StoreKind(StrEnum):
    """The steps of growth."""

    SQLITE = "SQLite, one file on one machine"
    ONE_SERVER = "one Redis or Valkey server"
    CLUSTER = "a Redis or Valkey Cluster"
    SEVERAL = "several crawls that share nothing, each with a store of its own; or Kvrocks, on disk"


@dataclass(frozen=True, kw_only=True)
class Store:
    """A store that carries the crawl to its end.

    Args:
        nodes: Server processes, replicas not counted; 0 for SQLite.
        nodes_for_ram: How many the data asks for.
        nodes_for_speed: How many the pages per second ask for.
        data_bytes: What the servers count as used when the last page is taken.
        ram_bytes: RAM of all machines of the store, with room for a rewrite and with replicas.
        disk_bytes: The file, or the logs of all nodes.
        pages_per_second: What it can carry at most.
        restart_seconds: How long the fullest node takes to come back.
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


def choose_store(wish: Wish, pages_per_second: float, workers: int, constants: Constants) -> Store:
    """Return the smallest store that holds the crawl's URLs and keeps up with its pages."""
    fits_one_file = wish.seen_at_end <= SQLITE_URLS and workers <= SQLITE_WORKERS
    if fits_one_file and pages_per_second <= LOAD_SHARE * constants.sqlite_cycles_per_second:
        return _one_file(wish, constants)
    return _servers(wish, pages_per_second, constants)


def data_bytes(wish: Wish, constants: Constants) -> float:
    """Return what the shared store counts as used when the last page is taken."""
    waiting = wish.waiting_at_end * constants.store_waiting_url_bytes
    hosts = wish.hosts * (constants.store_host_bytes + wish.note_kb * 1e3)
    return waiting + hosts + wish.pages * constants.store_done_url_bytes


def _one_file(wish: Wish, constants: Constants) -> Store:
    size = wish.seen_at_end * constants.sqlite_url_bytes
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
    )


def _servers(wish: Wish, pages_per_second: float, constants: Constants) -> Store:
    data = data_bytes(wish, constants)
    resident = data * constants.store_resident_share
    for_ram = max(1, math.ceil(resident / (RAM_SHARE * wish.node_ram_gb * GB)))
    for_speed = _nodes_for_speed(pages_per_second, for_ram == 1, constants)
    nodes = max(for_ram, for_speed)
    per_node = constants.store_cycles_per_second if nodes == 1 else constants.cluster_cycles_per_second
    return Store(
        kind=_kind(nodes),
        nodes=nodes,
        nodes_for_ram=for_ram,
        nodes_for_speed=for_speed,
        data_bytes=data,
        ram_bytes=(1 + wish.replicas) * resident / RAM_SHARE,
        disk_bytes=(1 + wish.replicas) * LOG_COPIES * data,
        pages_per_second=nodes * per_node,
        restart_seconds=data / GB / nodes * constants.store_restart_seconds_per_gigabyte,
    )


def _nodes_for_speed(pages_per_second: float, one_holds_all: bool, constants: Constants) -> int:
    """One server while it is fast enough; in a cluster a page asks several nodes, so each carries fewer pages."""
    if one_holds_all and pages_per_second <= LOAD_SHARE * constants.store_cycles_per_second:
        return 1
    return math.ceil(pages_per_second / (LOAD_SHARE * constants.cluster_cycles_per_second))


def _kind(nodes: int) -> StoreKind:
    if nodes == 1:
        return StoreKind.ONE_SERVER
    return StoreKind.CLUSTER if nodes <= CLUSTER_NODES else StoreKind.SEVERAL

"""What a server tells of itself: CPU, memory, the times of its scripts, its log."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import redis

from testing.servers import StoreServer, store, store_server

store.START_SECONDS = 300.0  # ten million URLs take a while to read
SLOW_MICROSECONDS = 1000
QUIET = ("--auto-aof-rewrite-percentage", "0", "--slowlog-max-len", "10000", "--loglevel", "warning")


def empty(place: Path) -> Path:
    """Return a folder without what an interrupted run left there."""
    shutil.rmtree(place, ignore_errors=True)
    return place


@contextmanager
def measured_server(kind: str, folder: Path) -> Iterator[StoreServer]:
    """Run a server with the settings of a large crawl, whose log is rewritten only on request."""
    with store_server(kind, folder, options=QUIET) as server:
        set_option(server, "slowlog-log-slower-than", SLOW_MICROSECONDS)
        yield server


def patient(server: StoreServer) -> redis.Redis:
    """Return a client that waits for answers that take their time."""
    return server.client(seconds=600)


def set_option(server: StoreServer, name: str, value: object) -> None:
    with patient(server) as client:
        client.config_set(name, str(value))


def version(server: StoreServer) -> str:
    info = server.info("server")
    return str(info.get("valkey_version") or info["redis_version"])


@dataclass(frozen=True)
class Cpu:
    """What a server spent so far, in microseconds."""

    process: float
    scripts: float
    calls: int

    def __sub__(self, other: Cpu) -> Cpu:
        return Cpu(self.process - other.process, self.scripts - other.scripts, self.calls - other.calls)

    def __add__(self, other: Cpu) -> Cpu:
        return Cpu(self.process + other.process, self.scripts + other.scripts, self.calls + other.calls)


def cpu_of(server: StoreServer) -> Cpu:
    """Return the CPU time of a server's process, and the time inside scripts, since its start."""
    cpu, stats = server.info("cpu"), server.info("commandstats")
    scripts = [info for name, info in stats.items() if name in ("cmdstat_evalsha", "cmdstat_eval", "cmdstat_fcall")]
    return Cpu(
        process=1e6 * (float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"])),  # type: ignore[arg-type]
        scripts=float(sum(info["usec"] for info in scripts)),  # type: ignore[index]
        calls=sum(info["calls"] for info in scripts),  # type: ignore[index]
    )


def inner_calls(server: StoreServer) -> dict[str, tuple[int, float]]:
    """Return of each command how often it was called and the microseconds that it took, within scripts or not."""
    stats = server.info("commandstats")
    return {name.removeprefix("cmdstat_"): (info["calls"], info["usec"]) for name, info in stats.items()}  # type: ignore[index]


def used_bytes(server: StoreServer) -> int:
    """Return what the server counts as its data: no scripts, no buffers of clients."""
    info = server.info("memory")
    return int(info["used_memory"])  # type: ignore[call-overload, no-any-return]


def resident_bytes(server: StoreServer) -> int:
    """Return the resident memory of a server as the kernel counts it."""
    pages = int(Path(f"/proc/{server.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def slowest(server: StoreServer) -> tuple[float, int]:
    """Return the longest call since the last reset in milliseconds, and how many took longer than a millisecond."""
    with patient(server) as client:
        entries = client.slowlog_get(10_000)
        client.slowlog_reset()
    scripts = [entry["duration"] for entry in entries if entry["command"].upper().startswith((b"EVAL", b"FCALL"))]
    return max(scripts, default=0) / 1000, len(scripts)


def log_bytes(server: StoreServer) -> int:
    """Return the size of the append-only log."""
    return int(server.info("persistence").get("aof_current_size", 0))  # type: ignore[call-overload, no-any-return]


def rewrite_log(server: StoreServer) -> float:
    """Write the log anew and return how many seconds that took."""
    with patient(server) as client:
        start = time.perf_counter()
        client.bgrewriteaof()
        await_background(client)
        return time.perf_counter() - start


def await_background(client: redis.Redis) -> None:
    """Wait until no child of the server writes any more."""
    busy = ("aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress")
    while any(client.info("persistence").get(name) for name in busy):
        time.sleep(0.05)


def servers_cpu(servers: Sequence[StoreServer]) -> Cpu:
    return sum(map(cpu_of, servers), Cpu(0, 0, 0))

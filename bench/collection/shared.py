"""A shared collection under faults: ``python -m bench.collection.shared --pages 50000 --fault-seconds 120``.

Machines (separate folders) crawl a generated site on loopback, with a Redis server and an S3 server. Every so often one
machine is killed and its folder destroyed, and another one joins; twice the S3 server is stopped, and twice Redis is
killed. When the crawl ends, `verify --repair` and `run` alternate until nothing is left to repair. Then a machine
that never worked copies the collection and exports it. Its URLs must be those of the page server's log, each once, and
the store must count as many pages. A small version: ``--pages 2000 --fault-seconds 20``.

``--curve FILE`` writes a row every ten seconds: fetched pages, the memory of the largest worker and of Redis, and the
disk of the machines and of the collection.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from bench.collection.soak import rss_bytes
from testing.machine import machine
from testing.processes import family, kill_family
from testing.recording_server import running
from testing.recording_server.site import Site
from testing.servers import StoreServer, store_server
from testing.servers.s3 import S3Server, s3_server
from thresher_lab.statistics.result_rows import add_rows

NAME = "shared"
HITS = "hits.csv"
AWAY_SECONDS = 10.0
MAX_ROUNDS = 10
SAMPLE_SECONDS = 10.0


@dataclass
class World:
    """The servers, the folders and the processes of a measurement."""

    folder: Path
    store: StoreServer
    s3: S3Server
    crawl: str = NAME
    workers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    started: int = 0
    faults: dict[str, int] = field(default_factory=lambda: {"disks destroyed": 0, "S3 stopped": 0, "Redis killed": 0})

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, **self.s3.environment, "THRESHER_STORE": self.store.url}

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / "output.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "thresher", *arguments],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment,
            )

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "thresher", *arguments]
        return subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True)

    def add_machine(self) -> None:
        self.started += 1
        name = f"machine-{self.started}"
        self.workers[name] = self.start("join", "--crawl", self.crawl, "--dir", name)

    def destroy_machine(self) -> None:
        """Kill the machine that has worked longest, destroy its disk, and let another one join."""
        name = next(iter(self.workers))
        process = self.workers.pop(name)
        kill_family(process.pid)
        process.wait()
        shutil.rmtree(self.folder / name, ignore_errors=True)
        self.faults["disks destroyed"] += 1
        self.add_machine()

    def stop_s3(self) -> None:
        self.s3.kill()
        time.sleep(AWAY_SECONDS)
        self.s3.start()
        self.faults["S3 stopped"] += 1

    def kill_redis(self) -> None:
        self.store.kill()
        time.sleep(1.0)
        self.store.restart()
        self.faults["Redis killed"] += 1

    def fetched(self) -> int:
        """Return the requests in the page server's log: `thresher status` every second would take half a core."""
        return self.lines(HITS)

    def lines(self, name: str) -> int:
        with (self.folder / name).open("rb") as log:
            return sum(block.count(b"\n") for block in iter(lambda: log.read(1 << 20), b""))

    def pages(self) -> int:
        status = self.call("status", self.crawl, "--json")
        return int(json.loads(status.stdout)["pages"]) if status.returncode == 0 else 0

    def sample(self, seconds: float) -> dict[str, float]:
        """Return what is used now: memory in MiB, disk in MB."""
        members = [pid for process in self.workers.values() for pid in family(process.pid)]
        return {
            "seconds": round(seconds),
            "fetched": self.fetched(),
            "worker_mib": round(max(map(rss_bytes, members), default=0.0) / 2**20),
            "redis_mib": round(rss_bytes(self.store.pid) / 2**20),
            "machines_mb": round(sum(_disk_bytes(self.folder / name) for name in self.workers) / 1e6, 1),
            "collection_mb": round(_disk_bytes(self.folder / "s3") / 1e6, 1),
        }


def _disk_bytes(folder: Path) -> int:
    """Return the size of all files below a folder; files may vanish meanwhile."""
    size = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            size += path.stat().st_size if path.is_file() else 0
    return size


def measure(pages: int, machines: int, fault_seconds: float, folder: Path, curve: Path) -> dict[str, object]:
    """Crawl under faults, repair, and compare."""
    site = Site(pages=pages, hosts=min(200, max(20, pages // 50)))
    with (
        running(site, folder / HITS) as server,
        store_server("redis", folder / "redis") as store,
        s3_server(folder / "s3") as s3,
    ):
        world = World(folder, store, s3)
        _write_crawl(folder / NAME, server.seed_url, s3.url(NAME))
        began = time.monotonic()
        _crawl(world, pages, machines, fault_seconds, curve)
        crawled = time.monotonic() - began
        rounds = _repair(world)
        began = time.monotonic()
        gathered = world.call("pull", s3.url(NAME), "fifth")
        exported = [
            json.loads(line)["url"] for line in world.call("export", "fifth", "-f", "jsonl").stdout.splitlines()
        ]
        fetched = {(hit.host, hit.path) for hit in server.hits() if hit.path != "/robots.txt" and hit.status == 200}
        there = {(urlsplit(url).hostname, urlsplit(url).path) for url in exported}
        return {
            "pages": pages,
            "machines": machines,
            "faults": world.faults,
            "crawl_seconds": round(crawled),
            "repair_rounds": rounds,
            "gather_and_export_seconds": round(time.monotonic() - began),
            "gathered": gathered.stderr.strip().splitlines()[-1:],
            "fetched": len(fetched),
            "exported": len(exported),
            "lost": len(fetched - there),
            "counted_twice": len(exported) - len({*exported}) + max(0, world.pages() - len(fetched)),
            "store_counts": world.pages(),
            "machine": machine(),
        }


def _write_crawl(folder: Path, seed: str, collection: str) -> None:
    folder.mkdir()
    settings = {
        "name": NAME,
        "title": {"en": "perovskite solar cells"},
        "strategy": {"name": "breadth-first"},
        "scope": {"first_pages_per_host": None, "traps": "follow", "max_pages_per_host": 100_000, "max_depth": 1000},
        "politeness": {"delay_seconds": 0.05, "contact": "bench@example.org"},
        "engine": {"concurrency": 8, "timeout_seconds": 5.0, "lease_seconds": 15.0},
        "network": {"allow": ["127.0.0.0/8"]},
        "output": {"keep_irrelevant": True},
        "collection": collection,
    }
    (folder / "topic.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    (folder / "seeds.txt").write_text(f"{seed}\n", encoding="utf-8")


def _crawl(world: World, pages: int, machines: int, fault_seconds: float, curve: Path) -> None:
    """Crawl to the end with faults at their times."""
    began = time.monotonic()
    next_sample = 0.0
    watcher = world.start("run", NAME, "--workers", "0")
    for _ in range(machines):
        world.add_machine()
    due = [(pages // 5, world.stop_s3), (2 * pages // 5, world.kill_redis)]
    due += [(3 * pages // 5, world.stop_s3), (4 * pages // 5, world.kill_redis)]
    next_fault = time.monotonic() + fault_seconds
    try:
        while watcher.poll() is None:
            time.sleep(1.0)
            if time.monotonic() >= next_fault:
                next_fault = time.monotonic() + fault_seconds
                world.destroy_machine()
            if due and world.fetched() >= due[0][0]:
                due.pop(0)[1]()
            if (seconds := time.monotonic() - began) >= next_sample:
                next_sample = seconds + SAMPLE_SECONDS
                add_rows(curve, [world.sample(seconds)])
        for process in world.workers.values():
            process.wait(120)
    finally:
        for process in (watcher, *world.workers.values()):
            if process.poll() is None:
                kill_family(process.pid)
                process.wait()


def _repair(world: World) -> list[int]:
    """Verify and crawl on until nothing is left to repair; return how many URLs each round queued again."""
    rounds: list[int] = []
    while len(rounds) < MAX_ROUNDS:
        report = json.loads(world.call("verify", NAME, "--repair", "--json").stdout)
        queued = sum(each["number"] for each in report["findings"] if each["state"] in ("repaired", "lost", "wrong"))
        rounds.append(queued)
        if not queued:
            break
        world.start("run", NAME, "--workers", "2").wait()
    return rounds


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=50_000)
    parser.add_argument("--machines", type=int, default=4)
    parser.add_argument("--fault-seconds", type=float, default=120.0)
    parser.add_argument("--folder", type=Path, help="Keep everything there; by default a temporary folder.")
    parser.add_argument("--curve", type=Path, help="Rows of samples; by default in the folder.")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="thresher-shared-") as temporary:
        folder = chosen.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        curve = chosen.curve or folder / "curve.jsonl"
        print(json.dumps(measure(chosen.pages, chosen.machines, chosen.fault_seconds, folder, curve)), flush=True)


if __name__ == "__main__":
    main()

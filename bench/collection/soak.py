"""An hour of bad luck: ``python -m bench.collection.soak [--minutes 60]``.

Four workers crawl a generated site on a store while, every few seconds and at random, somebody kills or stops a worker,
kills or silences the store, or cuts the network between them. When the time is up the crawl may end in peace. Printed
are the violations and losses by the log of the recording server, and how memory grew: that of workers as a slope over
their lives, each taken for itself, since a killed one is replaced; that of the store also per URL that it knows.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import redis

from testing.faulty_crawl.fault_run import FaultOutcome, Setting, run_with_faults
from testing.faulty_crawl.scenario import Plan
from testing.faulty_crawl.scene import Scene
from testing.recording_server.site import Site

HOSTS = 200
LOOK_SECONDS = 5.0
WARM_SECONDS = 30.0
"""A worker's first seconds fill its caches and say nothing about its hours."""
MEBIBYTE = 1 << 20
HOUR = 3600.0

Sample = tuple[float, float]
"""Seconds and bytes."""


def worst_of_luck(scene: Scene) -> str:
    """Let something befall the crawl; return what it was."""
    chance = scene.random
    seconds = chance.uniform(1.0, 15.0)
    faults: dict[str, Callable[[], object]] = {
        "kill a worker": scene.kill_worker,
        "stop a worker": lambda: scene.stop_worker(seconds),
        "kill the run": scene.kill_everything,
        "silence the store": lambda: scene.stop_server(seconds),
        "kill the store": lambda: scene.kill_server(seconds / 3),
        "cut one off": lambda: scene.cut(seconds, chance.choice(["both", "to", "from"]), workers=1),
        "cut all off": lambda: scene.cut(seconds, chance.choice(["both", "to", "from"])),
        "cut on and off": lambda: scene.cut(seconds, "both", flap_seconds=0.5),
    }
    name = chance.choice(sorted(faults))
    faults[name]()
    return name


@dataclass
class Watch:
    """Looks at the memory of a crawl's processes again and again."""

    scene: Scene
    workers: dict[int, list[Sample]] = field(default_factory=dict)
    server: list[Sample] = field(default_factory=list)
    server_rss: list[Sample] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop looking."""
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(LOOK_SECONDS):
            now = time.monotonic()
            for pid in self.scene.run.workers():
                if size := rss_bytes(pid):
                    self.workers.setdefault(pid, []).append((now, size))
            with suppress(redis.RedisError, OSError):  # it is dead or silent just now
                used = self.scene.server.info("memory")["used_memory"]
                self.server.append((now, float(str(used))))
                self.server_rss.append((now, rss_bytes(self.scene.server.pid)))


def rss_bytes(pid: int) -> float:
    """Return the memory a process holds now; 0 when it has gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return float(line.split()[1]) * 1024
    return 0.0


def slope_per_hour(lives: Sequence[Sequence[Sample]]) -> float:
    """Return how fast memory grows within lives, as one slope by least squares with a start for each life."""
    above = below = 0.0
    for life in lives:
        settled = [sample for sample in life if sample[0] >= life[0][0] + WARM_SECONDS]
        if len(settled) > 1:
            middle = sum(at for at, _ in settled) / len(settled)
            mean = sum(size for _, size in settled) / len(settled)
            above += sum((at - middle) * (size - mean) for at, size in settled)
            below += sum((at - middle) ** 2 for at, _ in settled)
    return above / below * HOUR if below else 0.0


def soak(minutes: float, *, rate: float, pause_seconds: float, store: str, random_seed: int) -> dict[str, object]:
    """Crawl for so long under faults, then to the end; return what was seen."""
    pages = int(minutes * 60 * rate)
    plan = Plan(
        site=Site(pages=pages, hosts=min(HOSTS, pages)),
        delay_seconds=HOSTS / rate / 3,  # hosts could give three times what is wanted, so that lost time is made up
        max_seconds=minutes * 60 * 3 + 300,
        random_seed=random_seed,
    )
    seen: dict[str, object] = {}

    def scenario(scene: Scene) -> Counter[str]:
        watch, faults = Watch(scene), Counter[str]()
        until = time.monotonic() + minutes * 60
        scene.await_requests(pages // 100)
        try:
            while time.monotonic() < until and not scene.run.ended:
                time.sleep(scene.random.expovariate(1 / pause_seconds))
                faults[worst_of_luck(scene)] += 1
            scene.run.wait(scene.seconds_left)
        finally:
            watch.close()
            seen.update(_memory(watch))
        return faults

    outcome = run_with_faults(plan, scenario, Setting(store=store))
    return {**_promises(outcome), **seen}


def _memory(watch: Watch) -> dict[str, object]:
    counts = watch.scene.counts()
    known = counts.waiting + counts.leased + counts.done + counts.failed
    largest = max((size for life in watch.workers.values() for _, size in life), default=0.0)
    return {
        "worker_lives": len(watch.workers),
        "worker_mib_per_hour": round(slope_per_hour(list(watch.workers.values())) / MEBIBYTE, 2),
        "worker_mib_at_most": round(largest / MEBIBYTE, 1),
        "store_mib_per_hour": round(slope_per_hour([watch.server]) / MEBIBYTE, 2),
        "store_mib_at_end": round(watch.server[-1][1] / MEBIBYTE, 2) if watch.server else None,
        "store_rss_mib_at_end": round(watch.server_rss[-1][1] / MEBIBYTE, 2) if watch.server_rss else None,
        "store_bytes_per_known_url": round(watch.server[-1][1] / known, 1) if watch.server and known else None,
    }


def _promises(outcome: FaultOutcome) -> dict[str, object]:
    faults = outcome.result
    assert isinstance(faults, Mapping)
    return {
        "pages": outcome.pages,
        "seconds": round(outcome.seconds),
        "faults": dict(faults),
        "exit_code": outcome.exit_code,
        "lost": outcome.lost,
        "counted_twice": outcome.counted_twice,
        "fetched_twice": outcome.refetches,
        "fetched_twice_without_fault": outcome.unexcused,
        "open_at_once": outcome.max_parallel,
        "gaps": outcome.gaps,
        "violations": outcome.violations,
        "held": outcome.survived,
    }


def main() -> int:
    """Soak, and print what was seen; ends with 1 when a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m bench.collection.soak", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=40.0, help="pages per second that are aimed at")
    parser.add_argument("--pause", type=float, default=10.0, help="seconds between faults, on average")
    parser.add_argument("--store", default="redis", choices=["redis", "valkey"])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    seen = soak(
        options.minutes, rate=options.rate, pause_seconds=options.pause, store=options.store, random_seed=options.seed
    )
    print(json.dumps(seen, indent=2))
    return 0 if seen["held"] else 1


if __name__ == "__main__":
    sys.exit(main())

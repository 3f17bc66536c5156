"""Two workers beside one, on one machine: ``python -m bench.speed.workers [--pin]``.

In every round one worker and then two take the same number of pages (30 KB, 60 links, 200 hosts, no delay) from a
recording server in a process of its own, with the queue in SQLite and in Redis. Pages and seconds are the recording
server's. On two cores the recording server, the store and the supervisor take their share of what the second worker
could use, so the CPU that all of Thresher's processes needed per page is printed too: it says what more cores would
give. With ``--pin`` one worker, its page server and store share one core, and two workers with theirs share two: the
ratio then says what the second core gives.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from statistics import median

from bench.speed.pages import SITE
from bench.stores.server import empty, measured_server
from bench.stores.worker import one_crawl
from testing.machine import machine
from testing.recording_server.process import running


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.speed.workers", description=__doc__)
    parser.add_argument("--pages", type=int, default=3_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pin", action="store_true", help="one core for one worker and what it needs, two for two")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        samples = _measure(folder, options.pages, options.rounds, pin=options.pin)
    where = "all processes on as many cores as workers" if options.pin else "all cores for all"
    print(f"{machine()}; {options.pages} pages, median of {options.rounds} rounds, {where}")
    for store in ("sqlite", "redis"):
        one, two = ([sample for kind, workers, sample in samples if (kind, workers) == (store, n)] for n in (1, 2))
        speeds = [median(sample["pages_per_second"] for sample in part) for part in (one, two)]
        costs = [median(sample["cpu_ms_per_page"] for sample in part) for part in (one, two)]
        ratios = [b["pages_per_second"] / a["pages_per_second"] for a, b in zip(one, two, strict=True)]
        print(
            f"{store}: 1 worker {speeds[0]:.0f} pages/s ({costs[0]:.1f} ms CPU each), 2 workers {speeds[1]:.0f} "
            f"({costs[1]:.1f} ms): x {median(ratios):.2f} [{min(ratios):.2f}, {max(ratios):.2f}]"
        )


def _measure(folder: Path, pages: int, rounds: int, *, pin: bool) -> list[tuple[str, int, dict[str, float]]]:
    samples = []
    cores = sorted(os.sched_getaffinity(0))
    for number in range(rounds):
        for workers in (1, 2):
            if pin:
                os.sched_setaffinity(0, cores[:workers])  # what is started from here on inherits it
            with running(SITE, folder / f"hits-{number}-{workers}.csv", "--robots=404") as recorder:
                samples.append(("sqlite", workers, one_crawl(recorder, pages, "", workers=workers)))
                with measured_server("redis", empty(folder / f"store-{number}-{workers}")) as server:
                    samples.append(("redis", workers, one_crawl(recorder, pages, server.url, workers=workers)))
    return samples


if __name__ == "__main__":
    main()

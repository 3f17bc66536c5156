"""Seconds until a command is done: ``python -m bench.speed.startup``.

``thresher run --pages 1`` on a new crawl of a loopback site, then ``thresher status`` of it; medians of some rounds.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.speed.full_speed import SITE, full_speed
from testing.crawl_process import THRESHER, Crawl
from testing.machine import machine
from testing.recording_server.process import running


def seconds(*command: str) -> float:
    """Run a command of Thresher to its end."""
    began = time.perf_counter()
    subprocess.run([*THRESHER, *command], check=False, capture_output=True)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.speed.startup", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    runs, statuses = [], []
    with tempfile.TemporaryDirectory() as folder, running(SITE, Path(folder) / "hits.csv", "--robots=404") as site:
        for number in range(options.rounds):
            crawl = Crawl(Path(folder) / f"crawl{number}")
            crawl.create(site.seed_url, full_speed())
            runs.append(seconds("run", str(crawl.folder), "--pages", "1", "--workers", "1"))
            statuses.append(seconds("status", str(crawl.folder)))
    print(f"{machine()}; median of {options.rounds} rounds")
    print(f"run --pages 1: {median(runs):.2f} s; status: {median(statuses):.2f} s")


if __name__ == "__main__":
    main()

"""What the lab costs: ``python -m bench.speed.lab``.

Three figures: what a simulated page costs beside the strategy's own time, with parsed pages from the cache; how long
30 topics with 3 seed sets and 500 pages of breadth-first take; and how much memory a crawl of a generated web of a
million pages needs. The first two need the web wikispeedia in THRESHER_WEBS.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from thresher.strategies.best_first import BestFirst
from thresher_lab.simulation.compare import run_tasks
from thresher_lab.simulation.simulator import Simulator
from thresher_lab.simulation.tasks import PerfectJudge, Task
from thresher_lab.webs.generator import generate
from thresher_lab.webs.open_web import open_web
from thresher_lab.webs.parsed_pages import ParsedPages


def comparison(processes: int) -> None:
    """Time the tasks, twice: the second time every page comes parsed from the cache."""
    sizes = {topic: count for topic, count in open_web("wikispeedia").topics().items() if 20 <= count <= 800}
    topics = sorted(sizes)[:30]
    tasks = [
        Task(web="wikispeedia", topic=topic, strategy="breadth-first", seed_set=seed_set)
        for topic in topics
        for seed_set in range(3)
    ]
    for run in ("first", "second"):
        with tempfile.TemporaryDirectory() as folder:
            started = time.perf_counter()
            rows = run_tasks(tasks, Path(folder) / "rows.jsonl", processes=processes, progress=lambda *_: None)
            seconds = time.perf_counter() - started
        own = median(row["ms_per_page"] - row["scoring_ms_per_page"] for row in rows)
        print(f"{run} run: {len(tasks)} crawls of 500 pages in {seconds:.0f} s with {processes} processes; ", end="")
        print(f"{own:.2f} ms per page beside judge and strategy (median)")


def million(fetches: int) -> None:
    """Crawl a generated web of a million pages in this process, and print the peak memory."""
    web = generate(1, pages=1_000_000, hosts=20_000)
    topic = "Arts/Music"
    pages = ParsedPages(web, keep=False)
    simulator = Simulator(web, pages, judge=PerfectJudge(web, topic), strategy=BestFirst())
    started = time.perf_counter()
    crawl = asyncio.run(simulator.run([web.url_of(0), web.url_of(500_000)], fetches))
    hits = sum(web.is_topic(fetch.url, topic) for fetch in crawl.fetches)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    seconds = time.perf_counter() - started
    print(
        f"generated web of {len(web):,} pages: {len(crawl.fetches):,} fetches ({hits:,} on topic) in {seconds:.0f} s, ",
        end="",
    )
    print(f"peak memory {peak:.2f} GiB")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.speed.lab", description="What the lab costs.")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--fetches", type=int, default=100_000, help="of the web of a million pages")
    parser.add_argument("--only", choices=["comparison", "million"])
    options = parser.parse_args()
    if options.only != "million":
        comparison(options.processes)
    if options.only == "million":
        million(options.fetches)
    elif options.only is None:  # in a process of its own, so that its memory is its own
        command = [sys.executable, "-m", "bench.speed.lab", "--only", "million", "--fetches", str(options.fetches)]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()

"""What archiving costs: one worker with and without WARC files, in turns, ``python -m bench.speed.archiving``.

Both legs crawl the same pages of the same recording server (30 KB pages, 60 links each, 200 hosts, no delay), every
page is kept, and only `output.warc` differs. Each leg is a process of its own; the legs change places from round to
round. Indexing is part of it: the index of a file is written when the file is complete.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.speed.full_speed import full_speed
from bench.speed.pages import SITE, START_PAGES, Sample, measure
from testing.crawl_process import THRESHER, Crawl
from testing.machine import machine
from testing.recording_server.process import Recorder, running

MAX_COST = 0.25
"""The share of a worker's pages per second that archiving may take."""


@dataclass(frozen=True)
class Leg:
    """What a crawl took, and how large its archive became."""

    sample: Sample
    archive_bytes: int


def crawl_once(recorder: Recorder, pages: int, *, warc: bool) -> Leg:
    """Crawl with one worker in a new folder, every page kept."""
    settings = full_speed(output={"warc": warc, "keep_irrelevant": True})
    with tempfile.TemporaryDirectory() as folder:
        crawl = Crawl(Path(folder) / "crawl")
        crawl.create(recorder.seed_url, settings)
        sample = measure(recorder, [*THRESHER, "run", str(crawl.folder), "--pages", str(pages), "--workers", "1"])
        files = (crawl.folder / "warc").glob("*")
        return Leg(sample, sum(path.stat().st_size for path in files))


def main() -> int:
    """Measure and print; end with 1 when archiving costs more than it may."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.speed.archiving", description="What archiving costs a worker."
    )
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running(SITE, Path(folder) / "hits.csv") as recorder:
        crawl_once(recorder, START_PAGES, warc=True)  # what is on the disk is in memory then
        legs: dict[bool, list[Leg]] = {False: [], True: []}
        for number in range(wanted.rounds):
            for warc in (False, True) if number % 2 else (True, False):
                leg = crawl_once(recorder, wanted.pages, warc=warc)
                legs[warc].append(leg)
                print(f"warc {'on ' if warc else 'off'}: {leg.sample.pages_per_second:.0f} pages/s", file=sys.stderr)
    rate = {warc: median(leg.sample.pages_per_second for leg in done) for warc, done in legs.items()}
    cpu = {warc: median(leg.sample.cpu_seconds / leg.sample.pages for leg in done) for warc, done in legs.items()}
    kilobytes = median(leg.archive_bytes / leg.sample.pages for leg in legs[True]) / 1024
    cost = 1 - rate[True] / rate[False]
    print(f"{machine()}; {wanted.pages:,} pages, {wanted.rounds} rounds, medians")
    print(f"without: {rate[False]:.0f} pages/s, {1000 * cpu[False]:.2f} ms CPU per page")
    print(f"with:    {rate[True]:.0f} pages/s, {1000 * cpu[True]:.2f} ms CPU per page, {kilobytes:.1f} KiB per page")
    print(f"archiving costs {cost:.0%} of the pages per second (at most {MAX_COST:.0%})")
    return int(cost > MAX_COST)


if __name__ == "__main__":
    sys.exit(main())

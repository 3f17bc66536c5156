"""Commands on a large collection: ``python -m bench.collection.at_scale --pages N [--s3]``.

A crawl folder of N made-up pages, of two workers, is uploaded to a collection: a folder, or with ``--s3`` an S3 server
on loopback. Then each command runs in a process of its own, in three places: the machine that crawled, a new folder
with the settings of the crawl alone, and a copy that ``thresher pull`` makes. The table has the seconds on the clock
and of the processor, and the highest resident size. The first search of a place is the one that counts; the second
shows what it saved.

``--segment-rows`` closes segments earlier, as 15 seconds do in a slow crawl: the collection has more and smaller ones.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

from bench.collection.export import record, url
from testing.machine import machine
from testing.servers.s3 import s3_server
from thresher.collection.uploader import SEGMENT_ROWS
from thresher.crawl import CrawlSetup
from thresher.operations.gather import rebuild_frontier
from thresher.runner.uploads import build_uploader
from thresher.storage.page_store import PageStoreWriter

WORDS = 400
TARGETS = {"status": 0.5, "search": 1.0, "verify": 60.0}
"""Seconds, for 100,000 pages."""
QUERY = "word17 word4711"
TOPIC = (
    "name: at-scale\ntitle: {{en: words}}\nseeds: ['{seed}']\ncollection: {collection}\n"
    "scope: {{first_pages_per_host: null, traps: follow}}\npoliteness: {{contact: bench@example.org}}\n"
)


@dataclass(frozen=True)
class Sample:
    """What one command needed."""

    seconds: float
    cpu_seconds: float
    mebibytes: float
    last_line: str


def make(folder: Path, collection: str, pages: int, segment_rows: int) -> tuple[int, float, float]:
    """Write a crawl folder with its frontier, and upload it; return the segments, and seconds of upload and search."""
    write_settings(folder, collection)
    random = Random(7)
    for worker in (0, 1):
        records = (record(number, random, words=WORDS) for number in range(worker, pages, 2))
        with closing(PageStoreWriter(folder / "pages" / f"w{worker + 1}.db")) as writer:
            while batch := list(islice(records, 500)):
                writer.write(batch)
    crawl = CrawlSetup.open(folder)
    asyncio.run(rebuild_frontier(crawl.folder))
    began = time.monotonic()
    with closing(build_uploader(crawl, owner=True, segment_rows=segment_rows)) as uploader:
        segments = uploader.step(everything=True)
    uploaded = time.monotonic()
    with closing(build_uploader(crawl, owner=True, segment_rows=segment_rows, with_search=True)) as uploader:
        uploader.step(everything=True)
    return segments, uploaded - began, time.monotonic() - uploaded


def write_settings(folder: Path, collection: str) -> None:
    folder.mkdir()
    (folder / "topic.yaml").write_text(TOPIC.format(seed=url(0), collection=collection), encoding="utf-8")


def measure(*arguments: str, environment: Mapping[str, str]) -> Sample:
    """Run a command in a process of its own; an exit code 1 is an answer too: nothing found, or something wrong."""
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as output:
        command = [sys.executable, "-m", "thresher", *arguments]
        process = subprocess.Popen(command, stdout=output, stderr=output, env={**os.environ, **environment})
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        lines = output.read().strip().splitlines() or [""]
    if process.returncode not in (0, 1):
        raise RuntimeError("\n".join(lines[-5:]))
    return Sample(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, lines[-1].strip())


def plan(name: Path, collection: str) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield the place, the name and the arguments of each command."""
    crawled, settings, copy = str(name / "crawl"), str(name / "settings"), str(name / "copy")
    for place, folder in (("the machine that crawled", crawled), ("settings alone", settings), ("a copy", copy)):
        if folder == copy:
            yield place, "pull", ("pull", collection, copy)
        yield place, "status", ("status", folder)
        yield place, "search", ("search", folder, QUERY)
        yield place, "search again", ("search", folder, QUERY)
        if folder != settings:  # it has no frontier of its own
            yield place, "verify", ("verify", folder)
            yield place, "verify again", ("verify", folder)


@contextmanager
def storage(folder: Path, *, s3: bool) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the URL of a collection, and the environment by which it is found."""
    if not s3:
        yield f"file://{folder}", {}
        return
    with s3_server(folder) as server:
        yield server.url("at-scale"), server.environment


def bench(pages: int, *, s3: bool, segment_rows: int, place: Path) -> None:
    """Measure and print."""
    with storage(place / "storage", s3=s3) as (collection, environment):
        os.environ.update(environment)
        began = time.monotonic()
        with multiprocessing.get_context("spawn").Pool(1) as pool:  # a child counts the memory of its parent as its own
            segments, upload, search = pool.apply(make, (place / "crawl", collection, pages, segment_rows))
        seconds = time.monotonic() - began
        write_settings(place / "settings", collection)
        kind = "an S3 server" if s3 else "a folder"
        print(f"{machine()}; {pages:,} pages in {segments:,} segments on {kind}, made in {seconds:.0f} s, of which")
        print(f"{upload:.1f} s to upload pages, and {search:.1f} s to make and upload search segments.\n")
        print("| place | command | seconds | target | processor seconds | peak MiB | last line |")
        print("|---|---|---|---|---|---|---|", flush=True)
        for where, name, arguments in plan(place, collection):
            sample = measure(*arguments, environment=environment)
            times = [f"{sample.seconds:.2f}", f"{TARGETS.get(name, '')}", f"{sample.cpu_seconds:.2f}"]
            cells = [where, name, *times, f"{sample.mebibytes:.0f}", sample.last_line]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.collection.at_scale", description=__doc__)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--s3", action="store_true", help="use an S3 server instead of a folder")
    parser.add_argument("--segment-rows", type=int, default=SEGMENT_ROWS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="thresher-at-scale-") as temporary:
        bench(options.pages, s3=options.s3, segment_rows=options.segment_rows, place=Path(temporary))

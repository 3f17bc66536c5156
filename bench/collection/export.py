"""Memory and time of exports: ``python -m bench.collection.export``.

A collection of synthetic pages in two segments is made twice, small and large; every way out is taken from both of
them by the command line in a process of its own. What an export needs in memory must not grow with the collection:
the table shows the highest resident size of each process, at both sizes, and its processor time, which other work on
the machine does not change much. Every tenth page was visited again later, by the other worker, so that rows which no
longer count are among them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from random import Random

from testing.machine import machine
from thresher.records import Outcome
from thresher.storage.page_store import FoundLink, PageRecord, PageStoreWriter
from thresher.urls.canonical import fingerprint

LINKS, WORDS, HOSTS = 8, 120, 2_000
FORMS = {
    "jsonl": ("-f", "jsonl"),
    "csv": ("-f", "csv"),
    "parquet": ("-f", "parquet"),
    "parquet with text": ("-f", "parquet", "--text"),
    "opensearch": ("-f", "opensearch"),
    "graphml": ("-f", "graphml"),
    "links, parquet": ("-f", "parquet", "--links"),
    "hosts, csv": ("-f", "csv", "--hosts"),
}
VOCABULARY = [f"word{number}" for number in range(5_000)] + ["钙钛矿", "太阳能", "电池", "稳定性"]


def url(number: int) -> str:
    """Return the address of a page."""
    return f"http://h{number % HOSTS}.example/{number}"


def record(number: int, random: Random, *, visit: int = 0, words: int = WORDS) -> PageRecord:
    """Make up a page that a page before it led to."""
    parent = number // LINKS
    found = [
        FoundLink(url=url(number * LINKS + place), anchor=f"to {place}", score=0.5, parts={"page": 0.5})
        for place in range(LINKS)
    ]
    text = " ".join(random.choices(VOCABULARY, k=words))
    return PageRecord(
        fingerprint=fingerprint(url(number)),
        url=url(number),
        status=200,
        outcome=Outcome.DONE,
        fetched_at=1.7e9 + number + visit * 1e7,
        page=True,
        parent=fingerprint(url(parent)) if number else 0,
        title=text[:40],
        language="en",
        relevance=random.random(),
        relevant=random.random() < 0.4,
        text_hash=fingerprint(text),
        text=text,
        links=found,
    )


def make(folder: Path, number: int) -> None:
    """Write a crawl folder with `number` pages."""
    folder.mkdir()
    (folder / "topic.yaml").write_text("title: {en: words}\nseeds: ['http://h0.example/0']\n")
    random = Random(7)
    for worker in (0, 1):
        pages = (record(place, random) for place in range(worker, number, 2))
        again = (record(place, random, visit=1) for place in range(1 - worker, number, 20))
        with closing(PageStoreWriter(folder / "pages" / f"w{worker + 1}.db")) as writer:
            for batch in _batches(chain(pages, again)):
                writer.write(batch)


def _batches(records: Iterator[PageRecord]) -> Iterator[list[PageRecord]]:
    while batch := list(islice(records, 2_000)):
        yield batch


@dataclass(frozen=True)
class Sample:
    """What one export needed."""

    printed: str
    seconds: float
    cpu_seconds: float
    mebibytes: float
    out_bytes: int


def measure(folder: Path, options: Sequence[str], out: Path) -> Sample:
    """Export by the command line; return what it printed, its time and its highest resident size."""
    command = [sys.executable, "-m", "thresher", "export", str(folder), *options, "--replace", "-o", str(out)]
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as talk:
        process = subprocess.Popen(command, stderr=talk)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        talk.seek(0)
        printed = talk.read().strip()
    if process.returncode:
        raise RuntimeError(printed)
    size = sum(path.stat().st_size for path in [out, *out.rglob("*")] if path.is_file())
    return Sample(
        printed=printed.partition(" in ")[0],
        seconds=time.monotonic() - began,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        mebibytes=usage.ru_maxrss / 1024,
        out_bytes=size,
    )


def bench(small: int, large: int, forms: Sequence[str]) -> None:
    """Measure and print."""
    print(f"{machine()}; {small:,} and {large:,} pages, every tenth of them visited twice.\n")
    print("| export | rows | seconds | processor seconds | size, MB | peak MiB, small | peak MiB, large |")
    print("|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folders = {number: Path(name) / str(number) for number in (small, large)}
        for number, folder in folders.items():
            make(folder, number)
        for form in forms:
            out = Path(name) / "out"
            first, last = (measure(folder, FORMS[form], out) for folder in folders.values())
            out.unlink()
            print(
                f"| {form} | {last.printed} | {last.seconds:.0f} | {last.cpu_seconds:.0f} | "
                f"{last.out_bytes / 1e6:,.0f} | {first.mebibytes:.0f} | {last.mebibytes:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m bench.collection.export", description="Memory and time of exports."
    )
    parser.add_argument("--small", type=int, default=100_000)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--forms", nargs="+", choices=list(FORMS), default=list(FORMS))
    options = parser.parse_args()
    bench(options.small, options.pages, options.forms)

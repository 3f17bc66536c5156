"""Batch jobs over made-up pages: ``python -m bench.collection.batch --pages N [--ray]``.

N pages of about 400 words, every tenth nearly a copy of another, are written as part files. Each job maps and reduces
them in a process of its own; with ``--ray`` also on a Ray cluster of two processes that is started here, and the
results must be equal. Memory is the largest sum over all processes of a job, sampled every second; what processes
share, such as Ray's object store, counts once.
"""

from __future__ import annotations

import argparse
import multiprocessing
import queue
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import zstandard

from testing.machine import machine
from testing.processes import family
from thresher.assembly import build_judge
from thresher.batch.executors import Row, in_process, on_ray, write_part_files
from thresher.batch.jobs import BatchJob, Duplicates, Rejudge
from thresher.crawl import CrawlSetup
from thresher.judges.adaptive.judge import AdaptiveJudge
from thresher.records import ParsedPage

WORDS = [f"word{number}" for number in range(30_000)]
PAGE_WORDS, LEARNED_PAGES = 400, 500
PROCESSES = 2
CHUNK = 8_192
"""Pages that are written at once."""
MAX_SECONDS = 7_200
TOPIC = (
    "name: made-up\nkeywords: [word1 word2]\nseeds: ['http://a.example/0']\npoliteness: {contact: bench@example.org}\n"
)


def page(number: int) -> ParsedPage:
    draw = random.Random(number - number % 10 if number % 10 == 1 else number)
    text = " ".join(draw.choices(WORDS, k=PAGE_WORDS)) + f" {number}"
    return ParsedPage(url=f"http://a.example/{number}", title=f"Page {number}", text=text, language="en")


def judge_of(folder: Path) -> Any:
    (folder / "topic.yaml").write_text(TOPIC, encoding="utf-8")
    judge = build_judge(CrawlSetup.open(folder))
    assert isinstance(judge, AdaptiveJudge)
    for number in range(LEARNED_PAGES):
        judge.learn(page(number), seed=number == 0)
    return judge


def rows(numbers: range, judge: Any) -> Iterator[Row]:
    compress = zstandard.ZstdCompressor(level=1).compress
    names = dict.fromkeys(("parts", "topics", "main", "markup"))
    for number in numbers:
        made = page(number)
        judged = {"relevance": 0.5, "relevant": False, "reward": 0.0, "terms": judge.vector(made)}
        content = {"title": made.title, "language": "en", "text": compress(made.text.encode())}
        yield {"fingerprint": number, "url": made.url, "segment": "w1", **names, **judged, **content}


def write_chunk(numbers: range, judge: Any, jobs: list[BatchJob], folder: Path) -> list[list[Path]]:
    """Write the part files of some pages for each job; a job that reads terms gets no texts, as in a crawl."""
    made = list(rows(numbers, judge))
    paths = []
    for job in jobs:
        place = folder / type(job).__name__ / str(numbers.start)
        place.mkdir(parents=True)
        no_text = {"text": None} if "terms" in job.columns else {}
        paths.append(write_part_files(({**row, **no_text} for row in made), place, job.columns))
    return paths


def run_job(job: BatchJob, paths: list[Path], ray: bool, result: Any) -> None:
    began = time.monotonic()
    mapped = on_ray(job, paths, processes=PROCESSES) if ray else in_process(job, paths)
    between = time.monotonic()
    table = job.reduce(mapped)
    result.put((between - began, time.monotonic() - between, table))


def measure(job: BatchJob, paths: list[Path], *, ray: bool) -> tuple[float, float, float, Any]:
    """Run a job in a process of its own; return the seconds of both stages, the most memory in MiB, and the table."""
    context = multiprocessing.get_context("spawn")
    result = context.Queue()
    process = context.Process(target=run_job, args=(job, paths, ray, result))
    process.start()
    most, until = 0.0, time.monotonic() + MAX_SECONDS
    while time.monotonic() < until:
        assert process.pid is not None
        most = max(most, sum(map(proportional_mebibytes, family(process.pid))))
        with suppress(queue.Empty):
            mapped, reduced, table = result.get(timeout=1.0)
            process.join()
            return mapped, reduced, most, table
    raise TimeoutError(f"a job did not end within {MAX_SECONDS} s")


def proportional_mebibytes(pid: int) -> float:
    """Return the memory of a process, with its share of what it has in common with others; 0 when it has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return float(line.split()[1]) / 1024
    return 0.0


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--pages", type=int, default=50_000)
    arguments.add_argument("--ray", action="store_true")
    options = arguments.parse_args()
    jobs: list[BatchJob]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        judge = judge_of(folder)
        jobs = [Rejudge(judge), Duplicates()]
        chunks = [range(start, min(start + CHUNK, options.pages)) for start in range(0, options.pages, CHUNK)]
        began = time.monotonic()
        with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
            written = pool.map(partial(write_chunk, judge=judge, jobs=jobs, folder=folder), chunks, chunksize=1)
        print(f"{machine()}; {options.pages:,} pages written in {time.monotonic() - began:.0f} s\n", flush=True)
        print("| job | where | map, s | reduce, s | peak, MiB |", "|---|---|---|---|---|", sep="\n", flush=True)
        results = [
            compare(job, [path for chunk in written for path in chunk[number]], ray=options.ray)
            for number, job in enumerate(jobs)
        ]
        print("", *results, sep="\n")


def compare(job: BatchJob, paths: list[Path], *, ray: bool) -> str:
    """Measure a job in this process and on Ray; return the summary of its result, which must be the same."""
    name, tables = type(job).__name__.lower(), []
    for on_cluster in [False, True][: 1 + ray]:
        mapped, reduced, peak, table = measure(job, paths, ray=on_cluster)
        tables.append(table)
        where = f"Ray, {PROCESSES} processes" if on_cluster else "in process"
        print(f"| {name} | {where} | {mapped:.1f} | {reduced:.1f} | {peak:,.0f} |", flush=True)
    assert all(table.equals(tables[0]) for table in tables)
    size = sum(path.stat().st_size for path in paths) / 2**20
    equal = "equal results, " if ray else ""
    return f"{name}: {equal}{len(paths)} parts, {size:,.0f} MiB, {job.counts(tables[0])}"


if __name__ == "__main__":
    main()

"""Batch jobs over made-up pages: ``python -m bench.collection.batch --pages N [--ray]``.

N pages of about 400 words, every tenth nearly a copy of another, are written as part files. Each job maps and reduces
them in a process of its own; with ``--ray`` also on a Ray cluster of two processes that is started here, and the
results must be equal. Memory is the peak of the process that runs the job; with Ray that is the driver alone, without
workers and store.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import zstandard

from thresher.batch.executors import in_process, on_ray
from thresher.batch.jobs import BatchJob, Duplicates, Rejudge
from thresher.batch.parts import Row, write_part_files
from thresher.judges.adaptive.judge import AdaptiveJudge
from thresher.project import CrawlProject, build_judge
from thresher.records import ParsedPage

WORDS = [f"word{number}" for number in range(30_000)]
PAGE_WORDS, LEARNED_PAGES = 400, 500
TOPIC = "name: made-up\nkeywords: [word1 word2]\nseeds: ['http://a.example/0']\nmanners: {contact: bench@example.org}\n"


def page(number: int) -> ParsedPage:
    draw = random.Random(number - number % 10 if number % 10 == 1 else number)
    text = " ".join(draw.choices(WORDS, k=PAGE_WORDS)) + f" {number}"
    return ParsedPage(url=f"http://a.example/{number}", title=f"Page {number}", text=text, language="en")


def judge_of(folder: Path) -> Any:
    (folder / "topic.yaml").write_text(TOPIC, encoding="utf-8")
    judge = build_judge(CrawlProject.open(folder))
    assert isinstance(judge, AdaptiveJudge)
    for number in range(LEARNED_PAGES):
        judge.learn(page(number), seed=number == 0)
    return judge


def rows(pages: int, judge: Any) -> Iterator[Row]:
    compress = zstandard.ZstdCompressor(level=1).compress
    names = dict.fromkeys(("parts", "topics", "main", "markup"))
    for number in range(pages):
        made = page(number)
        judged = {"relevance": 0.5, "relevant": False, "reward": 0.0, "terms": judge.vector(made)}
        content = {"title": made.title, "language": "en", "text": compress(made.text.encode())}
        yield {"fingerprint": number, "url": made.url, "segment": "w1", **names, **judged, **content}


def measured(job: BatchJob, paths: list[Path], ray: bool, result: Any) -> None:
    began = time.monotonic()
    mapped = on_ray(job, paths, processes=2) if ray else in_process(job, paths)
    between = time.monotonic()
    table = job.reduce(mapped)
    seconds = between - began, time.monotonic() - between
    result.put((seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, table))


def run(job: BatchJob, paths: list[Path], *, ray: bool) -> Any:
    context = multiprocessing.get_context("spawn")
    result = context.Queue()
    process = context.Process(target=measured, args=(job, paths, ray, result))
    process.start()
    found = result.get(timeout=3600)
    process.join()
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--pages", type=int, default=50_000)
    arguments.add_argument("--ray", action="store_true")
    options = arguments.parse_args()
    print("| job | where | map, s | reduce, s | peak, MiB |", "|---|---|---|---|---|", sep="\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        judge = judge_of(Path(folder))
        for job in (Rejudge(judge), Duplicates()):
            name = type(job).__name__.lower()
            (home := Path(folder) / name).mkdir()
            paths = write_part_files(rows(options.pages, judge), home, job.columns)
            tables = []
            for ray in [False, True][: 1 + options.ray]:
                (mapped, reduced), peak, table = run(job, paths, ray=ray)
                tables.append(table)
                where = "Ray, 2 processes" if ray else "in process"
                print(f"| {name} | {where} | {mapped:.1f} | {reduced:.1f} | {peak:,.0f} |", flush=True)
            assert all(table.equals(tables[0]) for table in tables)
            size = sum(path.stat().st_size for path in paths) / 2**20
            print(f"{name}: {len(paths)} parts, {size:,.0f} MiB, {job.counts(tables[0])}", flush=True)


if __name__ == "__main__":
    main()

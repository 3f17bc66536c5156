"""One worker of the real command, on a file and on the shared store in turns: pages per second, memory, disk."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from bench.speed.full_speed import full_speed
from bench.speed.pages import SITE
from bench.stores.server import empty, measured_server, version
from testing.crawl_process import REPOSITORY, THRESHER, Crawl
from testing.recording_server import report
from testing.recording_server.process import Recorder, running

PAGE_LIMIT_REACHED = 14
ROUNDS = 3


def measure_worker(kind: str, pages: int, folder: Path) -> dict[str, Any]:
    """Let one worker take pages of 30 KB with 60 links each from loopback, with SQLite and with the store in turns."""
    legs: dict[str, list[dict[str, float]]] = {"sqlite": [], kind: []}
    with running(SITE, folder / "hits.csv", "--robots=404") as recorder:
        for _ in range(ROUNDS):
            legs["sqlite"].append(one_crawl(recorder, pages, ""))
            with measured_server(kind, empty(folder / f"worker-{kind}-{len(legs[kind])}")) as server:
                legs[kind].append(one_crawl(recorder, pages, server.url))
                server_version = version(server)
    row: dict[str, Any] = {"version": server_version, "pages": pages}
    for leg, samples in legs.items():
        for name in samples[0]:
            row[f"{name}_{'file' if leg == 'sqlite' else 'store'}"] = median(sample[name] for sample in samples)
    return row


def one_crawl(recorder: Recorder, pages: int, store: str, *, workers: int = 1) -> dict[str, float]:
    """Run the command to its end.

    Raises:
        RuntimeError: It ended with an error.
    """
    began_ns = time.monotonic_ns()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as output:
        crawl = Crawl(Path(folder) / "crawl")
        crawl.create(recorder.seed_url, full_speed())
        where = ["--store", store] if store else []
        command = [*THRESHER, "run", str(crawl.folder), "--pages", str(pages), "--workers", str(workers), *where]
        process = subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in {0, PAGE_LIMIT_REACHED}:
            output.seek(0)
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {output.read().decode()[-2000:]}")
        kept = sum(path.stat().st_size for path in (crawl.folder / "pages").rglob("*") if path.is_file())
    hits = [hit for hit in recorder.hits() if hit.start_ns >= began_ns]
    taken = len(report.pages(hits))
    return {
        "pages_per_second": report.pages_per_second(hits),
        "cpu_ms_per_page": 1e3 * (usage.ru_utime + usage.ru_stime) / taken,
        "worker_ram_bytes": usage.ru_maxrss * 1024.0,
        "kept_bytes_per_page_byte": kept / taken / SITE.page_bytes,
    }

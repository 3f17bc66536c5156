"""What the stages of a page cost in instructions of the processor.

``python -m bench.speed.instructions`` (needs valgrind).

Counts are the same on a busy machine as on an idle one. A process under valgrind lets pages go through the first
stages, another lets more pages go through them; what the second needs more is what these pages cost. Beside them what
bare Scrapy needs to find the links of the same pages and to know each by its fingerprint. Half an hour.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.request import fingerprint

from bench.speed.one_page import OnePage, Stage, bodies
from testing.machine import machine

FEW, MANY = 30, 60
"""Pages of the two processes: between them lies one refit of the judge, as in every crawl of that age."""
BARE = "bare Scrapy: links, requests, fingerprints"
STAGES = ("parse", "judge", "score", "archive")
_COUNTED = re.compile(r"I\s+refs:\s+([\d,]+)")


def bare_scrapy(url: str, body: bytes) -> None:
    """Find the links of a page, make a request of each, and know it by its fingerprint."""
    response = HtmlResponse(url, body=body, encoding="utf-8")
    for link in LinkExtractor().extract_links(response):
        fingerprint(Request(link.url))


def run(stages: str, pages: int) -> None:
    """Be the process that is counted: run the first `stages` stages, or bare Scrapy."""
    with tempfile.TemporaryDirectory() as folder, OnePage(Path(folder)) as one:
        chosen: list[Stage] = [bare_scrapy] if stages == BARE else list(one.stages().values())[: int(stages)]
        for url, body in bodies(MANY)[:pages]:
            for stage in chosen:
                stage(url, body)


def counted(stages: str, pages: int) -> int:
    """Count the instructions of such a process."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", sys.executable]
    done = subprocess.run(
        [*command, "-m", "bench.speed.instructions", f"--stages={stages}", f"--pages={pages}"],
        env={**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = _COUNTED.search(done.stderr)
    if not found:
        raise RuntimeError(f"valgrind did not count: {done.stderr[-500:]}")
    return int(found[1].replace(",", ""))


def per_page(stages: str) -> float:
    """Return the instructions that a page takes, in millions."""
    return (counted(stages, MANY) - counted(stages, FEW)) / (MANY - FEW) / 1e6


def rows() -> Iterator[tuple[str, float]]:
    """Give the stages and their millions of instructions per page."""
    so_far = 0.0
    for number, stage in enumerate(STAGES, 1):
        together = per_page(str(number))
        yield stage, together - so_far
        so_far = together
    yield "all four", so_far
    yield BARE, per_page(BARE)


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed.instructions", description="Instructions by stage.")
    parser.add_argument("--stages", help=argparse.SUPPRESS)
    parser.add_argument("--pages", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stages:
        run(options.stages, options.pages)
        return
    print(f"{machine()}; pages of 30 KB with 60 links, pages {FEW + 1} to {MANY} of a crawl\n")
    print("| stage | million instructions per page |\n|---|---|")
    for stage, millions in rows():
        print(f"| {stage} | {millions:.1f} |", flush=True)


if __name__ == "__main__":
    main()

"""Row R6 with a real cable: one machine of two is cut off from the store, from the other and from the web at once.

Both machines are networks of their own on this one, see `testing.servers.island`. What is sent into a pulled cable is
sent again by the kernel when it is back, late requests to hosts included.
"""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from testing.crawl_process import REPOSITORY, THRESHER, Crawl, wait_for
from testing.faulty_crawl.scenario import Plan
from testing.faulty_crawl.scene import counts_of
from testing.recording_server import report
from testing.recording_server.process import running
from testing.recording_server.site import Site
from testing.servers import store_server
from testing.servers.island import Island, in_private_network, island
from tests.faults.table import Outcome
from thresher.config.run_options import RunOptions
from thresher.crawl import CrawlSetup as Parts

WORKERS = 2
JOINING_SECONDS = 60.0
ENDING_SECONDS = 60.0


def cut_machine(pages: int, hosts: int, pulls: int, seconds: float) -> dict[str, float]:
    """Crawl on two machines, and pull the cable of one of them so often for so long; only in a private network."""
    plan = Plan(site=Site(pages=pages, hosts=hosts), delay_seconds=0.1, workers=WORKERS, max_seconds=600.0)
    with (
        tempfile.TemporaryDirectory(prefix="thresher-") as name,
        store_server("redis", Path(name) / "store") as server,
        running(plan.site, Path(name) / "hits.csv", "--latency=0.005", "--jitter=0.03") as recorder,
        island() as far,
    ):
        here, there = Crawl(Path(name) / "here"), Crawl(Path(name) / "there")
        here.create(recorder.seed_url, plan.topic())
        run = here.start("--workers", str(WORKERS), "--store", server.url)
        try:
            with _joined(far, server.url, here, there) as joined:
                for number in range(1, pulls + 1):
                    wait_for(lambda n=number: recorder.ended() >= pages * n // (pulls + 2), seconds=plan.max_seconds)
                    _pull(far, seconds)
                exit_code = run.wait(plan.max_seconds)
                left = joined.wait(ENDING_SECONDS)
        finally:
            run.kill_all()
        hits, gaps = recorder.hits(), report.gaps(recorder.hits())
        kept = [{_key(url) for url in crawl.kept_urls()} for crawl in (here, there)]
        return {
            "exit_code": exit_code,
            "left_with": left,
            "pages": pages,
            "fetched_there": len(kept[1]),
            "lost": len(plan.site.keys() - (kept[0] | kept[1])),
            "counted": asyncio.run(counts_of(here, {"store": server.url})).pages,
            "kept_by_both": len(kept[0] & kept[1]),
            "fetched_twice": len(report.refetches(hits)),
            "open_at_once": max(report.max_parallel(hits).values()),
            "gaps": len(gaps),
            "violations": len(report.violations(gaps, plan.delay_seconds)),
        }


@contextmanager
def _joined(far: Island, url: str, here: Crawl, there: Crawl) -> Iterator[subprocess.Popen[bytes]]:
    """Let the far machine work for the crawl for as long as the block lasts."""
    name = Parts.open(here.folder, RunOptions(store=url)).name
    options = ["--store", url, "--crawl", name, "--dir", str(there.folder), "--workers", str(WORKERS), "--name", "far"]
    command = far.command([*THRESHER, "join", *options])
    with (here.folder / "work.out").open("wb") as output:
        joined = subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        if not wait_for(lambda: (there.folder / "topic.yaml").exists(), seconds=JOINING_SECONDS):
            raise RuntimeError(f"nobody joined: {(here.folder / 'work.out').read_text()[-1000:]}")
        yield joined
    finally:
        joined.kill()
        joined.wait()


def _pull(far: Island, seconds: float) -> None:
    far.pull()
    time.sleep(seconds)
    far.plug()


def _key(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}{parts.path}"


def r6_machine() -> Outcome:
    """Fill the row."""
    seconds = 18.0
    seen = in_private_network("tests.faults.partition:cut_machine", 6000, 200, 3, seconds, seconds=900.0)
    return Outcome(held=held(seen), figure=words(seen))


def held(seen: dict[str, float]) -> bool:
    """Whether nothing was lost or counted twice, and hosts were left alone."""
    ended_well = seen["exit_code"] == seen["left_with"] == 0
    whole = seen["lost"] == 0 and seen["counted"] == seen["pages"]
    return ended_well and whole and seen["open_at_once"] <= 1 and seen["violations"] == 0


def words(seen: dict[str, float]) -> str:
    """Say it in the words of the table."""
    return (
        f"lost {seen['lost']} of {seen['pages']:,}; counted {seen['counted']:,}; fetched on the far machine "
        f"{seen['fetched_there']:,}; fetched twice {seen['fetched_twice']}, kept by both {seen['kept_by_both']}; "
        f"open at once {seen['open_at_once']}; {seen['violations']} violations in {seen['gaps']:,} gaps"
    )

"""A crawl on a disk that fills up: ``unshare -rm python -m tests.faults.full_disk MEGABYTES PAGES [live]``.

Mounts a small file system that nobody else sees, crawls until there is no room, looks at what is there, makes room,
goes on, and prints what was seen as JSON. One worker collects a made-up web, or `thresher run` crawls a real server.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from testing.collecting import Worker, make_crawl
from testing.crawl_process import REPOSITORY, THRESHER, Crawl, merge
from testing.faulty_crawl.scenario import Plan
from testing.recording_server.process import running
from testing.recording_server.site import Site
from tests.faults.collection import archived, checked
from thresher.storage.warc.reader import Damage, walk, warc_paths


def mount(place: str, megabytes: int, *more: str) -> None:
    """Give a place a file system of a size."""
    options = ",".join([*more, f"size={megabytes}m"])
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", place], check=True)


def main(megabytes: int, pages: int, *, live: bool) -> dict[str, object]:
    """Fill the disk, make room, and go on."""
    with tempfile.TemporaryDirectory() as place:
        mount(place, megabytes)
        try:
            return (_fill_live if live else _fill)(Path(place) / "crawl", place, pages)
        finally:
            subprocess.run(["umount", "-l", place], check=True)


def _fill(root: Path, place: str, pages: int) -> dict[str, object]:
    make_crawl(root)
    code = Worker(root, "w1", pages).wait(300)
    torn = _torn(root)
    mount(place, 400, "remount")
    code_again = Worker(root, "w1", pages).wait(300)
    report = checked(root, repair=True)
    missing = archived(root, pages).missing
    return {"code": code, "torn": torn, "code_again": code_again, "clean": report.is_clean, "missing": missing}


def _fill_live(root: Path, place: str, pages: int) -> dict[str, object]:
    plan = Plan(site=Site(pages=pages, hosts=60), timeout_seconds=12.0, lease_seconds=20.0)
    with tempfile.TemporaryDirectory() as logs, running(plan.site, Path(logs) / "hits.csv") as recorder:
        crawl = Crawl(root)
        crawl.create(recorder.seed_url, merge(plan.topic(), {"output": {"warc": True, "keep_irrelevant": True}}))
        code = _run(root)
        torn = _torn(root)
        mount(place, 400, "remount")
        code_again = _run(root)
        report = checked(root, repair=True)
        missing = pages - len(set(crawl.kept_urls()))
    return {"code": code, "torn": torn, "code_again": code_again, "clean": report.is_clean, "missing": missing}


def _run(root: Path) -> int:
    """Crawl to the end; what the run says goes elsewhere, for it would find no room either."""
    command = [*THRESHER, "run", str(root), "--workers", "2"]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, timeout=300, check=False).returncode


def _torn(root: Path) -> int:
    return sum(isinstance(found, Damage) for path in warc_paths(root / "warc") for found in walk(path))


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]), live=sys.argv[3:] == ["live"])))

"""Crawl what a recording server serves, as a user would: ``thresher run`` in a process of its own, in a few lines.

::

    with recorder(script) as w:
        result = crawl(w, [w.url("good.test")], {"politeness": {"delay_seconds": 0.2}}, pages=100, seconds=20)
    assert result.exit_code == 0, result.stderr
    assert {page["url"] for page in result.pages} == {...}
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from testing import processes
from testing.commands import called
from testing.crawl_process import REPOSITORY, THRESHER, Run, merge
from testing.recording_server.process import Recorder
from testing.recording_server.words import TOPIC_WORDS

GRACE_SECONDS = 45.0
"""A run may take so much longer than it was given: it lets open requests finish before it ends."""
LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class Result:
    """A crawl that is over. Its folder lives as long as the result; what is not asked for is not computed.

    Args:
        exit_code: Of ``thresher run``; -9 when it had to be killed.
        peak_rss_bytes: The most memory that any one process of the run held.
        worker_peak_rss_bytes: The same, of its workers alone, without parsers and the supervisor.
    """

    folder: Path
    exit_code: int
    stderr: str
    seconds: float
    peak_rss_bytes: int
    worker_peak_rss_bytes: int

    @cached_property
    def pages(self) -> list[dict[str, Any]]:
        """The pages in the collection, irrelevant ones and copies included, by ``export``."""
        return [json.loads(line) for line in self.thresher("export", "-f", "jsonl", "--duplicates").splitlines()]

    @cached_property
    def urls(self) -> set[str]:
        """The URLs of the pages."""
        return {page["url"] for page in self.pages}

    @cached_property
    def hosts(self) -> dict[str, dict[str, Any]]:
        """What is known of every host, by ``hosts``."""
        reported = json.loads(self.thresher("hosts", "--json", "--limit", "100000"))
        return {host["host"]: host for host in reported}

    @cached_property
    def status(self) -> dict[str, Any]:
        """The crawl in numbers, by ``status``."""
        reported: dict[str, Any] = json.loads(self.thresher("status", "--json"))
        return reported

    def why(self, url: str) -> str:
        """Return what ``why`` prints about a URL, known or not."""
        return self.thresher("why", url, "--details", check=False)

    def thresher(self, command: str, *arguments: str, check: bool = True) -> str:
        """Return what a command prints about this crawl."""
        done = called(command, self.folder, *arguments, folder=REPOSITORY)
        if check and done.returncode:
            raise RuntimeError(f"{command} ended with {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")
        return done.stdout


def crawl(
    w: Recorder,
    seeds: Sequence[str],
    settings: Mapping[str, Any] | None = None,
    *,
    pages: int | None = None,
    seconds: float = 60.0,
    workers: int = 1,
) -> Result:
    """Crawl from the seeds until nothing is left, `pages` pages are fetched, or the time is up.

    Args:
        settings: Written over `topic`, mapping by mapping.
    """
    folder = Path(tempfile.mkdtemp(prefix="thresher-"))
    config = merge(topic(w, seeds), settings or {})
    (folder / "topic.yaml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
    options = [f"--minutes={seconds / 60:.6f}", f"--workers={workers}", *([f"--pages={pages}"] if pages else [])]
    try:
        result = _run(folder, options, seconds + GRACE_SECONDS)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(result, shutil.rmtree, folder, ignore_errors=True)
    return result


def topic(w: Recorder, seeds: Sequence[str]) -> dict[str, Any]:
    """Return the settings of a crawl of the server: it never waits, follows every link and keeps every page."""
    return {
        "title": {"en": "perovskite solar cells"},
        "keywords": TOPIC_WORDS,
        "languages": ["en"],
        "seeds": list(seeds),
        "strategy": {"name": "breadth-first"},
        "scope": {"max_pages_per_host": 100_000, "max_depth": 100, "first_pages_per_host": None, "traps": "follow"},
        "stop": {"pages": None},
        "politeness": {"delay_seconds": 0, "robots": "obey", "contact": "tests@example.org"},
        "output": {"keep_irrelevant": True},
        "network": {"allow": ["127.0.0.0/8"], "tls": "record", "connect_to": w.connect_to},
        "engine": {"concurrency": 16, "timeout_seconds": 2.0, "lease_seconds": 8.0},
    }


def _run(folder: Path, options: Sequence[str], max_seconds: float) -> Result:
    started = time.monotonic()
    output, errors = folder / "run.out", folder / "run.err"
    with output.open("wb") as out, errors.open("wb") as err:
        process = subprocess.Popen(
            [*THRESHER, "run", str(folder), *options],
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    run = Run(process, errors)
    try:
        peaks = _watch(run, started + max_seconds)
    finally:
        run.kill_all()
    words = errors.read_text(encoding="utf-8", errors="replace")
    return Result(folder, process.returncode, words, time.monotonic() - started, *peaks)


def _watch(run: Run, deadline: float) -> tuple[int, int]:
    """Wait for the end of a run, or the deadline; return the largest peak of its processes, and of its workers."""
    peaks: dict[int, int] = {}
    workers: set[int] = set()
    while not run.ended and time.monotonic() < deadline:
        for pid in processes.family(run.process.pid):
            peaks[pid] = max(peaks.get(pid, 0), peak_rss_bytes(pid))
            workers |= {pid} if _is_worker(pid) else set()
        time.sleep(LOOK_SECONDS)
    return max(peaks.values(), default=0), max((peaks[pid] for pid in workers), default=0)


def _is_worker(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return b"thresher.runner.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def peak_rss_bytes(pid: int) -> int:
    """Return the most memory a process has held so far; 0 when it has gone."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0

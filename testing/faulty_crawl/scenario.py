"""One crawl with its misfortunes: what is planned, and what was observed."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testing import processes
from testing.crawl_process import THRESHER, Crawl, CrawlStalled, Run, wait_for
from testing.recording_server.log import Hit
from testing.recording_server.process import Recorder, running
from testing.recording_server.site import Site
from testing.recording_server.words import TOPIC_WORDS

JITTER_SECONDS = 0.1
REPLACED_SECONDS = 20.0
"""A run that has had no worker for so long does not replace them."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A crawl of a whole site during which processes are killed.

    Args:
        worker_kills: How often one worker, chosen at random, gets SIGKILL; the run has to replace it.
        total_kills: How often the run and all its workers get SIGKILL; the same command is then given again.
        concurrency: Requests open at once in one worker.
        latency_seconds: Least time the recording server takes to answer; with none it would never see two requests at
        once. jitter_seconds: Random time added to the latency.
        timeout_seconds: Longest time for one fetch.
        lease_seconds: How long the URLs of a killed worker stay out of reach.
        random_seed: Decides when who is killed.
        max_seconds: The crawl counts as stalled after this time.
    """

    site: Site
    delay_seconds: float = 0.0
    workers: int = 4
    worker_kills: int = 0
    total_kills: int = 0
    concurrency: int = 16
    latency_seconds: float = 0.005
    jitter_seconds: float = 0.03
    timeout_seconds: float = 2.0
    lease_seconds: float = 8.0
    random_seed: int = 0
    max_seconds: float = 300.0

    def topic(self) -> dict[str, Any]:
        """Return the settings for topic.yaml: every link is followed, no budget ends the crawl early."""
        return {
            "keywords": TOPIC_WORDS,
            "languages": ["en"],
            "strategy": {"name": "breadth-first"},
            "scope": {
                "max_pages_per_host": self.site.pages,
                "first_pages_per_host": None,
                "max_depth": 100,
                "traps": "follow",
            },
            "stop": {"pages": None},
            "politeness": {"delay_seconds": self.delay_seconds, "robots": "obey"},
            "output": {"keep_irrelevant": True},
            "network": {"allow": ["127.0.0.0/8"]},
            "engine": {
                "concurrency": self.concurrency,
                "timeout_seconds": self.timeout_seconds,
                "lease_seconds": self.lease_seconds,
            },
        }


@dataclass(frozen=True, slots=True)
class Kill:
    """`workers` workers were alive at `before_ns` and dead at `after_ns`, by the clock of the recording server."""

    before_ns: int
    after_ns: int
    workers: int


@dataclass(frozen=True, kw_only=True)
class Observed:
    """What is known after the crawl: the log of the recording server, the kills, and the URLs in the collection."""

    hits: Sequence[Hit]
    kills: Sequence[Kill]
    kept_urls: Sequence[str]
    exit_code: int
    seconds: float


def observe(plan: Plan, command: Sequence[str] = THRESHER) -> Observed:
    """StrategyData out a plan in a temporary folder.

    Raises:
        CrawlStalled: It did not end within the plan's time.
    """
    options = [f"--latency={plan.latency_seconds}", f"--jitter={plan.jitter_seconds}"]
    with (
        tempfile.TemporaryDirectory() as folder,
        running(plan.site, Path(folder) / "hits.csv", *options) as recorder,
    ):
        crawl = Crawl(Path(folder) / "crawl", command)
        crawl.create(recorder.seed_url, plan.topic())
        return _Executioner(plan, crawl, recorder).carry_out()


class _Executioner:
    """Starts the crawl, kills at random moments, and waits for the end."""

    def __init__(self, plan: Plan, crawl: Crawl, recorder: Recorder) -> None:
        self._plan = plan
        self._crawl = crawl
        self._recorder = recorder
        self._random = random.Random(plan.random_seed)
        self._started = time.monotonic()
        self._kills: list[Kill] = []
        self._run = self._start()

    def carry_out(self) -> Observed:
        """Return what was observed; nothing is left running, whatever happens."""
        try:
            for requests, kill in self._moments():
                self._await_requests(requests)
                kill()
            exit_code = self._run.wait(self._seconds_left())
        finally:
            self._run.kill_all()
        seconds = time.monotonic() - self._started
        return Observed(
            hits=self._recorder.hits(),
            kills=self._kills,
            kept_urls=self._crawl.kept_urls(),
            exit_code=exit_code,
            seconds=seconds,
        )

    def _start(self) -> Run:
        return self._crawl.start("--workers", str(self._plan.workers))

    def _moments(self) -> list[tuple[int, Callable[[], None]]]:
        """Return who is killed after how many requests, spread at random over nine tenths of the site."""
        kills = [self._kill_one] * self._plan.worker_kills + [self._kill_everything] * self._plan.total_kills
        self._random.shuffle(kills)
        pages = self._plan.site.pages
        return list(zip(sorted(self._random.sample(range(pages * 9 // 10), len(kills))), kills, strict=True))

    def _await_requests(self, requests: int) -> None:
        reached = wait_for(
            lambda: self._run.ended or self._recorder.ended() >= requests,
            seconds=self._seconds_left(),
        )
        if not reached:
            raise CrawlStalled(f"fewer than {requests} requests in time; {self._run.last_words()}")
        time.sleep(self._random.uniform(0, JITTER_SECONDS))

    def _kill_one(self) -> None:
        wait_for(lambda: self._run.ended or self._run.workers(), seconds=REPLACED_SECONDS)
        if not (workers := self._run.workers()):
            return
        pid = self._random.choice(workers)
        before_ns = time.monotonic_ns()
        if processes.kill(pid):
            wait_for(lambda: not processes.is_alive(pid), seconds=1.0, step_seconds=0.001)
            self._kills.append(Kill(before_ns, time.monotonic_ns(), workers=1))

    def _kill_everything(self) -> None:
        if self._run.ended:
            return
        before_ns = time.monotonic_ns()
        self._run.kill_all()
        self._kills.append(Kill(before_ns, time.monotonic_ns(), workers=self._plan.workers))
        self._run = self._start()

    def _seconds_left(self) -> float:
        return self._started + self._plan.max_seconds - time.monotonic()

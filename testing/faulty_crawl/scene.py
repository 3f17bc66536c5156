"""A crawl on a store, and what can befall it: to its workers, to the store, to the network between them.

Everything that befalls it is written down as a `Trouble`, by the clock of the recording server; pages fetched twice
need one.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from testing import processes
from testing.crawl_process import Crawl, CrawlStalled, Run, wait_for
from testing.faulty_crawl.scenario import REPLACED_SECONDS, Plan
from testing.recording_server.process import Recorder
from testing.servers import ChaosProxy, StoreServer
from testing.servers.log_file import AppendLog
from thresher.crawl import CrawlSetup as Parts
from thresher.frontier.base import Counts


@dataclass(frozen=True)
class Trouble:
    """From one moment to another, `workers` workers could not do what they should."""

    kind: str
    before_ns: int
    after_ns: int
    workers: int

    @property
    def seconds(self) -> float:
        """How long it lasted."""
        return (self.after_ns - self.before_ns) / 1e9


class Scene:
    """A crawl under way.

    Args:
        server: The store; None when the crawl keeps its frontier in its folder.
        proxy: The network before the store, when there is one.
    """

    def __init__(
        self,
        plan: Plan,
        crawl: Crawl,
        recorder: Recorder,
        *,
        server: StoreServer | None = None,
        proxy: ChaosProxy | None = None,
    ) -> None:
        self.plan = plan
        self.crawl = crawl
        self.recorder = recorder
        self.random = random.Random(plan.random_seed)
        self.troubles: list[Trouble] = []
        self.started = time.monotonic()
        self._server = server
        self._proxy = proxy
        self._log = AppendLog(server.folder) if server else None
        self.run = self.start()

    @property
    def server(self) -> StoreServer:
        """The store's process."""
        assert self._server is not None, "this crawl has no server"
        return self._server

    @property
    def proxy(self) -> ChaosProxy:
        """The network before the store."""
        assert self._proxy is not None, "this crawl has no proxy"
        return self._proxy

    @property
    def seconds_left(self) -> float:
        """Until the crawl counts as stalled."""
        return self.started + self.plan.max_seconds - time.monotonic()

    def start(self) -> Run:
        """Give the command: the first time, or again."""
        place = self._proxy or self._server
        store = ["--store", place.url] if place else []
        self.run = self.crawl.start("--workers", str(self.plan.workers), *store)
        return self.run

    def counts(self) -> Counts:
        """Return how the store stands, asked without the proxy."""
        return asyncio.run(counts_of(self.crawl, {"store": self._server.url} if self._server else {}))

    def await_requests(self, requests: int) -> None:
        """Wait until the recording server has answered `requests` requests, or the run is over."""
        reached = wait_for(lambda: self.run.ended or self.recorder.ended() >= requests, seconds=self.seconds_left)
        if not reached:
            raise CrawlStalled(f"fewer than {requests} requests in time; {self.run.last_words()}")

    def await_share(self, share: float) -> None:
        """Wait until so much of the site was asked for."""
        self.await_requests(int(share * self.plan.site.pages))

    def workers(self) -> list[int]:
        """Return the processes of the workers, as soon as there are any."""
        wait_for(lambda: self.run.ended or self.run.workers(), seconds=REPLACED_SECONDS)
        return self.run.workers()

    @contextmanager
    def trouble(self, kind: str, workers: int) -> Iterator[None]:
        """Write down that there is trouble for as long as the block lasts."""
        before_ns = time.monotonic_ns()
        yield
        self.troubles.append(Trouble(kind, before_ns, time.monotonic_ns(), workers))

    def kill_worker(self) -> None:
        """Send one worker SIGKILL; the run has to replace it."""
        if workers := self.workers():
            pid = self.random.choice(workers)
            with self.trouble("kill", 1):
                processes.kill(pid)
                wait_for(lambda: not processes.is_alive(pid), seconds=1.0, step_seconds=0.001)

    def kill_everything(self) -> None:
        """Send the run and all its workers SIGKILL, and give the command again."""
        if not self.run.ended:
            with self.trouble("kill all", self.plan.workers):
                self.run.kill_all()
            self.start()

    def stop_worker(self, seconds: float, *, pid: int | None = None) -> None:
        """Let one worker stand still."""
        if workers := self.workers():
            pid = pid or self.random.choice(workers)
            with self.trouble("stop", 1), frozen([pid]):
                time.sleep(seconds)

    def stop_server(self, seconds: float) -> None:
        """Let the store stand still."""
        with self.trouble("silent store", self.plan.workers):
            self.server.stop()
            time.sleep(seconds)
            self.server.cont()

    def kill_server(self, seconds: float, *, forget_seconds: float = 0.0) -> int:
        """Send the store SIGKILL and start it again after a while; return how many settled pages it has lost.

        Nobody can settle anything while the pages are counted, for the workers stand still then.

        Args:
            forget_seconds: It also loses what it has written in its last seconds, as by a loss of power.
        """
        assert self._log is not None
        with self.trouble("dead store", self.plan.workers):
            with frozen(self.run.workers()):
                before = self.counts().pages
                self.server.kill()
            self._log.forget(forget_seconds)
            time.sleep(seconds)
            with frozen(self.run.workers()):
                self.server.restart()
                after = self.counts().pages
        return before - after

    def cut(self, seconds: float, way: str = "both", *, workers: int | None = None, flap_seconds: float = 0.0) -> None:
        """Cut `workers` workers off from the store, or all and the run itself."""
        pids = self.random.sample(found, min(workers, len(found))) if workers and (found := self.workers()) else []
        with self.trouble(f"cut {way}", workers or self.plan.workers):
            self.proxy.set(cut=way, flap_seconds=flap_seconds, pids=pids)
            time.sleep(seconds)
            self.proxy.set()

    def watch_log(self) -> None:
        """Begin to remember how long the store's log was at which time, so that it can forget."""
        assert self._log is not None
        self._log.watch()

    def close(self) -> None:
        """Leave nothing running."""
        self.run.kill_all()
        if self._log:
            self._log.close()


async def counts_of(crawl: Crawl, changes: Mapping[str, str]) -> Counts:
    """Ask the store of a crawl how it stands."""
    parts = Parts.open(crawl.folder)
    config = parts.config.model_copy(update=dict(changes))  # past the proxy, by which the crawl knows its store
    frontier = replace(parts, config=config).backend.frontier()
    try:
        return await frontier.counts()
    finally:
        await frontier.close()


@contextmanager
def frozen(pids: list[int]) -> Iterator[None]:
    """Let processes stand still for as long as the block lasts."""
    _send(pids, signal.SIGSTOP)
    try:
        yield
    finally:
        _send(pids, signal.SIGCONT)


def _send(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)

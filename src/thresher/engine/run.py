"""The supervisor: starts workers, replaces those that die, applies the stop rules, and tells how it goes.

Workers share nothing but the stores, so any of them may be killed at any moment. Ctrl-C asks them to drain; a second
Ctrl-C ends them at once.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import BinaryIO

from thresher.build import Crawl
from thresher.engine import alive
from thresher.engine.progress import Ending, Limits, Pace, Progress
from thresher.errors import ThresherError
from thresher.frontier.base import Counts, Frontier

LOOK_SECONDS = 0.2
DRAIN_SECONDS = 30.0
EARLY_DEATHS = 5
"""A worker that dies this often within seconds of its start is not started again."""


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """How a run ended."""

    ending: Ending
    progress: Progress


@dataclass
class _Worker:
    name: str
    process: asyncio.subprocess.Process
    started: float
    note: BinaryIO
    early_deaths: int = 0


class Supervisor:
    """One run of a crawl with a number of workers.

    Args:
        report: Told several times a second how the run stands.
        listen: Whether Ctrl-C is ours to handle.
    """

    def __init__(
        self,
        crawl: Crawl,
        *,
        workers: int,
        limits: Limits,
        report: Callable[[Progress], None],
        listen: bool = True,
    ) -> None:
        self._crawl = crawl
        self._workers_wanted = workers
        self._limits = limits
        self._report = report
        self._listens = listen
        self._workers: dict[str, _Worker] = {}
        self._ending: Ending | None = None
        self._drain_until = float("inf")
        self._pace = Pace()
        self._started = time.monotonic()

    async def run(self) -> RunResult:
        """Crawl until an ending is reached."""
        line = self._crawl.line(None)
        try:
            await line.seed(self._crawl.seeds())
            if self._listens:
                self._listen()
            for number in range(1, self._workers_wanted + 1):
                await self._start(f"w{number}")
            progress = await self._watch(line.frontier)
        finally:
            await self._end_all()
            await line.close()
        return RunResult(ending=self._ending or Ending.DONE, progress=progress)

    def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._interrupted)

    def _interrupted(self) -> None:
        if self._ending in (Ending.STOPPED, Ending.FORCED):
            self._ending = Ending.FORCED
            self._drain_until = time.monotonic() + 2.0
            self._tell(signal.SIGTERM)
        else:
            self._stop(Ending.STOPPED)

    def _stop(self, ending: Ending) -> None:
        self._ending = ending
        self._drain_until = time.monotonic() + DRAIN_SECONDS
        self._tell(signal.SIGTERM)

    def _tell(self, number: signal.Signals) -> None:
        for worker in self._workers.values():
            if worker.process.returncode is None:
                worker.process.send_signal(number)

    async def _start(self, name: str, *, early_deaths: int = 0) -> None:
        note = alive.shared_memory()
        order = json.dumps({"pages": self._limits.pages, "changes": self._crawl.changes, "note": note.fileno()})
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "thresher.engine.worker",
            str(self._crawl.folder.root),
            name,
            order,
            stdin=asyncio.subprocess.PIPE,
            pass_fds=[note.fileno()],
            start_new_session=True,  # Ctrl-C is ours to pass on
        )
        self._workers[name] = _Worker(name, process, time.monotonic(), note, early_deaths)

    async def _watch(self, frontier: Frontier) -> Progress:
        while True:
            progress = await self._look(frontier)
            self._report(progress)
            await self._replace_the_dead(frontier)
            if not self._workers:
                return await self._final(frontier)
            if self._ending is None:
                self._apply_stop_rules(progress)
            elif time.monotonic() > self._drain_until:
                self._tell(signal.SIGKILL)
            await asyncio.sleep(LOOK_SECONDS)

    async def _look(self, frontier: Frontier) -> Progress:
        counts = await frontier.counts()
        now = time.monotonic()
        self._pace.note(now, counts)
        return Progress(
            counts=counts,
            pages_per_second=self._pace.pages_per_second(),
            seconds=now - self._started,
            workers=len(self._workers),
        )

    async def _final(self, frontier: Frontier) -> Progress:
        """Look once more when all workers have gone: they may have left because a limit was reached."""
        progress = await self._look(frontier)
        if self._ending is None:
            self._ending = self._reached(progress.counts)
        overall = self._pace.pages_per_second(over=float("inf"))
        return replace(progress, pages_per_second=overall)

    def _reached(self, counts: Counts) -> Ending:
        limits = self._limits
        if limits.relevant is not None and counts.relevant >= limits.relevant:
            return Ending.RELEVANT
        if limits.pages is not None and counts.pages >= limits.pages and counts.waiting:
            return Ending.PAGES
        return Ending.RESTING if counts.waiting else Ending.DONE

    async def _replace_the_dead(self, frontier: Frontier) -> None:
        for worker in list(self._workers.values()):
            code = worker.process.returncode
            if code is None:
                continue
            del self._workers[worker.name]
            with worker.note as note:
                await alive.blame(frontier, alive.Note(note.fileno()).read(), code)
            if code > 0 and self._ending is not Ending.FORCED:
                raise WorkerFailed(worker.name, code)
            if code < 0 and self._ending is None:
                await self._start_again(worker)

    async def _start_again(self, worker: _Worker) -> None:
        died_early = time.monotonic() - worker.started < 5.0
        early_deaths = worker.early_deaths + 1 if died_early else 0
        if early_deaths >= EARLY_DEATHS:
            raise WorkerFailed(worker.name, worker.process.returncode or 1)
        await self._start(worker.name, early_deaths=early_deaths)

    def _apply_stop_rules(self, progress: Progress) -> None:
        limits, harvest = self._limits, self._pace.harvest()
        if limits.relevant is not None and progress.counts.relevant >= limits.relevant:
            self._stop(Ending.RELEVANT)
        elif limits.minutes is not None and progress.seconds >= limits.minutes * 60:
            self._stop(Ending.MINUTES)
        elif limits.harvest_below is not None and harvest is not None and harvest < limits.harvest_below:
            self._stop(Ending.HARVEST)

    async def _end_all(self) -> None:
        self._tell(signal.SIGKILL)
        for worker in self._workers.values():
            await worker.process.wait()


class WorkerFailed(ThresherError):
    """A worker gave up, or dies as often as it is started."""

    def __init__(self, name: str, code: int) -> None:
        self.exit_code = code if code in (3, 4, 8) else 1
        what = f"ended with exit code {code}" if code > 0 else f"was killed by signal {-code} again and again"
        super().__init__(f"worker {name} {what}; see crawl.log.jsonl")


def run_crawl(crawl: Crawl, *, workers: int, limits: Limits, report: Callable[[Progress], None]) -> RunResult:
    """Run a crawl in worker processes and wait for its end."""
    with crawl.folder.only_one_run():
        return asyncio.run(Supervisor(crawl, workers=workers, limits=limits, report=report).run())

"""The worker processes of this machine: started, told, replaced when they die, and never left behind."""

from __future__ import annotations

import asyncio
import json
import resource
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from thresher.build import Crawl
from thresher.crew import TELL_SECONDS, Hand, muster
from thresher.engine import alive
from thresher.errors import ConfigError, ThresherError
from thresher.frontier.base import Frontier

EARLY_DEATHS = 5
"""A worker that dies this often within seconds of its start is not started again."""
EARLY_SECONDS = 5.0


FILES_BESIDE_REQUESTS = 48
"""Files that a worker has open beside its requests: databases, logs, pipes, name lookups."""
FILES_PER_REQUEST = 2
"""A connection, and one that is kept for the next request."""


def check_open_files(concurrency: int) -> None:
    """See that a worker may open as many files as it needs; raise the soft limit up to the hard one where that helps.

    Raises:
        ConfigError: The limit is too low.
    """
    needed = FILES_BESIDE_REQUESTS + FILES_PER_REQUEST * concurrency
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard == resource.RLIM_INFINITY or hard >= needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
        return
    fitting = (hard - FILES_BESIDE_REQUESTS) // FILES_PER_REQUEST
    lower = f", or set engine.concurrency to {fitting} in topic.yaml" if fitting > 0 else ""
    raise ConfigError(
        f"a worker with engine.concurrency {concurrency} needs {needed:,} open files, and the limit is {hard:,}. "
        f"Raise it: ulimit -n 1024{lower}"
    )


@dataclass
class Worker:
    """A worker process, and the memory that it shares with us."""

    name: str
    process: asyncio.subprocess.Process
    started: float
    note: BinaryIO
    pages: int | None
    early_deaths: int = 0


class Staff:
    """The workers of one run on this machine.

    Args:
        metrics: Address and port where the first worker tells how it is; each further one has the next port.
    """

    def __init__(self, crawl: Crawl, *, metrics: tuple[str, int] | None = None) -> None:
        self._crawl = crawl
        self._metrics = metrics
        self._ports: dict[str, int] = {}
        self._workers: dict[str, Worker] = {}
        self._next_muster = 0.0

    def __len__(self) -> int:
        return len(self._workers)

    async def start(self, name: str, *, pages: int | None, early_deaths: int = 0) -> None:
        """Start a worker; it leaves when the crawl has so many pages."""
        note = alive.shared_memory()
        order = {
            "pages": pages,
            "changes": dict(self._crawl.changes),
            "note": note.fileno(),
            "metrics": self._place_of(name),
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "thresher.engine.worker",
            str(self._crawl.folder.root),
            name,
            stdin=asyncio.subprocess.PIPE,
            pass_fds=[note.fileno()],
            start_new_session=True,  # Ctrl-C is ours to pass on
        )
        assert process.stdin is not None
        process.stdin.write(f"{json.dumps(order)}\n".encode())
        self._workers[name] = Worker(name, process, time.monotonic(), note, pages, early_deaths)

    def _place_of(self, name: str) -> tuple[str, int] | None:
        """Return where a worker tells how it is; one that takes the place of another has its port."""
        if self._metrics is None:
            return None
        address, port = self._metrics
        return address, self._ports.setdefault(name, port + len(self._ports))

    async def start_again(self, worker: Worker) -> None:
        """Start a worker in the place of one that was killed.

        Raises:
            WorkerFailed: That happens again and again.
        """
        died_early = time.monotonic() - worker.started < EARLY_SECONDS
        early_deaths = worker.early_deaths + 1 if died_early else 0
        if early_deaths >= EARLY_DEATHS:
            raise WorkerFailed(worker.name, worker.process.returncode or 1)
        await self.start(worker.name, pages=worker.pages, early_deaths=early_deaths)

    async def muster(self, frontier: Frontier) -> None:
        """Tell every now and then who is at work."""
        now = time.monotonic()
        if now >= self._next_muster:
            self._next_muster = now + TELL_SECONDS
            at_work = self._workers.values()
            hands = [
                Hand(name=worker.name, process=worker.process.pid, since=time.time() - (now - worker.started))
                for worker in at_work
            ]
            await muster(frontier, hands)

    def tell(self, number: signal.Signals) -> None:
        """Send a signal to all workers."""
        for worker in self._workers.values():
            if worker.process.returncode is None:
                worker.process.send_signal(number)

    def take_dead(self) -> Iterator[tuple[Worker, int, str]]:
        """Take out the workers that ended, each with its exit code and the page that it worked on last."""
        for worker in list(self._workers.values()):
            if (code := worker.process.returncode) is not None:
                del self._workers[worker.name]
                with worker.note as note:
                    yield worker, code, alive.Note(note.fileno()).read()

    async def end_all(self) -> None:
        """Kill whoever is left."""
        self.tell(signal.SIGKILL)
        for worker in self._workers.values():
            await worker.process.wait()


class WorkerFailed(ThresherError):
    """A worker gave up, or dies as often as it is started."""

    def __init__(self, name: str, code: int) -> None:
        self.exit_code = code if code in (3, 4, 8) else 1
        what = f"ended with exit code {code}" if code > 0 else f"was killed by signal {-code} again and again"
        super().__init__(f"worker {name} {what}; see crawl.log.jsonl")

"""The worker processes of this machine: start, signal, replace and reap them."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import BinaryIO

from thresher.config.run_options import RunOptions
from thresher.coordination.local_workers import PUBLISH_SECONDS, LocalWorker
from thresher.crawl import CrawlSetup
from thresher.engine import watchdog
from thresher.errors import ConfigError, ThresherError
from thresher.frontier.base import CrawlStore
from thresher.locale.translation import _
from thresher.runner import limit_libraries

EARLY_DEATHS = 5
"""A worker that dies this often within seconds of its start is not started again."""
EARLY_SECONDS = 5.0
FILES_BESIDE_REQUESTS = 48
"""Files that a worker has open besides its requests: databases, logs, pipes, name lookups."""
FILES_PER_REQUEST = 2
"""One connection in use, and one kept alive for the next request."""


def check_open_files(concurrency: int) -> None:
    """Check that a worker may open as many files as it needs; raise the soft limit, up to the hard one, if it may not.

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
    lower = _(", or set engine.concurrency to {fitting} in topic.yaml", fitting=fitting) if fitting > 0 else ""
    raise ConfigError(
        _(
            "a worker with engine.concurrency {concurrency} needs {needed:,} open files, and the limit is {hard:,}. "
            "Raise it: ulimit -n 1024{lower}",
            concurrency=concurrency,
            needed=needed,
            hard=hard,
            lower=lower,
        )
    )


@dataclass(frozen=True, kw_only=True)
class WorkerOrder:
    """What a worker is to do: the first line of its standard input, since all users can read a command line.

    Args:
        options: Those that the crawl was opened with.
        pages: Leave when the crawl has this many pages.
        current_url: The descriptor of memory that the worker shares with the supervisor.
        metrics: Address and port of its metrics endpoint.
    """

    options: RunOptions
    pages: int | None
    current_url: int
    metrics: tuple[str, int] | None = None

    def line(self) -> bytes:
        """Return the order as a line of JSON."""
        return f"{json.dumps(asdict(self))}\n".encode()

    @classmethod
    def read(cls, line: bytes) -> WorkerOrder:
        """Read what `line` returned."""
        order = json.loads(line)
        metrics = tuple(order.pop("metrics") or ()) or None
        return cls(**{**order, "options": RunOptions(**order["options"]), "metrics": metrics})


@dataclass
class WorkerProcess:
    """A worker process; `current_url` is memory that it shares with the supervisor."""

    name: str
    process: asyncio.subprocess.Process
    started: float
    current_url: BinaryIO
    pages: int | None
    early_deaths: int = 0


class WorkerPool:
    """The workers of one run on this machine.

    Args:
        metrics: Address and port of the first worker's metrics endpoint; each further worker uses the next port.
    """

    def __init__(self, crawl: CrawlSetup, *, metrics: tuple[str, int] | None = None) -> None:
        self._crawl = crawl
        self._metrics = metrics
        self._ports: dict[str, int] = {}
        self._workers: dict[str, WorkerProcess] = {}
        self._next_publish = 0.0

    def __len__(self) -> int:
        return len(self._workers)

    async def start(self, name: str, *, pages: int | None, early_deaths: int = 0) -> None:
        """Start a worker; it leaves when the crawl has `pages` pages."""
        current_url = watchdog.shared_memory()
        order = WorkerOrder(
            options=self._crawl.options,
            pages=pages,
            current_url=current_url.fileno(),
            metrics=self._metrics_address(name),
        )
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "thresher.runner.worker",
            str(self._crawl.folder.root),
            name,
            stdin=asyncio.subprocess.PIPE,
            env=limit_libraries({**os.environ}),  # NumPy may be imported in this process already
            pass_fds=[current_url.fileno()],
            start_new_session=True,  # Ctrl-C reaches the supervisor only, which signals the workers
        )
        assert process.stdin is not None
        process.stdin.write(order.line())
        self._workers[name] = WorkerProcess(name, process, time.monotonic(), current_url, pages, early_deaths)

    def _metrics_address(self, name: str) -> tuple[str, int] | None:
        """Return address and port of a worker's metrics endpoint; a replacement keeps the port of its predecessor."""
        if self._metrics is None:
            return None
        address, port = self._metrics
        return address, self._ports.setdefault(name, port + len(self._ports))

    async def start_again(self, worker: WorkerProcess) -> None:
        """Replace a worker that was killed.

        Raises:
            WorkerFailed: It keeps dying soon after its start.
        """
        died_early = time.monotonic() - worker.started < EARLY_SECONDS
        early_deaths = worker.early_deaths + 1 if died_early else 0
        if early_deaths >= EARLY_DEATHS:
            raise WorkerFailed(worker.name, worker.process.returncode or 1)
        await self.start(worker.name, pages=worker.pages, early_deaths=early_deaths)

    async def publish_workers(self, frontier: CrawlStore) -> None:
        """Publish the local workers, every `PUBLISH_SECONDS`."""
        now = time.monotonic()
        if now >= self._next_publish:
            self._next_publish = now + PUBLISH_SECONDS
            local_workers = [
                LocalWorker(name=worker.name, process=worker.process.pid, since=time.time() - (now - worker.started))
                for worker in self._workers.values()
            ]
            await self._crawl.backend.publish_workers(frontier, local_workers)

    def send_signal(self, number: signal.Signals) -> None:
        for worker in self._workers.values():
            if worker.process.returncode is None:
                worker.process.send_signal(number)

    def reap(self) -> Iterator[tuple[WorkerProcess, int, str]]:
        """Remove the workers that ended; yield each with its exit code and the URL that it parsed last."""
        for worker in list(self._workers.values()):
            if (code := worker.process.returncode) is not None:
                del self._workers[worker.name]
                with worker.current_url as current_url:
                    yield worker, code, watchdog.CurrentUrl(current_url.fileno()).read()

    async def end_all(self) -> None:
        self.send_signal(signal.SIGKILL)
        for worker in self._workers.values():
            await worker.process.wait()
            worker.current_url.close()
        self._workers.clear()


class WorkerFailed(ThresherError):
    """A worker ended with an error, or dies each time soon after its start."""

    def __init__(self, name: str, code: int) -> None:
        self.exit_code = code if code in (3, 4, 8) else 1
        ended = _("worker {name} ended with exit code {code}; see crawl.log.jsonl", name=name, code=code)
        killed = _(
            "worker {name} was killed by signal {code} again and again; see crawl.log.jsonl", name=name, code=-code
        )
        super().__init__(ended if code > 0 else killed)

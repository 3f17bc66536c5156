"""A run in a thread of its own, with its own event loop: it touches neither the program's loop nor its signals."""

from __future__ import annotations

import asyncio
import atexit
import threading
import weakref
from dataclasses import dataclass

from thresher.build import Crawl
from thresher.engine.progress import Limits, Progress
from thresher.engine.run import RunResult, Supervisor


@dataclass
class Standing:
    """How a run stands: what the thread leaves for whoever waits for it.

    Args:
        progress: The newest numbers; None before there are any.
        result: How it ended; None as long as it runs, and when it failed.
        error: Why it failed.
    """

    progress: Progress | None = None
    result: RunResult | None = None
    error: BaseException | None = None


_UNDER_WAY: weakref.WeakSet[Supervision] = weakref.WeakSet()


def _stop_all() -> None:
    """Let runs drain when the program ends, while threads can still be asked for something."""
    for supervision in list(_UNDER_WAY):
        supervision.drain()


getattr(threading, "_register_atexit", atexit.register)(_stop_all)


class Supervision(threading.Thread):
    """Runs a crawl in worker processes; when the program ends before it, they drain."""

    def __init__(self, crawl: Crawl, *, workers: int, limits: Limits) -> None:
        super().__init__(name=f"thresher run of {crawl.folder.root}", daemon=True)
        self._crawl = crawl
        self._workers = workers
        self._limits = limits
        self._loop: asyncio.AbstractEventLoop | None = None
        self._supervisor: Supervisor | None = None
        self._begun = threading.Event()
        self.standing = Standing()

    def start(self) -> None:
        """Begin the run."""
        _UNDER_WAY.add(self)
        super().start()

    def run(self) -> None:
        """Crawl until an ending is reached."""
        try:
            with self._crawl.folder.only_one_run():
                self.standing.result = asyncio.run(self._supervise())
        except BaseException as error:  # it belongs to whoever waits for pages
            self.standing.error = error
        finally:
            self._begun.set()

    async def _supervise(self) -> RunResult:
        self._loop = asyncio.get_running_loop()
        self._supervisor = Supervisor(
            self._crawl, workers=self._workers, limits=self._limits, report=self._note, listen=False
        )
        self._begun.set()
        return await self._supervisor.run()

    def _note(self, progress: Progress) -> None:
        self.standing.progress = progress

    def interrupt(self) -> None:
        """Let workers finish what is open and leave; when called again, let them leave at once."""
        self._begun.wait()
        if self._loop and self._supervisor and self.is_alive():
            try:
                self._loop.call_soon_threadsafe(self._supervisor.interrupt)
            except RuntimeError:  # the loop has ended meanwhile
                return

    def drain(self) -> None:
        """Let workers finish what is open and leave, and wait for it; a second Ctrl-C lets them leave at once."""
        if not self.is_alive():
            return
        self.interrupt()
        try:
            self.join()
        except KeyboardInterrupt:
            self.interrupt()
            self.join()
            raise

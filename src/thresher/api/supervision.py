"""A run in a thread with its own event loop, independent of the program's loop and signals."""

from __future__ import annotations

import asyncio
import atexit
import threading
import weakref
from dataclasses import dataclass, replace

from thresher.crawl import CrawlSetup
from thresher.runner.limits import Progress
from thresher.runner.supervisor import RunResult, Supervisor, SupervisorOptions


@dataclass
class RunState:
    """The state of a run, shared by its thread and the program.

    Args:
        progress: The newest numbers; None before the first.
        result: How it ended; None while it runs, and when it failed.
        error: Why it failed.
    """

    progress: Progress | None = None
    result: RunResult | None = None
    error: BaseException | None = None


_RUNNING: weakref.WeakSet[Supervision] = weakref.WeakSet()


def _stop_all() -> None:
    """Drain all runs when the program ends, while threads can still be used."""
    for supervision in list(_RUNNING):
        supervision.drain()


getattr(threading, "_register_atexit", atexit.register)(_stop_all)


class Supervision(threading.Thread):
    """A thread that supervises worker processes; when the program ends first, they drain."""

    def __init__(self, crawl: CrawlSetup, options: SupervisorOptions) -> None:
        super().__init__(name=f"thresher run of {crawl.folder.root}", daemon=True)
        self._crawl = crawl
        self._options = options
        self._loop: asyncio.AbstractEventLoop | None = None
        self._supervisor: Supervisor | None = None
        self._begun = threading.Event()
        self.state = RunState()

    def start(self) -> None:
        _RUNNING.add(self)
        super().start()

    def run(self) -> None:
        try:
            with self._crawl.folder.only_one_run():
                self.state.result = asyncio.run(self._supervise())
        except BaseException as error:  # raised again in the thread that waits for pages
            self.state.error = error
        finally:
            self._begun.set()

    async def _supervise(self) -> RunResult:
        self._loop = asyncio.get_running_loop()
        options = replace(self._options, report=self._on_progress, handles_signals=False)
        self._supervisor = Supervisor(self._crawl, options)
        self._begun.set()
        return await self._supervisor.run()

    def _on_progress(self, progress: Progress) -> None:
        self.state.progress = progress

    def interrupt(self) -> None:
        """Let workers drain; a second call stops them at once."""
        self._begun.wait()
        if self._loop and self._supervisor and self.is_alive():
            try:
                self._loop.call_soon_threadsafe(self._supervisor.interrupt)
            except RuntimeError:  # the loop has ended meanwhile
                return

    def drain(self) -> None:
        """Let workers drain, and wait for it; a second Ctrl-C stops them at once."""
        if not self.is_alive():
            return
        self.interrupt()
        try:
            self.join()
        except KeyboardInterrupt:
            self.interrupt()
            self.join()
            raise

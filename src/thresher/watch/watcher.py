"""Rounds on a schedule: visit known pages again, fetch new ones, write the digest.

A round is recorded before it begins and after each stage. A process that was killed continues the open round when it is
started again; rounds that were missed in between are made up for by a single one, at once.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from types import FrameType

from thresher.config.schema import WatchConfig
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError, CrawlBusy
from thresher.operations.refresh import check as check_refresh
from thresher.operations.refresh import refresh_run
from thresher.runner.limits import Limits, StopReason
from thresher.runner.supervisor import RunResult, SupervisorOptions, run_crawl
from thresher.storage.reader import PageStoreReader
from thresher.watch.database import Digest, Round, Stage, WatchDatabase
from thresher.watch.digest import make_digest, record_baseline
from thresher.watch.documents import summary, write_files
from thresher.watch.webhooks import Deliverer, Webhook

BUSY_SECONDS = 30.0
"""Pause before the next try while another run of the crawl is under way."""
STOPPED = StopReason.STOPPED.exit_code
_STOPS = (StopReason.STOPPED, StopReason.FORCED)


class Watcher:
    """Watches the topic of one crawl.

    Args:
        workers: Worker processes of each run.
        report: Called with a line about each step.
    """

    def __init__(self, crawl: CrawlSetup, plan: WatchConfig, *, workers: int, report: Callable[[str], None]) -> None:
        if not crawl.backend.has_all_pages:
            raise ConfigError(
                "a crawl with a shared store cannot be watched: its pages cannot be visited again. "
                "Start another one from it: thresher new NEW --from DIR"
            )
        self._crawl = crawl
        self._plan = plan
        self._workers = workers
        self._report = report
        self._webhooks = [Webhook.of(webhook) for webhook in plan.webhooks]
        self._stop = threading.Event()
        self._exit_code = 0
        self.digests: list[Digest] = []
        """The digests that this process made."""

    def run(self, *, once: bool = False) -> int:
        """Make rounds until a signal stops them, or one; return the exit code."""
        with self._crawl.folder.only_one_watch(), closing(WatchDatabase(self._crawl.folder.root)) as database:
            if not database.has_baseline():
                with PageStoreReader(self._crawl.folder.pages) as collection:
                    record_baseline(collection, database)
            write_files(self._crawl.folder.root, database)
            deliverer = Deliverer(self._crawl.folder.root, self._crawl.backend.id, self._webhooks, self._report)
            if not once:
                deliverer.start()
            self._catch_signals()
            try:
                code = self._rounds(database, once=once)
                if once:
                    deliverer.deliver()
            finally:
                deliverer.stop()
            return code

    def _rounds(self, database: WatchDatabase, *, once: bool) -> int:
        while True:
            current = _open_round(database)
            if not current and not once and not self._wait(_seconds_to_next(database, self._plan)):
                return STOPPED
            current = current or self._begin(database)
            try:
                stopped = self._make(database, current)
            except CrawlBusy:
                if once:
                    raise
                self._report(f"another run of this crawl is under way; trying again in {BUSY_SECONDS:.0f} s")
                if not self._wait(BUSY_SECONDS):
                    return STOPPED
                continue
            if stopped:
                return stopped
            if once:
                return self._exit_code

    def _begin(self, database: WatchDatabase) -> Round:
        with PageStoreReader(self._crawl.folder.pages) as collection:
            pages = collection.tally().pages
        stage = Stage.VISITS if self._plan.visits and pages else Stage.NEW_PAGES
        return database.begin_round(stage, pages + self._plan.new_pages)

    def _make(self, database: WatchDatabase, current: Round) -> int:
        """Make a round, or the rest of one; return the exit code of a run that the user stopped, else 0."""
        self._report(f"round {current.number}, {current.stage}")
        stage = current.stage
        if stage is Stage.VISITS:
            if ending := self._visit():
                return ending
            database.set_stage(current.number, stage := Stage.NEW_PAGES)
        if stage is Stage.NEW_PAGES:
            if self._plan.new_pages and (ending := self._fetch(current.page_limit)):
                return ending
            database.set_stage(current.number, Stage.DIGEST)
        self._write_digest(database)
        database.end_round(current.number)
        return 0

    def _visit(self) -> int:
        crawl = replace(self._crawl, options=replace(self._crawl.options, refresh=True))
        check_refresh(crawl)
        return self._ended("visits", self._run(crawl, Limits(minutes=self._plan.minutes), refresh=True))

    def _fetch(self, page_limit: int) -> int:
        return self._ended("new pages", self._run(self._crawl, Limits(pages=page_limit, minutes=self._plan.minutes)))

    def _run(self, crawl: CrawlSetup, limits: Limits, *, refresh: bool = False) -> RunResult:
        during_run = refresh_run(crawl, self._plan.visits) if refresh else None
        try:
            return run_crawl(crawl, SupervisorOptions(workers=self._workers, limits=limits), during_run=during_run)
        finally:
            self._catch_signals()  # the run had handlers of its own, and its end removed ours

    def _ended(self, what: str, result: RunResult) -> int:
        self._report(f"{what}: {result.closing_line}")
        self._exit_code = max(self._exit_code, result.exit_code)
        if result.stop_reason in _STOPS:
            return result.stop_reason.exit_code
        return STOPPED if self._stop.is_set() else 0

    def _write_digest(self, database: WatchDatabase) -> None:
        with PageStoreReader(self._crawl.folder.pages) as collection:
            digest = make_digest(
                collection,
                database,
                crawl=self._crawl.name,
                title=_title(self._crawl),
                webhooks=[webhook.key for webhook in self._webhooks],
            )
        write_files(self._crawl.folder.root, database)
        if digest:
            self.digests.append(digest)
        self._report(f"digest {digest.number}: {summary(digest)}" if digest else "nothing changed; no digest")

    def _wait(self, seconds: float) -> bool:
        """Wait; return False when a signal came."""
        return not self._stop.wait(seconds)

    def _catch_signals(self) -> None:
        """Let SIGINT and SIGTERM end the watch after the step under way."""

        def on_signal(number: int, frame: FrameType | None) -> None:
            self._stop.set()

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, on_signal)


def _title(crawl: CrawlSetup) -> str:
    return next(iter(crawl.config.title.values()), crawl.name)


def _open_round(database: WatchDatabase) -> Round | None:
    last = database.last_round()
    return last[0] if last and not last[1] else None


def _seconds_to_next(database: WatchDatabase, plan: WatchConfig) -> float:
    """Return the seconds to the next round; 0 when it is due, or when the clock was set back behind the last one."""
    last = database.last_round()
    since = time.time() - last[0].began_at if last else plan.every_seconds
    return max(0.0, plan.every_seconds - since) if since >= 0 else 0.0

"""The supervisor: starts workers, replaces those that die, applies the limits, and reports progress.

Workers share nothing but the stores, so any of them may be killed at any moment. Ctrl-C lets them drain; a second
Ctrl-C ends them at once. On many machines each has a supervisor. One of them owns the run, and Ctrl-C there ends it on
all. SIGTERM, which init systems and containers send, ends the part of one machine only: a machine that was restarted,
the owner's too, takes part again in the same run. The limits apply to all machines together, and every supervisor
enforces them, so a run also ends in time when its owner is gone.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from thresher.assembly import build_judge, build_pipeline
from thresher.config.browser import browser_trouble, uses_browser
from thresher.config.event_log import log_event, logging_to
from thresher.config.schema import CrawlConfig
from thresher.coordination.cluster_view import ClusterSnapshot
from thresher.coordination.last_run import ERROR, MESSAGES, RUNNING, RunEnd, record_run_end, without_pages
from thresher.coordination.store_binding import bind
from thresher.crawl import CrawlSetup
from thresher.engine import watchdog
from thresher.engine.browser.notice import PRINTED, STATE_KIND, TTL_SECONDS
from thresher.engine.dns.refused_urls import reopen_refused
from thresher.engine.lease_loop import MAX_WAIT_SECONDS
from thresher.errors import StoreError, StoreUnreachable, ThresherError
from thresher.feedback.topic_counts import TopicTotals
from thresher.feedback.updates import rejudge_segments
from thresher.frontier.base import COLD_FAILURE, CRAWL_WIDE, Counts, CrawlStore, SharedState
from thresher.locale.translation import SEMICOLON, Translatable, _, joined
from thresher.monitoring.failures import FailureReport, failure_report
from thresher.monitoring.totals import Totals
from thresher.operations.model_labelling import CrawlLabelling
from thresher.runner.limits import (
    NOT_UPLOADED,
    NOTHING_FETCHED,
    Limits,
    Pace,
    Progress,
    StopReason,
    WaitingUploads,
    negotiate_limits,
    nothing_fetched,
    ordered_stop,
)
from thresher.runner.shutdown import run_with_timeout
from thresher.runner.worker_pool import WorkerFailed, WorkerPool, check_open_files
from thresher.status import CrawlStatus, read_live_status

if TYPE_CHECKING:
    from thresher.collection.uploader import UploadThread

logger = logging.getLogger(__name__)

STALE_SECONDS = 2.0
"""A store that takes longer counts as not answering."""
DRAIN_SECONDS = 30.0
UPLOAD_SECONDS = 60.0
"""How long the end of a run waits until its last pages are in the collection."""
FORCED_SECONDS = 6.0
"""After a second Ctrl-C: long enough to release leases."""

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """How a run ended.

    Args:
        stopped_by_user: Whether the user who started it stopped it, rather than a limit or another machine.
        fetched: Pages that it fetched.
        is_empty: Whether it could fetch nothing, or almost nothing; see `limits.nothing_fetched`.
        notice: What the user should know besides; printed once.
        waiting_uploads: What of this machine is not in the collection; None when all is, or there is none.
    """

    stop_reason: StopReason
    progress: Progress
    stopped_by_user: bool = False
    fetched: int = 0
    is_empty: bool = False
    notice: str = ""
    waiting_uploads: WaitingUploads | None = None

    @property
    def status(self) -> CrawlStatus:
        """The numbers at the end, and why URLs failed, in this run and before, if the store still answered."""
        return self.progress.status

    @property
    def failures(self) -> FailureReport:
        return self.status.failure_report

    @property
    def exit_code(self) -> int:
        # The first that applies: an error, such as a full disk, which is raised and has its own; nothing fetched;
        # stopped by a signal; pages that wait for their upload; 0 for all other endings. An order to stop reaches all
        # machines of a crawl, and ends it: what starts machines again must not begin it anew.
        stopped = self.stop_reason.exit_code if self.stopped_by_user else 0
        return (NOTHING_FETCHED if self.is_empty else stopped) or (NOT_UPLOADED if self.waiting_uploads else 0)

    @property
    def ended(self) -> RunEnd:
        """The record of the end that every command reports."""
        return RunEnd(code=self.stop_reason.code, words=self.message, exit_code=self.exit_code, fetched=self.fetched)

    @property
    def message(self) -> Translatable:
        """Why it ended, whether nothing could be fetched, which URLs remain, and what waits for its upload."""
        waiting = self.waiting_uploads
        return joined(SEMICOLON, [self._cause, waiting.message]) if waiting else self._cause

    @property
    def _cause(self) -> Translatable:
        is_resting = self.stop_reason is StopReason.HOSTS_UNAVAILABLE
        why = (self.failures.remaining() if is_resting else None) or self.stop_reason.message
        if not self.is_empty:
            return why
        if self.stop_reason is StopReason.DONE and not self.fetched:
            why = _("every URL failed")
        return without_pages(why, self.fetched)

    @property
    def closing_line(self) -> Translatable:
        """How it ended, and how to continue, in one line."""
        advice = self.stop_reason.advice
        if self.stop_reason in (StopReason.STOPPED, StopReason.FORCED, StopReason.LEFT):
            return _("{message}. {advice}", message=self.message.capitalized(), advice=advice)
        state = _("Finished") if self.stop_reason is StopReason.DONE and not self.is_empty else _("Stopped")
        if self.stop_reason is StopReason.HOSTS_UNAVAILABLE:
            advice = self.failures.advice()
        if not advice:
            return _("{state}: {message}.", state=state, message=self.message)
        return _("{state}: {message}. {advice}", state=state, message=self.message, advice=advice)


@dataclass(frozen=True)
class _StoreSnapshot:
    """The last answer of the store.

    Args:
        is_over: Whether no more URLs can come.
        are_topics_complete: Whether every topic that wants a number of pages has them.
    """

    status: CrawlStatus = field(default_factory=CrawlStatus)
    is_over: bool = False
    cluster: ClusterSnapshot = field(default_factory=ClusterSnapshot)
    are_topics_complete: bool = False


class Poller(Generic[T]):
    """Polls with a timeout, one query at a time; one that is not answered in time is kept for the next poll.

    Args:
        query: May take as long as it needs.
        seconds: How long one poll waits for the result.
    """

    def __init__(self, query: Callable[[], Awaitable[T]], *, seconds: float) -> None:
        self._query = query
        self._seconds = seconds
        self._pending: asyncio.Future[T] | None = None

    async def poll(self) -> T | None:
        """Return the result; None on a timeout, after which the next poll waits for the same query."""
        if self._pending is None:
            self._pending = asyncio.ensure_future(self._query())
        await asyncio.wait([self._pending], timeout=self._seconds)
        if not self._pending.done():
            return None
        finished, self._pending = self._pending, None
        return finished.result()

    async def close(self) -> None:
        if self._pending is not None:
            self._pending.cancel()
            await asyncio.wait([self._pending], timeout=self._seconds)


@dataclass(frozen=True, kw_only=True)
class SupervisorOptions:
    """How a crawl is run on this machine.

    Args:
        workers: How many to start; 0 to supervise only those of other machines.
        report: Called several times a second with the progress.
        handles_signals: Whether to handle SIGINT and SIGTERM.
        is_owner: Whether this machine starts the run, rather than joining it.
        name: Name of this machine; derived from its host name by default.
        metrics: Address and port of the first worker's metrics endpoint.
    """

    workers: int = 1
    limits: Limits = field(default_factory=Limits)
    report: Callable[[Progress], None] = lambda progress: None
    handles_signals: bool = True
    is_owner: bool = True
    name: str = ""
    metrics: tuple[str, int] | None = None


class Supervisor:
    """One run of a crawl with a number of workers on this machine."""

    def __init__(self, crawl: CrawlSetup, options: SupervisorOptions) -> None:
        self._crawl = crawl
        self._names = crawl.backend.worker_names(options.workers, options.name)
        self._limits = self._own_limits = options.limits
        self._report = options.report
        self._handles_signals = options.handles_signals
        self._is_owner = owner = options.is_owner
        self._cluster = crawl.backend.cluster_view(owner=owner)
        self._worker_pool = WorkerPool(crawl, metrics=options.metrics)
        self._uploads = _upload_thread(crawl, owner=owner)
        self._snapshot = _StoreSnapshot()
        self._totals = Totals(crawl.backend.counted_pages)
        machine = crawl.backend.machine_name(options.name)
        self._topic_totals = TopicTotals(crawl.folder.pages, machine, {} if crawl.is_refresh else crawl.topic_pages)
        self._stop_reason: StopReason | None = None
        self._stopped_by_user = False
        self._is_final = False
        self._is_answered = True
        self._stop_order: asyncio.Task[None] | None = None
        self._is_rejudging = False
        self._skip_rejudging = asyncio.Event()
        self._drain_until = float("inf")
        self._pace = Pace()
        self._before = Counts()
        self._started = time.monotonic()

    async def run(self) -> RunResult:
        """Run until a limit is reached, no URL is left or the user stops it."""
        await self._cluster.preflight(self._names)
        pipeline = build_pipeline(self._crawl, None)
        try:
            await bind(self._crawl.folder, self._crawl.config, pipeline.frontier)
            continues = await self._is_under_way()
            if self._is_owner:
                await reopen_refused(self._crawl.folder.pages, self._crawl.config.network.allow, pipeline.frontier)
                await pipeline.seed([] if self._crawl.is_refresh else self._crawl.seeds())
                # a machine that joins reports the pages of the whole run
                self._before = await self._totals.read(pipeline.frontier, fresh=True)
                await record_run_end(pipeline.frontier, RunEnd(code=RUNNING, words=MESSAGES[RUNNING]))
            self._limits = self._own_limits = await negotiate_limits(
                pipeline.frontier, self._limits, owner=self._is_owner, continues=continues
            )
            self._started -= await self._cluster.begin(continues=continues)
            if self._uploads:
                self._uploads.start()
            if self._handles_signals:
                self._handle_signals()
            progress = await self._watch(pipeline.frontier)
            waiting = await self._upload_rest(
                FORCED_SECONDS if self._stop_reason is StopReason.FORCED else UPLOAD_SECONDS
            )
            result = await self._result(pipeline.frontier, progress, waiting)
            if self._is_owner or not (self._stopped_by_user or self._snapshot.cluster.others):
                await self._record_end(pipeline.frontier, result.ended)
        except ThresherError as error:
            if self._is_owner:
                failed = RunEnd(code=ERROR, words=str(error), exit_code=error.exit_code)
                await self._record_end(pipeline.frontier, failed)
            raise
        finally:
            await self._worker_pool.end_all()
            if waiting := await self._upload_rest(FORCED_SECONDS):  # not after a run that ended well
                logger.warning("%s", waiting.notice)
            await self._cluster.close()
            await pipeline.close()
        return result

    async def _is_under_way(self) -> bool:
        """Return whether workers of other machines are in the middle of a run, which nobody has stopped."""
        cluster = await self._cluster.snapshot(self._names)
        return bool(cluster.others) and not cluster.stop

    async def _record_end(self, frontier: CrawlStore, ended: RunEnd) -> None:
        """Store how the run ended for later commands, if the store answers.

        The owner does that. When it is gone, the machine that works on the run last does.
        """
        if self._is_answered and self._stop_reason is not StopReason.LEFT:
            await run_with_timeout(record_run_end(frontier, ended, replaces_end=self._is_owner))

    async def _upload_rest(self, seconds: float) -> WaitingUploads | None:
        """Upload what is left, and stop the uploads; return what still waits."""
        if (uploads := self._uploads) is None:
            return None
        rows = await asyncio.to_thread(uploads.finish, seconds)
        self._uploads = None
        if not rows and not uploads.error:
            return None
        files = await asyncio.to_thread(uploads.waiting_files)
        cause = uploads.error or _("the time was over")
        return WaitingUploads(rows=rows, files=files, cause=cause, is_exact=uploads.has_succeeded)

    async def _result(self, frontier: CrawlStore, progress: Progress, waiting: WaitingUploads | None) -> RunResult:
        stop_reason, failures, notice = self._stop_reason or StopReason.DONE, FailureReport(), ""
        if self._is_answered:
            with suppress(StoreError, TimeoutError):
                failures = await asyncio.wait_for(failure_report(frontier), STALE_SECONDS)
                notice = await asyncio.wait_for(take_notice(frontier, self._crawl.config), STALE_SECONDS)
        is_empty = nothing_fetched(
            stop_reason,
            self._before,
            progress.status,
            is_refresh=self._crawl.is_refresh,
            unreachable=failures.has_silent_hosts,
        )
        return RunResult(
            stop_reason=stop_reason,
            progress=replace(
                progress, status=replace(progress.status, failures=failures.groups, blocked=failures.blocked)
            ),
            stopped_by_user=self._stopped_by_user,
            fetched=progress.status.pages - self._before.pages,
            is_empty=is_empty,
            notice=joined("\n", filter(None, [notice, waiting.notice if waiting else ""])),
            waiting_uploads=waiting,
        )

    def _handle_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.interrupt, number)

    def interrupt(self, number: signal.Signals = signal.SIGINT) -> None:
        """Act on a signal: let workers drain and leave; on a second call, let them leave at once.

        Ctrl-C on the owner ends the run on all machines. SIGTERM ends it here: others continue if there are any. While
        pages are judged again, after the last worker has left, a signal only ends that.
        """
        if self._is_rejudging:
            self._skip_rejudging.set()
        elif self._stopped_by_user:
            self._stop_reason = StopReason.FORCED
            self._drain_until = time.monotonic() + FORCED_SECONDS
            self._worker_pool.send_signal(signal.SIGTERM)
            if self._uploads:
                self._uploads.shorten(FORCED_SECONDS)
        else:
            self._stopped_by_user = True
            for_all = self._is_owner and number == signal.SIGINT
            others_continue = self._snapshot.cluster.others and not for_all
            self._stop(StopReason.LEFT if others_continue else StopReason.STOPPED, for_all=for_all)

    def _stop(self, stop_reason: StopReason, *, for_all: bool) -> None:
        self._stop_reason = stop_reason
        self._drain_until = time.monotonic() + DRAIN_SECONDS
        self._worker_pool.send_signal(signal.SIGTERM)
        if for_all:
            self._stop_order = asyncio.ensure_future(self._cluster.stop(stop_reason.name))

    async def _watch(self, frontier: CrawlStore) -> Progress:
        poller = Poller(lambda: self._read_store(frontier), seconds=STALE_SECONDS)
        labelling = CrawlLabelling(self._crawl, lambda: self._snapshot.status.pages)
        try:
            self._report(progress := await self._poll(poller))
            await self._start_all()
            labelling.start()
            while True:
                await self._replace_the_dead(frontier)
                if self._is_over:
                    if not progress.answered and self._stop_reason:
                        return progress
                    await self._rejudge(frontier, progress)
                    return await self._final(poller)
                progress = await self._poll(poller)
                self._report(progress)
                if self._stop_reason is None:
                    self._apply_stop_rules(progress)
                elif time.monotonic() > self._drain_until:
                    self._worker_pool.send_signal(signal.SIGKILL)
                await asyncio.sleep(self._crawl.backend.poll_seconds)
        finally:
            await labelling.close()
            if self._stop_order is not None:
                self._stop_order.cancel()  # machines that the order did not reach notice the end when leases expire
            await poller.close()

    async def _start_all(self) -> None:
        if ordered := ordered_stop(self._snapshot.cluster.stop):  # start no workers in a crawl just stopped
            self._stop_reason = ordered
        elif self._stop_reason is None:  # nor in one that was stopped while it started
            for name in self._names:
                await self._worker_pool.start(name, pages=self._limits.pages)

    @property
    def _is_over(self) -> bool:
        if len(self._worker_pool):
            return False
        if self._stop_reason is None:  # our own workers stay as long as more URLs can come
            return bool(self._names) or self._snapshot.is_over
        leaves_alone = not self._is_owner or self._stop_reason in (StopReason.FORCED, StopReason.LEFT)
        others = not leaves_alone and self._snapshot.cluster.others
        return not others or time.monotonic() > self._drain_until or not self._is_answered

    async def _read_store(self, frontier: CrawlStore) -> _StoreSnapshot:
        counts, cluster = await asyncio.gather(
            self._totals.read(frontier, fresh=self._is_final), self._cluster.snapshot(self._names)
        )
        status = await read_live_status(frontier, counts)
        are_complete = await self._topic_totals.are_complete(frontier, fresh=self._is_final)
        await self._worker_pool.publish_workers(frontier)
        is_over = not self._names and not counts.leased and await self._is_empty(frontier, counts)
        return _StoreSnapshot(status, is_over, cluster, are_complete)

    async def _is_empty(self, frontier: CrawlStore, counts: Counts) -> bool:
        seconds, limit = await frontier.seconds_to_next(), self._limits.pages
        return seconds is None or seconds > MAX_WAIT_SECONDS or (limit is not None and counts.pages >= limit)

    async def _poll(self, poller: Poller[_StoreSnapshot]) -> Progress:
        snapshot, now = await poller.poll(), time.monotonic()
        self._is_answered = snapshot is not None
        if snapshot is not None:
            self._snapshot = snapshot
            self._limits = replace(self._own_limits, **snapshot.status.run_control.limits())
            self._pace.add_sample(now, snapshot.status)
        return Progress(
            status=replace(self._snapshot.status, busy=len(self._worker_pool) + self._snapshot.cluster.others),
            pages_per_second=self._pace.pages_per_second(),
            seconds=now - self._started,
            answered=self._is_answered,
            limits=self._limits,
            recent_speed=self._pace.pages_per_second(over=60.0),
        )

    async def _rejudge(self, frontier: CrawlStore, progress: Progress) -> None:
        """Judge all pages on this machine again with the final model: many were judged by an early one.

        Early on, the text of every page is kept, as it may become relevant; that of clearly irrelevant ones goes now. A
        collection has their rows already.
        """
        if self._stop_reason is StopReason.FORCED:
            return
        from thresher.pipeline.outcomes import MIN_RELEVANCE  # needs the parser: not for --help

        output, folder = self._crawl.config.output, self._crawl.folder
        drop_texts = None if output.keep_irrelevant or self._crawl.config.collection else MIN_RELEVANCE
        pages, judge = folder.segments(), build_judge(self._crawl)
        self._is_rejudging = True
        rejudging = asyncio.ensure_future(
            rejudge_segments(judge, pages, frontier, drop_texts=drop_texts, skip=self._skip_rejudging)
        )
        try:
            while not (await asyncio.wait({rejudging}, timeout=self._crawl.backend.poll_seconds))[0]:
                self._report(replace(progress, is_rejudging=True, pages_per_second=0.0, recent_speed=0.0))
            rejudging.result()
        finally:
            self._is_rejudging = False
            rejudging.cancel()

    async def _final(self, poller: Poller[_StoreSnapshot]) -> Progress:
        """Poll once more after all workers have left: they may have left because a limit was reached."""
        if self._stop_order is not None:
            await run_with_timeout(self._stop_order)
        self._is_final = True
        progress = await self._poll(poller)
        if self._stop_reason is None:
            complete = self._snapshot.are_topics_complete
            self._stop_reason = StopReason.TOPICS if complete else self._limits.reached(progress.status)
        return replace(progress, pages_per_second=self._pace.pages_per_second(over=float("inf")))

    async def _replace_the_dead(self, frontier: CrawlStore) -> None:
        for worker, code, url in self._worker_pool.reap():
            await run_with_timeout(watchdog.mark_poisonous(frontier, url, code))
            if code > 0 and not self._is_recoverable(code):
                raise WorkerFailed(worker.name, code)
            if code < 0 and self._stop_reason is None:
                await self._worker_pool.start_again(worker)

    def _is_recoverable(self, code: int) -> bool:
        """Return whether a failed worker can be ignored: at a forced stop, or with the store away while all leave."""
        unreachable = self._stop_reason is not None and code == StoreUnreachable.exit_code
        return self._stop_reason is StopReason.FORCED or unreachable

    def _apply_stop_rules(self, progress: Progress) -> None:
        harvest = self._pace.harvest()
        if ordered := ordered_stop(self._snapshot.cluster.stop):
            self._stop(ordered, for_all=False)
        elif self._snapshot.are_topics_complete:
            self._stop(StopReason.TOPICS, for_all=True)
        elif stop_reason := self._limits.exceeded(progress.status, seconds=progress.seconds, harvest=harvest):
            self._stop(stop_reason, for_all=True)


def _upload_thread(crawl: CrawlSetup, *, owner: bool) -> UploadThread | None:
    """Build the uploader of this machine; None without a collection."""
    if not crawl.config.collection:
        return None
    crawl.backend.objects()  # says so if a package is not installed
    from thresher.runner.uploads import upload_thread

    return upload_thread(crawl, owner=owner)


def run_crawl(
    crawl: CrawlSetup, options: SupervisorOptions, *, during_run: AbstractContextManager[None] | None = None
) -> RunResult:
    """Run a crawl in worker processes, or join one, and wait for the end.

    Args:
        during_run: Entered before the run and left after it, while no other run of the crawl can start.
    """
    check_open_files(crawl.config.engine.concurrency)
    with crawl.folder.only_one_run(), during_run or nullcontext():
        return _logged_run(crawl, options)


def _logged_run(crawl: CrawlSetup, options: SupervisorOptions) -> RunResult:
    """Run, with the start, the end and the warnings of the supervisor in the crawl's log."""
    with logging_to(crawl.folder.log, "supervisor"):
        log_event("run started", workers=options.workers, limits=asdict(options.limits))
        try:
            result = asyncio.run(Supervisor(crawl, options).run())
        except Exception as error:
            log_event("run failed", reason=str(error))
            raise
        log_event("run ended", reason=result.message, pages=result.fetched, exit_code=result.exit_code)
        return result


async def take_notice(frontier: SharedState, config: CrawlConfig) -> str:
    """Return what the user should know: that the cold storage fails, or once that a host needs a browser."""
    if failure := await frontier.get_state(CRAWL_WIDE, COLD_FAILURE):
        return _(
            "The cold storage failed within the last minute: {failure}. URLs that wait there were not fetched.",
            failure=failure,
        )
    host = await frontier.get_state(CRAWL_WIDE, STATE_KIND)
    if not host or uses_browser(config):
        return ""
    await frontier.put_state(CRAWL_WIDE, STATE_KIND, PRINTED, seconds=TTL_SECONDS)
    trouble = browser_trouble(config.browser) or config.rendering_lease_trouble
    return _(
        "{host} sends pages without content that seem to need JavaScript; they were judged as they came. {trouble}",
        host=host,
        trouble=trouble,
    )

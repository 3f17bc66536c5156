"""The supervisor: starts workers, replaces those that die, applies the stop rules, and tells how it goes.

Workers share nothing but the stores, so any of them may be killed at any moment. Ctrl-C asks them to drain; a second
Ctrl-C ends them at once. On many machines every one has a supervisor. One of them owns the run: its end is the end for
all. The others join, and leave when the run ends or somebody stops them. The rules hold over all machines, and each of
them applies them, so a run also ends in time when its owner is gone.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from thresher.build import Crawl
from thresher.ended import ERROR, RUNNING, Ended, note_ended
from thresher.engine import alive
from thresher.engine.fellows import Alone, Fellows, Glance, StoreFellows, agree
from thresher.engine.glances import Glances
from thresher.engine.leaving import in_time
from thresher.engine.progress import (
    NOTHING_FETCHED,
    PATIENCE_SECONDS,
    Ending,
    Limits,
    Pace,
    Progress,
    nothing_fetched,
)
from thresher.engine.refused import reopen_refused
from thresher.engine.staff import Staff, WorkerFailed, check_open_files
from thresher.errors import StoreError, StoreUnreachable, ThresherError
from thresher.failures import FailureReport, failure_report
from thresher.fleet.binding import bind
from thresher.fleet.names import machine_name, worker_names
from thresher.frontier.base import Counts, Frontier
from thresher.outlook import look_ahead
from thresher.records import Forecast
from thresher.rethink import rejudge_segments
from thresher.totals import Totals
from thresher.wishes import Wishes, read_wishes

LOOK_SECONDS, SHARED_LOOK_SECONDS = 0.2, 0.5
STALE_SECONDS = 2.0
"""A store that takes longer counts as one that does not answer."""
DRAIN_SECONDS = 30.0
FORCED_SECONDS = 6.0
"""After a second Ctrl-C: long enough to give leases back."""


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """How a run ended.

    Args:
        by_hand: Whether whoever started it stopped it, and not a rule or somebody on another machine.
        failures: Why URLs brought no page, in this run and before; nothing when the store did not answer any more.
        fetched: Pages that it brought.
        is_empty: Whether it could fetch nothing, or almost nothing; see `progress.nothing_fetched`.
    """

    ending: Ending
    progress: Progress
    by_hand: bool = False
    failures: FailureReport = field(default_factory=FailureReport)
    fetched: int = 0
    is_empty: bool = False

    @property
    def exit_code(self) -> int:
        """What the command that started the run ends with."""
        return NOTHING_FETCHED if self.is_empty else self.ending.exit_code

    @property
    def ended(self) -> Ended:
        """How it ended, as every command reports it."""
        return Ended(code=self.ending.code, words=self.words, exit_code=self.exit_code, fetched=self.fetched)

    @property
    def words(self) -> str:
        """Say why it ended, whether nothing could be fetched, and which URLs remain."""
        remaining = self.failures.remaining() if self.ending is Ending.RESTING else ""
        if not self.is_empty:
            return remaining or self.ending.words
        why = "every URL failed" if self.ending is Ending.DONE and not self.fetched else remaining or self.ending.words
        return f"{'almost nothing' if self.fetched else 'nothing'} could be fetched, {why}"

    @property
    def closing_line(self) -> str:
        """Say in one line how it ended, and what to do to go on."""
        if self.ending in (Ending.STOPPED, Ending.FORCED):
            return f"{self.words.capitalize()}. {self.ending.advice}"
        state = "Finished" if self.ending is Ending.DONE and not self.is_empty else "Stopped"
        advice = self.failures.advice() if self.ending is Ending.RESTING else self.ending.advice
        return f"{state}: {self.words}. {advice}".rstrip()


@dataclass(frozen=True)
class _Sight:
    """What the store said: the crawl in numbers, whether nothing more can come, the others, the forecast, wishes."""

    counts: Counts = field(default_factory=Counts)
    is_over: bool = False
    glance: Glance = field(default_factory=Glance)
    forecast: Forecast | None = None
    wishes: Wishes = field(default_factory=Wishes)


class Supervisor:
    """One run of a crawl with a number of workers on this machine.

    Args:
        workers: How many; 0 to watch over those of other machines.
        report: Told several times a second how the run stands.
        listen: Whether Ctrl-C is ours to handle.
        owner: Whether the run is ours, and not one that we join.
        name: What this machine is called among others; its host's name if left out.
        metrics: Address and port where the first worker tells how it is.
    """

    def __init__(
        self,
        crawl: Crawl,
        *,
        workers: int,
        limits: Limits,
        report: Callable[[Progress], None],
        listen: bool = True,
        owner: bool = True,
        name: str = "",
        metrics: tuple[str, int] | None = None,
    ) -> None:
        self._crawl = crawl
        self._names = names_for(crawl, workers, name)
        self._limits = self._own_limits = limits
        self._report = report
        self._listens = listen
        self._is_owner = owner
        self._fellows: Fellows = StoreFellows(crawl, owner=owner) if crawl.is_shared else Alone()
        self._staff = Staff(crawl, metrics=metrics)
        self._sight = _Sight()
        self._totals = Totals(crawl.counted_pages)
        self._ending: Ending | None = None
        self._by_hand = False
        self._is_final = False
        self._is_answered = True
        self._telling: asyncio.Task[None] | None = None
        self._drain_until = float("inf")
        self._pace = Pace()
        self._before = Counts()
        self._started = time.monotonic()

    async def run(self) -> RunResult:
        """Crawl until an ending is reached."""
        await self._fellows.greet(self._names)
        line = self._crawl.line(None)
        try:
            await bind(self._crawl.folder, self._crawl.config, line.frontier)
            if self._is_owner:
                await reopen_refused(self._crawl.folder.pages, self._crawl.config.network.allow, line.frontier)
                await line.seed([] if self._crawl.is_refresh else self._crawl.seeds())
                self._before = await self._totals.read(line.frontier, fresh=True)  # one who joins reports the whole run
                await note_ended(line.frontier, Ended(code=RUNNING, words="the run has not ended yet"))
            self._limits = self._own_limits = await agree(line.frontier, self._limits, owner=self._is_owner)
            self._started -= await self._fellows.begin()
            if self._listens:
                self._listen()
            result = await self._result(line.frontier, await self._watch(line.frontier))
            await self._note(line.frontier, result.ended)
        except ThresherError as error:
            await self._note(line.frontier, Ended(code=ERROR, words=str(error), exit_code=error.exit_code))
            raise
        finally:
            await self._staff.end_all()
            await self._fellows.close()
            await line.close()
        return result

    async def _note(self, frontier: Frontier, ended: Ended) -> None:
        """Keep how the run ended for later commands, if it is ours and the store answers."""
        if self._is_owner and self._is_answered:
            await in_time(note_ended(frontier, ended))

    async def _result(self, frontier: Frontier, progress: Progress) -> RunResult:
        ending, failures = self._ending or Ending.DONE, FailureReport()
        if self._is_answered:
            with suppress(StoreError, TimeoutError):
                failures = await asyncio.wait_for(failure_report(frontier), STALE_SECONDS)
        is_empty = nothing_fetched(
            ending,
            self._before,
            progress.counts,
            is_refresh=self._crawl.is_refresh,
            unreachable=failures.has_silent_hosts,
        )
        return RunResult(
            ending=ending,
            progress=progress,
            by_hand=self._by_hand,
            failures=failures,
            fetched=progress.counts.pages - self._before.pages,
            is_empty=is_empty,
        )

    def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.interrupt)

    def interrupt(self) -> None:
        """Do as after Ctrl-C: let workers finish what is open and leave; when called again, let them leave at once."""
        if self._by_hand:
            self._ending = Ending.FORCED
            self._drain_until = time.monotonic() + FORCED_SECONDS
            self._staff.tell(signal.SIGTERM)
        else:
            self._by_hand = True
            self._stop(Ending.STOPPED, for_all=self._is_owner)

    def _stop(self, ending: Ending, *, for_all: bool) -> None:
        self._ending = ending
        self._drain_until = time.monotonic() + DRAIN_SECONDS
        self._staff.tell(signal.SIGTERM)
        if for_all:
            self._telling = asyncio.ensure_future(self._fellows.stop(ending))

    async def _watch(self, frontier: Frontier) -> Progress:
        sights = Glances(lambda: self._see(frontier), seconds=STALE_SECONDS)
        try:
            self._report(progress := await self._look(sights))
            await self._start_all()
            while True:
                await self._replace_the_dead(frontier)
                if self._is_over:
                    if not progress.answered and self._ending:
                        return progress
                    await self._rejudge(frontier)
                    return await self._final(sights)
                progress = await self._look(sights)
                self._report(progress)
                if self._ending is None:
                    self._apply_stop_rules(progress)
                elif time.monotonic() > self._drain_until:
                    self._staff.tell(signal.SIGKILL)
                await asyncio.sleep(SHARED_LOOK_SECONDS if self._crawl.is_shared else LOOK_SECONDS)
        finally:
            if self._telling is not None:
                self._telling.cancel()  # who could not be told will see it when leases end
            await sights.close()

    async def _start_all(self) -> None:
        if self._sight.glance.stop:  # nobody comes to a crawl that has just been stopped
            self._ending = self._sight.glance.stop
        elif self._ending is None:  # nor to one that was stopped while it began
            for name in self._names:
                await self._staff.start(name, pages=self._limits.pages)

    @property
    def _is_over(self) -> bool:
        if len(self._staff):
            return False
        if self._ending is None:  # our own workers stay as long as anything can come
            return bool(self._names) or self._sight.is_over
        waited_for = self._is_owner and self._ending is not Ending.FORCED and self._sight.glance.others
        return not waited_for or time.monotonic() > self._drain_until or not self._is_answered

    async def _see(self, frontier: Frontier) -> _Sight:
        counts, glance, wishes = await asyncio.gather(
            self._totals.read(frontier, fresh=self._is_final), self._fellows.look(self._names), read_wishes(frontier)
        )
        forecast = await look_ahead(frontier, counts)
        if not self._crawl.is_shared:
            await self._staff.muster(frontier)
        is_over = not self._names and not counts.leased and await self._is_empty(frontier, counts)
        return _Sight(counts, is_over, glance, forecast, wishes)

    async def _is_empty(self, frontier: Frontier, counts: Counts) -> bool:
        seconds, limit = await frontier.seconds_to_next(), self._limits.pages
        return seconds is None or seconds > PATIENCE_SECONDS or (limit is not None and counts.pages >= limit)

    async def _look(self, sights: Glances[_Sight]) -> Progress:
        sight, now = await sights.take(), time.monotonic()
        self._is_answered = sight is not None
        if sight is not None:
            self._sight = sight
            self._limits = replace(self._own_limits, **sight.wishes.limits())
            self._pace.note(now, sight.counts)
        return Progress(
            counts=self._sight.counts,
            pages_per_second=self._pace.pages_per_second(),
            seconds=now - self._started,
            workers=len(self._staff) + self._sight.glance.others,
            answered=self._is_answered,
            forecast=self._sight.forecast,
            paused=self._sight.wishes.paused,
        )

    async def _rejudge(self, frontier: Frontier) -> None:
        """Judge all pages on this machine again with what was learned: many were judged when little was known."""
        if self._ending is not Ending.FORCED:
            await rejudge_segments(self._crawl.judge(), self._crawl.folder.segments(), frontier)

    async def _final(self, sights: Glances[_Sight]) -> Progress:
        """Look once more when all workers have gone: they may have left because a limit was reached."""
        if self._telling is not None:
            await in_time(self._telling)
        self._is_final = True
        progress = await self._look(sights)
        if self._ending is None:
            self._ending = self._limits.reached(progress.counts)
        return replace(progress, pages_per_second=self._pace.pages_per_second(over=float("inf")))

    async def _replace_the_dead(self, frontier: Frontier) -> None:
        for worker, code, url in self._staff.take_dead():
            await in_time(alive.blame(frontier, url, code))
            if code > 0 and not self._is_forgivable(code):
                raise WorkerFailed(worker.name, code)
            if code < 0 and self._ending is None:
                await self._staff.start_again(worker)

    def _is_forgivable(self, code: int) -> bool:
        """Tell whether a worker may fail so: in haste, or because the store is away when all leave anyway."""
        unreachable = self._ending is not None and code == StoreUnreachable.exit_code
        return self._ending is Ending.FORCED or unreachable

    def _apply_stop_rules(self, progress: Progress) -> None:
        harvest = self._pace.harvest()
        if self._sight.glance.stop:
            self._stop(self._sight.glance.stop, for_all=False)
        elif ending := self._limits.exceeded(progress.counts, seconds=progress.seconds, harvest=harvest):
            self._stop(ending, for_all=True)


def names_for(crawl: Crawl, workers: int, name: str = "") -> list[str]:
    """Return the names of this machine's workers; where others work too, no two machines have the same."""
    if not crawl.is_shared:
        return [f"w{number}" for number in range(1, workers + 1)]
    return worker_names(machine_name(crawl.folder, name), workers)


def run_crawl(crawl: Crawl, *, around: AbstractContextManager[None] | None = None, **parts: Any) -> RunResult:
    """Run a crawl in worker processes, or join one, and wait for the end; `parts` as of `Supervisor`.

    Args:
        around: Entered before the run and left after it, while no other run can begin.
    """
    check_open_files(crawl.config.engine.concurrency)
    with crawl.folder.only_one_run(), around or nullcontext():
        return asyncio.run(Supervisor(crawl, **parts).run())

"""Row R3: SIGTERM once, twice, and while the store is silent. The run ends in time, and the same command continues."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from testing.crawl_process import CrawlStalled
from testing.faulty_crawl.fault_run import run_with_faults
from testing.faulty_crawl.scenario import Plan
from testing.faulty_crawl.scene import Scene
from testing.recording_server.site import Site
from tests.faults.table import Outcome

DRAIN_SECONDS = 30.0
STARTING_SECONDS = 2.0
"""A process that was just busy may need so long to look at its signals, and to end."""
SECOND_SIGNAL_SECONDS = 0.3
AT_ONCE_SECONDS = 5.0
STOPPED, FORCED = 11, 13


@dataclass(frozen=True)
class Ended:
    """How a run ended that was asked to."""

    exit_code: int
    seconds: float
    leased: int

    def words(self) -> str:
        """Say it in the words of the table."""
        return f"exit code {self.exit_code} after {self.seconds:.1f} s, {self.leased} leases kept"


def signalled(times: int, *, share: float = 0.4, silent: bool = False) -> Callable[[Scene], Ended]:
    """Send the run SIGTERM so often in mid-crawl, and give the command again when it has ended.

    Args:
        share: How much of the site was asked for by then.
        silent: The store stands still meanwhile.
    """

    def scenario(scene: Scene) -> Ended:
        scene.await_share(share)
        with scene.trouble("stopped", scene.plan.workers if times > 1 or silent else 0):
            if silent:
                scene.server.stop()
            code, seconds = _ask_to_end(scene, times)
            if silent:
                scene.server.cont()
            ended = Ended(code, seconds, scene.counts().leased)
        scene.start()
        return ended

    return scenario


def _ask_to_end(scene: Scene, times: int) -> tuple[int, float]:
    began = time.monotonic()
    for number in range(times):
        if number:
            time.sleep(SECOND_SIGNAL_SECONDS)
        if not scene.run.ended:
            scene.run.process.send_signal(signal.SIGTERM)
    try:
        return scene.run.wait(2 * DRAIN_SECONDS), time.monotonic() - began
    except CrawlStalled:
        return -signal.SIGKILL, time.monotonic() - began


def slow_plan(pages: int, hosts: int, *, workers: int = 4) -> Plan:
    """Return a crawl whose requests are open for long, so that there is something to drain."""
    site = Site(pages=pages, hosts=hosts)
    return Plan(site=site, workers=workers, latency_seconds=0.2, jitter_seconds=0.4, max_seconds=300.0)


def drained(ended: Ended) -> bool:
    """Whether a run that was asked once let open requests finish in time, and gave the rest back."""
    return ended.exit_code == STOPPED and _in_time(ended) and not ended.leased


def stopped_at_once(ended: Ended) -> bool:
    """Whether a run that was asked twice ended at once, and gave its leases back."""
    return ended.exit_code == FORCED and ended.seconds <= AT_ONCE_SECONDS and not ended.leased


def ended_without_store(ended: Ended) -> bool:
    """Whether a run ended in time though its store was silent; what it held comes back when the leases end."""
    return ended.exit_code in (STOPPED, FORCED) and _in_time(ended)


def _in_time(ended: Ended) -> bool:
    return ended.seconds <= DRAIN_SECONDS + STARTING_SECONDS


def r3() -> Outcome:
    """Stop runs in three ways."""
    plan = slow_plan(2000, 100)
    ways = {
        "once": (signalled(1), drained),
        "twice": (signalled(2), stopped_at_once),
        "once, with a silent store": (signalled(1, silent=True), ended_without_store),
    }
    held, words = True, []
    for name, (scenario, is_right) in ways.items():
        outcome = run_with_faults(plan, scenario)
        assert isinstance(outcome.result, Ended)
        held = held and is_right(outcome.result) and outcome.survived
        words.append(f"{name}: {outcome.result.words()}; {outcome.words()}")
    return Outcome(held=held, figure=". ".join(words))

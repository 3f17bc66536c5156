"""Row R10: wall clocks that step, those of the workers or that of the store. Waits may lengthen, never shorten."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from testing.faulty_crawl.fault_run import FaultOutcome, Setting, run_with_faults
from testing.faulty_crawl.scenario import Plan
from testing.faulty_crawl.scene import Scene
from testing.recording_server.site import Site
from testing.servers.clock import Clock
from tests.faults.table import Outcome

HOUR = 3600.0
BACK_SECONDS = 5.0
SMALL, BACK, AHEAD = "1 s ahead and back", "an hour back, for some seconds", "an hour ahead"


def stepping(clock: Clock, steps: Sequence[str]) -> Callable[[Scene], None]:
    """Step a clock at even distances over the crawl."""

    def scenario(scene: Scene) -> None:
        for number, step in enumerate(steps, 1):
            scene.await_share(0.8 * number / (len(steps) + 1))
            with scene.trouble(step, scene.plan.workers):
                _step(clock, step)

    return scenario


def _step(clock: Clock, step: str) -> None:
    if step == SMALL:
        clock.step_to(1.0)
        time.sleep(1.0)
        clock.step_to(0.0)
    elif step == BACK:
        clock.step_to(-HOUR)
        time.sleep(BACK_SECONDS)
        clock.step_to(0.0)
    else:
        clock.step_to(HOUR)


def stepped(plan: Plan, whose: str, steps: Sequence[str], *, store: str = "redis") -> FaultOutcome:
    """Crawl while the clock of all "workers", or that of the "store", is stepped."""
    with tempfile.TemporaryDirectory() as folder:
        clock = Clock(Path(folder))
        variables = [f"{name}={value}" for name, value in clock.environment.items()]
        if whose == "workers":
            setting = Setting(store=store, command=("env", *variables, *Setting().command))
        else:
            setting = Setting(store=store, server_environment=clock.environment)
        return run_with_faults(plan, stepping(clock, steps), setting)


def r10() -> Outcome:
    """Step all clocks by all steps."""
    plan = Plan(site=Site(pages=2500, hosts=100), delay_seconds=0.2, max_seconds=600.0)
    reported = {whose: stepped(plan, whose, (SMALL, BACK, AHEAD)) for whose in ("workers", "store")}
    words = [f"the clock of the {whose}: {outcome.words()}" for whose, outcome in reported.items()]
    held = all(outcome.kept_all and outcome.polite for outcome in reported.values())
    return Outcome(held=held, figure=". ".join(words))


def r10_sqlite() -> Outcome:
    """Step the one clock of a crawl that has no server."""
    plan = Plan(site=Site(pages=2500, hosts=100), delay_seconds=0.2, max_seconds=600.0)
    outcome = stepped(plan, "workers", (SMALL, BACK, AHEAD), store="sqlite")
    return Outcome(held=outcome.kept_all and outcome.polite, figure=outcome.words())

"""Run a crawl with injected faults, and measure which of its promises held."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from testing.crawl_process import THRESHER, Crawl
from testing.faulty_crawl.excuses import by_trouble
from testing.faulty_crawl.scenario import Plan
from testing.faulty_crawl.scene import Scene, Trouble
from testing.recording_server import report
from testing.recording_server.log import Hit
from testing.recording_server.process import running
from testing.servers import chaos, store_server
from testing.servers.store import dying_with_parent

FaultScenario = Callable[[Scene], object]
"""Injects faults into a crawl; what it returns is the result."""
SQLITE = "sqlite"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Where a crawl takes place.

    Args:
        store: "redis" or "valkey", each behind a proxy; or "sqlite", in the crawl's folder.
        server_environment: Variables for the store's process.
        command: The crawler.
    """

    store: str = "redis"
    server_environment: Mapping[str, str] = field(default_factory=dict)
    command: Sequence[str] = (*dying_with_parent(), *THRESHER)


@dataclass(frozen=True, kw_only=True)
class FaultOutcome:
    """What became of a crawl with faults, in numbers.

    Args:
        result: What the scenario returned.
        last_output: The end of the output of the run, to find the cause of a failure.
        counted: Pages that the store counts: more than there are would be pages counted twice.
        kept_twice: Pages that are in the collection more than once.
        unexcused: Pages fetched again without trouble in between.
        over_bound: Refetches of a trouble beyond the requests that its workers may have had in flight.
        close_gaps: How many gaps the delay decided: shorter than twice the delay.
    """

    result: object
    last_output: str
    hits: Sequence[Hit]
    troubles: Sequence[Trouble]
    pages: int
    seconds: float
    exit_code: int
    lost: int
    kept_twice: int
    counted: int
    refetches: int
    unexcused: int
    over_bound: int
    max_parallel: int
    gaps: int
    close_gaps: int
    shortest_gap_seconds: float
    violations: int

    @property
    def counted_twice(self) -> int:
        """Pages whose result counted more than once, in the store or in the collection."""
        return max(self.kept_twice, self.counted - self.pages, 0)

    @property
    def pages_per_second(self) -> float:
        """The rate over the whole crawl, by the recording server."""
        return report.pages_per_second(self.hits)

    @property
    def kept_all(self) -> bool:
        """Every page was fetched, is in the collection once, is counted once, and the run ended well."""
        return self.exit_code == 0 and not self.lost and not self.counted_twice and self.counted == self.pages

    @property
    def polite(self) -> bool:
        """No host had two requests open at once or was asked before its delay was over."""
        return self.max_parallel <= 1 and not self.violations

    @property
    def thrifty(self) -> bool:
        """Pages were fetched twice only by trouble, and no more than its workers may have had in flight."""
        return not self.unexcused and not self.over_bound

    @property
    def survived(self) -> bool:
        """All of it."""
        return self.kept_all and self.polite and self.thrifty

    def started_between(self, start_ns: int, end_ns: int) -> int:
        """Return how many requests began between two moments."""
        return sum(start_ns < hit.start_ns < end_ns for hit in self.hits)

    def words(self) -> str:
        """Return it as text for the table; where pages are missing, with the end of the run's output."""
        end = "" if self.kept_all else f"; exit code {self.exit_code}: {self.last_output[-600:]}"
        return (
            f"lost {self.lost} of {self.pages:,}; counted twice {self.counted_twice}; fetched twice {self.refetches}, "
            f"without trouble {self.unexcused}, beyond what was in flight {self.over_bound}; "
            f"open at once {self.max_parallel}; "
            f"{self.violations} violations in {self.gaps:,} gaps; {self.seconds:.0f} s{end}"
        )


def run_with_faults(plan: Plan, scenario: FaultScenario, setting: Setting | None = None) -> FaultOutcome:
    """Crawl a site while faults are injected, and wait for the end.

    Raises:
        CrawlStalled: It did not end within the plan's time.
    """
    with opened(plan, setting or Setting()) as scene:
        result = scenario(scene)
        exit_code = scene.run.wait(scene.seconds_left)
        seconds = time.monotonic() - scene.started
        return _measure(scene, result, exit_code, seconds)


@contextmanager
def opened(plan: Plan, setting: Setting) -> Iterator[Scene]:
    """Have a crawl under way for as long as the block lasts."""
    options = [f"--latency={plan.latency_seconds}", f"--jitter={plan.jitter_seconds}"]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="thresher-")))
        recorder = stack.enter_context(running(plan.site, folder / "hits.csv", *options))
        server = proxy = None
        if setting.store != SQLITE:
            environment = setting.server_environment
            server = stack.enter_context(store_server(setting.store, folder / "store", environment=environment))
            proxy = stack.enter_context(chaos(server.port))
        crawl = Crawl(folder / "crawl", setting.command)
        crawl.create(recorder.seed_url, plan.topic())
        scene = Scene(plan, crawl, recorder, server=server, proxy=proxy)
        stack.callback(scene.close)
        yield scene


def _measure(scene: Scene, result: object, exit_code: int, seconds: float) -> FaultOutcome:
    plan, hits = scene.plan, scene.recorder.hits()
    kept = [_key(url) for url in scene.crawl.kept_urls()]
    keys = plan.site.keys()
    gaps = report.gaps(hits)
    bounds = [trouble.workers * plan.concurrency for trouble in scene.troubles]
    repeats = by_trouble(report.refetches(hits), scene.troubles, bounds)
    return FaultOutcome(
        result=result,
        last_output=scene.run.last_words(),
        hits=hits,
        troubles=scene.troubles,
        pages=plan.site.pages,
        seconds=seconds,
        exit_code=exit_code,
        lost=max(len(report.lost(keys, hits)), len(keys - set(kept))),
        kept_twice=len(kept) - len(set(kept)),
        counted=scene.counts().pages,
        refetches=sum(repeats.values()),
        unexcused=repeats.get(None, 0),
        over_bound=sum(max(0, repeats.get(number, 0) - bound) for number, bound in enumerate(bounds)),
        max_parallel=max(report.max_parallel(hits).values(), default=0),
        gaps=len(gaps),
        close_gaps=sum(gap.seconds < 2 * plan.delay_seconds for gap in gaps),
        shortest_gap_seconds=min((gap.seconds for gap in gaps), default=0.0),
        violations=len(report.violations(gaps, plan.delay_seconds)),
    )


def _key(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}{parts.path}"

"""A measured frontier is the frontier that it measures, and what happened can be read off its figures."""

import asyncio
import inspect
import subprocess
import sys
from contextlib import suppress

import pytest

from testing.clock import Clock
from thresher.errors import ConfigError
from thresher.frontier.base import CrawlStore
from thresher.monitoring.http_endpoint import FRESH_SECONDS, REACHED_SECONDS, TIMED, InstrumentedFrontier
from thresher.monitoring.http_endpoint import OPERATIONS as NAMES
from thresher.monitoring.prometheus import WorkerMetrics
from thresher.reasons.legacy import legacy_reason
from thresher.records import Candidate, Outcome, Settlement
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

OPERATIONS = [name for name, _ in inspect.getmembers(CrawlStore, inspect.isfunction) if not name.startswith("_")]


class World:
    """Three URLs of two hosts in a frontier of memory, measured."""

    def __init__(self):
        self.clock = Clock()
        self.frontier = MemoryFrontier(clock=self.clock, delay_seconds=5.0)
        self.worker_metrics = WorkerMetrics(crawl="solar", worker="w1")
        self.measured = InstrumentedFrontier(self.frontier, self.worker_metrics, clock=self.clock)

    async def lease(self, limit=3):
        urls = ["http://a.example/", "http://a.example/2", "http://b.example/"]
        await self.measured.add([Candidate(url=url, score=0.5) for url in urls])
        return await self.measured.lease(limit, seconds=60)

    def value(self, name, **labels):
        return self.worker_metrics.registry.get_sample_value(name, {"crawl": "solar", **labels})


@pytest.fixture
def world():
    return World()


class Recorder:
    """Remembers what it was asked, and answers with something that nobody else has."""

    def __init__(self):
        self.asked = []
        self.answer = object()

    def __getattr__(self, name):
        async def operation(*args, **kwargs):
            self.asked.append((name, args, kwargs))
            return [] if name in ("lease", "commit") else self.answer

        return operation


def arguments_of(operation):
    """Make up an argument for each parameter: sequences, so that what counts them can."""
    signature = inspect.signature(getattr(CrawlStore, operation))
    parameters = [one for one in signature.parameters.values() if one.name != "self"]
    positional = [() for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    return positional, {one.name: f"{one.name} given" for one in parameters if one.kind is one.KEYWORD_ONLY}


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_every_call_is_passed_on_whole(operation):
    inner = Recorder()
    measured = InstrumentedFrontier(inner, WorkerMetrics(crawl="solar", worker="w1"))
    args, kwargs = arguments_of(operation)
    answer = await getattr(measured, operation)(*args, **kwargs)
    assert inner.asked == [(operation, tuple(args), kwargs)]
    nothing = ("release", "park")
    assert answer == ([] if operation in ("lease", "commit") else None if operation in nothing else inner.answer)


COUNTED = ("lease", "commit", "release", "park")


@pytest.mark.parametrize("operation", COUNTED)
def test_every_counted_call_takes_what_the_contract_says(operation):
    expected = inspect.signature(getattr(CrawlStore, operation))
    assert inspect.signature(getattr(InstrumentedFrontier, operation)) == expected


@pytest.mark.parametrize("operation", sorted(TIMED))
async def test_every_timed_call_is_timed_under_its_name(world, operation):
    args, kwargs = arguments_of(operation)
    with suppress(Exception):  # the arguments are not real ones; a call that fails is counted as such
        await getattr(world.measured, operation)(*args, **kwargs)
    name = NAMES.get(operation, operation)
    seconds = world.value("thresher_store_seconds_count", operation=name)
    errors = world.value("thresher_store_errors_total", operation=name)
    assert (seconds or 0) + (errors or 0) == 1


async def test_pages_outcomes_and_links_are_counted(world):
    first, second = await world.lease()
    link = Candidate(url="http://c.example/", score=0.1)
    done = Settlement(lease=first, outcome=Outcome.DONE, page=True, relevant=True, links=[link])
    failed = Settlement(
        lease=second, outcome=Outcome.FAILED, reason=legacy_reason("http 404"), park=legacy_reason("no page in 5 tries")
    )
    assert await world.measured.commit([done, failed]) == [True, True]
    assert world.value("thresher_pages_total") == 1
    assert world.value("thresher_relevant_pages_total") == 1
    assert world.value("thresher_links_total") == 1
    assert world.value("thresher_settlements_total", outcome="done") == 1
    assert world.value("thresher_settlements_total", outcome="failed") == 1
    assert world.value("thresher_settlements_total", outcome="retry") == 0
    assert world.value("thresher_errors_total", kind="http_4xx") == 1
    assert world.value("thresher_parks_total") == 1


async def test_a_refused_commit_counts_as_nothing_else(world):
    [first, *_] = await world.lease()
    world.clock.now += 61
    assert await world.measured.commit([Settlement(lease=first, outcome=Outcome.DONE, page=True)]) == [False]
    assert world.value("thresher_refused_commits_total") == 1
    assert world.value("thresher_pages_total") == 0
    assert world.value("thresher_settlements_total", outcome="done") == 0


async def test_leases_are_counted_out_and_in(world):
    leases = await world.lease()
    assert (world.value("thresher_leases_total"), world.value("thresher_open_leases")) == (2, 2)
    await world.measured.release(leases[:1])
    await world.measured.commit([Settlement(lease=leases[1], outcome=Outcome.DONE)])
    assert (world.value("thresher_released_leases_total"), world.value("thresher_open_leases")) == (1, 0)


async def test_asking_in_vain_is_counted(world):
    assert await world.measured.lease(3, seconds=60) == []
    assert world.value("thresher_empty_leases_total") == 1


async def test_the_time_that_the_store_takes_is_kept_by_operation(world):
    class Slow(MemoryFrontier):
        async def get_state(self, host, kind):
            world.clock.now += 0.3

    await InstrumentedFrontier(Slow(), world.worker_metrics, clock=world.clock).get_state("a.example", "robots")
    assert world.value("thresher_store_seconds_sum", operation="recall") == pytest.approx(0.3)
    assert world.value("thresher_store_seconds_bucket", operation="recall", le="0.25") == 0
    assert world.value("thresher_store_seconds_bucket", operation="recall", le="0.5") == 1


async def test_what_the_store_fails_is_counted_and_raised(world):
    class Broken(MemoryFrontier):
        async def counts(self):
            raise OSError("gone")

    measured = InstrumentedFrontier(Broken(), world.worker_metrics)
    with pytest.raises(OSError, match="gone"):
        await measured.counts()
    await measured.poll()
    assert world.value("thresher_store_errors_total", operation="counts") == 2
    assert world.value("thresher_store_up") == 0


async def test_a_look_shows_the_whole_crawl(world):
    [first, *_] = await world.lease(1)
    await world.measured.commit([Settlement(lease=first, outcome=Outcome.DONE, page=True, delay_seconds=4.0)])
    [lease] = await world.measured.lease(1, seconds=60)
    await world.measured.poll()
    states = ("waiting", "leased", "done", "failed", "dropped")
    assert [world.value("thresher_crawl_urls", state=state) for state in states] == [1, 1, 1, 0, 0]
    assert [world.value("thresher_crawl_hosts", state=state) for state in ("ready", "delayed", "parked")] == [0, 1, 0]
    assert world.value("thresher_crawl_pages") == 1
    assert world.value("thresher_crawl_next_seconds") == pytest.approx(5.0, abs=1.0)
    assert world.value("thresher_store_up") == 1
    assert lease.host == "b.example"


async def test_an_empty_crawl_waits_for_nothing(world):
    await world.measured.poll()
    assert str(world.value("thresher_crawl_next_seconds")) == "nan"


async def test_many_looks_in_a_second_ask_the_store_once(world):
    for _ in range(3):
        await world.measured.poll()
    assert world.value("thresher_store_seconds_count", operation="counts") == 1
    world.clock.now += FRESH_SECONDS
    await world.measured.poll()
    assert world.value("thresher_store_seconds_count", operation="counts") == 2


async def test_a_store_that_is_away_holds_up_no_look_and_is_asked_once(world):
    back = asyncio.Event()

    class Away(MemoryFrontier):
        asked = 0

        async def counts(self):
            self.asked += 1
            await back.wait()
            return await super().counts()

    away = Away()
    measured = InstrumentedFrontier(away, world.worker_metrics, clock=world.clock)
    await asyncio.gather(*(measured.poll(seconds=0.01) for _ in range(5)))
    assert (away.asked, measured.is_reached) == (1, False)
    back.set()
    await measured.poll()
    assert (away.asked, measured.is_reached) == (1, True)


async def test_a_store_counts_as_reached_for_half_a_minute(world):
    await world.measured.counts()
    world.clock.now += REACHED_SECONDS - 1
    assert world.measured.is_reached
    world.clock.now += 1
    assert not world.measured.is_reached


def test_two_workers_in_one_process_do_not_share_figures():
    one, other = WorkerMetrics(crawl="solar", worker="w1"), WorkerMetrics(crawl="solar", worker="w2")
    one.pages.inc()
    assert other.registry.get_sample_value("thresher_pages_total", {"crawl": "solar"}) == 0


def test_no_figure_comes_with_the_time_at_which_it_was_made():
    text = WorkerMetrics(crawl="solar", worker="w1").text().decode()
    assert "thresher_pages_total" in text
    assert "_created" not in text


def test_without_its_package_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(ConfigError, match=r'pip install "thresher-crawler\[metrics\]"'):
        WorkerMetrics(crawl="solar", worker="w1")


def test_prometheus_client_is_not_loaded_before_it_is_needed():
    script = "import sys, thresher.monitoring.http_endpoint; print('prometheus_client' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "False\n"

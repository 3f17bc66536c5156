"""A run says how it stands, what limits it, and when it has harvested too little."""

from dataclasses import replace

import pytest

from thresher.frontier.base import Counts
from thresher.runner.limits import (
    HARVEST_PAGES,
    Limits,
    Pace,
    Progress,
    StopReason,
    negotiate_limits,
    nothing_fetched,
    ordered_stop,
    strictest,
)
from thresher.status import CrawlState, CrawlStatus
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier


def test_the_line_says_what_limits_the_speed():
    status = CrawlStatus(ready=3, pages=1, busy=2, state=CrawlState.RUNNING)
    running = Progress(status=status, pages_per_second=0.0, seconds=1.0)
    assert running.limit == "2 workers busy"
    assert replace(running, answered=False).limit == "the store does not answer"
    assert replace(running, is_rejudging=True).limit == "judging all pages again; Ctrl-C skips this"


@pytest.mark.parametrize(
    ("limits", "counts", "stop_reason"),
    [
        (Limits(), Counts(), StopReason.DONE),
        (Limits(), Counts(waiting=1), StopReason.HOSTS_UNAVAILABLE),
        (Limits(pages=5), Counts(pages=5, waiting=1), StopReason.PAGES),
        (Limits(pages=5), Counts(pages=5), StopReason.DONE),
        (Limits(relevant=2), Counts(relevant=2, waiting=1), StopReason.RELEVANT),
    ],
)
def test_a_run_without_workers_says_why_it_is_over(limits, counts, stop_reason):
    assert limits.reached(counts) is stop_reason


@pytest.mark.parametrize(
    ("limits", "stop_reason"),
    [
        (Limits(), None),
        (Limits(pages=5, relevant=11, minutes=1.1, harvest_below=0.1), None),
        (Limits(relevant=10), StopReason.RELEVANT),
        (Limits(minutes=1.0), StopReason.MINUTES),
        (Limits(harvest_below=0.2), StopReason.HARVEST),
    ],
)
def test_the_first_rule_that_is_broken_ends_a_run(limits, stop_reason):
    assert limits.exceeded(Counts(pages=100, relevant=10), seconds=60.0, harvest=0.1) is stop_reason


def test_the_speed_is_that_of_the_last_seconds():
    pace = Pace()
    for second, pages in [(0, 0), (10, 100), (12, 120), (14, 140)]:
        pace.add_sample(second, Counts(pages=pages))
    assert pace.pages_per_second(over=5) == pytest.approx(10.0)


def test_the_harvest_is_known_after_enough_pages():
    pace = Pace()
    pace.add_sample(0, Counts(pages=0, relevant=0))
    pace.add_sample(1, Counts(pages=HARVEST_PAGES - 1, relevant=100))
    assert pace.harvest() is None
    pace.add_sample(2, Counts(pages=HARVEST_PAGES, relevant=100))
    assert pace.harvest() == pytest.approx(100 / HARVEST_PAGES)
    pace.add_sample(3, Counts(pages=2 * HARVEST_PAGES, relevant=110))
    assert pace.harvest() == pytest.approx(10 / HARVEST_PAGES)


def test_only_a_run_that_was_stopped_or_left_has_an_exit_code_of_its_own():
    codes = {stop_reason.name: stop_reason.exit_code for stop_reason in StopReason if stop_reason.exit_code}
    assert codes == {"STOPPED": 11, "FORCED": 13, "LEFT": 11}


def is_empty(before, after, stop_reason=StopReason.DONE, **more):
    return nothing_fetched(stop_reason, before, after, **{"is_refresh": False, "unreachable": False, **more})


@pytest.mark.parametrize(
    ("before", "after", "more", "expected"),
    [
        (Counts(), Counts(pages=1, failed=98), {}, False),
        (Counts(), Counts(pages=1, failed=99), {}, False),
        (Counts(), Counts(pages=1, failed=100), {}, True),
        (Counts(), Counts(pages=0, failed=1), {}, True),
        (Counts(), Counts(waiting=3), {"unreachable": True}, True),
        (Counts(), Counts(waiting=3), {}, False),
        (Counts(pages=9, failed=4), Counts(pages=9, failed=4), {}, False),
        (Counts(pages=9, failed=4), Counts(pages=9, failed=5), {}, True),
        (Counts(pages=0, failed=1), Counts(pages=0, failed=1), {}, True),
        (Counts(pages=9), Counts(pages=9, failed=1, waiting=1), {"stop_reason": StopReason.PAGES}, False),
        (Counts(), Counts(failed=1, waiting=1), {"stop_reason": StopReason.STOPPED}, False),
        (Counts(), Counts(failed=1, waiting=1), {"stop_reason": StopReason.MINUTES}, True),
        (Counts(), Counts(done=200, failed=1), {"is_refresh": True}, False),
        (Counts(), Counts(done=0, failed=1), {"is_refresh": True}, True),
    ],
)
def test_a_run_says_when_it_could_fetch_nothing(before, after, more, expected):
    assert is_empty(before, after, **more) is expected


@pytest.mark.parametrize(
    ("own", "common", "both"),
    [
        (Limits(), {}, Limits()),
        (Limits(pages=5), {"pages": None}, Limits(pages=5)),
        (Limits(), {"pages": 7, "minutes": 1.5}, Limits(pages=7, minutes=1.5)),
        (Limits(pages=5, harvest_below=0.1), {"pages": 7, "harvest_below": 0.2}, Limits(pages=5, harvest_below=0.2)),
        (Limits(relevant=9), {"relevant": 3.0}, Limits(relevant=3)),
    ],
)
def test_of_two_limits_the_one_counts_that_is_reached_first(own, common, both):
    assert strictest(own, common) == both


async def test_who_joins_is_bound_by_the_limits_of_who_began():
    frontier, limits = MemoryFrontier(), Limits(pages=100, minutes=2.0)
    assert await negotiate_limits(frontier, limits, owner=True) == limits
    assert await negotiate_limits(frontier, Limits(pages=500), owner=False) == limits


def test_an_order_in_words_that_nobody_knows_is_obeyed():
    assert [ordered_stop(name) for name in ("", "HARVEST", "NOW!")] == [None, StopReason.HARVEST, StopReason.STOPPED]
